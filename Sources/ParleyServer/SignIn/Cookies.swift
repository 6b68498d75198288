import ParleyGatewayPorts
import ParleyJSON

/// Cookies that only this server receives and no script can read.
struct Cookies: Sendable {
  /// Whether browsers reach the page only by HTTPS.
  let isEncrypted: Bool

  /// Returns a cookie's full name; with `__Host-`, no other host or unencrypted page can set it.
  func name(_ name: String) -> String { (isEncrypted ? "__Host-" : "") + name }

  /// Returns the value of a cookie in a request; `nil` if the request lacks the cookie.
  func value(of name: String, in head: RequestHead) -> String? {
    guard let header = head.headers["cookie"] else { return nil }
    let wanted = self.name(name)
    for pair in header.split(separator: ";") {
      let pair = pair.drop { $0 == " " }
      guard let equals = pair.firstIndex(of: "=") else { continue }
      if pair[..<equals].isExactly(wanted) {
        return String(pair[pair.index(after: equals)...])
      }
    }
    return nil
  }

  /// Returns the header that sets a cookie; an empty value with 0 seconds removes the cookie.
  ///
  /// - Parameter isStrict: Whether browsers send the cookie only with the page's own requests, and
  ///   not when the user follows a link from another site.
  func setting(
    _ name: String, to value: String, seconds: Int64, isStrict: Bool
  ) -> (name: String, value: String) {
    (
      "set-cookie",
      "\(self.name(name))=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite="
        + (isStrict ? "Strict" : "Lax") + (isEncrypted ? "; Secure" : "")
    )
  }
}
