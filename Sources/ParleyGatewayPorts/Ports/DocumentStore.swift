/// A store of documents, of which each handle has one owner and one thread, and works batch by batch.
///
/// Several handles, of several nodes, may have one log in common (``isShared``). Then the log decides: an
/// append compares epoch, revision and chain, and the node that comes second receives what it missed.
///
/// `perform` returns after the batch is durable: everything it wrote has been synced to disk. If the commit
/// fails, every writing request of the batch is answered `failed(.unavailable)` and none of them has
/// happened. If the answer to the commit was lost, it is `failed(.unknownOutcome)`, and all of them have
/// happened, or will yet, or none. A request that fails on its own (`unknownDocument`, `notNext`, …) does
/// not affect the rest of its batch.
public protocol DocumentStore: AnyObject {
  /// Does a batch of work and returns a reply for each request, in order.
  func perform(_ batch: [StoreRequest]) -> [StoreReply]

  /// Whether other nodes may append to the same logs. Then documents come with their chains, appends bring
  /// conditions, and `news`, `heads` and `fence` are answered.
  var isShared: Bool { get }

  /// Does a piece of housekeeping that no caller waits for: snapshots, checkpoints, the rest of what was
  /// deleted. To be called when no batch is waiting.
  ///
  /// - Returns: Whether there is more to do.
  func maintain() -> Bool
}

extension DocumentStore {
  /// A store with one owner.
  public var isShared: Bool { false }

  /// Does nothing.
  public func maintain() -> Bool { false }
}
