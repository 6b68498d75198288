import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyHashing
import Testing

@Suite("Issuer profiles")
struct JWTIssuerProfileTests {
  private static let now: Timestamp = 1_800_000_000_000
  private static let app = Array("a secret of 23 bytes...".utf8)
  private static let own = Array("an example of a secret of 32 bytes and more".utf8)

  private let files = TemporaryFiles()

  private func signed(_ secret: [UInt8], _ payload: String, keyID: String? = nil) -> String {
    let id = keyID.map { #","kid":"\#($0)""# } ?? ""
    let whole =
      Base64.url.encode(Array(#"{"alg":"HS256"\#(id)}"#.utf8)) + "."
      + Base64.url.encode(Array(payload.utf8))
    return whole + "." + Base64.url.encode(hmacSHA256(secret, Array(whole.utf8)))
  }

  private func file(_ secret: [UInt8], _ name: String, keyID: String? = nil) -> KeyFile {
    KeyFile(
      .secret(id: keyID), path: files.write(String(decoding: secret, as: UTF8.self), to: name))
  }

  /// Parley's own issuer, and an app's whose tokens are as `change` has them.
  private func makeAuthenticator(
    _ change: (inout JWTPolicy) -> Void
  ) throws -> JWTAuthenticator {
    var policy = JWTPolicy(clockSkewMilliseconds: 0)
    policy.needsExpiry = true
    change(&policy)
    return try JWTAuthenticator(profiles: [
      JWTIssuerProfile(
        name: nil, files: [file(Self.own, "own")],
        policy: JWTPolicy(audiences: ["parley"], clockSkewMilliseconds: 0)),
      JWTIssuerProfile(
        name: "app", files: [file(Self.app, "app")], policy: policy, secretBytesMin: 16),
    ])
  }

  private func outcome(
    _ token: String, _ authenticator: JWTAuthenticator
  ) -> Result<Identity, AuthenticationError> {
    do throws(AuthenticationError) {
      return .success(try authenticator.authenticate(token, now: Self.now))
    } catch { return .failure(error) }
  }

  @Test(
    "a profile chooses the claim that names the user",
    arguments: [
      (#""userID":"u1""#, "u1"), (#""userID":17"#, "17"), (#""userID":"x","userID":"u1""#, "u1"),
      (#""userID":"""#, nil), (#""userID":null"#, nil), (#""userID":1.5"#, nil),
      (#""userID":["u1"]"#, nil), (#""userID":"u1","userID":{}"#, nil), (#""sub":"u1""#, nil),
      (#""UserID":"u1""#, nil),
    ] as [(String, String?)])
  func userClaim(claim: String, user: String?) throws {
    let authenticator = try makeAuthenticator { $0.userClaim = "userID" }
    let token = signed(Self.app, #"{\#(claim),"exp":1900000000}"#)
    switch outcome(token, authenticator) {
    case .success(let identity): #expect(identity.user == user)
    case .failure(let error):
      #expect(user == nil)
      #expect(error == .claims)
    }
  }

  @Test("a prefix of the id distinguishes users of different issuers")
  func userPrefix() throws {
    let authenticator = try makeAuthenticator { $0.userPrefix = "app/" }
    let token = signed(Self.app, #"{"sub":"ada","exp":1900000000}"#)
    #expect(try outcome(token, authenticator).get().user == "app/ada")
  }

  @Test("{user} in a right stands for the user with the prefix")
  func userPrefixInRights() throws {
    let rights = [try GrantTemplate(.rooms, text: "/me/{user}=read")]
    let authenticator = try makeAuthenticator {
      $0.userPrefix = "app/"
      $0.rights = rights
    }
    let token = signed(Self.app, #"{"sub":"ada","exp":1900000000}"#)
    let identity = try outcome(token, authenticator).get()
    #expect(identity.verbs(on: .room("/me/app/ada")) == .read)
    #expect(identity.verbs(on: .room("/me/ada")).isEmpty)
  }

  @Test("a token is checked by the profile of its key, not by its own claims or key ID")
  func confusion() throws {
    let authenticator = try makeAuthenticator {
      $0.userClaim = "userID"
      $0.issuers = ["app"]
    }
    let apps = #"{"userID":"u1","iss":"app","exp":1900000000}"#
    let ours = #"{"sub":"u1","aud":"parley","parley":{}}"#
    #expect(throws: Never.self) { try outcome(signed(Self.app, apps), authenticator).get() }
    #expect(throws: Never.self) { try outcome(signed(Self.own, ours), authenticator).get() }
    #expect(outcome(signed(Self.own, apps), authenticator) == .failure(.claims))
    #expect(outcome(signed(Self.app, ours), authenticator) == .failure(.claims))
    let both = #"{"sub":"u1","userID":"u1","aud":"parley","iss":"app","exp":1900000000}"#
    #expect(outcome(signed(Self.app, both), authenticator) == .failure(.audience))
    // A name chooses among keys; it does not choose rules.
    #expect(throws: Never.self) {
      try outcome(signed(Self.app, apps, keyID: "x"), authenticator).get()
    }
  }

  @Test(
    "tokens and profiles give rights to folders; a token with a malformed path is rejected"
  )
  func folders() throws {
    func claims(_ match: String) -> String {
      #"{"sub":"u","exp":1900000000,"parley":{"folders":[{"match":"\#(match)","may":["read"]}]}}"#
    }
    let rights = [try GrantTemplate(.folders, text: "home%20of/{user}/*=read")]
    let authenticator = try makeAuthenticator { $0.rights = rights }
    let identity = try outcome(signed(Self.app, claims("team/*")), authenticator).get()
    for (folder, isMeant) in [("team", true), ("team/x", true), ("teamster", false), ("", false)] {
      let subject = Subject.document("n", in: try FolderPath(folder))
      #expect(identity.may(.read, subject) == isMeant, "\(folder)")
    }
    #expect(!identity.may(.read, .document("n", in: nil)))
    for match in ["team*", "/team/*", "te*m/*", "team//x", "..", "team/"] {
      #expect(
        outcome(signed(Self.app, claims(match)), authenticator) == .failure(.claims), "\(match)")
    }
    for (user, folder) in [("ann", "home of/ann/x"), ("ann/x", nil), ("..", nil), ("*", nil)]
      as [(String, String?)]
    {
      let plain = #"{"sub":"\#(user)","exp":1900000000}"#
      let given = try outcome(signed(Self.app, plain), authenticator).get()
      #expect(given.grants.contains { !$0.verbs.isEmpty } == (folder != nil), "\(user)")
      guard let folder else { continue }
      #expect(given.may(.read, .document("n", in: try FolderPath(folder))))
    }
  }

  @Test("a token without rights has the rights of its profile, and none by default")
  func rights() throws {
    let plain = #"{"sub":"u*","exp":1900000000}"#
    let silent = try makeAuthenticator { _ in }
    #expect(try outcome(signed(Self.app, plain), silent).get().grants.isEmpty)
    let rights = [
      try GrantTemplate(.documents, text: "team-*=read,write"),
      try GrantTemplate(.rooms, text: "/me/{user}=read"),
      try GrantTemplate(.rooms, text: "/of/{user}/*=publish"),
    ]
    let granting = try makeAuthenticator { $0.rights = rights }
    let identity = try outcome(signed(Self.app, plain), granting).get()
    #expect(identity.may([.read, .write], .document("team-1", in: nil)))
    #expect(!identity.may(.read, .document("other", in: nil)))
    // An id that could be a pattern has no rights with {user}.
    for room in ["/me/u*", "/me/ux", "/of/u*/x", "/of/ux/x"] {
      #expect(identity.verbs(on: .room(RoomName(room))) == [], "\(room)")
    }
    let ann = try outcome(signed(Self.app, #"{"sub":"ann","exp":1900000000}"#), granting).get()
    #expect(ann.verbs(on: .room("/me/ann")) == .read)
    #expect(ann.verbs(on: .room("/of/ann/x")) == [.publish, .signal])
    #expect(ann.verbs(on: .room("/of/annx/x")) == [])
    // Rights in the token replace the rights of the profile, even if they are empty …
    let own = #"{"sub":"u","exp":1900000000,"parley":{"rooms":[{"match":"a","may":["read"]}]}}"#
    let carrying = try outcome(signed(Self.app, own), granting).get()
    #expect(carrying.verbs(on: .room("a")) == .read)
    #expect(carrying.verbs(on: .document("team-1", in: nil)) == [])
    // … unless the profile decides alone.
    let deciding = try makeAuthenticator {
      $0.rights = rights
      $0.honoursClaimedRights = false
    }
    let limited = try outcome(signed(Self.app, own), deciding).get()
    #expect(limited.verbs(on: .room("a")) == [])
    #expect(limited.verbs(on: .document("team-1", in: nil)) == [.read, .write, .comment])
  }

  @Test("rejects a refresh token for access, and a token without a required claim")
  func kinds() throws {
    let authenticator = try makeAuthenticator {
      $0.requiredClaims = [JWTPolicy.RequiredClaim("type", "access")]
    }
    func outcome(_ claims: String, _ secret: [UInt8] = Self.app) -> AuthenticationError? {
      if case .failure(let error) = self.outcome(signed(secret, claims), authenticator) {
        return error
      }
      return nil
    }
    #expect(outcome(#"{"sub":"u","exp":1900000000,"type":"access"}"#) == nil)
    for kind in [#""refresh""#, #""Access""#, "1", "null", #"["access"]"#] {
      #expect(outcome(#"{"sub":"u","exp":1900000000,"type":\#(kind)}"#) == .claims)
    }
    #expect(outcome(#"{"sub":"u","exp":1900000000}"#) == .claims)
    #expect(outcome(#"{"sub":"u","type":"access"}"#) == .claims)
    // No profile takes a refresh token.
    #expect(outcome(#"{"sub":"u","aud":"parley","type":"refresh"}"#, Self.own) == .claims)
    #expect(outcome(#"{"sub":"u","aud":"parley","type":"other"}"#, Self.own) == nil)
  }

  @Test("room tokens are accepted only if the profile says so, and other tokens are no room tokens")
  func roomTokens() throws {
    let second = Self.now / 1_000
    func token(
      _ change: String = "", name: String = "a room", iat: Int64 = 86_400
    ) -> String {
      signed(Self.app, #"{"sub":"u","name":"\#(name)","iat":\#(second + iat)\#(change)}"#)
    }
    func admits(_ token: String, _ rule: RoomTokenRule, to room: RoomName = "a room") throws -> Bool
    {
      let authenticator = try makeAuthenticator {
        $0.audiences = ["app"]
        $0.clockSkewMilliseconds = 5_000
        $0.roomTokens = rule
        $0.requiredClaims = [JWTPolicy.RequiredClaim("kind", "login")]
      }
      return authenticator.admits(token, to: room, user: "u", now: Self.now)
    }
    let named = RoomTokenRule(audiences: ["rooms"])
    let bare = RoomTokenRule(acceptsBare: true)
    let rooms = #","aud":"rooms""#
    #expect(try admits(token(rooms), named))
    #expect(try admits(token(), bare))
    #expect(try !admits(token(rooms), RoomTokenRule()))
    #expect(try !admits(token(), RoomTokenRule()))
    #expect(try !admits(token(), named))
    #expect(try !admits(token(rooms), bare))
    #expect(try !admits(token(#","aud":"app""#), named))
    #expect(try !admits(token(rooms), named, to: "another room"))
    for (rule, mark) in [(named, rooms), (bare, "")] {
      #expect(try !admits(token(mark + #","exp":1900000000"#), rule))
      #expect(try !admits(token(mark + #","nbf":1900000000"#), rule))
      // The clocks may differ by five seconds, and a minute is to spare.
      #expect(try admits(token(mark, iat: 65), rule))
      #expect(try !admits(token(mark, iat: 64), rule))
      #expect(try !admits(token(mark, iat: -1), rule))
    }
    for mark in [#","kind":"login""#, #","kind":7"#, #","type":"access""#, #","parley":{}"#] {
      #expect(try !admits(token(mark), bare))
    }
    // Nor does a room token open anything else, before its deadline or after.
    let authenticator = try makeAuthenticator { $0.roomTokens = bare }
    #expect(outcome(token(), authenticator) == .failure(.claims))
    #expect(outcome(token(iat: -10), authenticator) == .failure(.claims))
  }

  @Test("no key belongs to two profiles, at the start or later")
  func sharedKeys() throws {
    func failure(_ one: KeyFile, _ two: KeyFile) -> JWTKeyError? {
      do throws(JWTKeyError) {
        _ = try JWTAuthenticator(profiles: [
          JWTIssuerProfile(name: "a", files: [one], secretBytesMin: 8),
          JWTIssuerProfile(name: "b", files: [two], secretBytesMin: 8),
        ])
        return nil
      } catch { return error }
    }
    func isShared(_ one: KeyFile, _ two: KeyFile) -> Bool {
      if case .shared? = failure(one, two) { true } else { false }
    }
    let secret = file(Self.own, "one")
    #expect(isShared(secret, secret))
    #expect(isShared(secret, file(Self.own, "two", keyID: "other")))
    // HMAC pads keys with zeros, and hashes keys longer than a block: these keys are equivalent.
    let short = Array("short secret".utf8)
    let filled = "base64url:" + Base64.url.encode(short + [0, 0])
    #expect(isShared(file(short, "one"), file(Array(filled.utf8), "two")))
    let long = [UInt8](repeating: 0x61, count: 65)
    let hashed = "base64url:" + Base64.url.encode(SHA256().hash(long).bytes)
    #expect(isShared(file(long, "one"), file(Array(hashed.utf8), "two")))
    #expect(failure(file(short, "one"), file(Self.own, "two")) == nil)
    let key = KeyFile(.publicKey(id: nil), path: files.write(TestKeys.rsaPublic, to: "one"))
    let again = KeyFile(.publicKey(id: "k"), path: files.write(TestKeys.rsaPublic, to: "two"))
    #expect(isShared(key, again))
    let other = KeyFile(.publicKey(id: nil), path: files.write(TestKeys.p256Public, to: "two"))
    #expect(failure(key, other) == nil)
  }

  @Test("a changed file that contains the key of another profile is ignored")
  func sharedLater() throws {
    let one = file(Self.own, "one")
    let two = file(Self.app + Self.app, "two")
    let authenticator = try JWTAuthenticator(profiles: [
      JWTIssuerProfile(name: "a", files: [one]),
      JWTIssuerProfile(name: "b", files: [two], policy: JWTPolicy(issuers: ["b"])),
    ])
    let token = signed(Self.own, #"{"sub":"u"}"#)
    #expect(throws: Never.self) { try outcome(token, authenticator).get() }
    files.write(String(decoding: Self.own, as: UTF8.self), to: "two")
    #expect(throws: Never.self) {
      try authenticator.authenticate(token, now: Self.now + 2_000)
    }
    let kept = signed(Self.app + Self.app, #"{"sub":"u","iss":"b"}"#)
    #expect(throws: Never.self) { try authenticator.authenticate(kept, now: Self.now + 4_000) }
  }

  @Test("a short secret is refused, or causes a warning if its profile allows it")
  func shortSecrets() throws {
    let file = file(Self.app, "app")
    #expect(throws: JWTKeyError.self) {
      try JWTAuthenticator(profiles: [JWTIssuerProfile(name: "app", files: [file])])
    }
    #expect(throws: JWTKeyError.self) {
      try JWTAuthenticator(profiles: [
        JWTIssuerProfile(name: "app", files: [file], secretBytesMin: 24)
      ])
    }
    let authenticator = try JWTAuthenticator(profiles: [
      JWTIssuerProfile(name: "app", files: [file], secretBytesMin: 23)
    ])
    #expect(authenticator.warnings.count == 1)
    #expect(authenticator.warnings[0].contains(file.path))
    #expect(!authenticator.warnings[0].contains(String(decoding: Self.app, as: UTF8.self)))
    #expect(try makeAuthenticator { _ in }.warnings.count == 1)
    #expect(try JWTAuthenticator(files: [self.file(Self.own, "own")]).warnings.isEmpty)
  }
}
