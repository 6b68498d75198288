import GatewayPorts
import SocketMessages

/// Bounding what waits for the store.
///
/// A disk that hangs stops nothing but the store's thread: clients go on, and what they send would
/// gather without end. So each change, publication and other request is counted until the store has
/// answered; at the limit new ones are refused with `busy`, and nothing that was taken is touched.
extension Gateway {
  /// Requests and bytes that wait for the store, and how long the oldest has waited.
  package var storeBacklog: (requests: Int, bytes: Int, waitMilliseconds: Int64) {
    (backlog.requests, backlog.bytes, backlog.wait(at: surroundings.clock.uptime))
  }

  /// Why changes are not taken because of what waits for the store; `nil` if they are.
  var backlogProblem: String? {
    let wait = backlog.wait(at: surroundings.clock.uptime)
    if wait >= settings.storeStallMilliseconds {
      return "the store has not answered for \(wait / 1_000) s: look at the disk; reading goes on"
    }
    return backlog.isFull ? "too much waits for the store: look at the disk" : nil
  }
}

extension Part {
  /// Notes that somebody was refused because too much waits for the store.
  func countRefusalByBacklog() { metrics.limited["storeQueueMax", default: 0] += 1 }

  /// Refuses a request that would change something.
  func refuseForBacklog(_ request: RequestID) {
    countRefusalByBacklog()
    board.respond(request, .busy(StoreBacklog.words))
  }
}

extension StoreBacklog {
  /// The words of a refusal.
  static let words = "too much waits for the disk; send it again later"
}
