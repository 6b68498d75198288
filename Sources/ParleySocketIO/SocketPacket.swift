public import ParleyJSON

/// A packet of Socket.IO, within a message of Engine.IO.
public struct SocketPacket: Sendable, Hashable {
  /// The purpose of a packet.
  public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
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
  public var data: JSONValue? {
    didSet { elements = nil }
  }
  /// The elements of data that was read.
  private var elements: [JSONValue]?

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

  /// JSON values in a packet, at most; those nested in arguments count.
  public static let valuesMax = 100_000

  /// Arguments of an event or an acknowledgement, at most.
  public static let argumentsMax = 1_000

  /// Reads a packet; `nil` if it is malformed, too large, or has binary parts, which are not
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
    guard rest.isEmpty || readData(rest) else { return nil }
    switch kind {
    case .event: guard eventName != nil else { return nil }
    case .acknowledgement: guard id != nil, elements != nil else { return nil }
    case .connect, .disconnect, .failure: break
    }
  }

  /// Reads the JSON of a packet, once, and stops at the first value or argument too many; whether that is what it
  /// may be.
  private mutating func readData(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      reader.limitNesting()
      reader.limitValues(to: Self.valuesMax)
      do throws(JSONError) {
        let isArray = reader.isAtArray()
        let start = reader.offset
        if isArray {
          // The name of an event is the first.
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
        // A number would be taken for the id when it is written, without the space before it.
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

  /// The elements of the data: as they were read, or of a packet that is made here.
  private var parts: [JSONValue]? { elements ?? data?.elements }

  /// Compares what is sent.
  public static func == (one: SocketPacket, other: SocketPacket) -> Bool {
    one.kind == other.kind && one.namespace.utf8.elementsEqual(other.namespace.utf8)
      && one.id == other.id && one.data == other.data
  }

  /// Hashes the kind and the data.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(data)
  }

  /// An event with one more argument, the last: its place in what a client is sent, from which the
  /// client can resume.
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
