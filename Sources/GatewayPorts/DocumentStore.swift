/// A store of documents: one owner, one thread, batch by batch.
///
/// `perform` returns after the batch is durable: everything it wrote has been synced to disk. If
/// the commit fails, every writing request of the batch is answered `failed(.unavailable)` and
/// none of them has happened. A request that fails on its own (`unknownDocument`, `notNext`, …)
/// leaves the rest of its batch alone.
public protocol DocumentStore: AnyObject {
  /// Does a batch of work and returns a reply for each request, in order.
  func perform(_ batch: [StoreRequest]) -> [StoreReply]

  /// Does a piece of housekeeping that nobody waits for: snapshots, checkpoints, the rest of what
  /// was deleted. To be called when no batch is waiting.
  ///
  /// - Returns: Whether there is more to do.
  func maintain() -> Bool
}

extension DocumentStore {
  /// Does nothing.
  public func maintain() -> Bool { false }
}
