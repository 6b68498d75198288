import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyJSON

/// The slow part of logins: hashing passwords, and editing the files of users and invitations.
struct LoginWork: Sendable {
  let users: UserFile
  let editing: UserEditing
  let invitations: InvitationFile
  let resets: PasswordResets

  /// Performs a job, on a login thread.
  func perform(_ job: LoginThread.Job) -> LoginThread.Outcome {
    let now = SystemClock().now
    switch job.purpose {
    case .logIn: return .user(users.user(job.user, password: job.password))
    case .join(let token, let name):
      do throws(InvitationFile.Refusal) {
        // Checked before the password is hashed, so that guesses at tokens do not delay logins.
        try invitations.check(token, now: now)
        let line = try invitations.accept(
          token, id: job.user, name: name, password: PasswordHash(password: job.password),
          users: editing, now: now)
        return .written(user: line.user.id)
      } catch {
        return .refused(error)
      }
    case .change(let password):
      guard let user = users.user(job.user, password: job.password) else { return .user(nil) }
      do throws(FileError) {
        try editing.setPassword(of: user.id, to: PasswordHash(password: password), since: now)
        return .written(user: user.id)
      } catch {
        return .refused(.file(error))
      }
    case .reset(let token): return reset(job, token, now: now)
    case .rename(let name, _, _):
      do throws(FileError) {
        try editing.set(name: name, rights: nil, of: job.user)
        return .written(user: job.user)
      } catch {
        return .refused(.file(error))
      }
    }
  }

  private func reset(_ job: LoginThread.Job, _ token: String, now: Timestamp) -> LoginThread.Outcome
  {
    do throws(FileError) {
      // Checked before the password is hashed, so that guesses at tokens do not delay logins.
      guard let line = try editing.line(of: job.user), line.user.id.isExactly(job.user),
        resets.isValid(token, password: line.resetState, now: now),
        try editing.resetPassword(
          from: line, to: PasswordHash(password: job.password), since: now)
      else { return .refused(.reset) }
      return .written(user: line.user.id)
    } catch {
      return .refused(.file(error))
    }
  }
}
