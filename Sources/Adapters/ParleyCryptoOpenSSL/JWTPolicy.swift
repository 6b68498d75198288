public import ParleyGatewayPorts

/// Rules for the tokens of one issuer, beside their signature.
public struct JWTPolicy: Sendable, Hashable {
  /// A claim that a token has to carry, with its value.
  public struct RequiredClaim: Sendable, Hashable {
    /// The claim's name.
    public var name: String
    /// Its value, a string.
    public var value: String

    /// Creates a rule.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Accepted values of `aud`: a token has to name one of them. Without any, a token that names an
  /// audience is rejected: it is meant for another service (RFC 7519, section 4.1.3).
  public var audiences: [String]
  /// Accepted values of `iss`. Without any, the issuer is not checked.
  public var issuers: [String]
  /// Milliseconds by which the clocks of issuer and server may differ.
  public var clockSkewMilliseconds: Int64
  /// The claim that holds the user's id.
  public var userClaim = "sub"
  /// Text before the user's id, so that users of different issuers are never the same person.
  public var userPrefix = ""
  /// Claims without which a token is rejected.
  public var requiredClaims: [RequiredClaim] = []
  /// Rights of tokens that carry none of their own.
  public var rights: [GrantTemplate] = []
  /// Whether the claim `parley` of a token counts.
  public var honoursClaimedRights = true
  /// Whether tokens without `exp` are rejected.
  public var needsExpiry = false
  /// Claims to read beside those that the rules name.
  var furtherClaims: [String] = []
  /// Room tokens that are accepted.
  public var roomTokens = RoomTokenRule()

  /// Creates a policy.
  public init(
    audiences: [String] = [], issuers: [String] = [], clockSkewMilliseconds: Int64 = 60_000
  ) {
    self.audiences = audiences
    self.issuers = issuers
    self.clockSkewMilliseconds = clockSkewMilliseconds
  }

  /// Turns claims, whose signature was checked, into an identity.
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
      // The skew is granted once, here, so that all holders of the identity end it alike.
      end = expiresAt + clockSkewMilliseconds
      guard now < expiresAt + clockSkewMilliseconds else { throw .expired }
    } else if needsExpiry {
      throw .claims
    }
    if let notBefore = claims.notBefore {
      guard now + clockSkewMilliseconds >= notBefore else { throw .notYetValid }
    }
    if let issuedAt = claims.issuedAt {
      // Nothing that is issued in the future could be taken back now. A second is for issuers that
      // round.
      guard issuedAt <= now + clockSkewMilliseconds + 1_000 else { throw .notYetValid }
    }
    let user = userPrefix + ownID
    // Longer ones could not be taken back at all nodes.
    guard user.utf8.count <= Revocation.nameBytesMax,
      claims.tokenID?.utf8.count ?? 0 <= Revocation.nameBytesMax
    else { throw .claims }
    return Identity(
      user: user, name: claims.name, tokenID: claims.tokenID,
      // An issuer whose clock is ahead may have issued it before it says, and before a user's
      // tokens were taken back.
      issuedAt: claims.issuedAt.map { max(0, $0 - clockSkewMilliseconds) },
      expiresAt: end, grants: grants(claims, ownID))
  }

  /// Whether claims, whose signature was checked, admit a user to a room.
  func admits(_ claims: JWTClaims, to room: String, user: String, now: Timestamp) -> Bool {
    guard roomTokens.isAny, roomTokens.accepts(claims, requiredClaims),
      (try? checkIssuer(of: claims)) != nil, let own = try? self.user(claims)
    else { return false }
    // The deadline is in the claim of the time of issue. A token of the usual kind is issued now,
    // or a little ahead of this clock: only a time well beyond is a deadline.
    let earliest = now + clockSkewMilliseconds + RoomTokenRule.marginMilliseconds
    guard let deadline = claims.issuedAt, deadline >= earliest,
      (claims.notBefore ?? .min) <= now + clockSkewMilliseconds
    else { return false }
    return claims.name?.utf8.elementsEqual(room.utf8) ?? false
      && (userPrefix + own).utf8.elementsEqual(user.utf8)
  }

  private func user(_ claims: JWTClaims) throws(AuthenticationError) -> String {
    let isSubject = userClaim.utf8.elementsEqual("sub".utf8)
    let user = isSubject ? claims.subject : claims.noted(userClaim)?.text
    guard let user, !user.isEmpty else { throw .claims }
    return user
  }

  /// Rejects what is signed by the same key for another purpose.
  private func checkKind(of claims: JWTClaims) throws(AuthenticationError) {
    // A refresh token lives for weeks, and is for the issuer alone.
    guard claims.noted(Self.kindClaim)?.text != Self.refreshKind else { throw .claims }
    for claim in requiredClaims {
      guard claims.noted(claim.name)?.text?.utf8.elementsEqual(claim.value.utf8) ?? false else {
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

  /// Whether the identity of a token lacks some of ``rights``, because the user's id is no plain name.
  func omitsRights(of identity: Identity, _ claims: JWTClaims) -> Bool {
    let countsClaim = honoursClaimedRights && claims.grants != nil
    return !countsClaim && identity.grants.count < rights.count
  }

  /// Compared byte by byte; to `String`'s `==`, different bytes can be equal.
  private func isOne(_ text: String, of known: [String]) -> Bool {
    known.contains { $0.utf8.elementsEqual(text.utf8) }
  }

  /// The claim by which some issuers tell kinds of tokens apart.
  static let kindClaim = "type"
  private static let refreshKind = "refresh"

  /// Claims to read beside the registered ones.
  var notedClaims: [String] {
    [userClaim, Self.kindClaim] + requiredClaims.map(\.name) + furtherClaims
  }
}

/// Room tokens of the Twake family that are accepted: `name` is the room, and `iat` the time until
/// which the token holds.
public struct RoomTokenRule: Sendable, Hashable {
  /// Values of `aud`, one of which a room token has to name.
  public var audiences: [String]
  /// Whether room tokens without an audience are accepted, as servers of the family make them.
  public var acceptsBare: Bool

  /// Milliseconds by which a deadline has to lie ahead, beside the clock skew.
  static let marginMilliseconds: Int64 = 60_000

  /// Creates a rule; the default accepts none.
  public init(audiences: [String] = [], acceptsBare: Bool = false) {
    self.audiences = audiences
    self.acceptsBare = acceptsBare
  }

  var isAny: Bool { acceptsBare || !audiences.isEmpty }

  /// Whether claims are those of a room token: they have no end, and nothing by which other tokens
  /// of the issuer are known.
  func accepts(_ claims: JWTClaims, _ required: [JWTPolicy.RequiredClaim]) -> Bool {
    guard claims.expiresAt == nil else { return false }
    if let named = claims.audiences {
      return named.contains { name in audiences.contains { $0.utf8.elementsEqual(name.utf8) } }
    }
    return acceptsBare && claims.grants == nil && claims.noted(JWTPolicy.kindClaim) == nil
      && !required.contains { claims.noted($0.name) != nil }
  }
}
