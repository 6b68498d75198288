import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Handles sign-in with an identity provider (OpenID Connect, authorization code flow with PKCE).
///
///     GET  /api/user/provider                        redirects to the provider, and sets a cookie
///     GET  /api/user/provider/return?code=…&state=…  exchanges the code, redirects to the page
///     POST /api/user/provider                        returns the page's tokens
///
/// Browsers are redirected only to the provider and to the page, which remembers the note that it
/// showed. After a failure they are also redirected to the page, which shows the problem.
///
/// Used only on the loop's thread; another thread sends requests to the provider.
final class ProviderService {
  private static let browserCookie = "parley-browser"
  private static let ticketCookie = "parley-ticket"
  /// Milliseconds within which the page must fetch its tokens.
  private static let ticketMilliseconds: Int64 = 60_000
  /// Maximum bytes of a code; a longer one is rejected.
  private static let codeBytesMax = 4_096

  private let settings: ProviderSettings
  private let tokens: SelfSignedTokens
  private let seal: SignInSeal
  private let thread: ProviderThread
  private let names: any NameSource
  private let sessions: SessionService
  private let cookie: SessionCookie
  private let respond: (RequestID, Response) -> Void
  private let clock: any Clock
  private let revocations: any Revocations
  private let log: any LogSink
  private let accessMilliseconds: Int64
  private let cookies: Cookies
  /// The ids of used tickets, with their expiry times: a gateway accepts a ticket only once.
  private var used: [String: Timestamp] = [:]

  init(
    settings: ProviderSettings, tokens: SelfSignedTokens, seal: SignInSeal, thread: ProviderThread,
    names: any NameSource, sessions: SessionService, cookie: SessionCookie, clock: any Clock,
    revocations: any Revocations, log: any LogSink, accessMilliseconds: Int64,
    respond: @escaping (RequestID, Response) -> Void
  ) {
    self.settings = settings
    self.tokens = tokens
    self.seal = seal
    self.thread = thread
    self.names = names
    self.sessions = sessions
    self.cookie = cookie
    self.respond = respond
    self.clock = clock
    self.revocations = revocations
    self.log = log
    self.accessMilliseconds = accessMilliseconds
    cookies = Cookies(isEncrypted: settings.isEncrypted)
  }

  /// Responds to a request of a sign-in; `nil` if the response follows later.
  func answer(
    _ request: RequestID, _ head: RequestHead, _ body: [UInt8], at resource: Resource
  ) -> Response? {
    guard resource.route(head.method) != nil else { return resource.methodNotAllowed }
    switch (resource.page, head.method) {
    case (.providerReturn, _): return comeBack(request, head)
    case (_, "POST"): return takeTokens(request, head, body)
    default: return begin(request, head)
    }
  }

  // MARK: To the provider and back

  private func begin(_ request: RequestID, _ head: RequestHead) -> Response? {
    let known = cookies.value(of: Self.browserCookie, in: head)
    let browser = known.flatMap { SignInSeal.isBrowser($0) ? $0 : nil } ?? SignInSeal.newBrowser()
    return submit(
      ProviderThread.Job(
        request: request, query: .begin, browser: browser,
        limitedClient: LimitedClient(address: head.limitedAddress)))
  }

  private func comeBack(_ request: RequestID, _ head: RequestHead) -> Response? {
    let query = QueryFields(head.query)
    guard let state = query["state"], let browser = cookies.value(of: Self.browserCookie, in: head),
      let values = seal.resume(state: state, browser: browser, now: clock.now)
    else {
      return refuse(ProviderFailure(.expired, "begun in another browser, or too long ago"))
    }
    if let error = query["error"] {
      let isNo = error.isExactly("access_denied")
      return refuse(
        ProviderFailure(
          isNo ? .denied : .unreachable, "the provider sent the browser back with an error"))
    }
    guard let code = query["code"], !code.isEmpty, code.utf8.count <= Self.codeBytesMax else {
      return refuse(ProviderFailure(.misbehaves, "the browser returned without a code"))
    }
    return submit(
      ProviderThread.Job(
        request: request, query: .finish(code: code, issuer: query["iss"], values),
        browser: browser, limitedClient: LimitedClient(address: head.limitedAddress)))
  }

  private func submit(_ job: ProviderThread.Job) -> Response? {
    guard thread.submit(job) else {
      return refuse(ProviderFailure(.busy, "too many sign-ins wait for the provider"))
    }
    return nil
  }

  /// Returns the response to a request after the provider's outcome.
  func finish(_ job: ProviderThread.Job, _ outcome: ProviderExchange.Outcome) -> Response {
    switch outcome {
    case .described(let description): return send(job.browser, to: description)
    case .user(let user): return welcome(user)
    case .failed(let failure): return refuse(failure)
    }
  }

  /// Redirects a browser to the provider.
  private func send(_ browser: String, to description: ProviderDescription) -> Response {
    let values = seal.begin(browser: browser, now: clock.now)
    let address = description.authorizationAddress
    let query = FormFields.text([
      ("response_type", "code"), ("client_id", settings.clientID),
      ("redirect_uri", settings.returnAddress),
      ("scope", settings.scopes.joined(separator: " ")), ("state", values.state),
      ("nonce", values.nonce), ("code_challenge", values.challenge),
      ("code_challenge_method", "S256"),
    ])
    let mark = address.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
    return redirect(
      to: address + mark + query,
      [
        cookies.setting(
          Self.browserCookie, to: browser, seconds: SignInSeal.lifetimeMilliseconds / 1_000,
          isStrict: false)
      ])
  }

  private func welcome(_ user: ProvidedUser) -> Response {
    if settings.omitsRights(of: user) {
      log.write(
        .warning, "rights with {user} not granted",
        [
          ("profile", "oidc"),
          ("reason", "the user's id has a *, a slash or invisible characters, or is too long"),
        ])
    }
    let now = clock.now
    let ticket = tokens.token(
      of: .ticket, for: user, id: names.next(), issuedAt: now,
      expiresAt: now + Self.ticketMilliseconds)
    return redirect(
      to: settings.page + "/#signed-in",
      [
        cookies.setting(
          Self.ticketCookie, to: ticket, seconds: Self.ticketMilliseconds / 1_000, isStrict: true)
      ])
  }

  /// Redirects a browser to the page, which shows the problem.
  private func refuse(_ failure: ProviderFailure) -> Response {
    let isProviders = failure.kind == .unreachable || failure.kind == .misbehaves
    // Failures that any client can cause have a lower level, so as not to hide the provider's.
    log.write(
      isProviders ? .warning : .notice, "sign-in at the provider failed",
      [("problem", failure.kind.rawValue), ("reason", failure.reason)])
    return redirect(to: settings.page + "/#sign-in-problem=\(failure.kind.rawValue)", [])
  }

  private func redirect(to address: String, _ headers: [(name: String, value: String)]) -> Response
  {
    Response(
      status: 303,
      headers: [
        ("location", address), ("cache-control", "no-store"), ("referrer-policy", "no-referrer"),
      ] + headers)
  }

  // MARK: Tokens

  /// Returns the page's tokens for a ticket, once.
  private func takeTokens(
    _ request: RequestID, _ head: RequestHead, _ body: [UInt8]
  ) -> Response? {
    // Reject requests of other sites' pages.
    guard cookie.isOwnPage(head) else {
      return .problem(403, .notAllowed, "this is for the server's own page")
    }
    do throws(AuthenticationError) {
      guard let ticket = cookies.value(of: Self.ticketCookie, in: head) else { throw .missing }
      let (user, identity) = try tokens.user(in: ticket, of: .ticket, now: clock.now)
      guard revocations.age(uptime: clock.uptime) <= RevocationAge.rejectAfterMilliseconds else {
        return LoginAnswer.unverified
      }
      guard !revocations.isRevoked(identity), use(identity) else { throw .revoked }
      let isKept = Self.isKept(body)
      let time = sessions.time(for: user.id)
      sessions.begin(
        for: user.id, at: time, endsAt: time + settings.sessionMilliseconds,
        on: DeviceName.device(of: head), from: head.remoteAddress
      ) { [self] outcome in
        let response = give(user, at: time, outcome, isKept: isKept)
        respond(
          request,
          withoutTicket(cookie.removing(response, if: !isKept && cookie.isKept(by: head))))
      }
      return nil
    } catch {
      log.write(.notice, "sign-in refused", [("reason", "\(error)")])
      return withoutTicket(
        LoginAnswer.problem(.refreshToken, "This sign-in has ended; sign in again"))
    }
  }

  /// Whether a body requests that the browser stores the session in a cookie.
  private static func isKept(_ body: [UInt8]) -> Bool {
    let found = JSONBody.fields(in: body, false) { isKept, key, reader throws(JSONError) in
      if key == "keep" {
        isKept = try reader.value().boolean ?? false
      } else {
        try reader.skipValue()
      }
    }
    return found ?? false
  }

  private func withoutTicket(_ response: Response) -> Response {
    var response = response
    response.headers.append(
      cookies.setting(Self.ticketCookie, to: "", seconds: 0, isStrict: true))
    return response
  }

  /// Marks a ticket as used; returns `false` if it was used before. Expired tickets are removed.
  private func use(_ ticket: Identity) -> Bool {
    let now = clock.now
    used = used.filter { $0.value > now }
    guard let id = ticket.tokenID else { return false }
    return used.updateValue(ticket.expiresAt ?? now, forKey: id) == nil
  }

  /// Whether a refresh or logout request contains a token of a provider's user.
  func isMine(_ head: RequestHead, _ body: [UInt8]) -> Bool {
    guard let (token, _) = cookie.token(LoginAnswer.refreshToken(in: body), head) else {
      return false
    }
    return tokens.isProviderRefreshToken(token)
  }

  /// Returns new tokens for a provider user's refresh token; `nil` if the response follows later.
  func refresh(_ request: RequestID, _ head: RequestHead, _ body: [UInt8]) -> Response? {
    guard head.method == "POST" else { return .methodNotAllowed(["POST"]) }
    guard let (text, isKept) = cookie.token(LoginAnswer.refreshToken(in: body), head) else {
      return LoginAnswer.problem(.malformed, "Expected refreshToken")
    }
    do throws(AuthenticationError) {
      let (user, token) = try tokens.refreshToken(ofProvided: text, now: clock.now)
      guard revocations.age(uptime: clock.uptime) <= RevocationAge.rejectAfterMilliseconds else {
        return LoginAnswer.unverified
      }
      guard !revocations.isRevoked(token.identity) else {
        sessions.forget(token)
        throw .revoked
      }
      guard !settings.grants(of: user).isEmpty else { throw .claims }
      let time = sessions.time(for: user.id)
      sessions.renew(token, at: time) { [self] outcome in
        respond(request, give(user, at: time, outcome, isKept: isKept))
      }
      return nil
    } catch {
      log.write(.notice, "refresh refused", [("reason", "\(error)")])
      return cookie.refusal(isKept: isKept)
    }
  }

  /// Returns a response with the tokens of a session.
  private func give(
    _ user: ProvidedUser, at time: Timestamp, _ outcome: SessionService.Outcome, isKept: Bool
  ) -> Response {
    let session: Session
    switch outcome {
    case .success(let found): session = found
    case .failure(.unavailable): return LoginAnswer.storeUnavailable
    case .failure(.ended):
      log.write(.notice, "refresh refused", [("reason", "the session has ended")])
      return cookie.refusal(isKept: isKept)
    }
    // The access token must not outlive the session.
    let identity = Identity(
      user: user.id, name: user.name, tokenID: session.id, issuedAt: time,
      expiresAt: min(time + accessMilliseconds, session.endsAt), grants: settings.grants(of: user))
    let access = tokens.token(for: identity)
    guard (try? tokens.identity(of: access, now: time)) != nil else {
      log.write(
        .error, "sign-in refused",
        [("reason", "its groups give more rights than a token has room for; see oidc-group")])
      return LoginAnswer.problem(.unavailable, "Too many rights for one token", status: 503)
    }
    return cookie.welcome(
      id: user.id, name: user.name, accessToken: access,
      refreshToken: tokens.refreshToken(of: session, for: user), until: session.expiresAt,
      now: time, isKept: isKept)
  }
}
