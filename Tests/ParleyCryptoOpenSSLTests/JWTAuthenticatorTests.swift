import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyHashing
import Testing

@Suite("Checking tokens")
struct JWTAuthenticatorTests {
  private static let secret = Array("an example of a secret of 32 bytes and more".utf8)
  private static let now: Timestamp = 1_800_000_000_000

  private let files = TemporaryFiles()

  private func claims(
    _ change: (inout JWTSigner.Claims) -> Void = { _ in }
  ) -> JWTSigner.Claims {
    var claims = JWTSigner.Claims(
      user: "u1", name: "Ann", tokenID: "t1", issuedAt: Self.now, expiresAt: Self.now + 60_000,
      grants: [
        Grant(.documents, NamePattern("note-*"), [.read, .write]),
        Grant(.rooms, NamePattern("lobby"), [.read, .presence]),
      ])
    change(&claims)
    return claims
  }

  private func refusal(
    _ token: String, _ authenticator: JWTAuthenticator, at now: Timestamp = Self.now
  ) -> AuthenticationError? {
    do throws(AuthenticationError) {
      _ = try authenticator.authenticate(token, now: now)
      return nil
    } catch { return error }
  }

  /// A token whose header and payload are written out, signed with the test's secret.
  private func signed(_ header: String, _ payload: String) throws -> String {
    let whole = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(payload.utf8))
    return whole + "." + Base64.url.encode(hmacSHA256(Self.secret, Array(whole.utf8)))
  }

  // MARK: Good tokens

  @Test("each algorithm signs what it checks", arguments: ["rsa", "p256", "ed25519", "secret"])
  func algorithms(kind: String) throws {
    let signer: JWTSigner
    let file: KeyFile
    switch kind {
    case "rsa":
      signer = try JWTSigner(privateKeyFile: files.write(TestKeys.rsa, to: "private"))
      file = KeyFile(.publicKey(id: nil), path: files.write(TestKeys.rsaPublic, to: "public"))
      #expect(signer.algorithm == .rs256)
    case "p256":
      signer = try JWTSigner(privateKeyFile: files.write(TestKeys.p256, to: "private"))
      file = KeyFile(.publicKey(id: nil), path: files.write(TestKeys.p256Public, to: "public"))
      #expect(signer.algorithm == .es256)
    case "ed25519":
      signer = try JWTSigner(privateKeyFile: files.write(TestKeys.ed25519, to: "private"))
      file = KeyFile(.publicKey(id: nil), path: files.write(TestKeys.ed25519Public, to: "public"))
      #expect(signer.algorithm == .edDSA)
    default:
      let path = files.write(String(decoding: Self.secret, as: UTF8.self) + "\n", to: "secret")
      signer = try JWTSigner(secretFile: path)
      file = KeyFile(.secret(id: nil), path: path)
      #expect(signer.algorithm == .hs256)
    }
    let authenticator = try JWTAuthenticator(files: [file])
    let identity = try authenticator.authenticate(signer.token(claims()), now: Self.now)
    #expect(identity.user == "u1")
    #expect(identity.name == "Ann")
    #expect(identity.tokenID == "t1")
    #expect(identity.issuedAt == Self.now - 60_000)
    #expect(identity.expiresAt == Self.now + 120_000)
    #expect(identity.may([.read, .write], .document("note-1", in: nil)))
    #expect(!identity.may(.read, .document("other", in: nil)))
    #expect(!identity.may(.manage, .document("note-1", in: nil)))
    #expect(identity.may(.presence, .room("lobby")))
    #expect(!identity.may(.read, .room("lobby-2")))
    // ECDSA signatures differ each time; short r and s must keep their place.
    for _ in 0..<20 {
      #expect(refusal(signer.token(claims()), authenticator) == nil)
    }
  }

  @Test("a secret may be written in base64url")
  func base64Secret() throws {
    let path = files.write("base64url:" + Base64.url.encode(Self.secret) + "\n", to: "secret")
    let authenticator = try JWTAuthenticator(files: [KeyFile(.secret(id: nil), path: path)])
    let signer = try JWTSigner(secret: Self.secret)
    #expect(refusal(signer.token(claims()), authenticator) == nil)
  }

  @Test("the key ID of a token chooses among several keys")
  func keyNames() throws {
    let ed = files.write(TestKeys.ed25519Public, to: "ed")
    let ec = files.write(TestKeys.p256Public, to: "ec")
    let authenticator = try JWTAuthenticator(files: [
      KeyFile(.publicKey(id: "one"), path: ed), KeyFile(.publicKey(id: "two"), path: ec),
    ])
    let edPrivate = files.write(TestKeys.ed25519, to: "ed.private")
    func token(_ id: String?) throws -> String {
      try JWTSigner(privateKeyFile: edPrivate, keyID: id).token(claims())
    }
    #expect(refusal(try token("one"), authenticator) == nil)
    #expect(refusal(try token(nil), authenticator) == nil)
    #expect(refusal(try token("two"), authenticator) == .algorithm)
    #expect(refusal(try token("three"), authenticator) == .unknownKey)
  }

  // MARK: Bad tokens

  @Test("missing and malformed tokens are refused")
  func garbage() throws {
    let authenticator = try JWTAuthenticator(secret: Self.secret)
    #expect(refusal("", authenticator) == .missing)
    let good = try JWTSigner(secret: Self.secret).token(claims())
    for bad in [
      "x", ".", "..", "...", "a.b.c", good + ".", good + "=", "." + good, good + "." + good,
      "Bearer " + good, String(good.dropLast()),
      good.replacing(".", with: "..", maxReplacements: 1),
      "{}", "\u{0}", "é.é.é", String(repeating: ".", count: 8000),
      String(repeating: "a", count: 9000), good + String(repeating: "A", count: 8192),
    ] {
      let refusal = refusal(bad, authenticator)
      #expect(refusal == .malformed || refusal == .signature, "\(bad.utf8.count) bytes")
    }
  }

  @Test("a token with any single character changed is refused")
  func flips() throws {
    let authenticator = try JWTAuthenticator(secret: Self.secret)
    let good = Array(try JWTSigner(secret: Self.secret).token(claims()).utf8)
    for index in good.indices {
      var bad = good
      bad[index] = good[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(refusal(String(decoding: bad, as: UTF8.self), authenticator) != nil)
    }
  }

  @Test(
    "algorithms other than that of the key are refused",
    arguments: [
      "none", "None", "NONE", "", "HS384", "HS512", "RS256", "ES256", "EdDSA", "hs256", "PS256",
      "a\\nb",
    ])
  func otherAlgorithms(name: String) throws {
    let authenticator = try JWTAuthenticator(secret: Self.secret)
    let token = try signed(#"{"alg":"\#(name)"}"#, #"{"sub":"u1"}"#)
    let expected: AuthenticationError =
      JWTAlgorithm(rawValue: name) == nil
      ? .refusedAlgorithm(RefusedAlgorithm(named: name)) : .algorithm
    #expect(refusal(token, authenticator) == expected)
    let unsigned = token.split(separator: ".").prefix(2).joined(separator: ".") + "."
    #expect(refusal(unsigned, authenticator) == expected)
  }

  @Test("a refusal names a registered algorithm and those that are accepted, and no other text")
  func namedAlgorithms() {
    let refused = AuthenticationError.refusedAlgorithm(RefusedAlgorithm(named: "PS256"))
    #expect("\(refused)" == "algorithm: expected HS256, RS256, ES256 or EdDSA, got PS256")
    for name in ["ps256", "<b>", "PS256 "] {
      #expect(RefusedAlgorithm(named: name) == .unregistered)
    }
    for known in JWTAlgorithm.allCases {
      #expect(AuthenticationError.acceptedAlgorithms.contains(known.rawValue))
      #expect(RefusedAlgorithm(named: known.rawValue) == .unregistered)
    }
  }

  @Test("a token signed with a public key as its secret is refused")
  func confusion() throws {
    let file = files.write(TestKeys.rsaPublic, to: "public")
    let authenticator = try JWTAuthenticator(files: [KeyFile(.publicKey(id: nil), path: file)])
    for secret in [TestKeys.rsaPublic, TestKeys.rsaPublic + "\n"] {
      let token = try JWTSigner(secret: Array(secret.utf8)).token(claims())
      #expect(refusal(token, authenticator) == .algorithm)
    }
  }

  @Test("a token with critical extensions is refused")
  func critical() throws {
    let authenticator = try JWTAuthenticator(secret: Self.secret)
    let token = try signed(#"{"alg":"HS256","crit":["b64"],"b64":false}"#, #"{"sub":"u1"}"#)
    #expect(refusal(token, authenticator) == .algorithm)
  }

  @Test("signatures of another key or of another payload are refused")
  func forged() throws {
    let authenticator = try JWTAuthenticator(secret: Self.secret)
    let other = try JWTSigner(secret: Self.secret.reversed()).token(claims())
    #expect(refusal(other, authenticator) == .signature)
    let parts = try JWTSigner(secret: Self.secret).token(claims()).split(separator: ".")
    let payload = Base64.url.encode(Array(#"{"sub":"root"}"#.utf8))
    #expect(refusal("\(parts[0]).\(payload).\(parts[2])", authenticator) == .signature)
    #expect(refusal("\(parts[0]).\(parts[1]).", authenticator) == .signature)
  }

  @Test("a token is valid from its start to its end, with a tolerance of the clock skew")
  func times() throws {
    let policy = JWTPolicy(clockSkewMilliseconds: 5_000)
    let authenticator = try JWTAuthenticator(secret: Self.secret, policy: policy)
    let signer = try JWTSigner(secret: Self.secret)
    let token = signer.token(
      claims {
        $0.notBefore = Self.now
        $0.expiresAt = Self.now + 10_000
      })
    #expect(refusal(token, authenticator, at: Self.now - 5_001) == .notYetValid)
    #expect(refusal(token, authenticator, at: Self.now - 5_000) == nil)
    #expect(refusal(token, authenticator, at: Self.now + 14_999) == nil)
    #expect(refusal(token, authenticator, at: Self.now + 15_000) == .expired)
    let endless = try authenticator.authenticate(
      signer.token(claims { $0.expiresAt = nil }), now: Self.now)
    #expect(endless.expiresAt == nil)
  }

  @Test("a revocation applies although the issuer's clock is ahead, within the clock skew")
  func timeOfIssue() throws {
    let policy = JWTPolicy(clockSkewMilliseconds: 5_000)
    let authenticator = try JWTAuthenticator(secret: Self.secret, policy: policy)
    let signer = try JWTSigner(secret: Self.secret)
    // Issued just now, by a clock that is five seconds ahead.
    let token = signer.token(claims { $0.issuedAt = Self.now + 5_000 })
    let identity = try authenticator.authenticate(token, now: Self.now)
    var revoked = RevokedTokens()
    revoked.insert(.user("u1", before: Self.now))
    #expect(revoked.isRevoked(identity))
    let future = signer.token(claims { $0.issuedAt = Self.now + 6_001 })
    #expect(refusal(future, authenticator) == .notYetValid)
    #expect(refusal(future, authenticator, at: Self.now + 1) == nil)
  }

  @Test("a token of another audience or issuer is refused")
  func audienceAndIssuer() throws {
    let strict = try JWTAuthenticator(
      secret: Self.secret, policy: JWTPolicy(audiences: ["parley", "notes"], issuers: ["me"]))
    let signer = try JWTSigner(secret: Self.secret)
    func token(_ audience: String?, _ issuer: String?) -> String {
      signer.token(
        claims {
          $0.audience = audience
          $0.issuer = issuer
        })
    }
    #expect(refusal(token("notes", "me"), strict) == nil)
    #expect(refusal(token(nil, "me"), strict) == .audience)
    #expect(refusal(token("other", "me"), strict) == .audience)
    #expect(refusal(token("notes", nil), strict) == .issuer)
    #expect(refusal(token("notes", "you"), strict) == .issuer)
    let open = try JWTAuthenticator(secret: Self.secret)
    #expect(refusal(token(nil, "you"), open) == nil)
    #expect(refusal(token("notes", nil), open) == .audience)
    let several = try signed(#"{"alg":"HS256"}"#, #"{"sub":"u","aud":["x","notes"],"iss":"me"}"#)
    #expect(refusal(several, strict) == nil)
  }

  @Test(
    "missing claims and claims of the wrong type are refused",
    arguments: [
      #"{}"#, #"{"sub":""}"#, #"{"sub":1}"#, #"{"sub":null}"#, #"[]"#, #""x""#, #"{"sub":"u""#,
      #"{"sub":"u","exp":"1"}"#, #"{"sub":"u","exp":-1}"#, #"{"sub":"u","exp":1e300}"#,
      #"{"sub":"u","nbf":null}"#, #"{"sub":"u","aud":1}"#, #"{"sub":"u","name":[]}"#,
      #"{"sub":"u","parley":[]}"#, #"{"sub":"u","parley":{"documents":{}}}"#,
      #"{"sub":"u","parley":{"documents":[{"may":["read"]}]}}"#,
      #"{"sub":"u","parley":{"documents":[{"match":"","may":["read"]}]}}"#,
      #"{"sub":"u","parley":{"documents":[{"match":"*","may":"read"}]}}"#,
    ])
  func claims(json: String) throws {
    let authenticator = try JWTAuthenticator(secret: Self.secret)
    #expect(refusal(try signed(#"{"alg":"HS256"}"#, json), authenticator) == .claims)
  }

  @Test("unknown verbs and claims grant nothing")
  func unknown() throws {
    let authenticator = try JWTAuthenticator(secret: Self.secret)
    let identity = try authenticator.authenticate(
      try signed(
        #"{"typ":"JWT","alg":"HS256","x":{"y":[1.5e3]}}"#,
        #"""
        {"sub":"u","exp":1900000000.5,"admin":true,"parley":{"servers":[{"match":"*"}],
        "documents":[{"match":"*","may":["all","*","Read"]}]}}
        """#), now: Self.now)
    #expect(!identity.may(.read, .document("x", in: nil)))
    #expect(!identity.may(.read, .room("x")))
    #expect(identity.expiresAt == 1_900_000_060_500)
  }

  // MARK: Keys

  @Test("a changed file is read within a second; a malformed file changes nothing")
  func reloading() throws {
    func keySet(_ secret: [UInt8]) -> String {
      #"{"keys":[{"kty":"oct","kid":"k","k":"\#(Base64.url.encode(secret))"},{"kty":"new"}]}"#
    }
    let path = files.write(keySet(Self.secret), to: "keys.json")
    let authenticator = try JWTAuthenticator(files: [KeyFile(.keySet, path: path)])
    let old = try JWTSigner(secret: Self.secret, keyID: "k").token(claims())
    let new = try JWTSigner(secret: Self.secret.reversed(), keyID: "k").token(claims())
    #expect(refusal(old, authenticator) == nil)
    files.write(keySet(Self.secret.reversed()), to: "keys.json")
    #expect(refusal(new, authenticator, at: Self.now + 999) == .signature)
    #expect(refusal(new, authenticator, at: Self.now + 1_000) == nil)
    #expect(refusal(old, authenticator, at: Self.now + 1_001) == .signature)
    // A file that is broken, or gone, takes no keys away.
    files.write("{", to: "keys.json")
    #expect(refusal(new, authenticator, at: Self.now + 3_000) == nil)
    files.write(keySet(Self.secret), to: "keys.json")
    #expect(refusal(old, authenticator, at: Self.now + 5_000) == nil)
  }

  @Test("files without a usable key are refused")
  func badKeys() throws {
    func failure(_ kind: KeyFile.Kind, _ text: String) -> JWTKeyError? {
      let path = files.write(text, to: "key")
      do throws(JWTKeyError) {
        _ = try JWTAuthenticator(files: [KeyFile(kind, path: path)])
        return nil
      } catch { return error }
    }
    for text in [
      "", "x", TestKeys.rsa, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
    ] {
      guard case .notPEM = failure(.publicKey(id: nil), text) else {
        Issue.record("\(text.utf8.count) bytes were taken for a key")
        continue
      }
    }
    guard case .weak = failure(.publicKey(id: nil), TestKeys.shortRSAPublic) else {
      Issue.record("a short RSA key was accepted")
      return
    }
    guard case .unsupported = failure(.publicKey(id: nil), TestKeys.p384Public) else {
      Issue.record("a key on P-384 was accepted")
      return
    }
    guard case .weak = failure(.secret(id: nil), "short\n") else {
      Issue.record("a short secret was accepted")
      return
    }
    for text in [
      "", "[]", "{}", #"{"keys":1}"#, #"{"keys":[1]}"#, #"{"keys":[{"kty":"oct"}]}"#,
      #"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#,
      #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}"#,
      // On no curve.
      #"""
      {"keys":[{"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE",
      "y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE"}]}
      """#,
    ] {
      guard case .notKeySet = failure(.keySet, text) else {
        Issue.record("\(text) was taken for a key set")
        continue
      }
    }
    #expect(throws: JWTKeyError.empty) { try JWTAuthenticator(files: []) }
    #expect(throws: JWTKeyError.unreadable(file: "/nowhere/key")) {
      try JWTAuthenticator(files: [KeyFile(.keySet, path: "/nowhere/key")])
    }
  }
}
