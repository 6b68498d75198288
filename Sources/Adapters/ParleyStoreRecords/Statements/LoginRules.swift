import ParleyGatewayPorts
import ParleyJSON

/// The maximum expired sessions that one request deletes.
private let expiredMax = 100

/// Sessions of users who have signed in.
struct LoginRules<Store: SQLConnection> {
  let store: Store

  func reply(to request: SessionRequest) throws(StoreError) -> SessionReply {
    switch request {
    case .begin(let session, let countMax):
      store.context.noteTime(session.begunAt)
      try removeExpiredSessions(now: session.begunAt)
      try add(session)
      let kept = try sessions(of: session.user)
      let others = kept.filter { !$0.id.isExactly(session.id) }
      let ended = others.dropFirst(max(countMax - 1, 0))
      for session in ended { try removeSession(session.id) }
      return .begun(ended: Array(ended))
    case .renew(let id, let user, let turn, let now, let rule):
      // Lock the session: of two requests with one token, the second sees the first one's renewal.
      let found = try store.first(
        Self.selectSessions + " WHERE id = $1" + store.locking, id
      ) {
        Self.session($0)
      }
      guard var session = found, session.user.isExactly(user) else {
        return .unknown
      }
      let renewal = session.renew(turn: turn, now: now, rule)
      switch renewal {
      case .renewed:
        try store.change(
          "UPDATE sessions SET turn = $2, renewed = $3, expires = $4 WHERE id = $1", id,
          session.turn, session.renewedAt, session.expiresAt)
      case .repeated, .reused: break
      case .expired: try removeSession(id)
      }
      return .renewed(session, renewal)
    case .list(let user, let now):
      return .sessions(try sessions(of: user).filter { $0.expiresAt > now })
    case .end(let user, let choice):
      let ended = try sessions(of: user).filter { choice.includes($0.id) }
      for session in ended { try removeSession(session.id) }
      return .ended(ended)
    }
  }

  private func add(_ session: Session) throws(StoreError) {
    try store.change(
      """
      INSERT INTO sessions (id, "user", turn, begun, renewed, expires, ends, browser, system)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING
      """, session.id, session.user, session.turn, session.begunAt, session.renewedAt,
      session.expiresAt, session.endsAt, session.device.browser, session.device.system)
  }

  private static var selectSessions: String {
    """
    SELECT id, "user", turn, begun, renewed, expires, ends, browser, system FROM sessions
    """
  }

  private static func session(_ row: Store.Row) -> Session {
    Session(
      id: row.text(0), user: row.text(1), turn: row.integer(2), begunAt: Timestamp(row.integer(3)),
      renewedAt: Timestamp(row.integer(4)), expiresAt: Timestamp(row.integer(5)),
      endsAt: Timestamp(row.integer(6)),
      device: Session.Device(browser: row.text(7), system: row.text(8)))
  }

  private func sessions(of user: String) throws(StoreError) -> [Session] {
    try store.rows(Self.selectSessions + " WHERE \"user\" = $1 ORDER BY renewed DESC, id", user) {
      Self.session($0)
    }
  }

  private func removeSession(_ id: String) throws(StoreError) {
    try store.change("DELETE FROM sessions WHERE id = $1", id)
  }

  private func removeExpiredSessions(now: Timestamp) throws(StoreError) {
    try store.change(
      """
      DELETE FROM sessions WHERE id IN (SELECT id FROM sessions
        WHERE expires <= $1 ORDER BY expires LIMIT \(expiredMax)\(store.skippingLocked))
      """, now)
  }
}
