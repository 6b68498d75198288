package import ParleyGatewayPorts

/// Metrics of the store's thread.
package struct StoreMetrics: Sendable {
  /// Requests waiting in the queue.
  package var queued = 0
  /// Processed batches; each is one transaction, with one sync if it writes.
  package var batches = 0
  /// Processed requests.
  package var requests = 0
  /// Requests that failed.
  package var failures = 0
  /// Time from taking a batch until it is written and synced.
  package var batch = Histogram()
  /// Reads waiting in the queue of the reading thread.
  package var readsQueued = 0
  /// Reads processed by the reading thread.
  package var reads = 0
  /// Time from taking a read until it is done, on the reading thread.
  package var read = Histogram()
  /// The store's durability, and the number of its reconnects.
  package var state = StoreState()
  /// Stored snapshots of texts that the reading thread folded.
  package var folds = 0
}

extension StoreReply {
  /// Whether the request failed; cancelled requests do not count.
  var isFailure: Bool { failure.map { $0 != .cancelled } ?? false }
}
