import ParleyJSON
public import OTCore

/// A message of a client of the Whaler family.
public enum WhalerClientMessage: Sendable, Equatable {
  /// A request to open a resource.
  public struct ResourceConnection: Sendable, Equatable {
    /// The resource.
    public var resourceID: String

    /// Creates a message.
    public init(resourceID: String) { self.resourceID = resourceID }
  }

  /// A change of a resource's text.
  public struct DocChange: Sendable, Equatable {
    /// The resource.
    public var resourceID: String
    /// The revision, as the number of frames that the client has counted.
    public var revision: Int
    /// The operation, on the text at `revision`.
    public var operation: TextOperation

    /// Creates a message.
    public init(resourceID: String, revision: Int, operation: TextOperation) {
      self.resourceID = resourceID
      self.revision = revision
      self.operation = operation
    }
  }

  /// The message types, by their names on the wire.
  package enum Kind: String, Sendable, CaseIterable {
    case resourceConnection, docChange
  }

  case resourceConnection(ResourceConnection)
  case docChange(DocChange)
  /// A type that this version does not know.
  case unknown(type: String)

  /// Reads a message.
  ///
  /// - Parameter operationComponentsMax: Maximum components of a change's operation. Reading stops
  ///   at the first one beyond it.
  /// - Throws: `MessageError` for anything that is not a message; `tooLarge` for an operation of
  ///   too many components.
  public static func decode(
    _ message: UnsafeRawBufferPointer, operationComponentsMax: Int = .max
  ) throws(MessageError) -> (messageID: String, message: WhalerClientMessage) {
    var envelope = try Envelope(message, operationComponentsMax: operationComponentsMax)
    return (
      envelope.messageID.string,
      try decode(&envelope, operationComponentsMax: operationComponentsMax)
    )
  }

  private static func decode(
    _ envelope: inout Envelope, operationComponentsMax: Int
  ) throws(MessageError) -> WhalerClientMessage {
    switch envelope.type {
    case "docChange": .docChange(try DocChange(envelope, componentsMax: operationComponentsMax))
    case "resourceConnection": .resourceConnection(try envelope.read())
    default: .unknown(type: envelope.type.string)
    }
  }

  /// Appends the message as JSON.
  public func encode(messageID: String, into buffer: inout [UInt8]) {
    switch self {
    case .resourceConnection(let message):
      Envelope.write(messageID: messageID, type: "resourceConnection", into: &buffer) { fields in
        fields.show(message)
      }
    case .docChange(let message):
      Envelope.write(messageID: messageID, type: "docChange", into: &buffer) { data, buffer in
        data.field("resourceId", message.resourceID, &buffer)
        data.field("rev", message.revision, &buffer)
        WhalerArrays.write(message.operation, &data, &buffer)
      }
    case .unknown: break
    }
  }
}

extension WhalerClientMessage.DocChange {
  fileprivate init(_ envelope: Envelope, componentsMax: Int) throws(MessageError) {
    (resourceID, revision, operation) = try envelope.change(
      hasRevision: true, componentsMax: componentsMax)
  }
}

extension WhalerClientMessage.ResourceConnection: MessageObject {
  static var blank: Self { Self(resourceID: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("resourceId", &resourceID)
  }
}
