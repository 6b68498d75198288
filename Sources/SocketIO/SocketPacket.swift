public import JSON

/// A packet of Socket.IO, within a message of Engine.IO.
public struct SocketPacket: Sendable, Hashable {
  /// The purpose of a packet.
  public enum Kind: UInt8, Sendable, Hashable {
    /// Enters a namespace.
    case connect = 0
    /// Leaves one.
    case disconnect = 1
    /// A name and arguments.
    case event = 2
    /// Arguments that answer an event.
    case acknowledgement = 3
    /// A namespace was not entered.
    case failure = 4
  }

  /// The purpose of a packet.
  public var kind: Kind
  /// Begins with `/`; the default one is just that.
  public var namespace: String
  /// Of an event: an answer with this number is wanted. Of an acknowledgement: the event's.
  public var id: Int?
  /// JSON; of events and acknowledgements an array.
  public var data: JSONValue?

  /// Makes a packet.
  public init(_ kind: Kind, in namespace: String = "/", id: Int? = nil, data: JSONValue? = nil) {
    self.kind = kind
    self.namespace = namespace
    self.id = id
    self.data = data
  }

  /// An event.
  public init(event name: String, in namespace: String = "/", _ arguments: [JSONValue]) {
    self.init(.event, in: namespace, data: JSONValue([JSONValue(name)] + arguments))
  }

  /// Bytes of a namespace's name, at most.
  public static let namespaceBytesMax = 256

  /// Reads a packet; `nil` if it is none, or one with binary parts, which are not taken.
  public init?(_ bytes: some Collection<UInt8>) {
    var rest = Array(bytes)[...]
    guard let first = rest.popFirst(), first >= UInt8(ascii: "0"),
      let kind = Kind(rawValue: first - UInt8(ascii: "0"))
    else { return nil }
    self.init(kind)
    if rest.first == UInt8(ascii: "/") {
      let name = rest.prefix { $0 != UInt8(ascii: ",") }
      rest = rest.dropFirst(name.count + 1)
      // The second version of Socket.IO lets a query follow.
      let path = name.prefix { $0 != UInt8(ascii: "?") }
      guard path.count <= Self.namespaceBytesMax,
        let text = String(validating: path, as: UTF8.self)
      else { return nil }
      namespace = text
    }
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    if !digits.isEmpty {
      guard digits.count <= 15 else { return nil }
      id = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      rest = rest.dropFirst(digits.count)
    }
    if !rest.isEmpty {
      // A number would be taken for the id when it is written, without the space before it.
      guard let data = JSONValue(rest), let first = data.utf8.first,
        !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
      else { return nil }
      self.data = data
    }
    switch kind {
    case .event: guard eventName != nil else { return nil }
    case .acknowledgement: guard id != nil, data?.elements != nil else { return nil }
    case .connect, .disconnect, .failure: break
    }
  }

  /// The name of an event.
  public var eventName: String? { data?.elements?.first?.string }

  /// The arguments of an event or an acknowledgement.
  public var arguments: [JSONValue] {
    let elements = data?.elements ?? []
    return kind == .event ? Array(elements.dropFirst()) : elements
  }

  /// An event with one more argument, the last: its place in what a client is sent, from which it
  /// can be gone on.
  ///
  /// - Precondition: it is an event.
  public func numbered(_ offset: String) -> SocketPacket {
    guard kind == .event, let data else { preconditionFailure("only events have places") }
    let place = JSONValue(offset).utf8
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.utf8.count + place.count + 1)
    bytes += data.utf8.dropLast()
    bytes.append(UInt8(ascii: ","))
    bytes += place
    bytes.append(UInt8(ascii: "]"))
    var packet = self
    packet.data = JSONValue(trusted: bytes)
    return packet
  }

  /// The packet as text, within a packet of Engine.IO.
  public var engineText: [UInt8] {
    var bytes = [UInt8(ascii: "4"), UInt8(ascii: "0") + kind.rawValue]
    if !namespace.utf8.elementsEqual("/".utf8) {
      bytes.append(contentsOf: namespace.utf8)
      bytes.append(UInt8(ascii: ","))
    }
    if let id { bytes.append(contentsOf: String(id).utf8) }
    if let data { bytes.append(contentsOf: data.utf8) }
    return bytes
  }
}
