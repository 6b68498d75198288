/// The reason why the store did not perform a request.
public enum StoreError: Error, Sendable, Equatable {
  /// No document has this id.
  case unknownDocument
  /// The id is in use.
  case exists
  /// The entry does not follow the head: its revision is beyond the next one, its epoch or chain
  /// differs, or its operation has another base length.
  case notNext(headRevision: Int)
  /// The requested entries or text were compacted away. Contains the oldest remaining revision.
  case compacted(oldestRevision: Int)
  /// The disk is full, or writing or syncing failed. A retry may succeed.
  case unavailable(String)
  /// The store rejects this request, but accepts others.
  case refused(String)
  /// Another node has stored answers to idempotent requests of this work, at these indices of the
  /// answers to be stored. Those requests are done; this work is not.
  case answeredElsewhere([Int])
  /// The reply was lost: the work is done, is not done, or will be done later. A read shows the
  /// outcome, as does a retry of an idempotent request.
  case unknownOutcome(String)
  /// Nothing was appended: these clients have started newer sessions since sending their changes.
  case fenced([String])
  /// The note does not exist, or is in a folder in which the request is not allowed.
  case outOfReach
  /// The stored data is damaged: it differs from the data that was written.
  case damaged(String)
  /// The read was cancelled because its client has disconnected.
  case cancelled

  /// Whether the same request may succeed later.
  public var isRetryable: Bool {
    switch self {
    case .unavailable, .refused, .answeredElsewhere, .unknownOutcome, .cancelled: true
    case .unknownDocument, .exists, .notNext, .compacted, .fenced, .outOfReach, .damaged: false
    }
  }
}
