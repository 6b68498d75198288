public import ParleyJSON

/// A packet of Socket.IO, contained in a message of Engine.IO.
public struct SocketPacket: Sendable, Hashable {
  /// The type of a packet.
  public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    /// Enters a namespace.
    case connect = 0
    /// Leaves a namespace.
    case disconnect = 1
    /// An event: a name and arguments.
    case event = 2
    /// An acknowledgement of an event, with arguments.
    case acknowledgement = 3
    /// A refused connect.
    case failure = 4
  }

  /// The type of the packet.
  public var kind: Kind
  /// The namespace, which begins with `/`; the default one is `/`.
  public var namespace: String
  /// In an event, the number under which an acknowledgement is requested; in an acknowledgement,
  /// the event's number.
  public var id: Int?
  /// JSON; for events and acknowledgements an array.
  public var data: JSONValue? {
    didSet { elements = nil }
  }
  /// The elements of received data; `nil` for other data.
  private var elements: [JSONValue]?

  /// Creates a packet.
  public init(_ kind: Kind, in namespace: String = "/", id: Int? = nil, data: JSONValue? = nil) {
    self.kind = kind
    self.namespace = namespace
    self.id = id
    self.data = data
  }

  /// Creates an event.
  public init(event name: String, in namespace: String = "/", _ arguments: [JSONValue]) {
    self.init(.event, in: namespace, data: JSONValue([JSONValue(name)] + arguments))
  }

  /// Maximum bytes of a namespace.
  public static let namespaceBytesMax = 256

  /// Maximum JSON values in a packet, including nested ones.
  public static let valuesMax = 100_000

  /// Maximum arguments of an event or an acknowledgement.
  public static let argumentsMax = 1_000

  /// Reads a packet; `nil` if it is malformed, too large, or has binary attachments, which are not
  /// supported.
  public init?(_ bytes: some Collection<UInt8>) {
    var rest = Array(bytes)[...]
    guard let first = rest.popFirst(), first >= UInt8(ascii: "0"),
      let kind = Kind(rawValue: first - UInt8(ascii: "0"))
    else { return nil }
    self.init(kind)
    if rest.first == UInt8(ascii: "/") {
      let name = rest.prefix { $0 != UInt8(ascii: ",") }
      rest = rest.dropFirst(name.count + 1)
      // In Socket.IO 2 a query may follow.
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
    guard rest.isEmpty || readData(rest) else { return nil }
    switch kind {
    case .event: guard eventName != nil else { return nil }
    case .acknowledgement: guard id != nil, elements != nil else { return nil }
    case .connect, .disconnect, .failure: break
    }
  }

  /// Reads the JSON of a packet in one pass, up to the limits of values and arguments. Returns
  /// whether it is valid.
  private mutating func readData(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      reader.limitNesting()
      reader.limitValues(to: Self.valuesMax)
      do throws(JSONError) {
        let isArray = reader.isAtArray()
        let start = reader.offset
        if isArray {
          // The first element of an event is its name.
          let countMax = Self.argumentsMax + (kind == .event ? 1 : 0)
          var elements: [JSONValue] = []
          try reader.array { reader throws(JSONError) in
            guard elements.count < countMax else { throw .tooManyValues(valuesMax: countMax) }
            elements.append(try reader.value())
          }
          self.elements = elements
        } else {
          try reader.skipValue()
        }
        let data = reader.value(at: start..<reader.offset)
        try reader.finish()
        let elements = self.elements
        self.data = data
        self.elements = elements
        // A number is invalid: when written directly after the id, it would become part of it.
        return data.utf8.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
          ?? false
      } catch {
        return false
      }
    }
  }

  /// The name of an event.
  public var eventName: String? { parts?.first?.string }

  /// The arguments of an event or an acknowledgement.
  public var arguments: [JSONValue] {
    let elements = parts ?? []
    return kind == .event ? Array(elements.dropFirst()) : elements
  }

  /// The elements of the data, received or created here.
  private var parts: [JSONValue]? { elements ?? data?.elements }

  /// Whether both packets have the same encoding.
  public static func == (one: SocketPacket, other: SocketPacket) -> Bool {
    one.kind == other.kind && one.namespace.isExactly(other.namespace)
      && one.id == other.id && one.data == other.data
  }

  /// Hashes the kind and the data.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(data)
  }

  /// Returns an event with an additional last argument: its offset in the stream of packets sent to
  /// the client, from which the client can resume.
  ///
  /// - Precondition: It is an event.
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

  /// The packet as text, in a packet of Engine.IO.
  public var engineText: [UInt8] {
    var bytes = [UInt8(ascii: "4"), UInt8(ascii: "0") + kind.rawValue]
    if !namespace.isExactly("/") {
      bytes.append(contentsOf: namespace.utf8)
      bytes.append(UInt8(ascii: ","))
    }
    if let id { bytes.append(contentsOf: String(id).utf8) }
    if let data { bytes.append(contentsOf: data.utf8) }
    return bytes
  }
}
