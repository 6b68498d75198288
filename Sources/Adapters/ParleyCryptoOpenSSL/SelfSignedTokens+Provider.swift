public import ParleyGatewayPorts

/// An identity provider's user, as contained in tokens that this server signs.
public struct ProvidedUser: Sendable, Hashable {
  /// The user's id on this server.
  public var id: String
  /// The display name.
  public var name: String
  /// The user's groups that grant rights on this server.
  public var groups: [String]

  /// Creates a user with the name and groups that the identity provider reported.
  public init(id: String, name: String, groups: [String]) {
    self.id = id
    self.name = name
    self.groups = groups
  }
}

/// Tokens for users of an identity provider. They contain the user's groups instead of rights. The
/// rights of the groups are looked up each time a token is used.
extension SelfSignedTokens {
  /// The purpose of a provider user's token.
  public enum ProviderPurpose: Sendable {
    /// A one-time token that the browser exchanges for tokens after returning from the provider.
    case ticket
    /// A token that is exchanged for new tokens.
    case refresh

    fileprivate var audience: Audience {
      switch self {
      case .ticket: .ticket
      case .refresh: .providerRefresh
      }
    }
  }

  /// The claim that contains the groups, percent-encoded and separated by spaces.
  static let groupsClaim = "groups"

  /// Signs a token that contains a user.
  public func token(
    of purpose: ProviderPurpose, for user: ProvidedUser, id: String, turn: Int? = nil,
    issuedAt: Timestamp, expiresAt: Timestamp
  ) -> String {
    var claims = JWTSigner.Claims(
      user: user.id, name: user.name, tokenID: id, issuer: Self.keyID,
      audience: purpose.audience.rawValue, issuedAt: issuedAt, expiresAt: expiresAt)
    claims.omitsEmptyRights = true
    claims.extraClaims = [
      JWTPolicy.RequiredClaim(
        Self.groupsClaim, user.groups.map(PercentEncoding.encoded).joined(separator: " "))
    ]
    if let turn { claims.extraClaims.append(Self.claim(ofTurn: turn)) }
    return signer.token(claims)
  }

  /// Creates the valid refresh token of a session. It contains the session's turn and the user.
  public func refreshToken(of session: Session, for user: ProvidedUser) -> String {
    token(
      of: .refresh, for: user, id: session.id, turn: session.turn, issuedAt: session.renewedAt,
      expiresAt: session.expiresAt)
  }

  /// Whether a token with a valid signature is a provider user's refresh token, even if it is
  /// expired.
  public func isProviderRefreshToken(_ token: String) -> Bool {
    guard isOwn(token), let claims = try? authenticator.claims(of: token) else { return false }
    return claims.audiences == [Audience.providerRefresh.rawValue]
  }

  /// Verifies a refresh token, and returns its user and its contents.
  public func refreshToken(
    ofProvided token: String, now: Timestamp
  ) throws(AuthenticationError) -> (user: ProvidedUser, token: RefreshToken) {
    let (user, identity) = try user(in: token, of: .refresh, now: now)
    return (user, RefreshToken(identity: identity, turn: try turn(of: token)))
  }

  /// Verifies a token, and returns its user and its identity, which has no rights.
  public func user(
    in token: String, of purpose: ProviderPurpose, now: Timestamp
  ) throws(AuthenticationError) -> (user: ProvidedUser, identity: Identity) {
    guard isOwn(token) else { throw .unknownKey }
    let identity = try check(token, [purpose.audience], now: now).identity
    let claim = try authenticator.claims(of: token).claim(Self.groupsClaim)
    guard let text = claim?.text else { throw .claims }
    let groups = text.split(separator: " ").compactMap { PercentEncoding.decoded($0) }
    let user = ProvidedUser(
      id: identity.user, name: identity.name ?? identity.user, groups: groups)
    return (user, identity)
  }
}
