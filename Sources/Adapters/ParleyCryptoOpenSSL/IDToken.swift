public import ParleyGatewayPorts
public import ParleyJSON

/// The reasons for rejecting an ID token. Of its content they only name a registered algorithm.
public enum IDTokenError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text is not a signed token.
  case malformed
  /// The algorithm in the header is not the key's.
  case algorithm
  /// The algorithm is not accepted: it uses no private key, or is not supported.
  case refusedAlgorithm(String)
  /// No key of the provider has the token's key id.
  case unknownKey
  /// The signature is invalid.
  case signature
  /// A claim is missing or of the wrong type.
  case claims
  /// The issuer is another provider.
  case issuer
  /// The audience is another client.
  case audience
  /// The nonce belongs to another request.
  case nonce
  /// The token is expired, or too old for this sign-in.
  case expired
  /// The token is not valid yet.
  case notYetValid

  /// The accepted algorithms, for error texts.
  private static let accepted = "RS256, ES256 or EdDSA"

  /// The reason, and the remedy if an operator can fix it.
  public var description: String {
    switch self {
    case .malformed: "malformed"
    case .algorithm: "algorithm: not that of its key"
    case .refusedAlgorithm(let name):
      "algorithm: expected \(Self.accepted), got \(name); have the provider sign this client's ID tokens so"
    case .unknownKey: "unknownKey"
    case .signature: "signature"
    case .claims: "claims"
    case .issuer: "issuer"
    case .audience: "audience"
    case .nonce: "nonce"
    case .expired: "expired"
    case .notYetValid: "notYetValid"
    }
  }
}

/// The public keys of an identity provider.
public struct ProviderKeys: Sendable {
  let keys: [JWTKey]

  /// Parses a JSON Web Key Set. Shared secrets are ignored, since the set is public.
  ///
  /// - Parameter place: The set's address, for errors.
  public init(keySet: [UInt8], place: String) throws(JWTKeyError) {
    keys = try JSONWebKeySet.keys(in: keySet, file: place, secretBytesMin: 1)
      .filter { $0.algorithm != .hs256 }
  }
}

/// A verified ID token of OpenID Connect (Core 1.0, section 3.1.3.7).
public struct IDToken: Sendable, Hashable {
  /// `sub`: the user's id at the provider.
  public let subject: String
  /// All claims, including those that are not registered.
  public let claims: JSONFields

  /// The maximum length of a token in bytes, which allows for the names of many groups.
  static let bytesMax = 64 << 10
  /// The maximum age of a token, whenever it expires: a token is issued for one sign-in.
  private static let ageMillisecondsMax: Timestamp = 600_000

  /// The expected values of a token for one sign-in.
  public struct Expectation: Sendable, Hashable {
    /// The provider's issuer identifier, the expected `iss`.
    public var issuer: String
    /// This client's id, which `aud` must contain.
    public var clientID: String
    /// The nonce of the request.
    public var nonce: String
    /// The maximum difference of the provider's clock in milliseconds.
    public var clockSkewMilliseconds: Int64

    /// Creates an expectation.
    public init(issuer: String, clientID: String, nonce: String, clockSkewMilliseconds: Int64) {
      self.issuer = issuer
      self.clientID = clientID
      self.nonce = nonce
      self.clockSkewMilliseconds = clockSkewMilliseconds
    }
  }

  /// Verifies a token: form, key, signature, then claims.
  ///
  /// - Complexity: O(*n*) bytes for each of the provider's keys.
  public init(
    _ text: String, keys: ProviderKeys, expecting expected: Expectation, now: Timestamp
  ) throws(IDTokenError) {
    let token: JSONWebToken
    do throws(AuthenticationError) {
      token = try JSONWebToken(text, bytesMax: Self.bytesMax)
    } catch {
      switch error {
      case .refusedAlgorithm(let algorithm): throw .refusedAlgorithm(algorithm.rawValue)
      case .algorithm: throw .algorithm
      default: throw .malformed
      }
    }
    try Self.verify(token, keys.keys)
    let registered: JWTClaims
    do throws(AuthenticationError) {
      registered = try JWTClaims(json: token.payload)
    } catch {
      throw .claims
    }
    guard let claims = JSONFields(token.payload) else { throw .claims }
    self.claims = claims
    guard let subject = registered.subject, !subject.isEmpty else { throw .claims }
    self.subject = subject
    guard Self.isSame(registered.issuer, expected.issuer) else { throw .issuer }
    try Self.checkAudience(registered, claims, expected)
    guard Self.isSame(claims["nonce"]?.string, expected.nonce) else { throw .nonce }
    try Self.checkTime(registered, expected, now)
  }

  private static func verify(_ token: JSONWebToken, _ keys: [JWTKey]) throws(IDTokenError) {
    guard token.algorithm != .hs256 else { throw .refusedAlgorithm(token.algorithm.rawValue) }
    let named = keys.filter { key in
      key.id == nil || token.keyID == nil || isSame(key.id, token.keyID ?? "")
    }
    guard !named.isEmpty else { throw .unknownKey }
    let fitting = named.filter { $0.algorithm == token.algorithm }
    guard !fitting.isEmpty else { throw .algorithm }
    guard fitting.contains(where: { $0.verifies(token.signature, of: token.signed) }) else {
      throw .signature
    }
  }

  private static func checkAudience(
    _ registered: JWTClaims, _ claims: JSONFields, _ expected: Expectation
  ) throws(IDTokenError) {
    let audiences = registered.audiences ?? []
    guard audiences.contains(where: { isSame($0, expected.clientID) }) else { throw .audience }
    // A token with several audiences must name the authorized party, which must be this client.
    guard let party = claims["azp"] else {
      guard audiences.count == 1 else { throw .audience }
      return
    }
    guard isSame(party.string, expected.clientID) else { throw .audience }
  }

  private static func checkTime(
    _ registered: JWTClaims, _ expected: Expectation, _ now: Timestamp
  ) throws(IDTokenError) {
    let skew = expected.clockSkewMilliseconds
    guard let end = registered.expiresAt, let issued = registered.issuedAt else { throw .claims }
    guard now < end + skew, now < issued + Self.ageMillisecondsMax + skew else { throw .expired }
    // Allow one more second for issuers that round times.
    guard issued <= now + skew + 1_000 else { throw .notYetValid }
    if let start = registered.notBefore, start > now + skew { throw .notYetValid }
  }

  /// Compares byte by byte: `String`'s `==` treats canonically equivalent texts as equal.
  private static func isSame(_ text: String?, _ other: String) -> Bool {
    text.map { $0.isExactly(other) } ?? false
  }
}
