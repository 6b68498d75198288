public import ParleyGatewayPorts

/// A user of an identity provider, as the server's own tokens carry them.
public struct ProvidedUser: Sendable, Hashable {
  /// The user's id here.
  public var id: String
  /// The name that others see.
  public var name: String
  /// The groups of the user's that give rights here.
  public var groups: [String]

  /// Makes a user.
  public init(id: String, name: String, groups: [String]) {
    self.id = id
    self.name = name
    self.groups = groups
  }
}

/// Tokens of users of an identity provider. They contain groups in place of rights, which are
/// looked up at each use.
extension SelfSignedTokens {
  /// The purposes of such tokens.
  public enum ProviderPurpose: Sendable {
    /// Exchanged for tokens once, by the browser that returns from the provider.
    case ticket
    /// Exchanged for new tokens.
    case refresh

    fileprivate var audience: Audience {
      switch self {
      case .ticket: .ticket
      case .refresh: .providerRefresh
      }
    }
  }

  /// The claim with the groups.
  static let groupsClaim = "groups"

  /// Makes a token that carries a user.
  public func token(
    of purpose: ProviderPurpose, for user: ProvidedUser, id: String, turn: Int? = nil,
    issuedAt: Timestamp, expiresAt: Timestamp
  ) -> String {
    var claims = JWTSigner.Claims(
      user: user.id, name: user.name, tokenID: id, issuer: Self.keyID,
      audience: purpose.audience.rawValue, issuedAt: issuedAt, expiresAt: expiresAt)
    claims.omitsEmptyRights = true
    claims.further = [
      JWTPolicy.RequiredClaim(
        Self.groupsClaim, user.groups.map(PercentEncoding.encoded).joined(separator: " "))
    ]
    if let turn { claims.further.append(Self.claim(ofTurn: turn)) }
    return signer.token(claims)
  }

  /// Makes the refresh token that counts in a session, whose turn it says, with the user.
  public func refreshToken(of session: Session, for user: ProvidedUser) -> String {
    token(
      of: .refresh, for: user, id: session.id, turn: session.turn, issuedAt: session.renewedAt,
      expiresAt: session.expiresAt)
  }

  /// Whether a token says that it is such a refresh token. It is not checked here.
  public func isRefreshTokenOfProvided(_ token: String) -> Bool {
    guard isOwn(token), let claims = try? authenticator.claims(of: token) else { return false }
    return claims.audiences == [Audience.providerRefresh.rawValue]
  }

  /// Returns the user in a refresh token, and the token's contents.
  public func refreshToken(
    ofProvided token: String, now: Timestamp
  ) throws(AuthenticationError) -> (user: ProvidedUser, token: RefreshToken) {
    let (user, identity) = try user(in: token, of: .refresh, now: now)
    return (user, RefreshToken(identity: identity, turn: try turn(of: token)))
  }

  /// Returns the user in a token, and the token's identity, which has no rights.
  public func user(
    in token: String, of purpose: ProviderPurpose, now: Timestamp
  ) throws(AuthenticationError) -> (user: ProvidedUser, identity: Identity) {
    guard isOwn(token) else { throw .unknownKey }
    let identity = try check(token, [purpose.audience], now: now).identity
    let noted = try authenticator.claims(of: token).noted(Self.groupsClaim)
    guard let text = noted?.text else { throw .claims }
    let groups = text.split(separator: " ").compactMap { PercentEncoding.decoded($0) }
    let user = ProvidedUser(
      id: identity.user, name: identity.name ?? identity.user, groups: groups)
    return (user, identity)
  }
}
