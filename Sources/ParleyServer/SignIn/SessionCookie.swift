package import GatewayPorts

/// The refresh token of the page in a cookie, which no script reads and all windows of the browser share.
///
/// A user who asks for it at the sign-in stays signed in when the browser is closed. The page then gets its access
/// tokens for the cookie, and never sees the refresh token.
package struct SessionCookie: Sendable {
  private static let name = "parley-session"

  private let cookies: Cookies
  /// The origins of the server's own page. Those of `allowed-origin` are not among them: their pages have tokens.
  private let ownOrigins: OriginPolicy

  /// - Parameters:
  ///   - isEncrypted: Whether browsers reach the page by HTTPS alone.
  ///   - publicURL: The page's address as browsers know it; `nil` for the host that they ask.
  package init(isEncrypted: Bool, publicURL: String? = nil) {
    cookies = Cookies(isEncrypted: isEncrypted)
    ownOrigins = OriginPolicy(allowed: publicURL.map { [OriginPolicy.origin(of: $0)] } ?? [])
  }

  /// Whether a request comes from the server's own page, as far as its browser says. One without `Sec-Fetch-Site` names
  /// the page's origin; a program sends neither.
  package func isOwnPage(_ head: RequestHead) -> Bool {
    guard let site = head.headers["sec-fetch-site"] else { return ownOrigins.allows(head) }
    return site.utf8.elementsEqual("same-origin".utf8)
  }

  /// Whether the browser of a request keeps a session.
  func isKept(by head: RequestHead) -> Bool { cookies.value(of: Self.name, in: head) != nil }

  /// The refresh token of a request, from its body or else from its cookie; `nil` if it has none.
  func token(_ inBody: String?, _ head: RequestHead) -> (token: String, isKept: Bool)? {
    if let inBody { return (inBody, false) }
    guard isOwnPage(head), let kept = cookies.value(of: Self.name, in: head) else {
      return nil
    }
    return (kept, true)
  }

  /// New tokens; a kept refresh token goes into the cookie, and not into the body.
  func welcome(
    id: String, name: String, accessToken: String, refreshToken: String, until end: Timestamp,
    now: Timestamp, isKept: Bool
  ) -> Response {
    var response = LoginAnswer.welcome(
      id: id, name: name, accessToken: accessToken, refreshToken: isKept ? nil : refreshToken)
    if isKept {
      response.headers.append(
        cookies.setting(
          Self.name, to: refreshToken, seconds: max(0, (end - now) / 1_000), isStrict: true))
    }
    return response
  }

  /// The answer to an invalid refresh token, which removes its cookie.
  func refusal(isKept: Bool) -> Response {
    removing(LoginAnswer.problem(.refreshToken, "Refresh token invalid"), if: isKept)
  }

  /// A response that also removes the cookie.
  func removing(_ response: Response, if isMeant: Bool) -> Response {
    guard isMeant else { return response }
    var response = response
    response.headers.append(cookies.setting(Self.name, to: "", seconds: 0, isStrict: true))
    return response
  }
}
