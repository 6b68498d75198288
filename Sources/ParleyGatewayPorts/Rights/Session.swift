import ParleyJSON

/// The signed-in session of a user in a browser or a program.
///
/// Its refresh token contains the session's id and turn. Only the token of the current turn is
/// valid; exchanging it starts the next turn. No token is stored, and a second use reveals a theft:
///
///     turn 4 ─▶ token 4 exchanged ─▶ turn 5 ─▶ token 4 within the grace: token 5 again
///                                          └─▶ token 4 later, or token 3: stolen, the session ends
public struct Session: Sendable, Hashable {
  /// The session's id, contained in all its tokens.
  public var id: String
  /// The user who has signed in.
  public var user: String
  /// The current turn, contained in the valid refresh token: 1 plus the number of exchanges.
  public var turn: Int
  /// The time of the sign-in.
  public var begunAt: Timestamp
  /// The time at which the valid refresh token was issued: the session's last use.
  public var renewedAt: Timestamp
  /// The time at which an unused session expires.
  public var expiresAt: Timestamp
  /// The time at which the session ends even if it is in use.
  public var endsAt: Timestamp
  /// The browser or program, and its operating system.
  public var device: Device

  /// A browser or program, and its operating system; either may be empty.
  public struct Device: Sendable, Hashable {
    /// The browser or program, such as `Firefox`.
    public var browser: String
    /// The operating system, such as `Android`.
    public var system: String

    /// Creates a device from the names of its program and its system.
    public init(browser: String, system: String) {
      self.browser = browser
      self.system = system
    }
  }

  /// Maximum sessions of one user; a further sign-in ends the least recently used one.
  public static let countMax = 32
  /// The prefix of session ids.
  public static let idPrefix = "s."

  /// Starts a session with its first turn.
  public init(
    id: String, user: String, begunAt: Timestamp, endsAt: Timestamp, device: Device,
    _ rule: SessionRule
  ) {
    self.id = id
    self.user = user
    self.device = device
    self.begunAt = begunAt
    self.endsAt = endsAt
    turn = 1
    renewedAt = begunAt
    expiresAt = min(endsAt, begunAt + rule.idleMilliseconds)
  }

  /// Restores a session from its stored fields.
  public init(
    id: String, user: String, turn: Int, begunAt: Timestamp, renewedAt: Timestamp,
    expiresAt: Timestamp, endsAt: Timestamp, device: Device
  ) {
    self.id = id
    self.user = user
    self.turn = turn
    self.begunAt = begunAt
    self.renewedAt = renewedAt
    self.expiresAt = expiresAt
    self.endsAt = endsAt
    self.device = device
  }
}

/// The lifetimes of sessions and of exchanged tokens.
public struct SessionRule: Sendable, Hashable {
  /// Maximum milliseconds that a session lasts without use.
  public var idleMilliseconds: Int64
  /// Milliseconds for which an exchanged token returns the same new token again, because a response
  /// may be lost, and two windows of a browser may exchange at once.
  public var graceMilliseconds: Int64

  /// Default grace: one minute.
  public static let graceMillisecondsDefault: Int64 = 60_000

  /// Creates a rule, by default with a grace of one minute.
  public init(
    idleMilliseconds: Int64, graceMilliseconds: Int64 = Self.graceMillisecondsDefault
  ) {
    self.idleMilliseconds = idleMilliseconds
    self.graceMilliseconds = graceMilliseconds
  }
}

extension Session {
  /// The outcome of presenting a refresh token.
  public enum Renewal: Sendable, Hashable {
    /// A new turn has started.
    case renewed
    /// The token was exchanged within the grace; the token of the current turn is returned again.
    case repeated
    /// The token was exchanged before. It has two holders, so the caller must end the session.
    case reused
    /// The session has expired.
    case expired
  }

  /// Exchanges the refresh token of a turn.
  ///
  /// A turn ahead of the current one counts as current: the server has signed it, so the store must
  /// have been restored from a backup. Setting the clock back neither extends a session nor ends it
  /// early.
  public mutating func renew(turn presented: Int, now: Timestamp, _ rule: SessionRule) -> Renewal {
    guard now < min(expiresAt, endsAt) else { return .expired }
    guard presented >= turn else {
      let isRecent = presented == turn - 1 && abs(now - renewedAt) <= rule.graceMilliseconds
      return isRecent ? .repeated : .reused
    }
    turn = presented + 1
    renewedAt = now
    expiresAt = min(endsAt, now + rule.idleMilliseconds)
    return .renewed
  }
}

/// A request about the sessions of signed-in users.
public enum SessionRequest: Sendable {
  /// Stores a new session. Beyond `countMax` sessions of the user, the least recently used ones
  /// end. Also removes some expired sessions.
  case begin(Session, countMax: Int)
  /// Exchanges the refresh token of a turn; see ``Session/renew(turn:now:_:)``. After a reuse, the
  /// session remains: the caller revokes its tokens before ending it, so that no crash leaves a
  /// valid one.
  case renew(id: String, user: String, turn: Int, now: Timestamp, SessionRule)
  /// Lists a user's sessions that have not expired, the most recently used first.
  case list(user: String, now: Timestamp)
  /// Ends the chosen sessions of a user.
  case end(user: String, SessionChoice)

  /// The request's traits.
  var traits: StoreTraits {
    switch self {
    case .begin(let session, _): .writing(locking: .user(session.user))
    case .renew(_, let user, _, _, _), .end(let user, _): .writing(locking: .user(user))
    case .list: .reading()
    }
  }
}

/// A choice among the sessions of a user.
public enum SessionChoice: Sendable, Hashable {
  /// The session with this id.
  case one(String)
  /// All sessions except one.
  case others(than: String)
  /// All sessions.
  case all

  /// Whether the choice includes the session with an id.
  public func includes(_ id: String) -> Bool {
    switch self {
    case .one(let one): id.isExactly(one)
    case .others(let own): !id.isExactly(own)
    case .all: true
    }
  }
}

/// The reply to a request about sessions.
public enum SessionReply: Sendable, Equatable {
  /// The session was stored; the listed sessions were ended to make room.
  case begun(ended: [Session])
  /// The session after the exchange, and the result. An expired session has been removed.
  case renewed(Session, Session.Renewal)
  /// The user has no session with this id.
  case unknown
  /// Sessions of a user.
  case sessions([Session])
  /// The sessions that were ended.
  case ended([Session])
}
