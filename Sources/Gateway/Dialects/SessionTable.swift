import ParleyGatewayPorts
import SocketMessages

/// The slots of all Socket.IO and Bayeux sessions, and the rejection of sessions beyond them.
final class SessionTable: Part {
  /// A refused session.
  struct Refusal {
    let reason: SessionSlots.Refusal
    /// Milliseconds after which the client should retry; the values spread the clients' retries.
    let retryAfter: Int
  }

  let board: Switchboard
  private let access: Access
  private var slots: SessionSlots
  private var retries = RetryInterval()

  init(_ board: Switchboard, _ access: Access) {
    self.board = board
    self.access = access
    slots = SessionSlots(capacity: board.settings.dialects.sessionsMax)
  }

  /// The number of sessions whose clients have not shown a token.
  var unidentifiedCount: Int { slots.unidentifiedCount }

  /// Returns why an address can begin no session now, and counts the rejection; `nil` if it can.
  func refusal(for address: IPAddress?) -> Refusal? {
    guard !board.isDraining else { return refused(.full) }
    switch slots.decision(for: address, isIdentified: access.isDemo) {
    case .enter, .replace: return nil
    case .refuse(let reason): return refused(reason)
    }
  }

  /// Gives a session a slot; the session may replace an unidentified session.
  ///
  /// - Returns: Whether a slot was available; see ``refusal(for:)``.
  func enter(_ connection: Connection, from address: IPAddress?) -> Bool {
    let decision = slots.decision(for: address, isIdentified: access.isDemo)
    switch decision {
    case .enter: break
    case .replace(let id):
      metrics.sessionsReplaced += 1
      // The old session frees its slot when it ends.
      if let old = connections[id] { old.dialect.endAtOnce(old) }
      slots.leave(id)
    case .refuse: return false
    }
    slots.enter(connection.id, from: address, isIdentified: access.isDemo)
    return true
  }

  /// Returns whether a session's client has shown a token, or needs none.
  func isIdentified(_ connection: Connection) -> Bool { slots.isIdentified(connection.id) }

  /// Counts a session towards the user of its client's token.
  ///
  /// - Returns: Why the user can have no further session now; `nil` if the session is counted.
  func identify(_ connection: Connection, as identity: Identity) -> Refusal? {
    guard !access.isDemo else { return nil }
    return slots.identify(connection.id, as: identity).map(refused)
  }

  /// Moves one session's slot to another session, which has none.
  func move(from old: Connection, to new: Connection) { slots.move(from: old.id, to: new.id) }

  /// Frees a session's slot.
  func leave(_ connection: Connection) { slots.leave(connection.id) }

  private func refused(_ reason: SessionSlots.Refusal) -> Refusal {
    metrics.sessionsRefused[reason.rawValue, default: 0] += 1
    log(.notice, "session refused", reason.words)
    return Refusal(reason: reason, retryAfter: retries.next())
  }
}

extension SessionSlots.Refusal {
  /// The reason as text, for clients and the log.
  var words: String {
    switch self {
    case .full: "the server has no place for a further session; try again later"
    case .share: "too many sessions of one user or address; end some, or try again later"
    }
  }
}

extension SessionTable.Refusal {
  /// The response to a rejected handshake over HTTP.
  var response: Response {
    switch reason {
    case .full: .tooMany(.problem(503, .unavailable, reason.words), retryAfter: retryAfter)
    case .share: .tooMany(.problem(429, .tooMany, reason.words), retryAfter: retryAfter)
    }
  }
}
