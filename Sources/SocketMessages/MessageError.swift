import ParleyJSON
import OTCore

/// The reason why a message could not be read. It names the position and what was expected, but
/// never contains the received bytes.
public struct MessageError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The error's code.
  public var code: ErrorCode
  /// The message's id, if it could be read.
  public var messageID: String?
  /// The description for people; empty in a browser's program.
  public var description: String
  /// The rejected change, if its document and number could be read.
  public var change: RejectedChange?

  /// The document and number of a change that is rejected before it reaches the document.
  public struct RejectedChange: Sendable, Equatable {
    /// The document.
    public var documentID: String
    /// The author's number for the change.
    public var sequence: Int

    /// Creates a rejected change.
    public init(documentID: String, sequence: Int) {
      self.documentID = documentID
      self.sequence = sequence
    }
  }

  init(_ code: ErrorCode, _ description: String) {
    self.code = code
    self.description = description
  }

  /// - Parameters:
  ///   - type: The type of the message that was read, or "envelope".
  ///   - field: The field in which the error occurred.
  init(_ error: JSONError, in type: String, field: String?) {
    #if hasFeature(Embedded)
      // A browser's program acts on the code alone, and is smaller without the descriptions.
      switch error {
      case .malformed, .tooDeep, .wrongType, .missing, .wrongValue: self.init(.badMessage, "")
      case .tooLong: self.init(.badOperation, "")
      case .tooManyComponents, .tooManyValues: self.init(.tooLarge, "")
      }
    #else
      let place = field.map { "\(type), field \($0)" } ?? type
      switch error {
      case .malformed(let offset):
        self.init(
          .badMessage, "the message is not valid JSON at byte \(offset); send a JSON object")
      case .tooDeep(let offset):
        self.init(
          .badMessage,
          "objects and arrays may be nested \(JSONReader.depthMax) levels deep; "
            + "a deeper one begins at byte \(offset)")
      case .wrongType(let expected, let offset):
        self.init(.badMessage, "\(place): expected \(expected) at byte \(offset)")
      case .missing(let inner):
        self.init(
          .badMessage, "\(type): the field \(field.map { "\($0)." } ?? "")\(inner) is missing")
      case .wrongValue(let inner, let expected):
        self.init(
          .badMessage,
          "\(type), field \(field.map { "\($0)." } ?? "")\(inner): expected \(expected)")
      case .tooLong(let offset):
        self.init(
          .badOperation,
          "\(place): an operation spans at most \(TextOperation.lengthMax) scalars; "
            + "this one exceeds that at byte \(offset)")
      case .tooManyValues(let valuesMax):
        self.init(
          .tooLarge,
          "\(place): a message may contain at most \(valuesMax) values; "
            + "send them in smaller pieces")
      case .tooManyComponents(let componentsMax):
        self.init(
          .tooLarge,
          "\(place): an operation may have \(componentsMax) components, this one has more; "
            + "send it in smaller pieces")
      }
    #endif
  }
}
