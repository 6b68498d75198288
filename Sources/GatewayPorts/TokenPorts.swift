/// Tokens that the server makes itself: for shared links, for single rooms, after a login.
public protocol OwnTokens {
  /// Makes a token that says all of the identity.
  func token(for identity: Identity) -> String
  /// Whose the token is; `nil` if it is not one of the server's own.
  func identity(of token: String, now: Timestamp) throws(AuthenticationError) -> Identity?
}

/// Tokens taken back before their time.
public enum Revocation: Hashable, Sendable {
  /// All of a user's tokens that were issued up to now.
  case user(String, before: Timestamp)
  /// One token, by its own id.
  case token(String)
}

/// Remembers what was taken back.
public protocol Revocations: AnyObject {
  /// Counts up whenever there is a new one, wherever it came from.
  var generation: Int { get }
  /// Looks whether there are new ones from elsewhere. Called about once a second.
  func refresh(now: Timestamp)
  /// Whether the token of the identity was taken back.
  func isRevoked(_ identity: Identity) -> Bool
  /// Takes tokens back, and returns when it would survive the process.
  func add(_ revocation: Revocation) throws(RevocationError)
}

/// Why nothing could be taken back.
public enum RevocationError: Error, Sendable, Hashable {
  /// It cannot be written down.
  case unwritable
  /// There are too many.
  case tooMany
}

/// Revocations in memory: what every implementation has to say alike.
public struct RevokedTokens: Sendable {
  private var users: [String: Timestamp] = [:]
  private var tokens: Set<String> = []

  /// More are not taken.
  public static let countMax = 100_000

  /// Nothing was taken back.
  public init() {}

  /// How many there are.
  public var count: Int { users.count + tokens.count }

  /// All of them, in no order.
  public var all: [Revocation] {
    users.map { .user($0.key, before: $0.value) } + tokens.map { .token($0) }
  }

  /// Takes tokens back; says whether that is news.
  @discardableResult
  public mutating func insert(_ revocation: Revocation) -> Bool {
    switch revocation {
    case .user(let user, let before):
      guard users[user] ?? .min < before else { return false }
      users[user] = before
      return true
    case .token(let id): return tokens.insert(id).inserted
    }
  }

  /// Whether the token of the identity was taken back.
  ///
  /// A token that does not say when it was issued counts as older than any revocation of its
  /// user's: otherwise it could not be taken back.
  public func isRevoked(_ identity: Identity) -> Bool {
    if let id = identity.tokenID, tokens.contains(id) { return true }
    guard let before = users[identity.user] else { return false }
    return identity.issuedAt ?? .min <= before
  }
}
