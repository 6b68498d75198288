import GatewayPorts
import HTTPClientCurl
import Locks

/// The thread that asks the identity provider, for several sign-ins at once.
///
/// Each sign-in has a time limit for all its requests. At most ``jobsMax`` sign-ins are under way, and at most
/// ``jobsMaxOfStranger`` of one address.
final class ProviderThread: Sendable {
  /// A sign-in that waits for the provider.
  struct Job: Sendable {
    var request: RequestID
    var wish: ProviderExchange.Wish
    /// The browser's secret.
    var browser: String
    /// The unauthenticated client whose share of the jobs it takes; `nil` for an address without limits.
    var stranger: Stranger?
  }

  private struct State {
    var jobs: [Job] = []
    var shares = FairShares<Stranger>(capacity: ProviderThread.jobsMax)
    var isStopping = false
    var hasStopped = false
  }

  /// A sign-in under way.
  private struct Attempt {
    let job: Job
    var exchange: ProviderExchange
    /// The end of its time, in milliseconds of uptime.
    let deadline: Int64
  }

  /// Sign-ins that may wait for the provider at once.
  static let jobsMax = 64
  /// Sign-ins of one address that may wait for the provider at once.
  static let jobsMaxOfStranger = 8

  private let state = Monitor(State())
  private let waker = CurlClient.Waker()

  /// Starts the thread. `done` is called on it with each job and its result.
  init(
    _ settings: ProviderSettings,
    done: @escaping @Sendable (Job, ProviderExchange.Outcome) -> Void
  ) {
    SystemThread.start { [self] in
      // Handles of libraries are released before the thread ends, see HookDesk.
      work(settings, done)
      state.change { $0.hasStopped = true }
    }
  }

  /// Takes a job; `false` if too many wait.
  func submit(_ job: Job) -> Bool {
    let isTaken = state.withLock { state in
      let own = job.stranger.map { state.shares.amount(of: $0) } ?? 0
      guard !state.isStopping, own < Self.jobsMaxOfStranger,
        state.shares.take(1, for: job.stranger) == nil
      else { return false }
      state.jobs.append(job)
      return true
    }
    waker.wake()
    return isTaken
  }

  /// Ends the thread; sign-ins under way get no answer. Returns when it has ended.
  func stop() {
    state.withLock { $0.isStopping = true }
    waker.wake()
    state.wait { $0.hasStopped }
  }

  private func take() -> [Job]? {
    state.withLock { state in
      defer { state.jobs = [] }
      return state.isStopping ? nil : state.jobs
    }
  }

  @inline(never)
  private func work(
    _ settings: ProviderSettings, _ done: (Job, ProviderExchange.Outcome) -> Void
  ) {
    let client = CurlClient(waker: waker)
    let clock = SystemClock()
    var memory = ProviderExchange.Memory()
    var attempts: [Int: Attempt] = [:]
    var nextKey = 0
    func perform(_ action: ProviderExchange.Action, _ attempt: Attempt) {
      switch action {
      case .fetch(var request):
        request.timeoutMilliseconds = max(1, Int(attempt.deadline - clock.uptime))
        attempts[nextKey] = attempt
        client.start(request, key: nextKey)
        nextKey += 1
      case .end(let outcome):
        state.withLock { $0.shares.give(1, for: attempt.job.stranger) }
        done(attempt.job, outcome)
      }
    }
    while let jobs = take() {
      for job in jobs {
        var attempt = Attempt(
          job: job, exchange: ProviderExchange(job.wish, settings: settings),
          deadline: clock.uptime + Int64(settings.timeoutMilliseconds))
        let action = attempt.exchange.start(memory, uptime: clock.uptime)
        perform(action, attempt)
      }
      for (key, outcome) in client.wait(atMostMilliseconds: nil) {
        guard var attempt = attempts.removeValue(forKey: key) else { continue }
        let answer: ProviderExchange.Answer =
          switch outcome {
          case .answered(let status, _):
            .answered(status: status, body: client.body(of: key) ?? [])
          case .failed(let reason): .failed(reason)
          }
        let action = attempt.exchange.answered(
          answer, &memory, uptime: clock.uptime, now: clock.now)
        perform(action, attempt)
      }
    }
  }
}
