import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Sessions of signed-in users. The issuer of tokens begins and renews them; their owners list and
/// end them.
///
///     GET    /api/sessions        lists the caller's sessions, and marks the current one
///     DELETE /api/sessions        ends all but the current one
///     DELETE /api/sessions/{id}   ends one
///
/// A session ends in two steps. First its tokens are revoked, which closes its connections at once,
/// and at other gateways soon after. Then the store removes the session, so that it yields no new
/// token.
final class Sessions: Part {
  let board: Switchboard
  let access: Access
  let rights: Rights
  /// The callers that wait for the store's replies.
  private var callbacks = Callbacks<StoreOutcome<SessionReply>>()

  init(_ board: Switchboard, _ access: Access, _ rights: Rights) {
    self.board = board
    self.access = access
    self.rights = rights
  }

  /// Sends a request about sessions to the store, and revokes the tokens of sessions that it ends.
  ///
  /// - Parameter record: The record for the audit log; `nil` for none.
  func perform(
    _ request: SessionRequest, record: AuditRecord? = nil,
    then proceed: @escaping (StoreOutcome<SessionReply>) -> Void
  ) {
    switch request {
    case .end(let user, let choice): return end(choice, of: user, record, then: proceed)
    case .begin(let session, let countMax):
      return begin(session, countMax: countMax, record, then: proceed)
    case .renew, .list: break
    }
    ask(request) { [self] outcome in
      switch outcome {
      case .success(.renewed(let session, .reused)):
        log(.warning, "session ended", "its refresh token was used twice")
        revoke([session]) { [self] _ in
          remove(.one(session.id), of: session.user, after: [session]) { removal in
            if case .failure(let error) = removal { return proceed(.failure(error)) }
            proceed(outcome)
          }
        }
      case .success, .failure: proceed(outcome)
      }
    }
  }

  private func ask(
    _ request: SessionRequest, _ record: AuditRecord? = nil,
    then proceed: @escaping (StoreOutcome<SessionReply>) -> Void
  ) {
    let work = StoreRequest.logins(request)
    store(
      record.map { .audited($0, work) } ?? work, under: .token,
      then: .logins(callbacks.add(proceed)))
  }

  /// Passes the store's reply to its caller.
  func finish(
    _ number: Callbacks<StoreOutcome<SessionReply>>.Number, _ outcome: StoreOutcome<SessionReply>
  ) {
    callbacks.take(number)(outcome)
  }

  /// Begins a session.
  ///
  /// The tokens of sessions that have to end for it are revoked first: a crash in between leaves no
  /// valid token of a removed session.
  private func begin(
    _ session: Session, countMax: Int, _ record: AuditRecord?,
    then proceed: @escaping (StoreOutcome<SessionReply>) -> Void
  ) {
    ask(.list(user: session.user, now: session.begunAt)) { [self] outcome in
      guard case .success(.sessions(let others)) = outcome else { return proceed(outcome) }
      let crowded = Array(others.dropFirst(max(countMax - 1, 0)))
      revoke(crowded) { [self] _ in
        ask(.begin(session, countMax: countMax), record) { [self] outcome in
          guard case .success(.begun(let ended)) = outcome else { return proceed(outcome) }
          // Other sessions may have begun or been renewed since, so that another one had to end.
          revoke(Self.among(ended, butFor: crowded)) { _ in proceed(outcome) }
        }
      }
    }
  }

  // MARK: Ending

  /// Ends sessions of a user.
  ///
  /// Their tokens are revoked first: a crash in between leaves sessions that a second request ends,
  /// and no valid token of a removed session.
  private func end(
    _ choice: SessionChoice, of user: String, _ record: AuditRecord?,
    then proceed: @escaping (StoreOutcome<SessionReply>) -> Void
  ) {
    ask(.list(user: user, now: dependencies.clock.now)) { [self] outcome in
      guard case .success(.sessions(let sessions)) = outcome else { return proceed(outcome) }
      let chosen = sessions.filter { choice.includes($0.id) }
      revoke(chosen) { [self] _ in
        remove(choice, of: user, record, after: chosen, then: proceed)
      }
    }
  }

  /// Ends sessions of a user. On success, none of them remains valid.
  ///
  /// - Parameter proceed: Called with the number of ended sessions; with `nil` after a failure of
  ///   the store or the disk. A second request then still finds the sessions.
  func end(
    _ choice: SessionChoice, of user: String, record: AuditRecord? = nil,
    then proceed: @escaping (Int?) -> Void
  ) {
    ask(.list(user: user, now: dependencies.clock.now)) { [self] outcome in
      guard case .success(.sessions(let sessions)) = outcome else { return proceed(nil) }
      let chosen = sessions.filter { choice.includes($0.id) }
      guard !chosen.isEmpty else { return proceed(0) }
      revoke(chosen) { [self] isDone in
        guard isDone else { return proceed(nil) }
        remove(choice, of: user, record, after: chosen) { outcome in
          guard case .success(.ended(let ended)) = outcome else { return proceed(nil) }
          proceed(max(chosen.count, ended.count))
        }
      }
    }
  }

  /// Removes sessions from the store after the tokens of `taken` were revoked. Afterwards revokes
  /// the tokens of other removed sessions, and of sessions that were renewed since.
  private func remove(
    _ choice: SessionChoice, of user: String, _ record: AuditRecord? = nil, after taken: [Session],
    then proceed: @escaping (StoreOutcome<SessionReply>) -> Void
  ) {
    ask(.end(user: user, choice), record) { [self] outcome in
      guard case .success(.ended(let ended)) = outcome else { return proceed(outcome) }
      revoke(Self.among(ended, butFor: taken)) { _ in proceed(outcome) }
    }
  }

  /// Returns the ended sessions, except those that were revoked in their current state.
  private static func among(_ ended: [Session], butFor taken: [Session]) -> [Session] {
    ended.filter { session in
      !taken.contains { $0.turn == session.turn && $0.id.isExactly(session.id) }
    }
  }

  /// Revokes the tokens of sessions.
  ///
  /// - Parameter proceed: Called with whether the revocations are on disk.
  private func revoke(_ sessions: [Session], then proceed: @escaping (Bool) -> Void) {
    let now = dependencies.clock.now
    let ends = sessions.map { session in
      Revocation.timed(session.id, until: now + settings.accessTokenMilliseconds)
    }
    rights.revoke(ends) { proceed($0 != nil) }
  }

  // MARK: Requests

  /// Lists the caller's own sessions.
  func list(_ call: Call) throws(Response) {
    let (request, identity) = (call.request, call.identity)
    try requirePerson(identity)
    let now = dependencies.clock.now
    ask(.list(user: identity.user, now: now)) { [self] outcome in
      guard case .success(.sessions(let sessions)) = outcome else {
        return respond(request, .storeFailed)
      }
      let counting = sessions.filter(access.counts)
      respond(request, .json(200, SessionJSON.list(counting, own: identity.tokenID)))
    }
  }

  /// Ends some of the caller's own sessions.
  func end(_ choice: SessionChoice, for call: Call) throws(Response) {
    let request = call.request
    try requirePerson(call.identity)
    let detail =
      switch choice {
      case .one(let id): id
      case .others, .all: "all other sessions"
      }
    let record = call.record(
      .endSessions, call.identity.user, detail: detail, at: dependencies.clock.now)
    end(choice, of: call.identity.user, record: record) { [self] count in
      guard let count else { return respond(request, .storeFailed) }
      if case .one = choice, count == 0 {
        return respond(
          request,
          .problem(
            404, .unknownType, "you have no session with this id; GET /api/sessions lists them"))
      }
      dependencies.log.write(.notice, "sessions ended", [("sessions", "\(count)")])
      respond(request, .json(200, SessionJSON.ended(count)))
    }
  }

  private func requirePerson(_ identity: Identity) throws(Response) {
    guard identity.person != nil, !Identity.isProgram(identity.user) else {
      throw .problem(403, .notAllowed, "sessions are a person's; sign in to see yours")
    }
  }
}
