/// Tokens that the server issues itself: for shared links, for single rooms, and after a login.
public protocol OwnTokens {
  /// Issues a token that contains the whole identity.
  func token(for identity: Identity) -> String
  /// Returns the key of a link: at least 128 bits, which only this server can derive from the id.
  func key(ofLink id: String) -> String
  /// Returns the identity of a token's owner; `nil` if this server has not issued the token.
  func identity(of token: String, now: Timestamp) throws(AuthenticationError) -> Identity?
}

/// Tokens that are revoked before they expire.
public enum Revocation: Hashable, Sendable {
  /// All tokens of a user that were issued up to a time.
  case user(String, before: Timestamp)
  /// A single token, by its id.
  case token(String)
  /// All tokens with the id of a session or a link. They expire at `until` at the latest.
  case timed(String, until: Timestamp)
}

/// A store of revocations.
public protocol Revocations: AnyObject {
  /// A counter that increases with each new revocation, from this gateway or another.
  var generation: Int { get }
  /// Reads new revocations of other gateways. Called about once a second.
  func refresh(now: Timestamp)
  /// Whether the identity's token was revoked.
  func isRevoked(_ identity: Identity) -> Bool
  /// Returns the milliseconds since the revocations of all other gateways were last known; 0
  /// without other gateways.
  func age(uptime: Int64) -> Int64
  /// Adds all of the revocations or none, without waiting for a disk. The disk is written once,
  /// however many revocations there are.
  ///
  /// - Parameter proceed: Called on the caller's thread, now or later: without an error when the
  ///   revocations are durable, otherwise with the error. Until then the tokens may remain valid.
  func add(_ revocations: [Revocation], then proceed: @escaping (RevocationError?) -> Void)
}

extension Revocations {
  /// Returns 0, the age for a gateway without others.
  public func age(uptime: Int64) -> Int64 { 0 }
}

/// Maximum ages of the list of revocations; see ``Revocations/age(uptime:)``.
public enum RevocationAge {
  /// Milliseconds after which no further token is accepted.
  public static let rejectAfterMilliseconds: Int64 = 10_000
  /// Milliseconds after which connections with tokens are closed.
  public static let closeAfterMilliseconds: Int64 = 120_000
}

/// The reason why revoking failed.
public enum RevocationError: Error, Sendable, Hashable {
  /// The disk cannot be written.
  case unwritable
  /// The maximum number of revocations is reached.
  case tooMany
  /// Too many revocations are waiting for the disk.
  case busy
}

extension Revocation {
  /// Maximum bytes of a token's id or a user's id. A token with a longer one is rejected.
  public static let nameBytesMax = 1_000
}

/// Revocations in memory, with the rules that all implementations share.
///
/// Names are compared byte by byte: `String` treats é and e with a combining accent as equal.
public struct RevokedTokens: Sendable {
  private var users: [ExactName: Timestamp] = [:]
  private var tokens: Set<ExactName> = []
  /// Revocations with the time at which they are removed.
  private var timed: [ExactName: Timestamp] = [:]
  /// The number of revocations of links: of all links of a note, and of single links.
  private var linkCount = 0
  private var sessionCount = 0

  /// Maximum number of revocations. Further ones are rejected.
  public static let countMax = 100_000
  /// Maximum number of revocations of links. A user who may share a note can revoke its links, and
  /// must not thereby prevent operators from revoking tokens.
  public static let linksMax = countMax / 2
  /// Maximum number of revocations of sessions. The reason is the same: signed-in users can end
  /// their own sessions.
  public static let sessionsMax = countMax / 4

  /// Creates an empty list.
  public init() {}

  /// The number of entries.
  public var count: Int { users.count + tokens.count + timed.count }

  /// All revocations, unordered.
  public var all: [Revocation] {
    users.map { .user($0.key.text, before: $0.value) } + tokens.map { .token($0.text) }
      + timed.map { .timed($0.key.text, until: $0.value) }
  }

  /// Whether a revocation is within the limits, or replaces an older one.
  public func hasRoom(for revocation: Revocation) -> Bool {
    switch revocation {
    case .user(let user, _):
      if users[ExactName(user)] != nil { return true }
      return count < Self.countMax && (!Self.isLink(user) || linkCount < Self.linksMax)
    case .token(let id): return count < Self.countMax || tokens.contains(ExactName(id))
    case .timed(let id, _):
      if timed[ExactName(id)] != nil { return true }
      return count < Self.countMax
        && (Self.isSession(id) ? sessionCount < Self.sessionsMax : linkCount < Self.linksMax)
    }
  }

  private static func isSession(_ id: String) -> Bool {
    !id.utf8.starts(with: NoteLink.idPrefix.utf8)
  }

  private static func isLink(_ user: String) -> Bool {
    user.utf8.starts(with: Identity.guestPrefix.utf8)
  }

  /// Adds a revocation, and returns whether this changes the list.
  @discardableResult
  public mutating func insert(_ revocation: Revocation) -> Bool {
    switch revocation {
    case .user(let user, let before):
      let name = ExactName(user)
      if let known = users[name] {
        guard known < before else { return false }
      } else if Self.isLink(user) {
        linkCount += 1
      }
      users[name] = before
      return true
    case .token(let id): return tokens.insert(ExactName(id)).inserted
    case .timed(let id, let end):
      let name = ExactName(id)
      if let known = timed[name] {
        guard known < end else { return false }
      } else {
        countTimed(id, by: 1)
      }
      timed[name] = end
      return true
    }
  }

  /// Removes revocations whose time is over, because their tokens have expired.
  ///
  /// - Complexity: O(*n*) revocations.
  public mutating func forget(endedBy now: Timestamp) {
    for (name, end) in timed where end <= now {
      timed[name] = nil
      countTimed(name.text, by: -1)
    }
  }

  private mutating func countTimed(_ id: String, by change: Int) {
    if Self.isSession(id) { sessionCount += change } else { linkCount += change }
  }

  /// Whether the identity's token was revoked.
  ///
  /// A token without a time of issue counts as older than all revocations of its user; otherwise it
  /// could not be revoked.
  public func isRevoked(_ identity: Identity) -> Bool {
    if let id = identity.tokenID.map(ExactName.init(_:)), tokens.contains(id) || timed[id] != nil {
      return true
    }
    guard let before = users[ExactName(identity.user)] else { return false }
    return identity.issuedAt ?? .min <= before
  }
}

/// Signs client ids, so that no client can resume as another.
public protocol ResumeTokens {
  /// Returns the token that proves ownership of a client id.
  func token(for client: String) -> String
  /// Whether the token belongs to a client. Takes the same time for every wrong token.
  func isValid(_ token: String, for client: String) -> Bool
}
