import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("The cookie of a session")
struct SessionCookieTests {
  private func isOwnPage(
    _ cookie: SessionCookie, origin: String?, site: String? = nil, host: String = "127.0.0.1:8080"
  ) -> Bool {
    var headers = ["host": host]
    headers["origin"] = origin
    headers["sec-fetch-site"] = site
    return cookie.isOwnPage(
      RequestHead(method: "POST", path: "/api/user/refresh", headers: headers))
  }

  @Test("the cookie is valid for the server's own page and for programs")
  func own() {
    let cookie = SessionCookie(isEncrypted: true, publicURL: "https://notes.example/parley/")
    for origin in ["http://127.0.0.1:8080", "https://notes.example", "https://notes.example/", nil]
    {
      #expect(isOwnPage(cookie, origin: origin), "\(origin ?? "none")")
    }
    #expect(isOwnPage(cookie, origin: "https://notes.example", site: "same-origin"))
  }

  @Test(
    "the cookie is invalid for pages of other origins, in every browser",
    arguments: [
      "https://app.example", "http://notes.example", "https://notes.example:8443", "null", "*", "",
    ])
  func others(origin: String) {
    let cookie = SessionCookie(isEncrypted: true, publicURL: "https://notes.example")
    #expect(!isOwnPage(cookie, origin: origin))
    #expect(!isOwnPage(SessionCookie(isEncrypted: false), origin: origin))
    for site in ["same-site", "cross-site", "none"] {
      #expect(!isOwnPage(cookie, origin: nil, site: site))
    }
  }
}
