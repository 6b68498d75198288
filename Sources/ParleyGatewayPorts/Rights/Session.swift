/// A sign-in that lasts: a browser or a program in which a person has signed in, until it ends.
///
/// Its refresh token names the session's id and a turn. Only the token of the current turn counts;
/// exchanging it begins the next turn. So no token has to be stored, and a second use shows that a token
/// was stolen:
///
///     turn 4 ─▶ token 4 exchanged ─▶ turn 5 ─▶ token 4 within the grace: token 5 again
///                                          └─▶ token 4 later, or token 3: it was stolen, the session ends
public struct Session: Sendable, Hashable {
  /// The session's id, which all its tokens carry.
  public var id: String
  /// The user who has signed in.
  public var user: String
  /// The number of exchanges so far, which the valid refresh token contains.
  public var turn: Int
  /// The time of the sign-in.
  public var begunAt: Timestamp
  /// The time at which the valid refresh token was made: the session's last use.
  public var renewedAt: Timestamp
  /// The time at which the session ends if it is not used before.
  public var expiresAt: Timestamp
  /// The time at which the session ends, however it is used.
  public var endsAt: Timestamp
  /// The browser or program and its system, in words.
  public var device: Device

  /// A browser or program and its system, in words; either may be empty.
  public struct Device: Sendable, Hashable {
    /// The browser or program, such as `Firefox`.
    public var browser: String
    /// The system, such as `Android`.
    public var system: String

    /// Names a device.
    public init(browser: String, system: String) {
      self.browser = browser
      self.system = system
    }
  }

  /// The number of sessions that one user may have; beyond, the one whose last use is longest ago ends.
  public static let countMax = 32
  /// The prefix of the ids of sessions.
  public static let idPrefix = "s."

  /// Begins a session with its first turn.
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

  /// Restores a session from its parts.
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

/// The times by which sessions are renewed.
public struct SessionRule: Sendable, Hashable {
  /// Milliseconds that a session lasts without being used.
  public var idleMilliseconds: Int64
  /// Milliseconds after an exchange in which the exchanged token returns the same new one again: an answer
  /// may have been lost, and two windows of a browser may ask at once.
  public var graceMilliseconds: Int64

  /// The grace of a server.
  public static let graceMillisecondsDefault: Int64 = 60_000

  /// Makes a rule.
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
    /// A new turn has begun.
    case renewed
    /// The token was exchanged a moment ago: the token of the current turn is given again.
    case repeated
    /// The token was exchanged before: it has two holders, and the session is to end.
    case reused
    /// The session's time is over.
    case expired
  }

  /// Exchanges the refresh token of a turn.
  ///
  /// A turn ahead of the current one counts as the current one: the server has signed it, so the store was
  /// set back, as by restoring a backup. A clock that is set back neither extends a session nor ends it
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

/// Work with the sessions of signed-in users.
public enum SessionRequest: Sendable {
  /// Keeps a new session. If the user has more than `countMax` then, those with the oldest last use end.
  /// Some sessions whose time is over are removed with it.
  case begin(Session, countMax: Int)
  /// Exchanges the refresh token of a turn, see ``Session/renew(turn:now:_:)``. A session whose token was
  /// used twice stays as it is: its tokens are taken back before it is ended, so that no crash leaves a
  /// valid one.
  case renew(id: String, user: String, turn: Int, now: Timestamp, SessionRule)
  /// Lists a user's sessions, the last used first; those whose time is over are left out.
  case list(user: String, now: Timestamp)
  /// Ends sessions of a user.
  case end(user: String, SessionChoice)

  /// Its traits.
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
  /// The session with an id.
  case one(String)
  /// All sessions but one.
  case others(than: String)
  /// All sessions.
  case all

  /// Whether the choice includes a session of the user.
  public func includes(_ id: String) -> Bool {
    switch self {
    case .one(let one): id.utf8.elementsEqual(one.utf8)
    case .others(let own): !id.utf8.elementsEqual(own.utf8)
    case .all: true
    }
  }
}

/// The reply to a request about sessions.
public enum SessionReply: Sendable, Equatable {
  /// The session is kept; these had to end for it.
  case begun(ended: [Session])
  /// The session as it is now, and the result for the token. After `expired` it is gone.
  case renewed(Session, Session.Renewal)
  /// There is no such session.
  case unknown
  /// Sessions of a user.
  case sessions([Session])
  /// These have ended.
  case ended([Session])
}
