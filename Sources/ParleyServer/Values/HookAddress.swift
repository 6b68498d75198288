/// The URL of a service: `https://host:port/path`.
struct HookAddress: Sendable, Equatable {
  /// The whole URL.
  let text: String
  /// Whether requests are encrypted.
  let isEncrypted: Bool
  let host: String

  /// Whether third parties cannot read requests: they are encrypted, or remain on this machine.
  var isPrivate: Bool { isEncrypted || ListenAddress.isLoopback(host) }

  /// Parses a URL; `nil` if it is malformed, or contains a user or password, which logs would show.
  init?(_ text: String) {
    guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    let rest: Substring
    if text.hasPrefix("https://") {
      isEncrypted = true
      rest = text.dropFirst(8)
    } else if text.hasPrefix("http://") {
      isEncrypted = false
      rest = text.dropFirst(7)
    } else {
      return nil
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !authority.contains("@"), let host = Self.host(in: authority) else { return nil }
    self.host = host
    self.text = text
  }

  /// Returns the host in `host`, `host:port`, `[address]` or `[address]:port`; `nil` if malformed.
  private static func host(in authority: Substring) -> String? {
    var host = authority
    var port: Substring?
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[authority.index(after: authority.startIndex)..<end]
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
      port = authority[authority.index(after: colon)...]
    }
    if let port {
      guard let number = UInt16(port), number > 0 else { return nil }
    }
    return host.isEmpty ? nil : String(host)
  }
}
