public import ParleyGatewayPorts

/// A node's handle on a store in memory that several nodes share.
public final class MemoryStoreHandle: DocumentStore {
  /// The store, which all handles have in common.
  public let store: MemoryStore
  /// The number of coming batches that are done, and whose answers are lost.
  public var answersToLose = 0
  /// Whether the node has no line to the store: nothing that it asks for is done.
  public var isCut = false

  /// Whether its store is shared.
  public var isShared: Bool { store.isShared }

  /// Makes a handle.
  public init(_ store: MemoryStore) { self.store = store }

  /// Does a batch of work, and may lose the answer.
  public func perform(_ batch: [StoreRequest]) -> [StoreReply] {
    if isCut {
      return batch.map { _ in .failed(.unavailable("the store cannot be reached; try again")) }
    }
    let replies = store.perform(batch)
    guard answersToLose > 0, !batch.isEmpty else { return replies }
    answersToLose -= 1
    return batch.map { _ in .failed(.unknownOutcome("the line to the store broke")) }
  }
}
