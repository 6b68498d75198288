package import GatewayPorts

/// Metrics of the store's thread.
package struct StoreMetrics: Sendable {
  /// Requests that wait to be taken.
  package var queued = 0
  /// Batches done; each is one transaction and one sync if it writes.
  package var batches = 0
  /// Requests done.
  package var requests = 0
  /// Requests that failed.
  package var failures = 0
  /// From taking a batch until all of it is written and synced.
  package var batch = Histogram()
  /// Reads beside the commits that wait to be taken.
  package var readsQueued = 0
  /// Reads beside the commits that were done.
  package var reads = 0
  /// From taking such a read until it is done.
  package var read = Histogram()
  /// The store's promise, and the number of its reconnects.
  package var state = StoreState()
  /// Times at which texts were folded beside the commits, and kept.
  package var folds = 0
}

extension StoreReply {
  /// Whether the store could not do what it was asked.
  var isFailure: Bool { failure.map { $0 != .cancelled } ?? false }
}
