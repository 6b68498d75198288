/// The address of a WebSocket server: `ws://host:port/path` or `wss://host:port/path`.
///
/// `http` and `https` are accepted as `ws` and `wss`. User names and fragments are invalid.
public struct WebSocketURL: Sendable, Hashable {
  /// Whether the connection is encrypted.
  public let isSecure: Bool
  /// The host's name or address; an IPv6 address without its brackets.
  public let host: String
  /// The port.
  public let port: UInt16
  /// The path with its query, beginning with a slash.
  public var path: String

  /// Maximum bytes of an address.
  public static let bytesMax = 4_096

  /// Reads an address; `nil` if it is malformed.
  ///
  /// - Complexity: O(*n*) bytes.
  public init?(_ text: String) {
    // Other characters could end the line of the request.
    guard text.utf8.count <= Self.bytesMax, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      let colon = text.firstRange(of: "://")
    else { return nil }
    switch text[..<colon.lowerBound].lowercased() {
    case "ws", "http": isSecure = false
    case "wss", "https": isSecure = true
    default: return nil
    }
    let rest = text[colon.upperBound...]
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let authority = rest[..<end]
    guard !authority.contains("@"), !rest.contains("#") else { return nil }
    let tail = rest[end...]
    path = tail.hasPrefix("/") ? String(tail) : "/" + tail
    var name = authority
    var number: Substring?
    if authority.hasPrefix("[") {
      guard let close = authority.firstIndex(of: "]") else { return nil }
      name = authority[authority.index(after: authority.startIndex)..<close]
      let after = authority[authority.index(after: close)...]
      if after.hasPrefix(":") { number = after.dropFirst() } else if !after.isEmpty { return nil }
    } else if let colon = authority.lastIndex(of: ":") {
      name = authority[..<colon]
      number = authority[authority.index(after: colon)...]
      guard !name.contains(":") else { return nil }
    }
    guard !name.isEmpty, !name.contains("["), !name.contains("]") else { return nil }
    host = String(name)
    if let number {
      guard let port = UInt16(number), port > 0, number.first != "+" else { return nil }
      self.port = port
    } else {
      port = isSecure ? 443 : 80
    }
  }

  /// The value of the `Host` header; the scheme's default port is omitted.
  package var hostHeader: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }
}
