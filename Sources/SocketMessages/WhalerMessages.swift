public import OTCore

/// What a client of the Whaler family sends.
public enum WhalerClientMessage: Sendable, Equatable {
  /// Opens a resource.
  public struct ResourceConnection: Sendable, Equatable {
    /// The resource.
    public var resourceID: String

    /// Makes a message.
    public init(resourceID: String) { self.resourceID = resourceID }
  }

  /// Changes a resource's text.
  public struct DocChange: Sendable, Equatable {
    /// The resource.
    public var resourceID: String
    /// The revision, by the client's count of frames.
    public var revision: Int
    /// On that revision.
    public var operation: TextOperation

    /// Makes a message.
    public init(resourceID: String, revision: Int, operation: TextOperation) {
      self.resourceID = resourceID
      self.revision = revision
      self.operation = operation
    }
  }

  case resourceConnection(ResourceConnection)
  case docChange(DocChange)
  /// A type that this version does not know.
  case unknown(type: String)

  /// Reads a message.
  public static func decode(
    _ message: UnsafeRawBufferPointer
  ) throws(MessageError) -> (messageID: String, message: WhalerClientMessage) {
    let bytes = message.assumingMemoryBound(to: UInt8.self)
    let envelope = try Envelope(bytes)
    guard let type = envelope.type else {
      throw envelope.named(.missing("type", in: "envelope"))
    }
    guard let messageID = envelope.messageID else {
      throw envelope.named(.missing("messageId", in: "envelope"))
    }
    var fields = WhalerFields()
    switch type {
    case "resourceConnection":
      let connection = try envelope.read(bytes, as: type) { key, reader throws(JSONError) in
        try fields.read(key, &reader)
      } make: { () throws(MessageError) in
        ResourceConnection(resourceID: try fields.resource(in: type))
      }
      return (messageID, .resourceConnection(connection))
    case "docChange":
      let change = try envelope.read(bytes, as: type) { key, reader throws(JSONError) in
        try fields.read(key, &reader)
      } make: { () throws(MessageError) in
        guard let revision = fields.revision else { throw .missing("rev", in: type) }
        return DocChange(
          resourceID: try fields.resource(in: type), revision: revision,
          operation: try fields.operation(in: type))
      }
      return (messageID, .docChange(change))
    default: return (messageID, .unknown(type: type))
    }
  }

  /// Appends the message as JSON.
  public func encode(messageID: String, into buffer: inout [UInt8]) {
    switch self {
    case .resourceConnection(let message):
      Envelope.write(messageID: messageID, type: "resourceConnection", into: &buffer) {
        $0.field("resourceId", message.resourceID, &$1)
      }
    case .docChange(let message):
      Envelope.write(messageID: messageID, type: "docChange", into: &buffer) { data, buffer in
        data.field("resourceId", message.resourceID, &buffer)
        data.field("rev", message.revision, &buffer)
        WhalerFields.write(message.operation, &data, &buffer)
      }
    case .unknown: break
    }
  }
}

/// What a server sends to a client of the Whaler family.
public enum WhalerServerMessage: Sendable, Equatable {
  /// The state of a resource, answering `resourceConnection` or sent unasked as a new start.
  public struct ResourceConnectionConf: Sendable, Equatable {
    /// The resource.
    public var resourceID: String
    /// The whole text.
    public var initialState: String
    /// The revision of that text.
    public var revision: Int

    /// Makes a message.
    public init(resourceID: String, initialState: String, revision: Int) {
      self.resourceID = resourceID
      self.initialState = initialState
      self.revision = revision
    }
  }

  /// One operation, to everybody, its author included.
  public struct DocChangeReturnOps: Sendable, Equatable {
    /// The resource.
    public var resourceID: String
    /// On the revision before.
    public var operation: TextOperation

    /// Makes a message.
    public init(resourceID: String, operation: TextOperation) {
      self.resourceID = resourceID
      self.operation = operation
    }
  }

  case resourceConnectionConf(ResourceConnectionConf)
  case docChangeReturnOps(DocChangeReturnOps)
  case resourceUpdate(ResourceUpdate)
  /// A type that this version does not know.
  case unknown(type: String)

  /// Reads a message.
  public static func decode(
    _ message: UnsafeRawBufferPointer
  ) throws(MessageError) -> (messageID: String, message: WhalerServerMessage) {
    let bytes = message.assumingMemoryBound(to: UInt8.self)
    let envelope = try Envelope(bytes)
    guard let type = envelope.type else {
      throw envelope.named(.missing("type", in: "envelope"))
    }
    guard let messageID = envelope.messageID else {
      throw envelope.named(.missing("messageId", in: "envelope"))
    }
    guard ["resourceConnectionConf", "docChangeReturnOps", "resourceUpdate"].contains(type) else {
      return (messageID, .unknown(type: type))
    }
    var fields = WhalerFields()
    let decoded: WhalerServerMessage = try envelope.read(bytes, as: type) {
      key, reader throws(JSONError) in
      try fields.read(key, &reader)
    } make: { () throws(MessageError) in
      let resourceID = try fields.resource(in: type)
      switch type {
      case "resourceUpdate":
        return .resourceUpdate(ResourceUpdate(resourceID: resourceID, senderID: fields.senderID))
      case "docChangeReturnOps":
        return .docChangeReturnOps(
          DocChangeReturnOps(
            resourceID: resourceID, operation: try fields.operation(in: type)))
      default:
        guard let state = fields.initialState else { throw .missing("initialState", in: type) }
        guard let revision = fields.revision else { throw .missing("revision", in: type) }
        return .resourceConnectionConf(
          ResourceConnectionConf(
            resourceID: resourceID, initialState: state, revision: revision))
      }
    }
    return (messageID, decoded)
  }

  /// Appends the message as JSON.
  ///
  /// - Parameter senderID: names the server's process; clients ignore it.
  public func encode(senderID: String, messageID: String, into buffer: inout [UInt8]) {
    switch self {
    case .resourceConnectionConf(let message):
      Envelope.write(
        messageID: messageID, type: "resourceConnectionConf", sender: senderID, into: &buffer
      ) { data, buffer in
        data.field("resourceId", message.resourceID, &buffer)
        data.field("initialState", message.initialState, &buffer)
        data.field("revision", message.revision, &buffer)
      }
    case .docChangeReturnOps(let message):
      Envelope.write(
        messageID: messageID, type: "docChangeReturnOps", sender: senderID, into: &buffer
      ) { data, buffer in
        data.field("resourceId", message.resourceID, &buffer)
        WhalerFields.write(message.operation, &data, &buffer)
      }
    case .resourceUpdate(let message):
      Envelope.write(
        messageID: messageID, type: "resourceUpdate", sender: senderID, into: &buffer,
        data: message.encode)
    case .unknown: break
    }
  }
}

/// The fields of the Whaler messages, and their form of an operation: two arrays of one length,
/// `n` with lengths and `s` with texts, where an `n` of 0 inserts the text beside it.
private struct WhalerFields {
  var resourceID: String?
  var initialState: String?
  var senderID: String?
  var revision: Int?
  var numbers: [Int]?
  var texts: [String]?

  mutating func read(_ key: String, _ reader: inout JSONReader) throws(JSONError) {
    switch key {
    case "resourceId": resourceID = try reader.string()
    case "initialState": initialState = try reader.string()
    case "senderId": senderID = try reader.optionalString()
    case "rev", "revision": revision = try reader.integer()
    case "n": numbers = try reader.list { reader throws(JSONError) in try reader.integer() }
    case "s": texts = try reader.list { reader throws(JSONError) in try reader.string() }
    default: try reader.skipValue()
    }
  }

  func resource(in type: String) throws(MessageError) -> String {
    guard let resourceID else { throw .missing("resourceId", in: type) }
    return resourceID
  }

  func operation(in type: String) throws(MessageError) -> TextOperation {
    guard let numbers else { throw .missing("n", in: type) }
    guard let texts else { throw .missing("s", in: type) }
    guard numbers.count == texts.count else {
      throw MessageError(
        .badOperation,
        "\(type): n has \(numbers.count) elements and s has \(texts.count); send one for one")
    }
    var operation = TextOperation(reservingComponents: numbers.count)
    var length = 0
    for (number, text) in zip(numbers, texts) {
      length += number.magnitude > UInt(TextOperation.lengthMax) ? 1 << 40 : abs(number)
      guard length <= TextOperation.lengthMax else {
        throw MessageError(.badOperation, "\(type): n is longer than any document")
      }
      if number > 0 {
        operation.retain(number)
      } else if number < 0 {
        operation.delete(-number)
      } else {
        operation.insert(text)
      }
    }
    return operation
  }

  static func write(
    _ operation: TextOperation, _ data: inout JSONWriter.Object, _ buffer: inout [UInt8]
  ) {
    var parts: [(number: Int, text: String)] = operation.components.map { component in
      switch component {
      case .retain(let count): (count, "")
      case .delete(let count): (-count, "")
      case .insert(let text): (0, text)
      }
    }
    // Never an empty array: it would erase what a client of this family has pending.
    if parts.isEmpty { parts.append((0, "")) }
    data.key("n", &buffer)
    JSONWriter.array(parts, &buffer) { JSONWriter.integer($0.number, &$1) }
    data.key("s", &buffer)
    JSONWriter.array(parts, &buffer) { JSONWriter.string($0.text, &$1) }
  }
}
