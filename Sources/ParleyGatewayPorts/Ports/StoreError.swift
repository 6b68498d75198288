/// The reason why the store did not do a request.
public enum StoreError: Error, Sendable, Equatable {
  /// No document has this name.
  case unknownDocument
  /// The name is taken.
  case exists
  /// The entry does not follow the head: a revision beyond the next one, another epoch or chain, or an
  /// operation that starts from another length.
  case notNext(headRevision: Int)
  /// The requested entries or text have been compacted away; the oldest that remains is named.
  case compacted(oldestRevision: Int)
  /// The disk is full, or could not be written or synced. Trying again later may succeed.
  case unavailable(String)
  /// The store refuses this request, whatever others it accepts.
  case refused(String)
  /// Another node has kept answers to requests of this work, at these places among the answers that were to
  /// be kept. Those requests are done, and nothing of this work is.
  case answeredElsewhere([Int])
  /// The answer was lost: the work is done, or not, or may yet be. A read shows it, or a retry if that is
  /// harmless.
  case unknownOutcome(String)
  /// Nothing was appended, for these clients have begun newer sessions since they sent their changes.
  case fenced([String])
  /// The note is in no folder in which the request may be done, or there is no such note.
  case outOfReach
  /// The data read differs from the data once written.
  case damaged(String)
  /// The read was not done: its client has gone.
  case cancelled

  /// Whether the same request may succeed later.
  public var isRetryable: Bool {
    switch self {
    case .unavailable, .refused, .answeredElsewhere, .unknownOutcome, .cancelled: true
    case .unknownDocument, .exists, .notNext, .compacted, .fenced, .outOfReach, .damaged: false
    }
  }
}
