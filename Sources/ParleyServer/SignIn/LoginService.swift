import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Handles logins with a password and token refreshes, with the requests of Whaler clients.
///
///     POST /api/user/login     {"email": "…", "password": "…"}
///     POST /api/user/refresh   {"refreshToken": "…"}
///     POST /api/user/logout    {"refreshToken": "…"}
///
/// Further requests in the same format, for the page:
///
///     POST /api/user/join      {"invitation": "…", "email": "…", "password": "…", "name": "…"}
///     POST /api/user/password  {"email": "…", "password": "…", "newPassword": "…"}
///     POST /api/user/name      {"refreshToken": "…", "name": "…"}
///     POST /api/user/forgot    {"email": "…"}
///     POST /api/user/reset     {"reset": "…", "newPassword": "…"}
///
/// Used only on the loop's thread; passwords are checked on the login threads.
final class LoginService {
  typealias Code = LoginAnswer.Code

  private let tokens: SelfSignedTokens
  private let users: UserFile
  private let thread: LoginThread
  private let sessions: SessionService
  private let cookie: SessionCookie
  private let clock: any Clock
  private let revocations: any Revocations
  private let log: any LogSink
  private let accessMilliseconds: Int64
  private let sessionMilliseconds: Int64
  private let respond: (RequestID, Response) -> Void
  /// Sends a link for a new password; `nil` if no mail can be sent. Its arguments are the account,
  /// if there is one with a mail address, and the languages that the browser accepts.
  private let sendReset: ((UserLine?, String) -> Void)?
  private var resetRequests = ResetRequests()
  private var attempts = LoginAttempts()
  private var retries = RetryInterval()
  /// The unauthenticated clients of requests whose jobs are queued or running.
  private var limitedClients: [RequestID: LimitedClient?] = [:]

  init(
    tokens: SelfSignedTokens, users: UserFile, thread: LoginThread, sessions: SessionService,
    cookie: SessionCookie, clock: any Clock, revocations: any Revocations, log: any LogSink,
    accessMilliseconds: Int64, sessionMilliseconds: Int64,
    sendReset: ((UserLine?, String) -> Void)?,
    respond: @escaping (RequestID, Response) -> Void
  ) {
    self.sendReset = sendReset
    self.tokens = tokens
    self.users = users
    self.thread = thread
    self.sessions = sessions
    self.cookie = cookie
    self.clock = clock
    self.revocations = revocations
    self.log = log
    self.accessMilliseconds = accessMilliseconds
    self.sessionMilliseconds = sessionMilliseconds
    self.respond = respond
  }

  /// Responds to a login or refresh request; `nil` if the response follows later, after a password
  /// was checked or the store has replied.
  func answer(
    _ request: RequestID, _ head: RequestHead, _ body: [UInt8], at resource: Resource
  ) -> Response? {
    guard resource.route(head.method) != nil else {
      var response = Self.problem(.malformed, "This path takes POST", status: 405)
      response.headers.append(("allow", "POST"))
      return response
    }
    guard let fields = Self.fields(in: body) else {
      return Self.problem(.malformed, "Expected a JSON object")
    }
    switch resource.page {
    case .join: return join(request, head, fields)
    case .password: return changePassword(request, head, fields)
    case .forgot: return forgot(head, fields)
    case .reset: return reset(request, head, fields)
    case .refresh: return refresh(request, head, fields)
    case .name: return rename(request, head, fields)
    default: return logIn(request, head, fields)
    }
  }

  // MARK: Logging in

  private func logIn(_ request: RequestID, _ head: RequestHead, _ fields: Fields) -> Response? {
    guard let user = fields.email, let password = fields.password,
      user.utf8.count <= Self.nameBytesMax,
      password.utf8.count <= PasswordHash.passwordBytesMax
    else {
      return Self.problem(.malformed, "Expected email and password")
    }
    return submit(
      LoginThread.Job(
        request: request, user: user, password: password, visitor: visitor(head, fields)))
  }

  private func visitor(_ head: RequestHead, _ fields: Fields) -> LoginThread.Visitor {
    LoginThread.Visitor(
      address: head.remoteAddress, limitedClient: LimitedClient(address: head.limitedAddress),
      device: DeviceName.device(of: head),
      isKept: fields.isKept && cookie.isOwnPage(head), hadCookie: cookie.isKept(by: head))
  }

  /// Queues a job, unless too many attempts have failed. The attempt begins here.
  private func submit(_ job: LoginThread.Job) -> Response? {
    let wait = attempts.begin(
      address: job.visitor.address, user: Self.attempted(job), now: clock.uptime)
    guard wait == 0 else {
      log.write(.notice, "login refused", [("reason", "too many failures")])
      return Self.refusal(
        .credentials, "Too many logins have failed; try again later", status: 429,
        retryAfter: Int(wait))
    }
    guard let refusal = thread.submit(job) else {
      limitedClients[job.request] = .some(job.visitor.limitedClient)
      return nil
    }
    cancel(job)
    log.write(.notice, "login refused", [("reason", "too many logins wait")])
    switch refusal {
    case .full:
      return Self.refusal(
        .unavailable, "Too many logins are in progress; try again", status: 503,
        retryAfter: retries.next())
    case .overShare:
      return Self.refusal(
        .unavailable, "Too many logins from your address are in progress; try again", status: 429,
        retryAfter: retries.next())
    }
  }

  /// Cancels the job of a request that its client has abandoned, if it has not begun.
  func abandoned(_ request: RequestID) {
    guard let limitedClient = limitedClients[request],
      let job = thread.remove(request, of: limitedClient)
    else {
      return
    }
    limitedClients[request] = nil
    cancel(job)
  }

  private func cancel(_ job: LoginThread.Job) {
    attempts.cancelled(address: job.visitor.address, user: Self.attempted(job))
  }

  private func succeed(_ job: LoginThread.Job) {
    attempts.succeeded(address: job.visitor.address, user: Self.attempted(job))
  }

  /// Returns the name for counting failures. All guesses at invitations share one name.
  private static func attempted(_ job: LoginThread.Job) -> String {
    if case .join = job.purpose { return Identity.guestPrefix }
    return AccountName(job.user).text
  }

  /// Responds to the request of a finished job, at once or after the store has replied.
  func finish(_ job: LoginThread.Job, _ outcome: LoginThread.Outcome) {
    limitedClients[job.request] = nil
    if let response = answer(to: job, outcome) { respond(job.request, response) }
  }

  private func answer(to job: LoginThread.Job, _ outcome: LoginThread.Outcome) -> Response? {
    switch outcome {
    // Rejects a user who was removed, or whose password was changed, while the job ran.
    case .user(let user?) where users.user(user.id) == user:
      succeed(job)
      return begin(user, job)
    case .user: return fail(job, .credentials, "Invalid login credentials. Please try again")
    case .written(let id):
      users.reload()
      record(users.takeChanges(), of: job, by: id)
      guard let user = users.user(id) else {
        cancel(job)
        return Self.problem(.unavailable, "Done, but the file of users cannot be read", status: 503)
      }
      if case .rename(_, let session, let time) = job.purpose {
        // No password was checked.
        cancel(job)
        return answer(user, at: time, .success(session), isKept: job.visitor.isKept)
      }
      succeed(job)
      return begin(user, job)
    case .refused(.invitation):
      return fail(
        job, .invitation,
        "No invitation has this token, or it ended long ago; ask for a new one where you got it")
    // The token was valid once, so it was not guessed.
    case .refused(.ended(let ending)):
      cancel(job)
      return Self.problem(.invitation, ending.words)
    case .refused(.reset):
      return fail(
        job, .reset, "This link was used, has expired or is not valid; ask for a new one")
    case .refused(.name(let reason)):
      cancel(job)
      return Self.problem(.name, reason)
    case .refused(.taken):
      cancel(job)
      return Self.problem(.taken, "Another user has this name; choose another")
    case .refused(.file(let error)):
      cancel(job)
      log.write(.error, "users cannot be changed", [("error", "\(error)")])
      return Self.problem(.unavailable, "The users cannot be changed now; try later", status: 503)
    }
  }

  /// Records changes that were made in the file of users since the last call.
  func recordChanges() { sessions.record(users.takeChanges()) }

  /// Records changes of the users, of which those of a user are by that user.
  private func record(_ changes: [UserChange], of job: LoginThread.Job, by user: String) {
    sessions.record(changes, by: user, from: job.visitor.address)
  }

  private func fail(_ job: LoginThread.Job, _ code: Code, _ message: String) -> Response {
    if case .reset = job.purpose {
      let user = users.account(named: job.user)
      sessions.recordRefusal(.changePassword, of: user?.id ?? "", from: job.visitor, "no such link")
    } else if case .join = job.purpose {
      sessions.recordRefusal(.join, of: "", from: job.visitor, "no such invitation")
    } else {
      let user = users.account(named: job.user)
      sessions.recordRefusal(
        .signIn, of: user?.id ?? "", from: job.visitor,
        user == nil ? "unknown user" : "wrong password")
    }
    attempts.failed(address: job.visitor.address, user: Self.attempted(job), now: clock.uptime)
    log.write(.notice, "login refused", [("reason", "credentials")])
    return Self.problem(code, message)
  }

  // MARK: New users and passwords

  /// Maximum bytes of a user's id and of a display name; limits the memory of queued jobs.
  private static let nameBytesMax = 200

  private func join(_ request: RequestID, _ head: RequestHead, _ fields: Fields) -> Response? {
    guard let token = fields.invitation, let user = fields.email, let password = fields.password
    else { return Self.problem(.malformed, "Expected invitation, email and password") }
    guard token.utf8.count <= Invitation.tokenBytesMax else {
      return Self.problem(.invitation, "No invitation has this token")
    }
    guard user.utf8.count <= Self.nameBytesMax,
      (fields.name?.utf8.count ?? 0) <= Self.nameBytesMax
    else { return Self.problem(.name, "Expected a name of at most \(Self.nameBytesMax) bytes") }
    if let problem = PasswordRule.problem(of: password) {
      return Self.problem(.password, "Expected \(problem)")
    }
    return submit(
      LoginThread.Job(
        request: request, user: user, password: password,
        purpose: .join(invitation: token, name: fields.name), visitor: visitor(head, fields)))
  }

  private func changePassword(
    _ request: RequestID, _ head: RequestHead, _ fields: Fields
  ) -> Response? {
    guard let user = fields.email, let password = fields.password, let new = fields.newPassword,
      user.utf8.count <= Self.nameBytesMax, password.utf8.count <= PasswordHash.passwordBytesMax
    else { return Self.problem(.malformed, "Expected email, password and newPassword") }
    if let problem = PasswordRule.problem(of: new) {
      return Self.problem(.password, "Expected \(problem)")
    }
    return submit(
      LoginThread.Job(
        request: request, user: user, password: password, purpose: .change(to: new),
        visitor: visitor(head, fields)))
  }

  /// Sends a link for a new password, if the account exists and has a mail address. The answer is
  /// always the same, and the message is built in each case, so that the time is, too.
  private func forgot(_ head: RequestHead, _ fields: Fields) -> Response? {
    guard let sendReset else {
      return Self.problem(.unavailable, "This server sends no mail; ask its operator", status: 404)
    }
    guard let name = fields.email, !name.isEmpty, name.utf8.count <= Self.nameBytesMax else {
      return Self.problem(.malformed, "Expected email")
    }
    let line = users.line(named: name).flatMap { $0.mail == nil ? nil : $0 }
    let verdict = resetRequests.count(
      address: head.remoteAddress, account: line?.user.id, now: clock.uptime)
    if case .refused(let wait) = verdict {
      return Self.refusal(
        .unavailable, "Too many new passwords were requested from your address; try again later",
        status: 429, retryAfter: Int(wait))
    }
    sendReset(verdict == .allowed ? line : nil, head.headers["accept-language"] ?? "")
    return LoginAnswer.resetAccepted
  }

  private func reset(_ request: RequestID, _ head: RequestHead, _ fields: Fields) -> Response? {
    guard let token = fields.reset, let new = fields.newPassword else {
      return Self.problem(.malformed, "Expected reset and newPassword")
    }
    if let problem = PasswordRule.problem(of: new) {
      return Self.problem(.password, "Expected \(problem)")
    }
    return submit(
      LoginThread.Job(
        request: request, user: PasswordResets.user(in: token) ?? "", password: new,
        purpose: .reset(token), visitor: visitor(head, fields)))
  }

  /// Changes the display name of a session's owner.
  private func rename(_ request: RequestID, _ head: RequestHead, _ fields: Fields) -> Response? {
    guard let name = fields.name, let (token, isKept) = cookie.token(fields.refreshToken, head)
    else { return Self.problem(.malformed, "Expected refreshToken and name") }
    do throws(FileError) {
      try UserLine.check(name: name)
    } catch {
      return Self.problem(.name, "\(error)")
    }
    var visitor = visitor(head, fields)
    visitor.isKept = isKept
    return withSession(token, isKept: isKept) { user, checked in
      // Renew the session first: only the store knows whether the token was exchanged before.
      renew(checked, of: user) { [self] time, outcome in
        guard case .success(let session) = outcome else {
          return respond(request, answer(user, at: time, outcome, isKept: isKept))
        }
        let refusal = submit(
          LoginThread.Job(
            request: request, user: user.id, password: "",
            purpose: .rename(to: name, session: session, at: time), visitor: visitor))
        if let refusal { respond(request, refusal) }
      }
      return nil
    }
  }

  // MARK: Sessions

  private func begin(_ user: User, _ job: LoginThread.Job) -> Response? {
    let time = sessions.time(for: user.id, since: user.since)
    var endsOthers = false
    // A changed password ends the user's other sessions.
    switch job.purpose {
    case .change, .reset: endsOthers = true
    case .logIn, .join, .rename: break
    }
    sessions.begin(
      for: user.id, at: time, endsAt: time + sessionMilliseconds, on: job.visitor.device,
      endsOthers: endsOthers, from: job.visitor.address
    ) { [self] outcome in
      let response = answer(user, at: time, outcome, isKept: job.visitor.isKept)
      respond(
        job.request,
        cookie.removing(response, if: job.visitor.hadCookie && !job.visitor.isKept))
    }
    return nil
  }

  private func refresh(
    _ request: RequestID, _ head: RequestHead, _ fields: Fields
  ) -> Response? {
    guard let (token, isKept) = cookie.token(fields.refreshToken, head) else {
      return Self.problem(.malformed, "Expected refreshToken")
    }
    return withSession(token, isKept: isKept) { user, checked in
      renew(checked, of: user) { [self] time, outcome in
        respond(request, answer(user, at: time, outcome, isKept: isKept))
      }
      return nil
    }
  }

  /// Calls a closure with the user of a valid refresh token, and with the token.
  private func withSession(
    _ token: String, isKept: Bool, _ body: (User, RefreshToken) -> Response?
  ) -> Response? {
    do throws(AuthenticationError) {
      let checked = try tokens.refreshToken(token, now: clock.now)
      let identity = checked.identity
      guard revocations.age(uptime: clock.uptime) <= RevocationAge.rejectAfterMilliseconds else {
        return LoginAnswer.unverified
      }
      guard !revocations.isRevoked(identity) else {
        sessions.forget(checked)
        throw .revoked
      }
      guard let user = users.user(identity.user), user.owns(tokenIssuedAt: identity.issuedAt)
      else { throw .revoked }
      return body(user, checked)
    } catch {
      log.write(.notice, "refresh refused", [("reason", "\(error)")])
      return cookie.refusal(isKept: isKept)
    }
  }

  private func renew(
    _ token: RefreshToken, of user: User,
    then proceed: @escaping (Timestamp, SessionService.Outcome) -> Void
  ) {
    let time = sessions.time(for: user.id, since: user.since)
    sessions.renew(token, at: time) { proceed(time, $0) }
  }

  /// Returns a response with the tokens of a session.
  private func answer(
    _ user: User, at time: Timestamp, _ outcome: SessionService.Outcome, isKept: Bool
  ) -> Response {
    switch outcome {
    case .failure(.unavailable): return LoginAnswer.storeUnavailable
    case .failure(.ended):
      log.write(.notice, "refresh refused", [("reason", "the session has ended")])
      return cookie.refusal(isKept: isKept)
    case .success(let session):
      let access = tokens.accessToken(
        for: user, id: session.id, issuedAt: time,
        expiresAt: min(time + accessMilliseconds, session.endsAt))
      return cookie.welcome(
        id: user.id, name: user.name, accessToken: access,
        refreshToken: tokens.refreshToken(of: session), until: session.expiresAt, now: time,
        isKept: isKept)
    }
  }

  // MARK: JSON

  private struct Fields {
    var email: String?
    var password: String?
    var refreshToken: String?
    var invitation: String?
    var name: String?
    var newPassword: String?
    var reset: String?
    /// Whether the browser stores the refresh token in a cookie, instead of the page.
    var isKept = false
  }

  private static func fields(in body: [UInt8]) -> Fields? {
    JSONBody.fields(in: body, Fields()) { fields, key, reader throws(JSONError) in
      switch key {
      case "email": fields.email = try reader.string()
      case "password": fields.password = try reader.string()
      case "refreshToken": fields.refreshToken = try reader.string()
      case "invitation": fields.invitation = try reader.string()
      case "name": fields.name = try reader.string()
      case "keep": fields.isKept = try reader.boolean()
      case "reset": fields.reset = try reader.string()
      case "newPassword": fields.newPassword = try reader.string()
      default: try reader.skipValue()
      }
    }
  }

  /// Returns a response that says when to retry.
  ///
  /// - Parameter milliseconds: The time to wait.
  private static func refusal(
    _ code: Code, _ message: String, status: Int, retryAfter milliseconds: Int
  ) -> Response {
    problem(code, message, status: status).with("retry-after", "\((milliseconds + 999) / 1_000)")
  }

  private static func problem(_ code: Code, _ message: String, status: Int = 200) -> Response {
    LoginAnswer.problem(code, message, status: status)
  }
}

extension Invitation.Ending {
  /// A message with the reason and the remedy.
  fileprivate var words: String {
    let what =
      switch self {
      case .usedUp: "has been used"
      case .withdrawn: "was withdrawn"
      case .expired: "has expired"
      }
    return "This invitation \(what); ask for a new one where you got it"
  }
}
