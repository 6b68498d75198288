import ParleyGatewayPorts

/// Valid tokens. A token in the book is valid until it expires.
final class TokenBook: Authenticator {
  private var identities: [String: Identity] = [:]

  /// Adds a token.
  func enter(
    _ token: String, user: String, name: String? = nil, tokenID: String? = nil,
    issuedAt: Timestamp? = nil, expiresAt: Timestamp? = nil, _ grants: [Grant] = []
  ) {
    identities[token] = Identity(
      user: user, name: name, tokenID: tokenID, issuedAt: issuedAt, expiresAt: expiresAt,
      grants: grants)
  }

  func authenticate(
    _ token: String, now: Timestamp
  ) throws(AuthenticationError) -> Identity {
    guard let identity = identities[token] else { throw .signature }
    if let end = identity.expiresAt, end <= now { throw .expired }
    return identity
  }

  func admits(_ roomToken: String, to room: RoomName, user: String, now: Timestamp) -> Bool {
    roomToken == "room \(room) for \(user)"
  }
}

/// The server's own tokens, without signatures.
final class OwnTokenBook: OwnTokens {
  private var identities: [String: Identity] = [:]

  func token(for identity: Identity) -> String {
    let token = "own\(identities.count)"
    identities[token] = identity
    return token
  }

  func key(ofLink id: String) -> String { "key of \(id)" }

  func identity(of token: String, now: Timestamp) throws(AuthenticationError) -> Identity? {
    guard let identity = identities[token] else { return nil }
    if let end = identity.expiresAt, end <= now { throw .expired }
    return identity
  }
}

/// Revocations in memory, which can simulate a failing disk.
final class RevocationList: Revocations {
  private(set) var generation = 0
  private var revoked = RevokedTokens()
  private var fromElsewhere: [Revocation] = []
  var isBroken = false
  /// The number of times that a real disk would have been waited for.
  private(set) var waits = 0
  /// Whether the disk hangs. Revocations are then stored when it no longer hangs.
  var hangs = false {
    didSet {
      guard !hangs else { return }
      defer { held = [] }
      for (revocations, proceed) in held { add(revocations, then: proceed) }
    }
  }
  private var held: [([Revocation], (RevocationError?) -> Void)] = []
  /// The time at which the list was last complete; `nil` for a gateway that is the only one.
  var completeAt: Int64?

  func age(uptime: Int64) -> Int64 { completeAt.map { uptime - $0 } ?? 0 }

  func refresh(now: Timestamp) {
    for revocation in fromElsewhere where revoked.insert(revocation) { generation += 1 }
    fromElsewhere = []
  }

  func isRevoked(_ identity: Identity) -> Bool { revoked.isRevoked(identity) }

  var all: [Revocation] { revoked.all }

  func add(_ revocations: [Revocation], then proceed: @escaping (RevocationError?) -> Void) {
    guard !hangs else { return held.append((revocations, proceed)) }
    guard !isBroken else { return proceed(.unwritable) }
    waits += 1
    for revocation in revocations where revoked.insert(revocation) { generation += 1 }
    proceed(nil)
  }

  /// Adds a revocation that another process has stored.
  func addFromOtherProcess(_ revocation: Revocation) { fromElsewhere.append(revocation) }
}

/// Three API keys: an operator's without any right, one that may publish, and one that may write notes.
struct KeyBook: APIKeys {
  func identity(for key: String, now: Timestamp) -> Identity? {
    var identity = Identity(user: "key:" + key, grants: [])
    switch key {
    case "pk_operator": identity.isOperator = true
    case "pk_publisher": identity.grants = [Grant(.rooms, NamePattern("*"), .publish)]
    case "pk_writer": identity.grants = [Grant(.documents, NamePattern("*"), .all)]
    default: return nil
    }
    return identity
  }
}
