import ParleyJSON

/// A thread of messages: a room of the server. Its name has 1 to 200 bytes.
///
/// Two threads are equal if the bytes of their names are equal.
public struct ChatThread: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The room's name.
  public let name: String

  /// Creates a thread by its room's name.
  public init(_ name: String) { self.name = name }

  /// Creates a thread by its room's name.
  public init(stringLiteral name: String) { self.name = name }

  /// Whether both are the same thread.
  public static func == (left: Self, right: Self) -> Bool { left.name.isSame(as: right.name) }

  /// Hashes the name's bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: name) }
}

/// A person as shown to others in a thread.
public struct ChatPerson: Sendable, Hashable, Identifiable {
  /// The id assigned by the server: the token's user, or the client's id if tokens have no users.
  public struct ID: Sendable, Hashable, CustomStringConvertible {
    /// The id as the server writes it.
    public let name: String

    /// Creates an id, such as from a stored value or an app's own user.
    public init(_ name: String) { self.name = name }

    /// Whether both are the same person.
    public static func == (left: Self, right: Self) -> Bool { left.name.isSame(as: right.name) }

    /// Hashes the id's bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: name) }

    /// The id as the server writes it.
    public var description: String { name }
  }

  /// The person's id.
  public let id: ID
  /// The name shown to others.
  public let name: String
  /// The colour, `#rrggbb`.
  public let color: String?

  /// Creates a person.
  public init(id: ID, name: String, color: String? = nil) {
    self.id = id
    self.name = name
    self.color = color
  }
}

extension String {
  /// Whether both have the same bytes: `==` also equates canonically equivalent texts.
  func isSame(as other: String) -> Bool { isExactly(other) }
}

extension Hasher {
  mutating func combine(bytesOf text: String) {
    for byte in text.utf8 { combine(byte) }
    combine(UInt8(0xff))
  }
}
