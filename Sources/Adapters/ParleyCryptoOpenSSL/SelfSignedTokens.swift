public import ParleyGatewayPorts

/// The contents of a verified refresh token.
public struct RefreshToken: Sendable {
  /// The user. The token's id is the session's id.
  public var identity: Identity
  /// The session's turn for which the token was issued.
  public var turn: Int
}

/// Tokens that this server signs with its own secret and verifies itself.
///
/// They are JSON Web Tokens (HS256) with a reserved key id and issuer, so tokens of other keys are
/// never mistaken for them. The audience is the token's purpose, so a refresh token grants no
/// access itself.
public final class SelfSignedTokens: OwnTokens {
  /// The key id, and the issuer, of the server's own tokens.
  public static let keyID = "parley:self"

  /// The purpose of a token.
  enum Audience: String, CaseIterable {
    /// A token that contains its own rights.
    case bearer = "parley:self"
    /// A token of a user, whose current rights apply.
    case user = "parley:user"
    /// A token that is exchanged for new tokens.
    case refresh = "parley:refresh"
    /// A one-time token that the browser exchanges for tokens after returning from a provider.
    case ticket = "parley:ticket"
    /// A token of an identity provider's user that is exchanged for new tokens.
    case providerRefresh = "parley:provider-refresh"
  }

  let signer: JWTSigner
  let authenticator: JWTAuthenticator
  private let users: (any UserSource)?

  /// - Parameters:
  ///   - secret: 32 random bytes that are stored, and used for no other purpose.
  ///   - users: The users who can log in; with `nil`, no user can.
  public init(secret: [UInt8], users: (any UserSource)? = nil) throws(JWTKeyError) {
    signer = try JWTSigner(secret: secret, keyID: Self.keyID)
    var policy = JWTPolicy()
    policy.furtherClaims = [Self.groupsClaim, Self.turnClaim]
    authenticator = try JWTAuthenticator(secret: secret, policy: policy)
    self.users = users
  }

  /// Signs a token that contains the whole identity.
  public func token(for identity: Identity) -> String { token(for: identity, .bearer) }

  /// Signs a token for a user who has logged in. It does not contain the rights: the user's current
  /// rights are looked up at each use.
  public func accessToken(
    for user: User, id: String, issuedAt: Timestamp, expiresAt: Timestamp
  ) -> String {
    token(
      for: Identity(
        user: user.id, tokenID: id, issuedAt: issuedAt, expiresAt: expiresAt, grants: []), .user)
  }

  /// Creates the valid refresh token of a session, which contains the session's turn. For the same
  /// session state, the result is always the same.
  public func refreshToken(of session: Session) -> String {
    var claims = JWTSigner.Claims(
      user: session.user, tokenID: session.id, issuer: Self.keyID,
      audience: Audience.refresh.rawValue, issuedAt: session.renewedAt,
      expiresAt: session.expiresAt)
    claims.extraClaims = [Self.claim(ofTurn: session.turn)]
    return signer.token(claims)
  }

  /// Returns the key that opens a link.
  public func key(ofLink id: String) -> String { signer.key(for: "link \(id)") }

  /// Returns the identity of the token's owner; `nil` if the token has another key id.
  public func identity(
    of token: String, now: Timestamp
  ) throws(AuthenticationError) -> Identity? {
    guard isOwn(token) else { return nil }
    var (identity, audience) = try check(token, [.bearer, .user], now: now)
    switch audience {
    case .bearer, .refresh, .ticket, .providerRefresh:
      identity.isGuest = identity.user.utf8.starts(with: Identity.guestPrefix.utf8)
    case .user:
      // Tokens of a removed user are invalid, even if a user with the same id is added later.
      guard let user = users?.user(identity.user), user.owns(tokenIssuedAt: identity.issuedAt)
      else { throw .revoked }
      identity.take(user)
      identity.hasSourceRights = true
    }
    return identity
  }

  /// Verifies a refresh token, and returns its contents.
  public func refreshToken(
    _ token: String, now: Timestamp
  ) throws(AuthenticationError) -> RefreshToken {
    guard isOwn(token) else { throw .unknownKey }
    let identity = try check(token, [.refresh], now: now).identity
    return RefreshToken(identity: identity, turn: try turn(of: token))
  }

  /// Returns the contents of a refresh token of any kind of user; `nil` if the token is invalid.
  public func anyRefreshToken(_ token: String, now: Timestamp) -> RefreshToken? {
    if let known = try? refreshToken(token, now: now) { return known }
    return try? refreshToken(ofProvided: token, now: now).token
  }

  static let turnClaim = "turn"

  static func claim(ofTurn turn: Int) -> JWTPolicy.RequiredClaim {
    JWTPolicy.RequiredClaim(turnClaim, "\(turn)")
  }

  /// Returns the turn in a token; 0, which is valid in no session, without one.
  func turn(of token: String) throws(AuthenticationError) -> Int {
    let text = try authenticator.claims(of: token).claim(Self.turnClaim)?.text
    return text.flatMap { Int32($0) }.map(Int.init) ?? 0
  }

  /// Whether a token has the key id of this server's own tokens.
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
