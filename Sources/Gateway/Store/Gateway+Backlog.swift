import GatewayPorts
import OTCore
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

  /// The words of a refusal.
  static let backlogWords = "too much waits for the disk; send it again later"

  /// Why changes are not taken because of what waits for the store; `nil` if they are.
  var backlogProblem: String? {
    let wait = backlog.wait(at: surroundings.clock.uptime)
    if wait >= settings.storeStallMilliseconds {
      return "the store has not answered for \(wait / 1_000) s: look at the disk; reading goes on"
    }
    return backlog.isFull ? "too much waits for the store: look at the disk" : nil
  }

  /// Notes that somebody was refused because too much waits for the store.
  func countRefusalByBacklog() { metrics.limited["storeQueueMax", default: 0] += 1 }

  // MARK: Changes

  /// A change has been taken.
  func took(_ operation: TextOperation, in room: DocumentRoom) {
    let weight = 64 + operation.insertedBytes + 8 * operation.componentCount
    room.weights.append(weight)
    backlog.add(bytes: weight)
  }

  /// The oldest changes of a document have been written, or given up.
  func settled(_ count: Int, in room: DocumentRoom) {
    let weights = room.weights.prefix(count)
    backlog.remove(weights.count, bytes: weights.reduce(0, +))
    room.weights.removeFirst(weights.count)
  }

  /// All changes of a document that were not written are given up.
  func settledAll(in room: DocumentRoom) { settled(room.weights.count, in: room) }

  /// Whether the client's change may be taken. One that is here already is answered in any case.
  func hasRoom(for submission: LiveDocument.Submission, in room: DocumentRoom) -> Bool {
    guard backlog.isFull else { return true }
    guard submission.isResendable, let live = room.live else { return false }
    return submission.sequence < live.nextSequence(of: submission.client)
  }

  /// Refuses a change, to be sent again later.
  func refuseForBacklog(
    _ submission: LiveDocument.Submission, messageID: String, _ subscription: Subscription
  ) {
    countRefusalByBacklog()
    subscription.connection.dialect.putOff(
      submission.sequence, of: subscription.room.id, ref: messageID, words: Self.backlogWords,
      to: subscription.connection)
  }

  // MARK: Other requests

  /// Refuses a request that would change something.
  func refuseForBacklog(_ request: RequestID) {
    countRefusalByBacklog()
    respond(request, .busy(Self.backlogWords))
  }
}

extension Response {
  /// 503, with when to try again.
  static func busy(_ message: String) -> Response {
    .tooMany(.problem(503, .busy, message), retryAfter: nil)
  }
}
