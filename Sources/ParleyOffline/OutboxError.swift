/// The reason why a change was not added to an outbox, or a decision was rejected.
public enum OutboxError: Error, Sendable, Hashable {
  /// The outbox is full; contains the number of waiting changes and of their bytes.
  case full(entries: Int, bytes: Int)
  /// The body is not JSON, or the body of a create or an update is not a JSON object.
  case notJSON
  /// The resource has a waiting delete.
  case deleted
  /// The resource has waiting changes, so it cannot be created.
  case exists
  /// The change refers to a temporary id without a waiting create or a known server's id.
  case unknownReference(ResourceID)
  /// No undecided change waits under this key.
  case notUndecided
  /// The device's storage failed; nothing was added.
  case storage(OfflineStoreError)
}

extension OutboxError: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .full(let entries, let bytes):
      "the outbox is full: \(entries) changes of \(bytes) bytes wait for the server; connect, or decide on those that it refuses"
    case .notJSON: "expected a JSON object as the body, nested at most 24 deep; send one"
    case .deleted: "the thing is to be deleted already; do not change it"
    case .exists: "the thing is to be created already; save it as a change"
    case .unknownReference(let id):
      "nothing creates \(id); create it first, or take the server's id"
    case .notUndecided: "no conflict or refusal waits under this key; look at the problems again"
    case .storage(let error): "\(error)"
    }
  }
}
