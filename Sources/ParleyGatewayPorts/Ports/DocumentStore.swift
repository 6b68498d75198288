/// A store of documents. A handle has one owner and one thread, and performs batches of requests.
///
/// Handles of several nodes may share one log (``isShared``). The log then decides about conflicts:
/// an append compares epoch, revision and chain, and a node that loses the race receives the
/// entries that it lacks.
///
/// `perform` returns after the batch is durable: all its changes are synced to disk. If the commit
/// fails, each writing request of the batch is answered `failed(.unavailable)`, and none of them is
/// applied. If the reply to the commit is lost, the answer is `failed(.unknownOutcome)`: all of
/// them are applied, now or later, or none. A request that fails by itself (`unknownDocument`,
/// `notNext`, …) does not affect the others of its batch.
public protocol DocumentStore: AnyObject {
  /// Performs a batch and returns a reply for each request, in order.
  func perform(_ batch: [StoreRequest]) -> [StoreReply]

  /// Whether other nodes may append to the same logs. If so, documents have chains, appends have
  /// conditions, and `news`, `heads` and `fence` are supported.
  var isShared: Bool { get }

  /// Performs one step of housekeeping that no caller waits for: snapshots, checkpoints, removal of
  /// deleted data. Call it when no batch is waiting.
  ///
  /// - Returns: Whether more housekeeping is due.
  func maintain() -> Bool
}

extension DocumentStore {
  /// The default: the store has one owner.
  public var isShared: Bool { false }

  /// Does nothing.
  public func maintain() -> Bool { false }
}
