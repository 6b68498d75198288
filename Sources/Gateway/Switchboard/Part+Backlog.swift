import ParleyGatewayPorts
import SocketMessages

/// Bounding what waits for the store.
///
/// A disk that hangs stops nothing but the store's thread: clients continue, and what they send would
/// gather without end. So each change, publication and other request is counted until the store has
/// answered; at the limit new ones are refused with `busy`, and nothing that was taken is touched.
extension Part {
  /// Notes that a request was refused because too much waits for the store.
  func countRefusalByBacklog() { metrics.limited["storeQueueMax", default: 0] += 1 }

  /// Refuses a request that would change something.
  func refuseForBacklog(_ request: RequestID?) {
    countRefusalByBacklog()
    respond(request, .busy(StoreBacklog.words))
  }
}

extension StoreBacklog {
  /// The words of a refusal.
  static let words = "too many requests wait for the disk; resend later"
}
