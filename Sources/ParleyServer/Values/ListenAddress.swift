import Glibc

/// An address to listen on, written `HOST:PORT`; an IPv6 address in brackets.
package struct ListenAddress: Sendable, Equatable {
  /// An IP address, or a name that stands for one of this machine's.
  package let host: String
  /// 0 takes a free one.
  package let port: Int

  /// Reads an address; `nil` if it is malformed.
  package init?(_ text: String) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
      let port = ValueText.number(String(text[text.index(after: colon)...])),
      (0...65_535).contains(port)
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.utf8.contains(UInt8(ascii: ":")) {
      return nil
    }
    guard !host.isEmpty, host.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    self.host = String(host)
    self.port = port
  }

  /// A URL with another port.
  package static func url(_ host: String, port: Int, isSecure: Bool) -> String {
    let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
    return "\(isSecure ? "https" : "http")://\(isIPv6 ? "[\(host)]" : host):\(port)"
  }

  /// Whether only this machine can reach the address. A name other than `localhost` could be
  /// anything, so it is not taken for loopback.
  static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" { return true }
    var four = in_addr()
    if inet_pton(AF_INET, host, &four) == 1 {
      return UInt32(bigEndian: four.s_addr) >> 24 == 127
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
    return withUnsafeBytes(of: &six) { bytes in
      bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }
  }
}
