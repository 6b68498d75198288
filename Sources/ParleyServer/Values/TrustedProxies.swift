package import GatewayPorts

/// Proxies that are believed when they say where a client is.
///
/// A proxy appends the sender's address, so `X-Forwarded-For` is read from its end: a trusted proxy
/// saw the last address, and if that is a trusted proxy itself, so was the one before. The first
/// address that is not a trusted proxy is the client's; addresses further to the left may be made
/// up.
package struct TrustedProxies: Sendable {
  private let ranges: [AddressRange]

  /// - Parameter texts: addresses and ranges; malformed ones are left out.
  package init(_ texts: [String]) { ranges = texts.compactMap { AddressRange($0) } }

  package func trusts(_ address: IPAddress) -> Bool {
    ranges.contains { $0.contains(address) }
  }

  /// Whether an address is rate-limited: trusted proxies are not, and until some are named, this
  /// machine's own addresses are not, for an unconfigured proxy may be there.
  package func isLimited(_ address: IPAddress) -> Bool {
    !trusts(address) && (!ranges.isEmpty || !address.isLoopback)
  }

  /// A request as its client made it, if a trusted proxy passed it on.
  ///
  /// From any other sender, headers of proxies are removed.
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
      // As one address is always written: a session is held to the text of it.
      head.remoteAddress = address.description
      if !trusts(address) {
        head.limitedAddress = address
        break
      }
    }
    return head
  }
}
