import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyHashing
import ParleyJSON
import Testing

@Suite("ID tokens of a provider")
struct IDTokenTests {
  private static let now: Timestamp = 1_800_000_000_000
  private static let keySet = """
    {"keys": [
      {"kty": "oct", "kid": "k", "k": "c2hvcnQ"},
      {"kty": "EC", "crv": "P-384", "kid": "k", "x": "AA", "y": "AA"},
      {"kty": "EC", "crv": "P-256", "kid": "k", "use": "sig",
        "x": "0UIlYlQA3lDLribvX-J6jOWZQetpnF5f6B5q_Ntklro",
        "y": "Y4EUDO3UC2MYJF33cxiUucGXp_Q2kpOGbBTDCAwWZBw"}
    ]}
    """

  private let files = TemporaryFiles()
  private let keys: ProviderKeys
  private let expected = IDToken.Expectation(
    issuer: "https://id.example.org", clientID: "parley", nonce: "n", clockSkewMilliseconds: 60_000)

  init() throws { keys = try ProviderKeys(keySet: Array(Self.keySet.utf8), place: "the test") }

  /// A token with claims as they should be, but for those given; an empty text leaves a claim out.
  private func token(
    _ changes: [String: String] = [:], key: String = TestKeys.p256, keyID: String? = "k"
  ) throws -> String {
    var claims = [
      "iss": "\"https://id.example.org\"", "aud": "\"parley\"", "sub": "\"u\"", "nonce": "\"n\"",
      "iat": "1800000000", "exp": "1800000300",
    ]
    claims.merge(changes) { $1 }
    let text = claims.sorted { $0.key < $1.key }.filter { !$0.value.isEmpty }
      .map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
    let signer = try JWTSigner(privateKeyFile: files.write(key, to: "key"), keyID: keyID)
    return signer.token(payload: Array("{\(text)}".utf8))
  }

  private func rejection(_ token: String, at now: Timestamp = Self.now) -> IDTokenError? {
    do throws(IDTokenError) {
      _ = try IDToken(token, keys: keys, expecting: expected, now: now)
      return nil
    } catch {
      return error
    }
  }

  @Test("a valid token gives its user and all claims")
  func good() throws {
    let text = try token(["groups": "[\"writers\"]", "aud": "[\"parley\"]"])
    let read = try IDToken(text, keys: keys, expecting: expected, now: Self.now)
    #expect(read.subject.utf8.elementsEqual("u".utf8))
    #expect(read.claims["groups"]?.elements?.first?.string == "writers")
  }

  @Test(
    "a claim that is wrong or missing rejects a token",
    arguments: [
      ("iss", "\"https://id.example.org/\"", IDTokenError.issuer), ("iss", "", .issuer),
      ("iss", "7", .claims), ("aud", "\"Parley\"", .audience), ("aud", "[]", .audience),
      ("aud", "", .audience), ("aud", "[\"parley\",\"x\"]", .audience), ("azp", "\"x\"", .audience),
      ("azp", "7", .audience), ("nonce", "\"m\"", .nonce), ("nonce", "", .nonce),
      ("nonce", "null", .nonce), ("sub", "", .claims), ("sub", "\"\"", .claims),
      ("exp", "1799999940", .expired), ("exp", "", .claims), ("iat", "", .claims),
      ("iat", "0", .expired), ("iat", "-1", .claims), ("iat", "1799999340", .expired),
      ("iat", "1800000062", .notYetValid), ("nbf", "1800000061", .notYetValid),
    ])
  func claims(name: String, value: String, error: IDTokenError) throws {
    #expect(rejection(try token([name: value])) == error)
  }

  @Test(
    "a minute of clock skew and several audiences with an authorised party are accepted",
    arguments: [
      ["exp": "1799999941"], ["iat": "1800000061"], ["iat": "1799999341"], ["nbf": "1800000060"],
      ["aud": "[\"x\",\"parley\"]", "azp": "\"parley\""],
    ])
  func tolerance(changes: [String: String]) throws {
    #expect(rejection(try token(changes)) == nil)
  }

  @Test("signatures of other keys or of another payload are rejected")
  func signatures() throws {
    #expect(rejection(try token(keyID: nil)) == nil)
    #expect(rejection(try token(keyID: "other")) == .unknownKey)
    #expect(rejection(try token(key: TestKeys.rsa)) == .algorithm)
    let whole = try token()
    let parts = whole.split(separator: ".")
    let other = try token(["sub": "\"root\""]).split(separator: ".")
    #expect(rejection("\(parts[0]).\(other[1]).\(parts[2])") == .signature)
  }

  @Test(
    "algorithms other than RS256, ES256 and EdDSA are rejected",
    arguments: ["none", "HS256", "PS256"])
  func algorithms(name: String) throws {
    let head = Base64.url.encode(Array("{\"alg\":\"\(name)\",\"kid\":\"k\"}".utf8))
    let claims = try #require(try token().split(separator: ".").dropFirst().first)
    let signed = head + "." + claims
    let code = hmacSHA256(Array("short".utf8), Array(signed.utf8))
    #expect(rejection(signed + "." + Base64.url.encode(code)) == .refusedAlgorithm(name))
    #expect(rejection(signed + ".") == .refusedAlgorithm(name))
    #expect(
      "\(IDTokenError.refusedAlgorithm(name))".contains(
        "expected RS256, ES256 or EdDSA, got \(name)"))
  }

  @Test("malformed tokens are rejected", arguments: ["", ".", "..", "a.b", "a.b.c.d", "€.€.€"])
  func garbage(text: String) {
    #expect(rejection(text) == .malformed)
  }

  @Test("a token with 2,000 groups is accepted, and one with 8,000 groups is rejected")
  func length() throws {
    let groups = { (count: Int) in
      "[" + (0..<count).map { "\"group-\($0)\"" }.joined(separator: ",") + "]"
    }
    #expect(rejection(try token(["groups": groups(2_000)])) == nil)
    #expect(rejection(try token(["groups": groups(8_000)])) == .malformed)
  }
}
