import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyLocks

/// The threads that hash passwords, which is slow by design, and edit users and invitations.
///
/// Jobs wait in a ``FairQueue``, which serves the addresses in turn.
final class LoginThread: Sendable {
  /// A login, or another request with a password.
  struct Job: Sendable {
    /// The purpose of a job.
    enum Purpose: Sendable {
      /// Log in with the password.
      case logIn
      /// Become a user by an invitation's token.
      case join(invitation: String, name: String?)
      /// Replace the password by another one.
      case change(to: String)
      /// Replace the password by another one, with a link's token.
      case reset(String)
      /// Change the display name of a session's owner. The password is not used.
      case rename(to: String, session: Session, at: Timestamp)
    }

    var request: RequestID
    var user: String
    var password: String
    var purpose = Purpose.logIn
    var visitor: Visitor
  }

  /// The client that sent a job's request.
  struct Visitor: Sendable {
    /// The client's address, by which failed attempts are counted.
    var address: String
    /// The unauthenticated client whose share the job uses; `nil` for an address without limits.
    var limitedClient: LimitedClient?
    /// The browser and system of a session that begins.
    var device: Session.Device
    /// Whether the refresh token goes into a cookie.
    var isKept: Bool
    /// Whether the browser already has a session cookie, which this sign-in replaces.
    var hadCookie: Bool
  }

  /// The result of a job.
  enum Outcome: Sendable {
    /// The user with this name and password; `nil` if they do not match.
    case user(User?)
    /// The user's line was written; the loop must reload the file of users.
    case written(user: String)
    /// The change was not made.
    case refused(InvitationFile.Refusal)
  }

  /// The load of the queue, for operators.
  struct Load: Sendable {
    /// The number of queued jobs.
    var queued = 0
    /// The number of rejected jobs, by reason.
    var refused: [String: Int] = [:]
  }

  private struct State {
    var jobs = FairQueue<LimitedClient, Job>(
      capacity: LoginThread.jobsMax, countMaxOfStranger: LoginThread.jobsMaxOfStranger)
    var refused: [String: Int] = [:]
    var isStopping = false
    var runningCount = LoginThread.threadCount
  }

  /// Maximum jobs that are queued or running. Each takes at most a few kilobytes.
  package static let jobsMax = 256
  /// Maximum jobs of one unauthenticated client that are queued or running.
  package static let jobsMaxOfStranger = 8
  /// The number of threads: enough for a short queue if many addresses make one attempt each.
  private static let threadCount = 2

  private let state = Monitor(State())

  /// Starts the threads. `done` is called on them with each job and its outcome.
  init(_ work: LoginWork, done: @escaping @Sendable (Job, Outcome) -> Void) {
    for _ in 0..<Self.threadCount {
      SystemThread.start { [state] in
        while true {
          let job: Job? = state.wait(
            until: { !$0.jobs.isEmpty || $0.isStopping },
            then: { $0.isStopping ? nil : $0.jobs.popFirst() })
          guard let job else { break }
          let outcome = work.perform(job)
          state.withLock { $0.jobs.finish(for: job.visitor.limitedClient) }
          done(job, outcome)
        }
        state.change { $0.runningCount -= 1 }
      }
    }
  }

  /// The current load of the queue.
  var load: Load { state.withLock { Load(queued: $0.jobs.count, refused: $0.refused) } }

  /// Queues a job.
  ///
  /// - Returns: The reason for rejecting the job; `nil` if it was queued.
  func submit(_ job: Job) -> FairShares<LimitedClient>.Refusal? {
    let refusal = state.withLock { state in
      let refusal = state.jobs.append(job, for: job.visitor.limitedClient)
      switch refusal {
      case .full: state.refused["full", default: 0] += 1
      case .overShare: state.refused["share", default: 0] += 1
      case nil: break
      }
      return refusal
    }
    if refusal == nil { state.signal() }
    return refusal
  }

  /// Removes and returns a job that has not begun; `nil` if there is no such job.
  func remove(_ request: RequestID, of limitedClient: LimitedClient?) -> Job? {
    state.withLock { $0.jobs.remove(for: limitedClient) { $0.request == request } }
  }

  /// Stops the threads after their current jobs; returns when they have ended.
  func stop() {
    state.change { $0.isStopping = true }
    state.wait { $0.runningCount == 0 }
  }
}
