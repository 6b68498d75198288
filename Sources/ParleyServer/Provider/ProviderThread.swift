import ParleyGatewayPorts
import ParleyHTTPClientCurl
import ParleyLocks

/// The thread that sends requests to the identity provider, for several sign-ins concurrently.
///
/// Each sign-in has one time limit for all its requests. At most ``jobsMax`` sign-ins are in
/// progress, and at most ``jobsMaxOfStranger`` of one address.
final class ProviderThread: Sendable {
  /// A part of a sign-in that requires the provider.
  struct Job: Sendable {
    var request: RequestID
    var query: ProviderExchange.Query
    /// The browser's secret.
    var browser: String
    /// The unauthenticated client whose share the job uses; `nil` for an address without limits.
    var limitedClient: LimitedClient?
  }

  private struct State {
    var jobs: [Job] = []
    var shares = FairShares<LimitedClient>(capacity: ProviderThread.jobsMax)
    var isStopping = false
    var hasStopped = false
  }

  /// A sign-in in progress.
  private struct Attempt {
    let job: Job
    var exchange: ProviderExchange
    /// The end of the time limit, in milliseconds of uptime.
    let deadline: Int64
  }

  /// Maximum sign-ins in progress.
  static let jobsMax = 64
  /// Maximum sign-ins in progress from one address.
  static let jobsMaxOfStranger = 8

  private let state = Monitor(State())
  private let waker = CurlClient.Waker()

  /// Starts the thread. `done` is called on it with each job and its outcome.
  init(
    _ settings: ProviderSettings,
    done: @escaping @Sendable (Job, ProviderExchange.Outcome) -> Void
  ) {
    SystemThread.start { [self] in
      // Library handles are released before the thread ends, see WebhookDispatcher.
      work(settings, done)
      state.change { $0.hasStopped = true }
    }
  }

  /// Queues a job; returns `false` if too many are in progress.
  func submit(_ job: Job) -> Bool {
    let isTaken = state.withLock { state in
      let own = job.limitedClient.map { state.shares.amount(of: $0) } ?? 0
      guard !state.isStopping, own < Self.jobsMaxOfStranger,
        state.shares.take(1, for: job.limitedClient) == nil
      else { return false }
      state.jobs.append(job)
      return true
    }
    waker.wake()
    return isTaken
  }

  /// Stops the thread, and returns when it has ended; sign-ins in progress get no response.
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
        state.withLock { $0.shares.give(1, for: attempt.job.limitedClient) }
        done(attempt.job, outcome)
      }
    }
    while let jobs = take() {
      for job in jobs {
        var attempt = Attempt(
          job: job, exchange: ProviderExchange(job.query, settings: settings),
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
