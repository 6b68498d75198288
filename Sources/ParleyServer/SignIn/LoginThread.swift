import CryptoOpenSSL
import GatewayPorts
import Locks

/// The thread that compares and hashes passwords, which is made to take long, and writes what comes of it.
final class LoginThread: Sendable {
  /// A login, or what comes with a password in its place, that waits for its turn.
  struct Job: Sendable {
    /// The wish of whoever gave the password.
    enum Purpose: Sendable {
      /// To log in with it.
      case logIn
      /// To become a user with it, by an invitation's token.
      case join(invitation: String, name: String?)
      /// To have this one in its place.
      case change(to: String)
    }

    var request: RequestID
    var user: String
    var password: String
    var purpose = Purpose.logIn
    var visitor: Visitor
  }

  /// Whoever gave a password.
  struct Visitor: Sendable {
    /// The client's address, by which failed attempts are counted.
    var address: String
    /// The browser and system of the session that may begin.
    var device: Session.Device
    /// Whether the browser is to keep the session in a cookie.
    var isKept: Bool
    /// Whether the browser keeps a session already, which another sign-in replaces.
    var hasKept: Bool
  }

  /// The result of a job.
  enum Outcome: Sendable {
    /// The user with this password, if there is one.
    case user(User?)
    /// The file of users has another line, which the loop has yet to read.
    case written(user: String)
    /// The joining failed: nobody became a user.
    case refused(InvitationFile.Refusal)
  }

  private struct State {
    var jobs: [Job] = []
    var isStopping = false
    var hasStopped = false
  }

  /// More logins than this do not wait.
  private static let jobsMax = 32

  private let state = Monitor(State())

  /// Starts the thread. `done` is called on it with each job and its result.
  init(_ work: LoginWork, done: @escaping @Sendable (Job, Outcome) -> Void) {
    SystemThread.start { [state] in
      while true {
        let job: Job? = state.wait(
          until: { !$0.jobs.isEmpty || $0.isStopping },
          then: { $0.isStopping ? nil : $0.jobs.removeFirst() })
        guard let job else { break }
        done(job, work.perform(job))
      }
      state.change { $0.hasStopped = true }
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
    state.change { $0.isStopping = true }
    state.wait { $0.hasStopped }
  }
}
