/// Why a change was not added to an outbox, or a decision not taken.
public enum OutboxError: Error, Sendable, Hashable {
  /// The outbox is full: with the number of changes and of bytes that wait.
  case full(entries: Int, bytes: Int)
  /// The body of a create or an update has to be a JSON object, any other body JSON.
  case notJSON
  /// The thing is to be deleted already.
  case deleted
  /// The thing is to be created already.
  case exists
  /// A temporary id that nothing waiting creates, and that no server's id is known for.
  case unknownReference(ResourceID)
  /// Nothing undecided waits under this key.
  case notUndecided
  /// The device's storage does not take it; nothing was added.
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
