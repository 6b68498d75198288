package import ParleyGatewayPorts

/// The origins whose pages may open a WebSocket or change notes.
///
/// Browsers send `Origin` with every upgrade, programs any value or none. So a request without
/// `Origin` is allowed, and a foreign origin is not (RFC 6454). The request's own host and port are
/// the same origin; ports 80 and 443 are the defaults. Behind a trusted proxy, the forwarded host
/// counts too, and the forwarded scheme must match.
package struct OriginPolicy: Sendable {
  private let allowed: Set<String>
  private let allowsAll: Bool

  /// - Parameter allowed: Origins such as `https://notes.example.org`; `*` allows every origin.
  package init(allowed: [String]) {
    self.allowed = Set(allowed.compactMap(Self.normalized))
    allowsAll = allowed.contains("*")
  }

  /// Whether a request's origin is allowed, or the request has none.
  package func allows(_ head: RequestHead) -> Bool {
    guard let origin = head.headers["origin"], !allowsAll else { return true }
    guard let normalized = Self.normalized(origin) else { return false }
    if allowed.contains(normalized) { return true }
    // A proxy that is not configured may hide the scheme, but not the host.
    let isForwarded = head.headers["x-forwarded-proto"] != nil
    let schemes = head.isSecure ? ["https"] : isForwarded ? ["http"] : ["http", "https"]
    let hosts = [head.headers["host"], head.headers["x-forwarded-host"]?.firstOfList]
    return hosts.contains { host in
      guard let host else { return false }
      return schemes.contains { Self.normalized("\($0)://\(host)") == normalized }
    }
  }

  /// Whether any origin other than the server's own is allowed.
  var namesOthers: Bool { allowsAll || !allowed.isEmpty }

  /// Whether an origin is one of the configured ones.
  func names(_ origin: String) -> Bool {
    guard let normalized = Self.normalized(origin) else { return false }
    return allowsAll || allowed.contains(normalized)
  }

  /// Whether a request that a page may have made by a `<script>` may be answered.
  ///
  /// Browsers send no `Origin` with a script request, so the page in `Referer` is checked. A page
  /// can omit this header, but not forge another page's.
  ///
  /// - Parameter isOpen: Whether any client may read and write. If so, only pages known to be
  ///   allowed get a response; otherwise the tokens in the messages decide.
  package func allowsScript(_ head: RequestHead, isOpen: Bool) -> Bool {
    if head.headers["origin"] != nil { return allows(head) }
    guard let referrer = head.headers["referer"] else { return !isOpen || allowsAll }
    let parts = referrer.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[1].isEmpty else { return allowsAll }
    var asking = head
    asking.headers["origin"] = "\(parts[0])//\(parts[2])"
    return allows(asking)
  }

  /// Returns the origin of a URL: the part before its path.
  static func origin(of address: String) -> String {
    address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
      .joined(separator: "/")
  }

  /// Returns `scheme://host:port` in lower case, with an explicit port; `nil` if the text is not an
  /// origin. A slash at the end, which some programs add, is ignored.
  static func normalized(_ origin: String) -> String? {
    let lowered = origin.lowercased()
    guard let separator = lowered.utf8.firstRange(of: "://") else { return nil }
    let scheme = String(lowered[..<separator.lowerBound])
    var authority = lowered[separator.upperBound...]
    if authority.utf8.last == UInt8(ascii: "/") { authority.removeLast() }
    guard !authority.isEmpty, !authority.contains("/"), !authority.contains("@") else {
      return nil
    }
    let defaultPort: String
    switch scheme {
    case "http", "ws": defaultPort = "80"
    case "https", "wss": defaultPort = "443"
    default: return nil
    }
    // The last colon begins the port, unless it is inside an IPv6 address's brackets.
    if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
      let port = authority[authority.index(after: colon)...]
      guard !port.isEmpty, port.allSatisfy(\.isWholeNumber) else { return nil }
      return "\(scheme)://\(authority[..<colon]):\(port)"
    }
    return "\(scheme)://\(authority):\(defaultPort)"
  }
}

extension String {
  /// The part before the first comma, without surrounding spaces.
  var firstOfList: String {
    split(separator: ",", maxSplits: 1).first?.trimmingSpaces() ?? ""
  }
}

extension String.UTF8View {
  fileprivate func firstRange(of text: StaticString) -> Range<Index>? {
    let pattern = text.withUTF8Buffer { Array($0) }
    var start = startIndex
    while start != endIndex {
      if self[start...].starts(with: pattern) {
        return start..<index(start, offsetBy: pattern.count)
      }
      start = index(after: start)
    }
    return nil
  }
}
