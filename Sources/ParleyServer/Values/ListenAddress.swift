import Glibc

/// An address to listen on, written `HOST:PORT`, with an IPv6 address in brackets.
package struct ListenAddress: Sendable, Equatable {
  /// An IP address, or a host name of this machine.
  package let host: String
  /// The port; 0 picks a free one.
  package let port: Int

  /// Parses an address; `nil` if it is malformed.
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

  /// Returns the URL of a host and port; an IPv6 address gets brackets.
  package static func url(_ host: String, port: Int, isSecure: Bool) -> String {
    let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
    return "\(isSecure ? "https" : "http")://\(isIPv6 ? "[\(host)]" : host):\(port)"
  }

  /// Whether only this machine can reach the address. Of names, only `localhost` is assumed to be a
  /// loopback address.
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
