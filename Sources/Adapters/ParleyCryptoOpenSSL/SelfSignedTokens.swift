public import ParleyGatewayPorts

/// The contents of a refresh token whose signature and time were checked.
public struct RefreshToken: Sendable {
  /// The user; the token's id is that of the session.
  public var identity: Identity
  /// The session's turn that it belongs to.
  public var turn: Int
}

/// Tokens that this server signs with a secret of its own and checks itself.
///
/// They are JSON Web Tokens (HS256) with a key id and an issuer that no other key may use, so that
/// one is never taken for the other. Their audience says what they are for, so that a token for
/// getting new tokens opens nothing itself.
public final class SelfSignedTokens: OwnTokens {
  /// The key id, and the issuer, of the server's own tokens.
  public static let keyID = "parley:self"

  /// The purpose of a token.
  enum Audience: String, CaseIterable {
    /// It contains its own rights.
    case bearer = "parley:self"
    /// Its user's rights are those that the user has now.
    case user = "parley:user"
    /// It is exchanged for new tokens.
    case refresh = "parley:refresh"
    /// It is taken for tokens by the browser that an identity provider has sent back.
    case ticket = "parley:ticket"
    /// It is exchanged for new tokens of an identity provider's user.
    case providerRefresh = "parley:provider-refresh"
  }

  let signer: JWTSigner
  let authenticator: JWTAuthenticator
  private let users: (any UserSource)?

  /// - Parameters:
  ///   - secret: 32 random bytes that outlive the process, and are used for nothing else.
  /// - users: The users who may log in; without it no user can.
  public init(secret: [UInt8], users: (any UserSource)? = nil) throws(JWTKeyError) {
    signer = try JWTSigner(secret: secret, keyID: Self.keyID)
    var policy = JWTPolicy()
    policy.furtherClaims = [Self.groupsClaim, Self.turnClaim]
    authenticator = try JWTAuthenticator(secret: secret, policy: policy)
    self.users = users
  }

  /// Makes a token that says all of the identity.
  public func token(for identity: Identity) -> String { token(for: identity, .bearer) }

  /// Makes a token for a user who has logged in. The rights are not in it: they are the user's own,
  /// whenever it is looked at.
  public func accessToken(
    for user: User, id: String, issuedAt: Timestamp, expiresAt: Timestamp
  ) -> String {
    token(
      for: Identity(
        user: user.id, tokenID: id, issuedAt: issuedAt, expiresAt: expiresAt, grants: []), .user)
  }

  /// Makes the refresh token that counts in a session, whose turn it says: the same one, however often it is made.
  public func refreshToken(of session: Session) -> String {
    var claims = JWTSigner.Claims(
      user: session.user, tokenID: session.id, issuer: Self.keyID,
      audience: Audience.refresh.rawValue, issuedAt: session.renewedAt,
      expiresAt: session.expiresAt)
    claims.further = [Self.claim(ofTurn: session.turn)]
    return signer.token(claims)
  }

  /// Returns the key that opens a link.
  public func key(ofLink id: String) -> String { signer.key(for: "link \(id)") }

  /// Returns the identity of the token's owner; `nil` if the token names another key.
  public func identity(
    of token: String, now: Timestamp
  ) throws(AuthenticationError) -> Identity? {
    guard isOwn(token) else { return nil }
    var (identity, audience) = try check(token, [.bearer, .user], now: now)
    switch audience {
    case .bearer, .refresh, .ticket, .providerRefresh:
      identity.isGuest = identity.user.utf8.starts(with: Identity.guestPrefix.utf8)
    case .user:
      // A user that was removed has no valid token, nor one that was removed and added again.
      guard let user = users?.user(identity.user), user.owns(tokenIssuedAt: identity.issuedAt)
      else { throw .revoked }
      identity.take(user)
      identity.isListed = true
    }
    return identity
  }

  /// Returns the contents of a refresh token.
  public func refreshToken(
    _ token: String, now: Timestamp
  ) throws(AuthenticationError) -> RefreshToken {
    guard isOwn(token) else { throw .unknownKey }
    let identity = try check(token, [.refresh], now: now).identity
    return RefreshToken(identity: identity, turn: try turn(of: token))
  }

  /// Returns the contents of a refresh token, of a user with a password or of a provider's; `nil`
  /// if the token is invalid.
  public func anyRefreshToken(_ token: String, now: Timestamp) -> RefreshToken? {
    if let known = try? refreshToken(token, now: now) { return known }
    return try? refreshToken(ofProvided: token, now: now).token
  }

  static let turnClaim = "turn"

  static func claim(ofTurn turn: Int) -> JWTPolicy.RequiredClaim {
    JWTPolicy.RequiredClaim(turnClaim, "\(turn)")
  }

  /// The turn that a token names; 0, which counts in no session, for a token without one.
  func turn(of token: String) throws(AuthenticationError) -> Int {
    let text = try authenticator.claims(of: token).noted(Self.turnClaim)?.text
    return text.flatMap { Int32($0) }.map(Int.init) ?? 0
  }

  /// Whether a token names the server's own key.
  func isOwn(_ token: String) -> Bool {
    (try? JSONWebToken(token))?.keyID == Self.keyID
  }

  private func token(for identity: Identity, _ audience: Audience) -> String {
    signer.token(
      JWTSigner.Claims(
        user: identity.user, name: identity.name, tokenID: identity.tokenID, issuer: Self.keyID,
        audience: audience.rawValue, issuedAt: identity.issuedAt, expiresAt: identity.expiresAt,
        grants: identity.grants))
  }

  func check(
    _ token: String, _ audiences: [Audience], now: Timestamp
  ) throws(AuthenticationError) -> (identity: Identity, audience: Audience) {
    let claims = try authenticator.claims(of: token)
    let policy = JWTPolicy(
      audiences: audiences.map(\.rawValue), issuers: [Self.keyID], clockSkewMilliseconds: 0)
    let identity = try policy.identity(claims, now: now)
    guard let audience = claims.audiences?.first.flatMap(Audience.init(rawValue:)),
      claims.audiences?.count == 1
    else { throw .audience }
    return (identity, audience)
  }
}
