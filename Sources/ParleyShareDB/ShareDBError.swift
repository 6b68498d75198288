/// An error in the form of ShareDB: a code that clients know, and a message.
public struct ShareDBError: Error, Sendable, Hashable {
  /// A code of ShareDB.
  public enum Code: String, Sendable {
    case badlyFormed = "ERR_MESSAGE_BADLY_FORMED"
    case operationBadlyFormed = "ERR_OT_OP_BADLY_FORMED"
    case unknownType = "ERR_DOC_TYPE_NOT_RECOGNIZED"
    case alreadyCreated = "ERR_DOC_ALREADY_CREATED"
    case missing = "ERR_DOC_DOES_NOT_EXIST"
    case rejected = "ERR_OP_SUBMIT_REJECTED"
    case readRejected = "ERR_SNAPSHOT_READS_REJECTED"
    case futureVersion = "ERR_OP_VERSION_NEWER_THAN_CURRENT_SNAPSHOT"
    case notImplemented = "ERR_DATABASE_METHOD_NOT_IMPLEMENTED"
    case presenceUnsupported = "ERR_TYPE_DOES_NOT_SUPPORT_PRESENCE"
    case unsupportedProtocol = "ERR_PROTOCOL_VERSION_NOT_SUPPORTED"
  }

  /// The code.
  public let code: Code
  /// The message, for people.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
