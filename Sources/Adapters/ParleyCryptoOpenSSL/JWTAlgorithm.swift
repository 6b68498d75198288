/// A signature algorithm of tokens. All others are rejected, in particular `none`.
public enum JWTAlgorithm: String, Sendable, CaseIterable {
  /// HMAC with SHA-256. Every verifier of tokens can also create them.
  case hs256 = "HS256"
  /// RSA (PKCS #1 v1.5) with SHA-256.
  case rs256 = "RS256"
  /// ECDSA on P-256 with SHA-256.
  case es256 = "ES256"
  /// Ed25519.
  case edDSA = "EdDSA"
}
