import Gateway
import ParleyGatewayPorts
import ParleyHTTPClientCurl
import ParleyLocks

/// The queue of messages to the thread that calls services.
final class WebhookInbox: Sendable {
  /// A message to the thread.
  enum Item: Sendable {
    /// The state of some queues has changed.
    case changed([OutboxTarget: OutboxQueueState])
    /// The store has replied to a request for events.
    case taken(OutboxTarget, OutboxReply)
    /// The store has replied to a request to remove events.
    case settled(OutboxTarget, OutboxReply)
    /// The notifications for a publication's followers; `nil` if the followers could not be found.
    case resolved([OutboxDraft]?)
  }

  private struct State {
    var items: [Item] = []
    var metrics = HookMetrics()
    var isStopping = false
    var hasStopped = false
  }

  private let state = Monitor(State())
  /// Interrupts the thread's waits.
  let waker = CurlClient.Waker()

  /// Adds a message and wakes the thread.
  func put(_ item: Item) {
    state.withLock { $0.items.append(item) }
    waker.wake()
  }

  /// Returns the messages since the last call; `nil` if the thread must end.
  func take() -> [Item]? {
    state.withLock { state in
      defer { state.items = [] }
      return state.isStopping ? nil : state.items
    }
  }

  /// The metrics of calls and queues.
  var metrics: HookMetrics { state.withLock { $0.metrics } }

  func count(_ body: (inout HookMetrics) -> Void) { state.withLock { body(&$0.metrics) } }

  /// Stops the thread, and returns when it has ended.
  func stop() {
    state.withLock { $0.isStopping = true }
    waker.wake()
    state.wait { $0.hasStopped }
  }

  func hasStopped() {
    state.change { $0.hasStopped = true }
  }
}
