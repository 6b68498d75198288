package import Gateway
import Glibc
package import GatewayPorts

/// The thread that owns the store.
///
/// Requests queue up while a batch is being written and synced; the next batch takes all of them
/// into one commit. So the busier the gateway, the more changes share one sync.
package final class StoreThread: Sendable {
  /// What came back for one request.
  package struct Completion: Sendable {
    package let ticket: StoreTicket
    package let reply: StoreReply
  }

  private struct State {
    var requests: [(ticket: StoreTicket, request: StoreRequest)] = []
    var completions: [Completion] = []
    var metrics = StoreMetrics()
    var isStopping = false
    var hasStopped = false
  }

  private let state = Monitor(State())
  private let wake: @Sendable () -> Void

  /// Starts the thread. `wake` is called on it when completions are there to be taken.
  package init(store: sending any DocumentStore, wake: @escaping @Sendable () -> Void) {
    self.wake = wake
    let handover = Handover(store)
    Thread.start { [state, wake] in
      Self.run(store: handover.take(), state: state, wake: wake)
    }
  }

  /// Queues a request. Never blocks on the disk.
  package func submit(_ ticket: StoreTicket, _ request: StoreRequest) {
    state.withLock { $0.requests.append((ticket, request)) }
    state.signal()
  }

  /// Takes the completions that have come in since the last call.
  package func takeCompletions() -> [Completion] {
    state.withLock { state in
      defer { state.completions = [] }
      return state.completions
    }
  }

  /// What has been counted since the start.
  package var metrics: StoreMetrics {
    state.withLock { state in
      var metrics = state.metrics
      metrics.queued = state.requests.count
      return metrics
    }
  }

  /// Writes what is queued, then ends the thread; returns when it has ended.
  package func stop() {
    state.withLock { $0.isStopping = true }
    state.signal()
    state.wait(until: { $0.hasStopped }, then: { _ in })
  }

  private static func run(
    store: any DocumentStore, state: Monitor<State>, wake: @Sendable () -> Void
  ) {
    // Whether the store has housekeeping to do as soon as nobody waits.
    var hasMore = true
    while true {
      let batch = state.wait(
        until: { !$0.requests.isEmpty || $0.isStopping || hasMore },
        then: { state in
          defer { state.requests = [] }
          return state.requests
        })
      if batch.isEmpty {
        if state.withLock({ $0.isStopping }) { break }
        hasMore = store.maintain()
        continue
      }
      hasMore = true
      let begin = SystemClock().microseconds
      let replies = store.perform(batch.map(\.request))
      let duration = SystemClock().microseconds - begin
      state.withLock { state in
        state.metrics.batches += 1
        state.metrics.requests += batch.count
        state.metrics.failures += replies.count(where: \.isFailure)
        state.metrics.batch.record(duration)
        for (item, reply) in zip(batch, replies) {
          state.completions.append(Completion(ticket: item.ticket, reply: reply))
        }
      }
      wake()
    }
    state.withLock { $0.hasStopped = true }
    state.signal()
  }
}
