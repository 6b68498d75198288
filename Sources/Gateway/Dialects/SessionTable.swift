import ParleyGatewayPorts
import SocketMessages

/// The sessions of Socket.IO and Bayeux together: their places, and the refusals where there are none.
final class SessionTable: Part {
  /// A refused session.
  struct Refusal {
    let reason: SessionPlaces.Refusal
    /// Milliseconds after which the client should retry; they differ from client to client.
    let retryAfter: Int
  }

  let board: Switchboard
  private let access: Access
  private var places: SessionPlaces
  private var retries = RetryInterval()

  init(_ board: Switchboard, _ access: Access) {
    self.board = board
    self.access = access
    places = SessionPlaces(capacity: board.settings.dialects.sessionsMax)
  }

  /// The number of sessions whose clients have not shown a token.
  var unidentifiedCount: Int { places.unidentifiedCount }

  /// Returns why a client at an address cannot begin a session now, and counts that; `nil` if it can.
  func refusal(for address: IPAddress?) -> Refusal? {
    guard !board.isDraining else { return refused(.full) }
    switch places.decision(for: address, isIdentified: access.isDemo) {
    case .enter, .replace: return nil
    case .refuse(let reason): return refused(reason)
    }
  }

  /// Gives a session a place, in which it may replace another that has not shown a token.
  ///
  /// - Returns: Whether there was one; see ``refusal(for:)``.
  func enter(_ connection: Connection, from address: IPAddress?) -> Bool {
    let decision = places.decision(for: address, isIdentified: access.isDemo)
    switch decision {
    case .enter: break
    case .replace(let id):
      metrics.sessionsReplaced += 1
      // The old session frees its place when it ends.
      if let old = connections[id] { old.dialect.endAtOnce(old) }
      places.leave(id)
    case .refuse: return false
    }
    places.enter(connection.id, from: address, isIdentified: access.isDemo)
    return true
  }

  /// Returns whether a session's client has shown a token, or need not.
  func isIdentified(_ connection: Connection) -> Bool { places.isIdentified(connection.id) }

  /// Counts a session towards the user whose token its client has shown.
  ///
  /// - Returns: Why the user can have no further session now; `nil` if it is counted.
  func identify(_ connection: Connection, as identity: Identity) -> Refusal? {
    guard !access.isDemo else { return nil }
    return places.identify(connection.id, as: identity).map(refused)
  }

  /// Gives one session's place to another, which has none.
  func move(from old: Connection, to new: Connection) { places.move(from: old.id, to: new.id) }

  /// Frees a session's place.
  func leave(_ connection: Connection) { places.leave(connection.id) }

  private func refused(_ reason: SessionPlaces.Refusal) -> Refusal {
    metrics.sessionsRefused[reason.rawValue, default: 0] += 1
    log(.notice, "session refused", reason.words)
    return Refusal(reason: reason, retryAfter: retries.next())
  }
}

extension SessionPlaces.Refusal {
  /// The refusal in words, for clients and the log.
  var words: String {
    switch self {
    case .full: "the server has no place for a further session; try again later"
    case .share: "too many sessions of one user or address; end some, or try again later"
    }
  }
}

extension SessionTable.Refusal {
  /// The answer to a handshake over HTTP.
  var response: Response {
    switch reason {
    case .full: .tooMany(.problem(503, .unavailable, reason.words), retryAfter: retryAfter)
    case .share: .tooMany(.problem(429, .tooMany, reason.words), retryAfter: retryAfter)
    }
  }
}
