public import ParleyGatewayPorts
import ParleyJSON

/// The rules for the tokens of one issuer, in addition to their signature.
public struct JWTPolicy: Sendable, Hashable {
  /// A claim that a token must contain, with its value.
  public struct RequiredClaim: Sendable, Hashable {
    /// The claim's name.
    public var name: String
    /// The expected value, a string.
    public var value: String

    /// Creates a rule.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Accepted values of `aud`; a token must contain one of them. If empty, a token with an audience
  /// is rejected, since it is intended for another service (RFC 7519, section 4.1.3).
  public var audiences: [String]
  /// Accepted values of `iss`. If empty, the issuer is not checked.
  public var issuers: [String]
  /// The maximum difference between the clocks of issuer and server, in milliseconds.
  public var clockSkewMilliseconds: Int64
  /// The claim that contains the user's id.
  public var userClaim = "sub"
  /// The prefix of the user's id, which keeps users of different issuers apart.
  public var userPrefix = ""
  /// Claims that a token must contain.
  public var requiredClaims: [RequiredClaim] = []
  /// The rights of tokens without the claim `parley`.
  public var rights: [GrantTemplate] = []
  /// Whether the claim `parley` of a token is used.
  public var honoursClaimedRights = true
  /// Whether tokens without `exp` are rejected.
  public var needsExpiry = false
  /// Claims to read in addition to those that the rules name.
  var furtherClaims: [String] = []
  /// The rule by which room tokens are accepted.
  public var roomTokens = RoomTokenRule()

  /// Creates a policy.
  public init(
    audiences: [String] = [], issuers: [String] = [], clockSkewMilliseconds: Int64 = 60_000
  ) {
    self.audiences = audiences
    self.issuers = issuers
    self.clockSkewMilliseconds = clockSkewMilliseconds
  }

  /// Returns the identity in claims whose signature was verified; throws if they violate a rule.
  func identity(_ claims: JWTClaims, now: Timestamp) throws(AuthenticationError) -> Identity {
    let ownID = try user(claims)
    try checkKind(of: claims)
    if let named = claims.audiences {
      guard named.contains(where: { isOne($0, of: audiences) }) else { throw .audience }
    } else {
      guard audiences.isEmpty else { throw .audience }
    }
    try checkIssuer(of: claims)
    var end: Timestamp?
    if let expiresAt = claims.expiresAt {
      // Add the clock skew once, here, so that all users of the identity end it at the same time.
      end = expiresAt + clockSkewMilliseconds
      guard now < expiresAt + clockSkewMilliseconds else { throw .expired }
    } else if needsExpiry {
      throw .claims
    }
    if let notBefore = claims.notBefore {
      guard now + clockSkewMilliseconds >= notBefore else { throw .notYetValid }
    }
    if let issuedAt = claims.issuedAt {
      // A token from the future could not be revoked now. Allow one more second for issuers that
      // round times.
      guard issuedAt <= now + clockSkewMilliseconds + 1_000 else { throw .notYetValid }
    }
    let user = userPrefix + ownID
    // Longer ids could not be revoked on all nodes.
    guard user.utf8.count <= Revocation.nameBytesMax,
      claims.tokenID?.utf8.count ?? 0 <= Revocation.nameBytesMax
    else { throw .claims }
    return Identity(
      user: user, name: claims.name, tokenID: claims.tokenID,
      // If the issuer's clock is ahead, the token may have been issued earlier than it says, and
      // before the user's tokens were revoked.
      issuedAt: claims.issuedAt.map { max(0, $0 - clockSkewMilliseconds) },
      expiresAt: end, grants: grants(claims, ownID))
  }

  /// Whether claims whose signature was verified admit a user to a room.
  func admits(_ claims: JWTClaims, to room: RoomName, user: String, now: Timestamp) -> Bool {
    guard roomTokens.isAny, roomTokens.accepts(claims, requiredClaims),
      (try? checkIssuer(of: claims)) != nil, let own = try? self.user(claims)
    else { return false }
    // A room token has its deadline in `iat`. The `iat` of another token is now, or slightly ahead
    // of this clock, so only a much later time is a deadline.
    let earliest = now + clockSkewMilliseconds + RoomTokenRule.marginMilliseconds
    guard let deadline = claims.issuedAt, deadline >= earliest,
      (claims.notBefore ?? .min) <= now + clockSkewMilliseconds
    else { return false }
    return claims.name?.isExactly(room.text) ?? false
      && (userPrefix + own).isExactly(user)
  }

  private func user(_ claims: JWTClaims) throws(AuthenticationError) -> String {
    let isSubject = userClaim.isExactly("sub")
    let user = isSubject ? claims.subject : claims.claim(userClaim)?.text
    guard let user, !user.isEmpty else { throw .claims }
    return user
  }

  /// Rejects tokens that the same key has signed for another purpose.
  private func checkKind(of claims: JWTClaims) throws(AuthenticationError) {
    // A refresh token is valid for weeks, and is intended only for the issuer.
    guard claims.claim(Self.kindClaim)?.text != Self.refreshKind else { throw .claims }
    for claim in requiredClaims {
      guard claims.claim(claim.name)?.text?.isExactly(claim.value) ?? false else {
        throw .claims
      }
    }
  }

  private func checkIssuer(of claims: JWTClaims) throws(AuthenticationError) {
    guard !issuers.isEmpty else { return }
    guard let issuer = claims.issuer, isOne(issuer, of: issuers) else { throw .issuer }
  }

  private func grants(_ claims: JWTClaims, _ ownID: String) -> [Grant] {
    if honoursClaimedRights, let grants = claims.grants { return grants }
    return rights.grants(for: ownID, prefix: userPrefix)
  }

  /// Whether an identity lacks some of ``rights`` because the user's id does not form a valid name.
  func omitsRights(of identity: Identity, _ claims: JWTClaims) -> Bool {
    let countsClaim = honoursClaimedRights && claims.grants != nil
    return !countsClaim && identity.grants.count < rights.count
  }

  /// Compares byte by byte: `String`'s `==` treats canonically equivalent texts as equal.
  private func isOne(_ text: String, of known: [String]) -> Bool {
    known.contains { $0.isExactly(text) }
  }

  /// The claim by which some issuers distinguish kinds of tokens.
  static let kindClaim = "type"
  private static let refreshKind = "refresh"

  /// The claims to read in addition to the registered ones.
  var notedClaims: [String] {
    [userClaim, Self.kindClaim] + requiredClaims.map(\.name) + furtherClaims
  }
}

/// The rule for room tokens of the Twake family, whose `name` is the room, and whose `iat` is the
/// time until which the token is valid.
public struct RoomTokenRule: Sendable, Hashable {
  /// Accepted values of `aud`; a room token must contain one of them.
  public var audiences: [String]
  /// Whether room tokens without an audience are accepted, as servers of the family create them.
  public var acceptsBare: Bool

  /// The minimum milliseconds until a deadline, in addition to the clock skew.
  static let marginMilliseconds: Int64 = 60_000

  /// Creates a rule; by default no room token is accepted.
  public init(audiences: [String] = [], acceptsBare: Bool = false) {
    self.audiences = audiences
    self.acceptsBare = acceptsBare
  }

  var isAny: Bool { acceptsBare || !audiences.isEmpty }

  /// Whether claims are those of a room token: without an end, and without any claim that
  /// identifies other tokens of the issuer.
  func accepts(_ claims: JWTClaims, _ required: [JWTPolicy.RequiredClaim]) -> Bool {
    guard claims.expiresAt == nil else { return false }
    if let named = claims.audiences {
      return named.contains { name in audiences.contains { $0.isExactly(name) } }
    }
    return acceptsBare && claims.grants == nil && claims.claim(JWTPolicy.kindClaim) == nil
      && !required.contains { claims.claim($0.name) != nil }
  }
}
