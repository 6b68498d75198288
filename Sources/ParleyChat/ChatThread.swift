/// A thread of messages: a room of the server, by its name of 1 to 200 bytes.
///
/// Two threads are the same only if the bytes of their names are.
public struct ChatThread: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The room's name.
  public let name: String

  /// Makes a thread by its room's name.
  public init(_ name: String) { self.name = name }

  /// Makes a thread by its room's name.
  public init(stringLiteral name: String) { self.name = name }

  /// Whether both are the same room.
  public static func == (left: Self, right: Self) -> Bool { left.name.isSame(as: right.name) }

  /// Hashes the name's bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: name) }
}

/// A person as others in a thread see them.
public struct ChatPerson: Sendable, Hashable, Identifiable {
  /// The id that the server has stamped: the user of a token, or the client where tokens have none.
  public struct ID: Sendable, Hashable, CustomStringConvertible {
    /// The id as the server writes it.
    public let name: String

    /// Makes an id from what was kept of one, or from an app's own user.
    public init(_ name: String) { self.name = name }

    /// Whether both are the same person.
    public static func == (left: Self, right: Self) -> Bool { left.name.isSame(as: right.name) }

    /// Hashes the id's bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: name) }

    /// The id as the server writes it.
    public var description: String { name }
  }

  /// The person.
  public let id: ID
  /// The name shown to others.
  public let name: String
  /// The colour, `#rrggbb`.
  public let color: String?

  /// Makes a person.
  public init(id: ID, name: String, color: String? = nil) {
    self.id = id
    self.name = name
    self.color = color
  }
}

extension String {
  /// Whether both are the same bytes: to `==`, é and e with an accent are one.
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Hasher {
  mutating func combine(bytesOf text: String) {
    for byte in text.utf8 { combine(byte) }
    combine(UInt8(0xff))
  }
}
