package import ParleyGatewayPorts

/// Proxies whose headers about the client are trusted.
///
/// Each proxy appends the address of its sender, so `X-Forwarded-For` is read from its end. A
/// trusted proxy has seen the last address. If this is a trusted proxy's address too, that proxy
/// has seen the address before it, and so on. The first address that is not a trusted proxy's is
/// the client's; addresses further left may be forged.
package struct TrustedProxies: Sendable {
  private let ranges: [AddressRange]

  /// - Parameter texts: Addresses and ranges; malformed ones are ignored.
  package init(_ texts: [String]) { ranges = texts.compactMap { AddressRange($0) } }

  package func trusts(_ address: IPAddress) -> Bool {
    ranges.contains { $0.contains(address) }
  }

  /// Whether an address is rate-limited. Trusted proxies are not; without any, this machine's own
  /// addresses are not, since an unconfigured proxy may run there.
  package func isLimited(_ address: IPAddress) -> Bool {
    !trusts(address) && (!ranges.isEmpty || !address.isLoopback)
  }

  /// Returns a request as its client sent it, if a trusted proxy forwarded it.
  ///
  /// For any other sender, the headers of proxies are removed.
  package func resolved(_ head: RequestHead) -> RequestHead {
    var head = head
    guard let peer = IPAddress(head.remoteAddress), trusts(peer) else {
      head.headers["x-forwarded-host"] = nil
      head.headers["x-forwarded-proto"] = nil
      head.limitedAddress = IPAddress(head.remoteAddress).flatMap { isLimited($0) ? $0 : nil }
      return head
    }
    if let scheme = head.headers["x-forwarded-proto"] { head.isSecure = scheme == "https" }
    let hops = head.headers["x-forwarded-for"] ?? ""
    for hop in hops.split(separator: ",").reversed() {
      let text = hop.trimmingSpaces()
      guard let address = IPAddress(hop: text) else { break }
      // Use the canonical form: a session is bound to the text of its address.
      head.remoteAddress = address.description
      if !trusts(address) {
        head.limitedAddress = address
        break
      }
    }
    return head
  }
}
