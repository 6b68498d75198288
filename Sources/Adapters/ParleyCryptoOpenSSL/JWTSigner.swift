public import ParleyGatewayPorts
import ParleyHashing
import ParleyJSON

/// A signer of JSON Web Tokens.
public struct JWTSigner: Sendable {
  /// The claims of a new token.
  public struct Claims: Sendable, Hashable {
    /// `sub`: the user's id.
    public var user: String
    /// `name`: the display name.
    public var name: String?
    /// `jti`: the id of the token, by which it can be revoked alone.
    public var tokenID: String?
    /// `iss`: the issuer of the token.
    public var issuer: String?
    /// `aud`: the service for which the token is intended.
    public var audience: String?
    /// `iat`, in milliseconds.
    public var issuedAt: Timestamp?
    /// `nbf`, in milliseconds; written in whole seconds.
    public var notBefore: Timestamp?
    /// `exp`, in milliseconds; written in whole seconds.
    public var expiresAt: Timestamp?
    /// The rights in the claim `parley`.
    public var grants: [Grant]
    /// The claim that contains the user's id.
    public var userClaim = "sub"
    /// Additional claims with string values.
    public var extraClaims: [JWTPolicy.RequiredClaim] = []
    /// Whether the claim `parley` is omitted if ``grants`` is empty, instead of granting no rights.
    public var omitsEmptyRights = false

    /// Creates claims.
    public init(
      user: String, name: String? = nil, tokenID: String? = nil, issuer: String? = nil,
      audience: String? = nil, issuedAt: Timestamp? = nil, notBefore: Timestamp? = nil,
      expiresAt: Timestamp? = nil, grants: [Grant] = []
    ) {
      self.user = user
      self.name = name
      self.tokenID = tokenID
      self.issuer = issuer
      self.audience = audience
      self.issuedAt = issuedAt
      self.notBefore = notBefore
      self.expiresAt = expiresAt
      self.grants = grants
    }
  }

  private let key: JWTKey

  /// Signs with a PEM private key, whose type determines the algorithm.
  public init(privateKeyFile path: String, keyID: String? = nil) throws(JWTKeyError) {
    let bytes = try KeyFile(.publicKey(id: nil), path: path).read()
    guard let key = EVPKey.privateKey(pem: bytes) else {
      throw .notPEM(file: path, expected: "a PEM private key without a password")
    }
    self.key = try JWTKey(id: keyID, key, file: path)
  }

  /// Signs with the secret in a file (HS256).
  ///
  /// - Parameter bytesMin: The minimum length of the secret; `nil` for 32 bytes.
  public init(
    secretFile path: String, keyID: String? = nil, bytesMin: Int? = nil
  ) throws(JWTKeyError) {
    let bytes = try KeyFile(.secret(id: nil), path: path).read()
    key = try JWTKey(
      id: keyID, secret: try KeyFile.secret(in: bytes, file: path), file: path,
      bytesMin: bytesMin ?? JWTKey.secretBytesMin)
  }

  /// Signs with a secret in memory (HS256).
  public init(secret: [UInt8], keyID: String? = nil) throws(JWTKeyError) {
    key = try JWTKey(id: keyID, secret: secret, file: "memory")
  }

  /// The algorithm of the key.
  public var algorithm: JWTAlgorithm { key.algorithm }

  /// Signs a token with these claims.
  public func token(_ claims: Claims) -> String {
    var payload: [UInt8] = []
    claims.write(into: &payload)
    return token(payload: payload)
  }

  /// Derives a key of 128 bits. The purpose contains a space, so it is never a token's signed text.
  func key(for purpose: String) -> String {
    guard let signature = key.signature(of: Array(purpose.utf8)) else {
      fatalError("OpenSSL failed to sign; the machine is out of memory")
    }
    return Base64.url.encode(Array(signature.prefix(16)))
  }

  /// Signs a token with any payload.
  package func token(payload: [UInt8]) -> String {
    var header: [UInt8] = []
    JSONWriter.object(&header) { object, header in
      object.field("alg", key.algorithm.rawValue, &header)
      object.field("typ", "JWT", &header)
      object.field("kid", key.id, &header)
    }
    let signed = Base64.url.encode(header) + "." + Base64.url.encode(payload)
    guard let signature = key.signature(of: Array(signed.utf8)) else {
      fatalError("OpenSSL failed to sign; the machine is out of memory")
    }
    return signed + "." + Base64.url.encode(signature)
  }
}

extension JWTSigner.Claims {
  fileprivate func write(into buffer: inout [UInt8]) {
    JSONWriter.object(&buffer) { object, buffer in
      object.field("iss", issuer, &buffer)
      object.key(named: userClaim, &buffer)
      JSONWriter.string(user, &buffer)
      object.field("aud", audience, &buffer)
      object.field("exp", expiresAt.map { Int($0 / 1000) }, &buffer)
      object.field("nbf", notBefore.map { Int($0 / 1000) }, &buffer)
      if let issuedAt {
        object.key("iat", &buffer)
        Self.write(seconds: issuedAt, &buffer)
      }
      object.field("jti", tokenID, &buffer)
      object.field("name", name, &buffer)
      for claim in extraClaims {
        object.key(named: claim.name, &buffer)
        JSONWriter.string(claim.value, &buffer)
      }
      if omitsEmptyRights, grants.isEmpty { return }
      object.key("parley", &buffer)
      JSONWriter.object(&buffer) { parley, buffer in
        parley.key("documents", &buffer)
        Self.write(grants.filter { $0.kind == .documents }, &buffer)
        parley.key("rooms", &buffer)
        Self.write(grants.filter { $0.kind == .rooms }, &buffer)
        let folders = grants.filter { $0.kind == .folders }
        if folders.isEmpty { return }
        parley.key("folders", &buffer)
        Self.write(folders, &buffer)
      }
    }
  }

  /// Writes seconds, with a fraction unless it is 0. The fraction distinguishes tokens that were
  /// revoked a moment ago from tokens issued since.
  private static func write(seconds milliseconds: Timestamp, _ buffer: inout [UInt8]) {
    JSONWriter.integer(Int(milliseconds / 1000), &buffer)
    let fraction = milliseconds % 1000
    guard fraction > 0 else { return }
    buffer.append(contentsOf: ".\(1000 + fraction)".utf8)
    // Remove the leading 1, which preserves the zeros of the fraction.
    buffer.remove(at: buffer.count - 4)
  }

  private static func write(_ grants: [Grant], _ buffer: inout [UInt8]) {
    JSONWriter.array(grants, &buffer) { grant, buffer in
      JSONWriter.object(&buffer) { object, buffer in
        if let text = grant.pattern.text {
          object.field("match", text, &buffer)
        } else {
          object.field("exactly", grant.pattern.name, &buffer)
        }
        object.key("may", &buffer)
        JSONWriter.array(Verbs.words.filter { grant.verbs.contains($0.verbs) }, &buffer) {
          JSONWriter.string($0.word, &$1)
        }
      }
    }
  }
}
