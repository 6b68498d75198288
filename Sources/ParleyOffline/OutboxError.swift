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
    case .deleted: "the resource is waiting to be deleted and cannot be changed"
    case .exists: "the resource is waiting to be created; save it as an update"
    case .unknownReference(let id):
      "no waiting change creates \(id); create it first, or use the server's id"
    case .notUndecided: "no undecided conflict or refusal has this key; read the problems again"
    case .storage(let error): "\(error)"
    }
  }
}
