public import ParleyGatewayPorts
public import ParleyJSON

/// Reasons why an ID token is rejected. They say nothing of the token's content but a registered algorithm.
public enum IDTokenError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is no signed token.
  case malformed
  /// Its algorithm is not its key's.
  case algorithm
  /// Its algorithm is not accepted: it does not sign with a private key, or is not known here.
  case refusedAlgorithm(String)
  /// No key of the provider has its key id.
  case unknownKey
  /// The signature is not the key's.
  case signature
  /// A claim is missing or of the wrong type.
  case claims
  /// It comes from another issuer.
  case issuer
  /// It is meant for another client.
  case audience
  /// It answers another request.
  case nonce
  /// Its time is over, or it was not made for this sign-in.
  case expired
  /// Its time has not come.
  case notYetValid

  /// The algorithms that are accepted.
  private static let accepted = "RS256, ES256 or EdDSA"

  /// The reason, and what to do about it where an operator can do something.
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

  /// Reads a JSON Web Key Set; shared secrets in it are ignored, since the set is public.
  ///
  /// - Parameter place: the set's address, for errors.
  public init(keySet: [UInt8], place: String) throws(JWTKeyError) {
    keys = try JSONWebKeySet.keys(in: keySet, file: place, secretBytesMin: 1)
      .filter { $0.algorithm != .hs256 }
  }
}

/// An ID token of OpenID Connect (Core 1.0, section 3.1.3.7), checked.
public struct IDToken: Sendable, Hashable {
  /// `sub`: the user's id at the provider.
  public let subject: String
  /// All claims as they were written.
  public let claims: JSONFields

  /// Longer tokens are rejected: they may carry the names of many groups, but not any number.
  static let bytesMax = 64 << 10
  /// Older tokens are rejected, whenever they expire: a sign-in gets one that is made for it, and takes no longer.
  private static let ageMillisecondsMax: Timestamp = 600_000

  /// The requirements that a token of one sign-in meets.
  public struct Expectation: Sendable, Hashable {
    /// The provider, as `iss` names it.
    public var issuer: String
    /// This client, as `aud` names it.
    public var clientID: String
    /// The request that it answers.
    public var nonce: String
    /// Milliseconds by which the provider's clock may differ.
    public var clockSkewMilliseconds: Int64

    /// Makes an expectation.
    public init(issuer: String, clientID: String, nonce: String, clockSkewMilliseconds: Int64) {
      self.issuer = issuer
      self.clientID = clientID
      self.nonce = nonce
      self.clockSkewMilliseconds = clockSkewMilliseconds
    }
  }

  /// Checks a token: form, key, signature, then claims.
  ///
  /// - Complexity: O(*n*) bytes for each of the provider's keys at most.
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
    // The party that asked for a token with several audiences has to be named, and is this client.
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
    // A second is for issuers that round.
    guard issued <= now + skew + 1_000 else { throw .notYetValid }
    if let start = registered.notBefore, start > now + skew { throw .notYetValid }
  }

  /// Compares byte by byte; to `String`'s `==`, different bytes can be equal.
  private static func isSame(_ text: String?, _ other: String) -> Bool {
    text.map { $0.utf8.elementsEqual(other.utf8) } ?? false
  }
}
