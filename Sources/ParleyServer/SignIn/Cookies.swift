import GatewayPorts

/// Cookies that no script reads, for this server alone.
struct Cookies: Sendable {
  /// Whether browsers reach the page by HTTPS alone.
  let isEncrypted: Bool

  /// The name as browsers keep it: with the prefix, no other host and no unencrypted page can set it.
  func name(_ name: String) -> String { (isEncrypted ? "__Host-" : "") + name }

  /// The value that a request carries; `nil` for none.
  func value(of name: String, in head: RequestHead) -> String? {
    guard let header = head.headers["cookie"] else { return nil }
    let wanted = self.name(name)
    for pair in header.split(separator: ";") {
      let pair = pair.drop { $0 == " " }
      guard let equals = pair.firstIndex(of: "=") else { continue }
      if pair[..<equals].utf8.elementsEqual(wanted.utf8) {
        return String(pair[pair.index(after: equals)...])
      }
    }
    return nil
  }

  /// The header that sets a cookie; with an empty value and no time, the one that removes it.
  ///
  /// - Parameter isStrict: whether it is sent only with the page's own requests, and not when the user follows a link
  ///   from another site.
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
