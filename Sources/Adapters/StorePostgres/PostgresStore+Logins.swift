import GatewayPorts

/// Sessions of those who have signed in.
extension PostgresStore {
  /// Sessions whose time is over that one request removes.
  private static let expiredMax = 100

  func reply(to request: SessionRequest) throws(StoreError) -> SessionReply {
    switch request {
    case .begin(let session, let countMax):
      noteTime(session.begunAt)
      removeExpiredSessions(now: session.begunAt)
      add(session)
      let kept = try sessions(of: session.user)
      let ended = kept.filter { $0.id != session.id }.dropFirst(max(countMax - 1, 0))
      for session in ended { removeSession(session.id) }
      return .begun(ended: Array(ended))
    case .renew(let id, let user, let turn, let adopted, let now, let rule):
      if let adopted { add(adopted) }
      // Locked: of two that exchange one token, the second sees what the first has done.
      let found = try query(Self.selectSessions + " WHERE id = $1 FOR UPDATE", id).first
      guard var session = found.map({ Self.session($0) }),
        session.user.utf8.elementsEqual(user.utf8)
      else { return .unknown }
      let renewal = session.renew(turn: turn, now: now, rule)
      switch renewal {
      case .renewed:
        change(
          "UPDATE parley.sessions SET turn = $2, renewed = $3, expires = $4 WHERE id = $1", id,
          session.turn, session.renewedAt, session.expiresAt)
      case .repeated, .reused: break
      case .expired: removeSession(id)
      }
      return .renewed(session, renewal)
    case .list(let user, let now):
      return .sessions(try sessions(of: user).filter { $0.expiresAt > now })
    case .end(let user, let choice):
      let ended = try sessions(of: user).filter { choice.includes($0.id) }
      for session in ended { removeSession(session.id) }
      return .ended(ended)
    }
  }

  private func add(_ session: Session) {
    change(
      """
      INSERT INTO parley.sessions (id, "user", turn, begun, renewed, expires, ends, browser, system)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING
      """, session.id, session.user, session.turn, session.begunAt, session.renewedAt,
      session.expiresAt, session.endsAt, session.device.browser, session.device.system)
  }

  private static let selectSessions = """
    SELECT id, "user", turn, begun, renewed, expires, ends, browser, system FROM parley.sessions
    """

  private static func session(_ row: PostgresRow) -> Session {
    Session(
      id: row.text(0), user: row.text(1), turn: row.integer(2), begunAt: Timestamp(row.integer(3)),
      renewedAt: Timestamp(row.integer(4)), expiresAt: Timestamp(row.integer(5)),
      endsAt: Timestamp(row.integer(6)),
      device: Session.Device(browser: row.text(7), system: row.text(8)))
  }

  private func sessions(of user: String) throws(StoreError) -> [Session] {
    try query(Self.selectSessions + " WHERE \"user\" = $1 ORDER BY renewed DESC, id", user).rows {
      Self.session($0)
    }
  }

  private func removeSession(_ id: String) {
    change("DELETE FROM parley.sessions WHERE id = $1", id)
  }

  private func removeExpiredSessions(now: Timestamp) {
    change(
      """
      DELETE FROM parley.sessions WHERE id IN (SELECT id FROM parley.sessions
        WHERE expires <= $1 ORDER BY expires LIMIT \(Self.expiredMax) FOR UPDATE SKIP LOCKED)
      """, now)
  }
}
