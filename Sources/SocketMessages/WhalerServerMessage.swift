import ParleyJSON
public import OTCore

/// A message of the server to a client of the Whaler family.
public enum WhalerServerMessage: Sendable, Equatable {
  /// The state of a resource: the reply to `resourceConnection`, or a push to start over.
  public struct ResourceConnectionConf: Sendable, Equatable {
    /// The resource.
    public var resourceID: String
    /// The whole text.
    public var initialState: String
    /// The revision of the text.
    public var revision: Int

    /// Creates a message.
    public init(resourceID: String, initialState: String, revision: Int) {
      self.resourceID = resourceID
      self.initialState = initialState
      self.revision = revision
    }
  }

  /// A push with an operation, for every follower, its author included.
  public struct DocChangeReturnOps: Sendable, Equatable {
    /// The resource.
    public var resourceID: String
    /// The operation, on the previous revision.
    public var operation: TextOperation

    /// Creates a message.
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
    var envelope = try Envelope(message)
    return (envelope.messageID.string, try decode(&envelope))
  }

  private static func decode(
    _ envelope: inout Envelope
  ) throws(MessageError) -> WhalerServerMessage {
    switch envelope.type {
    case "docChangeReturnOps": .docChangeReturnOps(try DocChangeReturnOps(envelope))
    case "resourceConnectionConf": .resourceConnectionConf(try envelope.read())
    case "resourceUpdate": .resourceUpdate(try envelope.read())
    default: .unknown(type: envelope.type.string)
    }
  }

  /// Appends the message as JSON.
  ///
  /// - Parameter senderID: The id of the server's process; clients ignore it.
  public func encode(senderID: String, messageID: String, into buffer: inout [UInt8]) {
    switch self {
    case .resourceConnectionConf(let message):
      Envelope.write(
        messageID: messageID, type: "resourceConnectionConf", sender: senderID, into: &buffer
      ) { $0.fields(of: message, &$1) }
    case .docChangeReturnOps(let message):
      Envelope.write(
        messageID: messageID, type: "docChangeReturnOps", sender: senderID, into: &buffer
      ) { data, buffer in
        data.field("resourceId", message.resourceID, &buffer)
        WhalerArrays.write(message.operation, &data, &buffer)
      }
    case .resourceUpdate(let message):
      Envelope.write(
        messageID: messageID, type: "resourceUpdate", sender: senderID, into: &buffer
      ) { $0.fields(of: message, &$1) }
    case .unknown: break
    }
  }
}

extension WhalerServerMessage.DocChangeReturnOps {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    (resourceID, _, operation) = try envelope.change(hasRevision: false)
  }
}

extension WhalerServerMessage.ResourceConnectionConf: MessageObject {
  static var blank: Self { Self(resourceID: "", initialState: "", revision: 0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("resourceId", &resourceID)
    try fields.required("initialState", &initialState)
    try fields.required("revision", &revision)
  }
}
