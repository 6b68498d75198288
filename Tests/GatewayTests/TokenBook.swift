import GatewayPorts

/// Tokens by heart: what is written in the book is valid until its time.
final class TokenBook: Authenticator {
  private var identities: [String: Identity] = [:]

  /// Enters a token.
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
}
