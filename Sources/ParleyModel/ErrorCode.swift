/// The code of an error, for programs.
public enum ErrorCode: String, Sendable, CaseIterable {
  /// The bytes are not a message. The error's text says where, and what was expected.
  case badMessage
  /// The message's type is unknown.
  case unknownType
  /// The message is not allowed now, or not for this client.
  case notAllowed
  /// The token is missing or invalid.
  case unauthorised
  /// No document has this id.
  case unknownDocument
  /// The client has not joined the document.
  case notJoined
  /// The operation is malformed, or does not cover the document.
  case badOperation
  /// The operation's base length differs from the document's length at the base revision.
  case lengthMismatch
  /// The base revision is beyond the head.
  case futureRevision
  /// The base revision is negative.
  case negativeRevision
  /// The changes since the base revision are no longer stored.
  case historyGone
  /// The document's epoch has changed, so its history is another one.
  case epochChanged
  /// The document or the room has changed since the named revision or position.
  case outdated
  #if !hasFeature(Embedded)
    /// A value of the room has changed since the named offset.
    case conflict
    /// The room has no value of this name.
    case unknownValue
  #endif
  /// The sequence was already used for a different change.
  case sequenceReused
  /// A sequence number was skipped.
  case sequenceGap
  /// The key was already used for a different publication or request.
  case keyReused
  /// Another note has this id.
  case idTaken
  /// This server does not offer the feature.
  case notOffered
  /// The publication does not exist or is no longer stored.
  case unknownPublication
  /// The connection does not exist or has ended.
  case unknownConnection
  /// A size limit is exceeded.
  case tooLarge
  /// A limit on a number is exceeded.
  case tooMany
  /// The rate limit is exceeded. The error contains the time after which to retry.
  case tooFast
  /// The server is busy; retry in a moment.
  case busy
  /// The store cannot write or read at the moment.
  case unavailable
  /// The stored document is damaged.
  case damaged

  /// Whether the same message may succeed later.
  public var isRetryable: Bool {
    switch self {
    case .busy, .unavailable, .tooFast: true
    #if !hasFeature(Embedded)
      case .conflict, .unknownValue: false
    #endif
    case .badMessage, .unknownType, .notAllowed, .unauthorised, .unknownDocument, .notJoined,
      .badOperation, .lengthMismatch, .futureRevision, .negativeRevision, .historyGone,
      .epochChanged, .outdated, .sequenceReused, .sequenceGap, .keyReused, .idTaken, .notOffered,
      .unknownPublication, .unknownConnection, .tooLarge, .tooMany, .damaged:
      false
    }
  }
}
