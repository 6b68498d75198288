import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyHashing
import ParleyHTTPClientCurl
import ParleyJSON

/// The requests of one sign-in to the identity provider, as a state machine.
///
///     begin:   description ─▶ where to send the browser
///     finish:  description ─▶ code for tokens ─▶ keys ─▶ ID token checked ─▶ user info ─▶ user
///
/// Metadata and keys are cached for later sign-ins. If a cached key does not verify an ID token,
/// the keys are fetched again once.
struct ProviderExchange {
  /// The part of a sign-in to perform.
  enum Query: Sendable {
    /// Find the address at the provider to which the browser is redirected.
    case begin
    /// Exchange the code with which the provider has redirected the browser back.
    case finish(code: String, issuer: String?, SignInSeal.Values)
  }

  /// The result of an exchange.
  enum Outcome: Sendable {
    /// The provider's metadata, with the address for the browser.
    case described(ProviderDescription)
    /// The user who has signed in at the provider.
    case user(ProvidedUser)
    case failed(ProviderFailure)
  }

  /// The next action for the caller.
  enum Action {
    case fetch(CurlClient.Request)
    case end(Outcome)
  }

  /// The provider's response to a request.
  enum Answer {
    case answered(status: Int, body: [UInt8])
    case failed(String)
  }

  /// The cached metadata and keys of the provider.
  struct Memory {
    /// Milliseconds for which cached metadata and keys are used.
    private static let lifetimeMilliseconds: Int64 = 600_000

    private var kept: (description: ProviderDescription, fetchedAt: Int64)?
    private var keptKeys: (keys: ProviderKeys, fetchedAt: Int64)?

    func description(now: Int64) -> ProviderDescription? {
      kept.flatMap { now - $0.fetchedAt < Self.lifetimeMilliseconds ? $0.description : nil }
    }

    func keys(now: Int64) -> ProviderKeys? {
      keptKeys.flatMap { now - $0.fetchedAt < Self.lifetimeMilliseconds ? $0.keys : nil }
    }

    mutating func keep(_ description: ProviderDescription, now: Int64) {
      kept = (description, now)
    }

    mutating func keep(_ keys: ProviderKeys, now: Int64) { keptKeys = (keys, now) }
  }

  /// The tokens in the provider's response.
  private struct Tokens {
    let idToken: String
    let accessToken: String?
  }

  private enum State {
    /// Next: `description`, `code`, `ended`.
    case begun
    /// Next: `code`, `ended`.
    case description
    /// Next: `keys`, `userInfo`, `ended`.
    case code(ProviderDescription)
    /// Next: `userInfo`, `ended`.
    case keys(ProviderDescription, Tokens)
    /// Next: `ended`.
    case userInfo(IDToken)
    /// Final.
    case ended
  }

  /// Maximum bytes of a response; a larger one is rejected.
  private static let answerBytesMax = 256 << 10

  private let settings: ProviderSettings
  private let query: Query
  private var state = State.begun

  init(_ query: Query, settings: ProviderSettings) {
    self.query = query
    self.settings = settings
  }

  /// Returns the first action.
  mutating func start(_ memory: Memory, uptime: Int64) -> Action {
    guard let description = memory.description(now: uptime) else {
      state = .description
      return .fetch(request(settings.descriptionAddress))
    }
    return proceed(description)
  }

  /// Handles the response to the last request, and returns the next action.
  ///
  /// - Parameters:
  ///   - uptime: The uptime, for the age of cached data.
  ///   - now: The time of day, for the times in tokens.
  mutating func answered(
    _ answer: Answer, _ memory: inout Memory, uptime: Int64, now: Timestamp
  ) -> Action {
    do throws(ProviderFailure) {
      switch state {
      case .description:
        let body = try Self.body(of: answer, "its description")
        let description = try ProviderDescription(json: body, issuer: settings.issuer)
        memory.keep(description, now: uptime)
        return proceed(description)
      case .code(let description):
        let tokens = try Self.tokens(in: answer)
        guard let keys = memory.keys(now: uptime) else { return fetchKeys(description, tokens) }
        do throws(IDTokenError) {
          return try proceed(check(tokens, keys, now), description, tokens)
        } catch .unknownKey, .signature {
          // The provider may have changed its keys since they were fetched.
          return fetchKeys(description, tokens)
        } catch {
          throw Self.failure(error)
        }
      case .keys(let description, let tokens):
        let body = try Self.body(of: answer, "its keys")
        let keys: ProviderKeys
        do throws(JWTKeyError) {
          keys = try ProviderKeys(keySet: body, place: "jwks_uri")
        } catch {
          throw ProviderFailure(.misbehaves, "its keys: \(error)")
        }
        memory.keep(keys, now: uptime)
        do throws(IDTokenError) {
          return try proceed(check(tokens, keys, now), description, tokens)
        } catch {
          throw Self.failure(error)
        }
      case .userInfo(let token):
        return .end(try user(token, with: try Self.body(of: answer, "its user info")))
      case .begun, .ended: preconditionFailure("a response without a request")
      }
    } catch {
      state = .ended
      return .end(.failed(error))
    }
  }

  // MARK: Steps

  private mutating func proceed(_ description: ProviderDescription) -> Action {
    guard case .finish(let code, let issuer, let values) = query else {
      state = .ended
      return .end(.described(description))
    }
    // A code from another provider must not be sent to this one (RFC 9207).
    if let issuer {
      guard issuer.isExactly(settings.issuer) else {
        return end(.misbehaves, "the browser returned from another issuer")
      }
    } else if description.namesItself {
      return end(.misbehaves, "the browser returned without iss, which the provider promises")
    }
    state = .code(description)
    return .fetch(exchange(of: code, values, at: description))
  }

  private mutating func end(_ kind: ProviderFailure.Kind, _ reason: String) -> Action {
    state = .ended
    return .end(.failed(ProviderFailure(kind, reason)))
  }

  private mutating func fetchKeys(_ description: ProviderDescription, _ tokens: Tokens) -> Action {
    state = .keys(description, tokens)
    return .fetch(request(description.keysAddress))
  }

  private func check(
    _ tokens: Tokens, _ keys: ProviderKeys, _ now: Timestamp
  ) throws(IDTokenError) -> IDToken {
    guard case .finish(_, _, let values) = query else { throw .malformed }
    return try IDToken(
      tokens.idToken, keys: keys,
      expecting: IDToken.Expectation(
        issuer: settings.issuer, clientID: settings.clientID, nonce: values.nonce,
        clockSkewMilliseconds: settings.clockSkewMilliseconds), now: now)
  }

  private mutating func proceed(
    _ token: IDToken, _ description: ProviderDescription, _ tokens: Tokens
  ) -> Action {
    if settings.wantsMore(than: token.claims), let address = description.userInfoAddress,
      let accessToken = tokens.accessToken
    {
      state = .userInfo(token)
      var request = request(address)
      request.headers.append("authorization: Bearer \(accessToken)")
      return .fetch(request)
    }
    state = .ended
    do throws(ProviderFailure) {
      return .end(.user(try settings.user(subject: token.subject, claims: token.claims)))
    } catch {
      return .end(.failed(error))
    }
  }

  private mutating func user(
    _ token: IDToken, with userInfo: [UInt8]
  ) throws(ProviderFailure) -> Outcome {
    guard let more = JSONFields(userInfo) else {
      throw ProviderFailure(.misbehaves, "its user info is no JSON object")
    }
    // The access token must belong to the user who signs in.
    guard let subject = more["sub"]?.string, subject.isExactly(token.subject) else {
      throw ProviderFailure(.misbehaves, "its user info is another user's")
    }
    state = .ended
    let claims = Self.joined(token.claims, more)
    return .user(try settings.user(subject: token.subject, claims: claims))
  }

  /// Returns the signed claims, with those of the user info added.
  ///
  /// `email` and `email_verified` are from the same source, since the sources' addresses may
  /// differ.
  private static func joined(_ signed: JSONFields, _ more: JSONFields) -> JSONFields {
    let address = ["email", "email_verified"]
    func withoutAddress(_ claims: JSONFields) -> [JSONFields.Field] {
      claims.all.filter { field in !address.contains { $0.isExactly(field.name) } }
    }
    let isAddressed = address.allSatisfy { signed[$0] != nil }
    // Of two fields with one name, the last one counts: the signed one.
    return JSONFields(
      isAddressed ? withoutAddress(more) + signed.all : more.all + withoutAddress(signed))
  }

  // MARK: Requests

  private func request(_ address: String) -> CurlClient.Request {
    var request = CurlClient.Request(
      url: address, headers: ["accept: application/json"], body: nil,
      timeoutMilliseconds: settings.timeoutMilliseconds)
    request.keptBytesMax = Self.answerBytesMax
    return request
  }

  private func exchange(
    of code: String, _ values: SignInSeal.Values, at description: ProviderDescription
  ) -> CurlClient.Request {
    var fields = [
      ("grant_type", "authorization_code"), ("code", code),
      ("redirect_uri", settings.returnAddress), ("code_verifier", values.verifier),
    ]
    var request = request(description.tokenAddress)
    if let secret = settings.clientSecret, !description.takesSecretInBody {
      request.headers.append(
        "authorization: Basic \(Self.credentials(settings.clientID, secret))")
    } else {
      fields.append(("client_id", settings.clientID))
      if let secret = settings.clientSecret { fields.append(("client_secret", secret)) }
    }
    request.headers.append("content-type: application/x-www-form-urlencoded")
    request.body = Array(FormFields.text(fields).utf8)
    return request
  }

  /// Returns credentials for basic authentication, each encoded first (RFC 6749, section 2.3.1).
  private static func credentials(_ name: String, _ secret: String) -> String {
    let text = PercentEncoding.encoded(name) + ":" + PercentEncoding.encoded(secret)
    let plain = Base64.url.encode(Array(text.utf8))
      .replacing("-", with: "+").replacing("_", with: "/")
    return plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
  }

  // MARK: Answers

  private static func body(
    of answer: Answer, _ subject: String
  ) throws(ProviderFailure) -> [UInt8] {
    switch answer {
    case .answered(status: 200, let body): return body
    case .answered(let status, _):
      throw ProviderFailure(.unreachable, "\(subject): answered with \(status)")
    case .failed(let reason): throw ProviderFailure(.unreachable, "\(subject): \(reason)")
    }
  }

  private static func tokens(in answer: Answer) throws(ProviderFailure) -> Tokens {
    if case .answered(let status, let body) = answer, (400...499).contains(status) {
      let code = JSONFields(body)?["error"]?.string ?? ""
      if code.isExactly("invalid_grant") {
        throw ProviderFailure(.used, "the provider does not take the code")
      }
      // Log only codes of the standard, since any other text could contain sensitive data.
      let isKnown = knownErrors.contains(code)
      throw ProviderFailure(
        .misbehaves, "it refuses tokens with \(status)" + (isKnown ? ", \(code)" : ""))
    }
    let fields = JSONFields(try body(of: answer, "its tokens"))
    guard let idToken = fields?["id_token"]?.string else {
      throw ProviderFailure(.misbehaves, "its response has no id_token")
    }
    let accessToken = fields?["access_token"]?.string
    // The access token goes into a header, so characters that a header cannot contain are rejected.
    let isPlain = accessToken?.utf8.allSatisfy { (0x21...0x7e).contains($0) } ?? false
    return Tokens(idToken: idToken, accessToken: isPlain ? accessToken : nil)
  }

  /// Error codes of RFC 6749, section 5.2, except `invalid_grant`.
  private static let knownErrors: Set<String> = [
    "invalid_request", "invalid_client", "unauthorized_client", "unsupported_grant_type",
    "invalid_scope",
  ]

  private static func failure(_ error: IDTokenError) -> ProviderFailure {
    ProviderFailure(.misbehaves, "its ID token is rejected: \(error)")
  }
}
