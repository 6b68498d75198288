import GatewayPorts
import SocketMessages

/// Sessions of those who have signed in: begun and renewed for whoever gives out tokens, listed and ended for
/// the people whose they are.
///
///     GET    /api/sessions        a person's own, and which of them is this one
///     DELETE /api/sessions        ends all but this one
///     DELETE /api/sessions/{id}   ends one
///
/// A session that ends is gone from the store, so that no new token comes of it, and its tokens are taken back,
/// which closes its connections here at once and at other gateways when they hear of it.
final class Sessions: Part {
  let board: Switchboard
  let access: Access
  let rights: Rights

  init(_ board: Switchboard, _ access: Access, _ rights: Rights) {
    self.board = board
    self.access = access
    self.rights = rights
  }

  /// Has the store work with sessions. Tokens of those that end by it are taken back, but for sessions whose tokens
  /// were already, and were not renewed since.
  func perform(
    _ request: SessionRequest, after taken: [Session] = [],
    then goOn: @escaping (StoreOutcome<SessionReply>) -> Void
  ) {
    store(
      .logins(request),
      for: .logins { [self] outcome in
        var ended: [Session] = []
        switch outcome {
        case .success(.begun(let others)): ended = others
        case .success(.ended(let all)):
          ended = all.filter { session in
            !taken.contains {
              $0.turn == session.turn && $0.id.utf8.elementsEqual(session.id.utf8)
            }
          }
        case .success(.renewed(let session, .reused)):
          log(.warning, "session ended", "its refresh token was used twice")
          ended = [session]
        case .success, .failure: break
        }
        takeBack(ended) { _ in goOn(outcome) }
      })
  }

  /// Takes back the tokens of sessions.
  ///
  /// - Parameter goOn: Called with whether that would survive the process.
  private func takeBack(_ sessions: [Session], then goOn: @escaping (Bool) -> Void) {
    let now = surroundings.clock.now
    let ends = sessions.map { session in
      // A token of a former version would begin the session again, as long as it counts.
      Revocation.timed(
        session.id,
        until: session.isAdopted ? session.endsAt : now + settings.accessTokenMilliseconds)
    }
    rights.takeBack(ends) { goOn($0 != nil) }
  }

  /// Ends some of a user's sessions.
  ///
  /// - Parameter goOn: Called with how many there were; with `nil` if the store or the disk does not say.
  func end(_ choice: SessionChoice, of user: String, then goOn: @escaping (Int?) -> Void) {
    perform(.list(user: user, now: surroundings.clock.now)) { [self] outcome in
      guard case .success(.sessions(let sessions)) = outcome else { return goOn(nil) }
      let chosen = sessions.filter { choice.includes($0.id) }
      guard !chosen.isEmpty else { return goOn(0) }
      // First: whoever asks again after a failure still finds the session.
      takeBack(chosen) { [self] isDone in
        guard isDone else { return goOn(nil) }
        perform(.end(user: user, choice), after: chosen) { outcome in
          guard case .success(.ended(let ended)) = outcome else { return goOn(nil) }
          goOn(max(chosen.count, ended.count))
        }
      }
    }
  }

  // MARK: Requests

  /// Lists the asker's own sessions.
  func list(_ request: RequestID, of identity: Identity) {
    guard isPerson(identity, request) else { return }
    let now = surroundings.clock.now
    perform(.list(user: identity.user, now: now)) { [self] outcome in
      guard case .success(.sessions(let sessions)) = outcome else {
        return respond(request, Self.unavailable)
      }
      let counting = sessions.filter(access.counts)
      respond(request, .json(200, SessionJSON.list(counting, own: identity.tokenID)))
    }
  }

  /// Ends some of the asker's own sessions.
  func end(_ choice: SessionChoice, of identity: Identity, _ request: RequestID) {
    guard isPerson(identity, request) else { return }
    end(choice, of: identity.user) { [self] count in
      guard let count else { return respond(request, Self.unavailable) }
      if case .one = choice, count == 0 {
        return respond(
          request,
          .problem(404, .unknownType, "no such session of yours; GET /api/sessions lists them"))
      }
      surroundings.log.write(.notice, "sessions ended", [("sessions", "\(count)")])
      respond(request, .json(200, SessionJSON.ended(count)))
    }
  }

  /// Ends all of the asker's sessions but the one that asks.
  func endOthers(_ request: RequestID, of identity: Identity) {
    end(.others(than: identity.tokenID ?? ""), of: identity, request)
  }

  private func isPerson(_ identity: Identity, _ request: RequestID) -> Bool {
    guard identity.person != nil, !Identity.isProgram(identity.user) else {
      respond(request, .problem(403, .notAllowed, "sessions are a person's; sign in to see yours"))
      return false
    }
    return true
  }

  private static var unavailable: Response {
    .problem(503, .unavailable, "the store cannot do this now; try again later")
  }
}
