import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts
import ParleyJSON

/// Logout, the available ways to sign in, and the service for an identity provider.
extension ServerLoop {
  /// The parts of an identity provider's service, created before the loop thread starts.
  struct ProviderParts {
    let settings: ProviderSettings
    let seal: SignInSeal
    let thread: ProviderThread
  }

  /// Creates the service that signs users in with an identity provider.
  func service(
    of parts: ProviderParts, _ tokens: SelfSignedTokens, _ sessions: SessionService,
    _ revocations: any Revocations, respond: @escaping (RequestID, Response) -> Void
  ) -> ProviderService {
    ProviderService(
      settings: parts.settings, tokens: tokens, seal: parts.seal, thread: parts.thread,
      names: RandomNames(), sessions: sessions, cookie: configuration.sessionCookie,
      clock: SystemClock(), revocations: revocations, log: log,
      accessMilliseconds: Int64(configuration.accessTokenTime.milliseconds), respond: respond)
  }

  /// Processes a logout request: ends the session of its refresh token.
  func logOut(
    _ head: RequestHead, _ body: [UInt8], at resource: Resource,
    respond: @escaping (Response) -> Void
  ) {
    guard resource.route(head.method) != nil else { return respond(resource.methodNotAllowed) }
    let cookie = configuration.sessionCookie
    guard let (text, isKept) = cookie.token(LoginAnswer.refreshToken(in: body), head) else {
      return respond(LoginAnswer.problem(.malformed, "Expected refreshToken"))
    }
    guard let token = attached.ownTokens.anyRefreshToken(text, now: SystemClock().now) else {
      return respond(cookie.refusal(isKept: isKept))
    }
    attached.sessions.end(token, from: head.remoteAddress) { isDone in
      respond(
        isDone ? cookie.removing(LoginAnswer.goodbye, if: isKept) : LoginAnswer.storeUnavailable)
    }
  }

  /// Returns the available ways to sign in, for the page.
  func ways(_ head: RequestHead, at resource: Resource) -> Response {
    guard resource.route(head.method) != nil else { return resource.methodNotAllowed }
    let body = JSONWriter.object { object, body in
      object.field("password", configuration.usersFile != nil, &body)
      if configuration.resetPage != nil { object.field("forgot", true, &body) }
      // Derived from the settings alone, since every loop answers this request.
      guard let issuer = configuration.provider.issuer, let page = configuration.publicURL else {
        return
      }
      object.key("provider", &body)
      JSONWriter.object(&body) { object, body in
        object.field(
          "name", configuration.provider.name ?? HookAddress(issuer)?.host ?? issuer, &body)
        object.field(
          "address", ValueText.withoutSlash(page) + ProviderSettings.beginPath, &body)
      }
    }
    return .json(200, body)
  }
}
