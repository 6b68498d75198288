import ParleyCryptoOpenSSL
import ParleyGatewayPorts

/// The slow part of logins: hashing passwords, and editing the files of users and invitations.
struct LoginWork: Sendable {
  let users: UserFile
  let editing: UserEditing
  let invitations: InvitationFile

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
    case .rename(let name, _, _):
      do throws(FileError) {
        try editing.set(name: name, rights: nil, of: job.user)
        return .written(user: job.user)
      } catch {
        return .refused(.file(error))
      }
    }
  }
}
