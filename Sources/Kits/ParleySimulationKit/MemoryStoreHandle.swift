public import ParleyGatewayPorts

/// A node's handle on a memory store that several nodes share.
public final class MemoryStoreHandle: DocumentStore {
  /// The store, which all handles share.
  public let store: MemoryStore
  /// The number of next batches that succeed, but whose replies are lost.
  public var answersToLose = 0
  /// Whether the node is disconnected from the store, so that every request fails.
  public var isCut = false

  /// Whether the store is shared.
  public var isShared: Bool { store.isShared }

  /// Creates a connected handle.
  public init(_ store: MemoryStore) { self.store = store }

  /// Performs a batch of requests. The reply may be lost.
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
