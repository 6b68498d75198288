/// Tokens that the server makes itself: for shared links, for single rooms, after a login.
public protocol OwnTokens {
  /// Makes a token with all of the identity.
  func token(for identity: Identity) -> String
  /// Returns the key that opens a link: 128 bits that only this server can tell from its id, or more.
  func key(ofLink id: String) -> String
  /// Returns the identity of a token's owner; `nil` if the token is not one of the server's own.
  func identity(of token: String, now: Timestamp) throws(AuthenticationError) -> Identity?
}

/// Tokens taken back before their time.
public enum Revocation: Hashable, Sendable {
  /// All of a user's tokens that were issued up to now.
  case user(String, before: Timestamp)
  /// A single token, by its own id.
  case token(String)
  /// All tokens with an id, none of which lasts longer than until a time: those of a session, or of a link.
  case timed(String, until: Timestamp)
}

/// Stores revocations.
public protocol Revocations: AnyObject {
  /// Counts up with each new revocation, from here or elsewhere.
  var generation: Int { get }
  /// Reads new revocations from elsewhere. Called about once a second.
  func refresh(now: Timestamp)
  /// Whether the token of the identity was taken back.
  func isRevoked(_ identity: Identity) -> Bool
  /// Milliseconds since all revocations of other gateways were known; 0 without other gateways.
  func age(uptime: Int64) -> Int64
  /// Takes tokens back, all or none, without waiting for a disk. The disk is written once, however many
  /// there are.
  ///
  /// - Parameter proceed: Called on the caller's thread, now or later: when the revocations would survive the
  ///   process, or with the error. Until then the tokens may count.
  func add(_ revocations: [Revocation], then proceed: @escaping (RevocationError?) -> Void)
}

extension Revocations {
  /// 0, for a gateway that is alone.
  public func age(uptime: Int64) -> Int64 { 0 }
}

/// Bounds on the age of the list of revocations, see ``Revocations/age(uptime:)``.
public enum RevocationAge {
  /// Milliseconds from which no token is taken.
  public static let unverifiedMilliseconds: Int64 = 10_000
  /// Milliseconds from which connections by tokens are ended.
  public static let abandonedMilliseconds: Int64 = 120_000
}

/// The reason why no token could be taken back.
public enum RevocationError: Error, Sendable, Hashable {
  /// The disk cannot be written.
  case unwritable
  /// There are too many.
  case tooMany
  /// Too many wait for the disk.
  case busy
}

extension Revocation {
  /// Bytes that the id of a token, or the name of a user, may have: no token with a longer one is taken.
  public static let nameBytesMax = 1_000
}

/// Revocations in memory: the rules that every implementation shares.
///
/// Names are compared byte by byte: to `String`, é and e with an accent are one.
public struct RevokedTokens: Sendable {
  private var users: [ExactName: Timestamp] = [:]
  private var tokens: Set<ExactName> = []
  /// Revocations with an end, which are removed then.
  private var timed: [ExactName: Timestamp] = [:]
  /// Users that represent the links of a note, and single links.
  private var linkCount = 0
  private var sessionCount = 0

  /// More are not taken.
  public static let countMax = 100_000
  /// Links of so many notes, at most. A user who may share a note can end its links, and must not thereby
  /// keep operators from taking back tokens.
  public static let linksMax = countMax / 2
  /// Sessions, at most, for the same reason: a signed-in user can end theirs.
  public static let sessionsMax = countMax / 4

  /// Nothing was taken back.
  public init() {}

  /// The number of entries.
  public var count: Int { users.count + tokens.count + timed.count }

  /// All of them, in no order.
  public var all: [Revocation] {
    users.map { .user($0.key.text, before: $0.value) } + tokens.map { .token($0.text) }
      + timed.map { .timed($0.key.text, until: $0.value) }
  }

  /// Whether a revocation fits, or replaces an older one.
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

  /// Takes tokens back; returns whether that changes anything.
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

  /// Forgets those whose time is over: no token of theirs is still valid.
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

  /// Whether the token of the identity was taken back.
  ///
  /// A token without a time of issue counts as older than any revocation of its user: otherwise it could
  /// not be taken back.
  public func isRevoked(_ identity: Identity) -> Bool {
    if let id = identity.tokenID.map(ExactName.init(_:)), tokens.contains(id) || timed[id] != nil {
      return true
    }
    guard let before = users[ExactName(identity.user)] else { return false }
    return identity.issuedAt ?? .min <= before
  }
}

/// Signs the ids of clients, so that no client resumes as another.
public protocol ResumeTokens {
  /// The token that proves ownership of a client id.
  func token(for client: String) -> String
  /// Whether the token is this client's. Takes the same time for every wrong token.
  func isValid(_ token: String, for client: String) -> Bool
}
