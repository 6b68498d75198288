import Gateway
import GatewayPorts
import HTTPClientCurl
import Locks

/// The one way from other threads to the thread that calls services.
final class HookInbox: Sendable {
  /// A message to the thread.
  enum Letter: Sendable {
    /// The state of queues has changed.
    case changed([OutboxTarget: OutboxStanding])
    /// Events were taken.
    case taken(OutboxTarget, OutboxReply)
    /// Events were done with.
    case settled(OutboxTarget, OutboxReply)
    /// Followers were found, `nil` if they could not be.
    case resolved([OutboxDraft]?)
  }

  private struct State {
    var letters: [Letter] = []
    var metrics = HookMetrics()
    var isStopping = false
    var hasStopped = false
  }

  private let state = Monitor(State())
  /// Ends the thread's waits.
  let waker = CurlClient.Waker()

  /// Tells the thread something.
  func put(_ letter: Letter) {
    state.withLock { $0.letters.append(letter) }
    waker.wake()
  }

  /// Returns the messages since the last call; `nil` when the thread is to end.
  func take() -> [Letter]? {
    state.withLock { state in
      defer { state.letters = [] }
      return state.isStopping ? nil : state.letters
    }
  }

  /// The thread's metrics.
  var metrics: HookMetrics { state.withLock { $0.metrics } }

  func count(_ body: (inout HookMetrics) -> Void) { state.withLock { body(&$0.metrics) } }

  /// Asks the thread to end, and returns when it has.
  func stop() {
    state.withLock { $0.isStopping = true }
    waker.wake()
    state.wait { $0.hasStopped }
  }

  func hasStopped() {
    state.change { $0.hasStopped = true }
  }
}
