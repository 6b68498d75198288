import GatewayPorts

/// What a token must say, beside being signed.
public struct JWTPolicy: Sendable, Hashable {
  /// The token's `aud` has to name one of these. Without any, a token that names somebody is
  /// refused: it is meant for somebody else (RFC 7519, section 4.1.3).
  public var audiences: [String]
  /// The token's `iss` has to be one of these; none leaves the issuer open.
  public var issuers: [String]
  /// Milliseconds by which the clocks of issuer and server may differ.
  public var clockSkewMilliseconds: Int64

  /// Makes a policy.
  public init(
    audiences: [String] = [], issuers: [String] = [], clockSkewMilliseconds: Int64 = 60_000
  ) {
    self.audiences = audiences
    self.issuers = issuers
    self.clockSkewMilliseconds = clockSkewMilliseconds
  }

  /// Turns claims, whose signature was checked, into an identity.
  func identity(_ claims: JWTClaims, now: Timestamp) throws(AuthenticationError) -> Identity {
    guard let user = claims.subject, !user.isEmpty else { throw .claims }
    if let named = claims.audiences {
      guard named.contains(where: { isOne($0, of: audiences) }) else { throw .audience }
    } else {
      guard audiences.isEmpty else { throw .audience }
    }
    if !issuers.isEmpty {
      guard let issuer = claims.issuer, isOne(issuer, of: issuers) else { throw .issuer }
    }
    var end: Timestamp?
    if let expiresAt = claims.expiresAt {
      // The skew is granted once, here, so that everybody who holds the identity ends it alike.
      end = expiresAt + clockSkewMilliseconds
      guard now < expiresAt + clockSkewMilliseconds else { throw .expired }
    }
    if let notBefore = claims.notBefore {
      guard now + clockSkewMilliseconds >= notBefore else { throw .notYetValid }
    }
    if let issuedAt = claims.issuedAt {
      // Nothing that is issued in the future could be taken back now. A second is for those who
      // round.
      guard issuedAt <= now + clockSkewMilliseconds + 1_000 else { throw .notYetValid }
    }
    return Identity(
      user: user, name: claims.name, tokenID: claims.tokenID,
      // An issuer whose clock is ahead may have issued it before it says, and before a user's
      // tokens were taken back.
      issuedAt: claims.issuedAt.map { max(0, $0 - clockSkewMilliseconds) },
      expiresAt: end, grants: claims.grants)
  }

  /// Compared byte by byte; to `String`'s `==`, different bytes can be equal.
  private func isOne(_ text: String, of known: [String]) -> Bool {
    known.contains { $0.utf8.elementsEqual(text.utf8) }
  }
}
