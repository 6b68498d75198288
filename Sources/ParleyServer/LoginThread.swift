import GatewayPorts

/// The thread that compares passwords, which is made to take long.
final class LoginThread: Sendable {
  /// A login that waits for its turn.
  struct Job: Sendable {
    var request: RequestID
    var user: String
    var password: String
    /// The client's address, by which failed attempts are counted.
    var source: String
  }

  private struct State {
    var jobs: [Job] = []
    var isStopping = false
    var hasStopped = false
  }

  /// More logins than this do not wait.
  private static let jobsMax = 32

  private let state = Monitor(State())

  /// Starts the thread. `done` is called on it with each job and the user that it let in.
  init(users: any UserSource, done: @escaping @Sendable (Job, User?) -> Void) {
    Thread.start { [state] in
      while true {
        let job: Job? = state.wait(
          until: { !$0.jobs.isEmpty || $0.isStopping },
          then: { $0.isStopping ? nil : $0.jobs.removeFirst() })
        guard let job else { break }
        done(job, users.user(job.user, password: job.password))
      }
      state.withLock { $0.hasStopped = true }
      state.signal()
    }
  }

  /// Queues a login; `false` if too many wait.
  func submit(_ job: Job) -> Bool {
    let isQueued = state.withLock { state in
      guard state.jobs.count < Self.jobsMax else { return false }
      state.jobs.append(job)
      return true
    }
    state.signal()
    return isQueued
  }

  /// Ends the thread after the login it is at; returns when it has ended.
  func stop() {
    state.withLock { $0.isStopping = true }
    state.signal()
    state.wait(until: { $0.hasStopped }, then: { _ in })
  }
}
