import CryptoOpenSSL
import GatewayPorts
import Locks

/// The threads that hash passwords, which is slow by design, and write the files of users and invitations.
///
/// Jobs wait in a ``FairQueue``, which takes one attempt of each address in turn.
final class LoginThread: Sendable {
  /// A login, or another request with a password.
  struct Job: Sendable {
    /// The purpose of the password.
    enum Purpose: Sendable {
      /// To log in.
      case logIn
      /// To become a user by the token of an invitation.
      case join(invitation: String, name: String?)
      /// To replace it by another password.
      case change(to: String)
      /// No password: the owner of a session changes the name that others see.
      case rename(to: String, session: Session, at: Timestamp)
    }

    var request: RequestID
    var user: String
    var password: String
    var purpose = Purpose.logIn
    var visitor: Visitor
  }

  /// The sender of a password.
  struct Visitor: Sendable {
    /// The client's address, by which failed attempts are counted.
    var address: String
    /// The unauthenticated client whose share of the queue the job takes; `nil` for an address without limits.
    var stranger: Stranger?
    /// The browser and system of the session that may begin.
    var device: Session.Device
    /// Whether the browser keeps the session in a cookie.
    var isKept: Bool
    /// Whether the browser already has such a cookie, which another sign-in replaces.
    var hasKept: Bool
  }

  /// The result of a job.
  enum Outcome: Sendable {
    /// The user with this password; `nil` if there is none.
    case user(User?)
    /// The user's line was written; the loop must read the file of users again.
    case written(user: String)
    /// The change was not made.
    case refused(InvitationFile.Refusal)
  }

  /// The state of the queue, for operators.
  struct Load: Sendable {
    /// Jobs that wait.
    var queued = 0
    /// Rejected jobs, by the reason.
    var refused: [String: Int] = [:]
  }

  private struct State {
    var jobs = FairQueue<Stranger, Job>(
      capacity: LoginThread.jobsMax, countMaxOfStranger: LoginThread.jobsMaxOfStranger)
    var refused: [String: Int] = [:]
    var isStopping = false
    var runningCount = LoginThread.threadCount
  }

  /// Jobs that may wait or run at once. Each holds at most a few kilobytes.
  package static let jobsMax = 256
  /// Jobs of one unauthenticated client that may wait or run at once.
  package static let jobsMaxOfStranger = 8
  /// The number of threads: enough to keep the queue short when many addresses make one attempt each.
  private static let threadCount = 2

  private let state = Monitor(State())

  /// Starts the threads. `done` is called on them with each job and its result.
  init(_ work: LoginWork, done: @escaping @Sendable (Job, Outcome) -> Void) {
    for _ in 0..<Self.threadCount {
      SystemThread.start { [state] in
        while true {
          let job: Job? = state.wait(
            until: { !$0.jobs.isEmpty || $0.isStopping },
            then: { $0.isStopping ? nil : $0.jobs.popFirst() })
          guard let job else { break }
          let outcome = work.perform(job)
          state.withLock { $0.jobs.finish(for: job.visitor.stranger) }
          done(job, outcome)
        }
        state.change { $0.runningCount -= 1 }
      }
    }
  }

  /// The state of the queue.
  var load: Load { state.withLock { Load(queued: $0.jobs.count, refused: $0.refused) } }

  /// Queues a job.
  ///
  /// - Returns: Why it was not queued.
  func submit(_ job: Job) -> FairShares<Stranger>.Refusal? {
    let refusal = state.withLock { state in
      let refusal = state.jobs.append(job, for: job.visitor.stranger)
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

  /// Removes and returns a job that has not begun; `nil` if there is none.
  func remove(_ request: RequestID, of stranger: Stranger?) -> Job? {
    state.withLock { $0.jobs.remove(for: stranger) { $0.request == request } }
  }

  /// Ends the threads after their current jobs; returns when they have ended.
  func stop() {
    state.change { $0.isStopping = true }
    state.wait { $0.runningCount == 0 }
  }
}
