public import GatewayPorts

/// Tokens that this server signs with a secret of its own and checks itself.
///
/// They are JSON Web Tokens (HS256) with a key id and an issuer that no other key may use, so that
/// one is never taken for the other.
public final class SelfSignedTokens: OwnTokens {
  /// The key id of the server's own tokens.
  public static let keyID = "parley:self"

  private let signer: JWTSigner
  private let authenticator: JWTAuthenticator

  /// - Parameter secret: 32 random bytes that outlive the process, and are used for nothing else.
  public init(secret: [UInt8]) throws(JWTKeyError) {
    signer = try JWTSigner(secret: secret, keyID: Self.keyID)
    authenticator = try JWTAuthenticator(
      secret: secret,
      policy: JWTPolicy(audiences: [Self.keyID], issuers: [Self.keyID], clockSkewMilliseconds: 0))
  }

  /// Makes a token that says all of the identity.
  public func token(for identity: Identity) -> String {
    signer.token(
      JWTSigner.Claims(
        user: identity.user, name: identity.name, tokenID: identity.tokenID, issuer: Self.keyID,
        audience: Self.keyID, issuedAt: identity.issuedAt, expiresAt: identity.expiresAt,
        grants: identity.grants))
  }

  /// Whose the token is; `nil` if its key id is another.
  public func identity(
    of token: String, now: Timestamp
  ) throws(AuthenticationError) -> Identity? {
    guard let parts = try? JSONWebToken(token), parts.keyID == Self.keyID else { return nil }
    var identity = try authenticator.authenticate(token, now: now)
    identity.isGuest = identity.user.utf8.starts(with: Identity.guestPrefix.utf8)
    return identity
  }
}
