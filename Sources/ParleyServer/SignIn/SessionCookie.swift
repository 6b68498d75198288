package import ParleyGatewayPorts
import ParleyJSON

/// The page's refresh token in a cookie: no script can read it, and all windows share it.
///
/// A user who requests it at sign-in remains signed in after closing the browser. The page then
/// gets access tokens by the cookie, and never receives the refresh token.
package struct SessionCookie: Sendable {
  private static let name = "parley-session"

  private let cookies: Cookies
  /// The server's own origins, without those of `allowed-origin`, whose pages use tokens.
  private let ownOrigins: OriginPolicy

  /// - Parameters:
  ///   - isEncrypted: Whether browsers reach the page only by HTTPS.
  ///   - publicURL: The public address of the page; `nil` to compare with the request's host.
  package init(isEncrypted: Bool, publicURL: String? = nil) {
    cookies = Cookies(isEncrypted: isEncrypted)
    ownOrigins = OriginPolicy(allowed: publicURL.map { [OriginPolicy.origin(of: $0)] } ?? [])
  }

  /// Whether a request comes from the server's own page, according to its browser. Old browsers do
  /// not send `Sec-Fetch-Site`, so the request's origin is compared; programs send neither header.
  package func isOwnPage(_ head: RequestHead) -> Bool {
    guard let site = head.headers["sec-fetch-site"] else { return ownOrigins.allows(head) }
    return site.isExactly("same-origin")
  }

  /// Whether the request's browser has a session cookie.
  func isKept(by head: RequestHead) -> Bool { cookies.value(of: Self.name, in: head) != nil }

  /// Returns the refresh token in a request's body, else in its cookie; `nil` if missing.
  func token(_ inBody: String?, _ head: RequestHead) -> (token: String, isKept: Bool)? {
    if let inBody { return (inBody, false) }
    guard isOwnPage(head), let kept = cookies.value(of: Self.name, in: head) else {
      return nil
    }
    return (kept, true)
  }

  /// Returns a response with new tokens; `isKept` puts the refresh token into a cookie.
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

  /// Returns the response to an invalid refresh token, which also removes its cookie.
  func refusal(isKept: Bool) -> Response {
    removing(LoginAnswer.problem(.refreshToken, "Refresh token invalid"), if: isKept)
  }

  /// Returns the response; if `isMeant`, the response also removes the cookie.
  func removing(_ response: Response, if isMeant: Bool) -> Response {
    guard isMeant else { return response }
    var response = response
    response.headers.append(cookies.setting(Self.name, to: "", seconds: 0, isStrict: true))
    return response
  }
}
