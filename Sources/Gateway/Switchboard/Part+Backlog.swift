import ParleyGatewayPorts
import SocketMessages

/// Limiting the requests that wait for the store.
///
/// A hanging disk stops only the store's thread: clients continue to send, and their requests would
/// accumulate without bound. So each change, publication and other request is counted until the
/// store has answered. At the limit, only new requests are refused, with `busy`.
extension Part {
  /// Counts a request that was refused because the backlog is full.
  func countRefusalByBacklog() { metrics.limited["storeQueueMax", default: 0] += 1 }

  /// Refuses a write while the store's backlog is full.
  func refuseIfFull() throws(Response) {
    guard backlog.isFull else { return }
    countRefusalByBacklog()
    throw .busy(StoreBacklog.words)
  }

  /// Refuses a request that would write.
  func refuseForBacklog(_ request: RequestID?) {
    countRefusalByBacklog()
    respond(request, .busy(StoreBacklog.words))
  }
}

extension StoreBacklog {
  /// The message of a refusal.
  static let words = "too many requests wait for the disk; resend later"
}
