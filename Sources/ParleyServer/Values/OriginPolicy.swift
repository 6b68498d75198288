package import GatewayPorts

/// The pages that may open a socket or change notes: those of the server itself, and those named.
///
/// Browsers send `Origin` with every upgrade; programs send what they like or nothing. So a
/// missing `Origin` is let through, and a foreign one is not (RFC 6454; the request's own host
/// and port count as the same origin, `:80` and `:443` being what they are by default). Behind a
/// trusted proxy the host that the proxy was asked for counts too, and its scheme has to be right.
package struct OriginPolicy: Sendable {
  private let allowed: Set<String>
  private let allowsAll: Bool

  /// - Parameter allowed: origins such as `https://notes.example.org`; `*` means any.
  package init(allowed: [String]) {
    self.allowed = Set(allowed.compactMap(Self.normalized))
    allowsAll = allowed.contains("*")
  }

  /// Whether a request comes from a page that may ask.
  package func allows(_ head: RequestHead) -> Bool {
    guard let origin = head.headers["origin"], !allowsAll else { return true }
    guard let normalized = Self.normalized(origin) else { return false }
    if allowed.contains(normalized) { return true }
    // Behind an unconfigured proxy the scheme may differ, the host does not.
    let isTold = head.headers["x-forwarded-proto"] != nil
    let schemes = head.isSecure ? ["https"] : isTold ? ["http"] : ["http", "https"]
    let hosts = [head.headers["host"], head.headers["x-forwarded-host"]?.firstOfList]
    return hosts.contains { host in
      guard let host else { return false }
      return schemes.contains { Self.normalized("\($0)://\(host)") == normalized }
    }
  }

  /// Whether pages of other origins than the server's own may ask.
  var namesOthers: Bool { allowsAll || !allowed.isEmpty }

  /// Whether an origin is one of those named.
  func names(_ origin: String) -> Bool {
    guard let normalized = Self.normalized(origin) else { return false }
    return allowsAll || allowed.contains(normalized)
  }

  /// Whether a request that a page makes by a `<script>` may be answered.
  ///
  /// Browsers send no `Origin` with such, so the page that `Referer` names is looked at. A page can
  /// leave that out, but not write another's.
  ///
  /// - Parameter isOpen: whether anyone may do everything. Then only a page that is known to be
  ///   allowed is answered; otherwise the tokens in the messages decide.
  package func allowsScript(_ head: RequestHead, isOpen: Bool) -> Bool {
    if head.headers["origin"] != nil { return allows(head) }
    guard let referrer = head.headers["referer"] else { return !isOpen || allowsAll }
    let parts = referrer.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[1].isEmpty else { return allowsAll }
    var asking = head
    asking.headers["origin"] = "\(parts[0])//\(parts[2])"
    return allows(asking)
  }

  /// The origin of an address, which is all before its path.
  static func origin(of address: String) -> String {
    address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
      .joined(separator: "/")
  }

  /// `scheme://host:port` in lower case with the port written out; `nil` if it is no origin. One slash at the end, as
  /// some programs write it, makes no other origin.
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
  /// The part before the first comma.
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
