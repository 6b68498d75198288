import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyHashing
import Testing

@Suite("Binding sign-ins to browsers")
struct SignInSealTests {
  private static let now: Timestamp = 1_800_000_000_000
  private let seal = SignInSeal(secret: Array("an example of a secret of 32 bytes".utf8))

  @Test("only the browser that began the sign-in gets the same values")
  func browsers() throws {
    let (browser, other) = (SignInSeal.newBrowser(), SignInSeal.newBrowser())
    #expect(browser != other)
    let begun = seal.begin(browser: browser, now: Self.now)
    #expect(seal.resume(state: begun.state, browser: browser, now: Self.now) == begun)
    #expect(seal.resume(state: begun.state, browser: other, now: Self.now) == nil)
    #expect(seal.resume(state: begun.state, browser: "", now: Self.now) == nil)
    let limitedClient = SignInSeal(secret: Array("another secret of thirty-two bytes".utf8))
    #expect(limitedClient.resume(state: begun.state, browser: browser, now: Self.now) == nil)
  }

  @Test("two sign-ins of one browser have no value in common")
  func freshness() {
    let browser = SignInSeal.newBrowser()
    let one = seal.begin(browser: browser, now: Self.now)
    let other = seal.begin(browser: browser, now: Self.now)
    let values = [one.state, one.nonce, one.verifier, other.state, other.nonce, other.verifier]
    #expect(Set(values).count == values.count)
  }

  @Test("a state with any bit changed, or of another length, is rejected")
  func forgery() throws {
    let browser = SignInSeal.newBrowser()
    let state = seal.begin(browser: browser, now: Self.now).state
    let bytes = try #require(Base64.url.decode(state.utf8))
    for bit in 0..<(bytes.count * 8) {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      let forged = Base64.url.encode(changed)
      #expect(seal.resume(state: forged, browser: browser, now: Self.now) == nil, "bit \(bit)")
    }
    for forged in ["", "x", state + "A", String(state.dropLast(4)), state + "="] {
      #expect(seal.resume(state: forged, browser: browser, now: Self.now) == nil)
    }
  }

  @Test("a sign-in lasts ten minutes, and begins at most a second ahead of this clock")
  func time() {
    let browser = SignInSeal.newBrowser()
    let begun = seal.begin(browser: browser, now: Self.now)
    let end = Self.now + SignInSeal.lifetimeMilliseconds
    #expect(seal.resume(state: begun.state, browser: browser, now: end) == begun)
    #expect(seal.resume(state: begun.state, browser: browser, now: end + 1) == nil)
    let early = Self.now - SignInSeal.leadMilliseconds
    #expect(seal.resume(state: begun.state, browser: browser, now: early) == begun)
    #expect(seal.resume(state: begun.state, browser: browser, now: early - 1) == nil)
    #expect(SignInSeal.lifetimeMilliseconds == 600_000)
  }

  @Test("the challenge is that of RFC 7636, appendix B")
  func challenge() {
    let values = SignInSeal.Values(
      state: "", nonce: "", verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    #expect(values.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    let own = seal.begin(browser: SignInSeal.newBrowser(), now: Self.now).verifier
    #expect((43...128).contains(own.utf8.count))
  }
}

@Suite("Tokens of an identity provider's users")
struct ProvidedUserTests {
  private static let now: Timestamp = 1_800_000_000_000
  private let tokens: SelfSignedTokens

  init() throws {
    tokens = try SelfSignedTokens(secret: Array("an example of a secret of 32 bytes".utf8))
  }

  private func token(
    _ purpose: SelfSignedTokens.ProviderPurpose, for user: ProvidedUser
  ) -> String {
    tokens.token(
      of: purpose, for: user, id: "t1", issuedAt: Self.now, expiresAt: Self.now + 60_000)
  }

  private func refusal(
    _ token: String, _ purpose: SelfSignedTokens.ProviderPurpose, at now: Timestamp = Self.now
  ) -> AuthenticationError? {
    do throws(AuthenticationError) {
      _ = try tokens.user(in: token, of: purpose, now: now)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "a token contains the user's id, name and nonempty groups",
    arguments: [[], ["writers"], ["a b", "", "c%20d", "écrivains", "x\ny"]])
  func roundTrip(groups: [String]) throws {
    let user = ProvidedUser(id: "u|1", name: "Ada L.", groups: groups)
    let read = try tokens.user(in: token(.refresh, for: user), of: .refresh, now: Self.now)
    #expect(read.user.id == user.id && read.user.name == user.name)
    #expect(read.user.groups == groups.filter { !$0.isEmpty })
    #expect(read.identity.grants.isEmpty)
  }

  @Test("a token is accepted only for its purpose, and until it expires")
  func purposes() throws {
    let user = ProvidedUser(id: "u", name: "U", groups: ["writers"])
    let (ticket, refresh) = (token(.ticket, for: user), token(.refresh, for: user))
    #expect(refusal(ticket, .refresh) == .audience)
    #expect(refusal(refresh, .ticket) == .audience)
    #expect(refusal(refresh, .refresh, at: Self.now + 60_000) == .expired)
    for token in [ticket, refresh] {
      #expect(throws: AuthenticationError.audience) {
        _ = try tokens.identity(of: token, now: Self.now)
      }
      #expect(throws: AuthenticationError.audience) {
        _ = try tokens.refreshToken(token, now: Self.now)
      }
    }
    let bearer = tokens.token(for: Identity(user: "u", issuedAt: Self.now, grants: []))
    #expect(refusal(bearer, .refresh) == .audience)
    #expect(refusal("x.y.z", .refresh) == .unknownKey)
  }
}
