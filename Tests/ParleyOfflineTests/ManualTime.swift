import ParleyClient
import Synchronization

/// A clock that moves only when a test moves it.
final class ManualTime: ClientTime {
  private struct State {
    var now: Int64 = 0
    var waiting: [(time: Int64, feed: Feed<Void>)] = []
  }

  private let state = Mutex(State())

  var now: Int64 { state.withLock { $0.now } }

  func wait(until time: Int64) async {
    let feed = Feed<Void>(bound: 1)
    state.withLock { state in
      if state.now >= time { feed.finish() } else { state.waiting.append((time, feed)) }
    }
    _ = await feed.next()
  }

  /// Returns once a caller waits for a time.
  func waits() async {
    while state.withLock({ $0.waiting.isEmpty }) { await Task.yield() }
  }

  func pass(_ milliseconds: Int64) {
    state.withLock { state in
      state.now += milliseconds
      for waiter in state.waiting where waiter.time <= state.now { waiter.feed.finish() }
      state.waiting.removeAll { $0.time <= state.now }
    }
  }
}
