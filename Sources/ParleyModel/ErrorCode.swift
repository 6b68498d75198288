/// The code of an error, on which programs act.
public enum ErrorCode: String, Sendable, CaseIterable {
  /// The bytes are not a message; the sentence says where and what was expected.
  case badMessage
  /// No message has this type.
  case unknownType
  /// This message is not allowed now, or not to this client.
  case notAllowed
  /// No or no valid token.
  case unauthorised
  /// No document has this name.
  case unknownDocument
  /// The document must be joined first.
  case notJoined
  /// The operation is malformed, or does not cover the document.
  case badOperation
  /// The operation starts from another length than the document has at that revision.
  case lengthMismatch
  /// The base revision lies ahead of the head.
  case futureRevision
  /// The base revision is below zero.
  case negativeRevision
  /// The changes since the base revision are no longer kept.
  case historyGone
  /// The document has another history now.
  case epochChanged
  /// The document has changed since the revision that was named.
  case outdated
  /// The sequence was used for another change.
  case sequenceReused
  /// A sequence was left out.
  case sequenceGap
  /// The key was used for another publication, or another request.
  case keyReused
  /// Another note has this id.
  case idTaken
  /// This server does not offer it.
  case notOffered
  /// No publication has this offset, or it is no longer kept.
  case unknownPublication
  /// No connection has this id, or it has ended.
  case unknownConnection
  /// Something is over its limit in size.
  case tooLarge
  /// Something is over its limit in number.
  case tooMany
  /// The rate limit is exceeded; the error says after how long to retry.
  case tooFast
  /// Try again in a moment.
  case busy
  /// The store cannot write or read now.
  case unavailable
  /// The stored document is damaged.
  case damaged

  /// Whether the same message may succeed later.
  public var isRetryable: Bool {
    switch self {
    case .busy, .unavailable, .tooFast: true
    case .badMessage, .unknownType, .notAllowed, .unauthorised, .unknownDocument, .notJoined,
      .badOperation, .lengthMismatch, .futureRevision, .negativeRevision, .historyGone,
      .epochChanged, .outdated, .sequenceReused, .sequenceGap, .keyReused, .idTaken, .notOffered,
      .unknownPublication, .unknownConnection, .tooLarge, .tooMany, .damaged:
      false
    }
  }
}
