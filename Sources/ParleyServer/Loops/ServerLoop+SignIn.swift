import CryptoOpenSSL
import Gateway
import GatewayPorts
import JSON

/// The ways in which people sign in.
extension ServerLoop {
  /// An identity provider, made on another thread and handed to the loop's.
  struct ProviderParts {
    let settings: ProviderSettings
    let seal: SignInSeal
    let thread: ProviderThread
  }

  /// The service that signs people in at an identity provider.
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

  /// Answers a request to log out: the session of its refresh token ends.
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
    attached.sessions.end(token) { isDone in
      respond(
        isDone ? cookie.removing(LoginAnswer.goodbye, if: isKept) : LoginAnswer.storeUnavailable)
    }
  }

  /// The ways in which people sign in, for the page.
  func ways(_ head: RequestHead, at resource: Resource) -> Response {
    guard resource.route(head.method) != nil else { return resource.methodNotAllowed }
    let body = JSONWriter.object { object, body in
      object.field("password", configuration.usersFile != nil, &body)
      // Made from the settings alone, since each loop answers this.
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
