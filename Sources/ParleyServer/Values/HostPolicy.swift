import Gateway
package import ParleyGatewayPorts
import SocketMessages

/// The hosts that requests may name while any client may read and write.
///
/// A page of any site can make its host name resolve to this machine's address (DNS rebinding). The
/// browser then treats the page and this server as one site, with the same `Origin`, and the page
/// could read and change all notes. Only `Host` reveals it: it contains the page's host name.
///
/// Allowed are `localhost` and its subdomains, loopback addresses, the listen addresses, and the
/// hosts of `allowed-origin`. If the server listens on all addresses of a machine, any IP address
/// is allowed, since rebinding requires a name. Ports are ignored. If tokens are required, every
/// host is allowed, since such a page has no token.
package struct HostPolicy: Sendable {
  private let isOpen: Bool
  private let allowsAll: Bool
  private let allowsAddresses: Bool
  private let names: Set<String>
  private let addresses: Set<IPAddress>

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - isOpen: Whether any client may read and write.
  ///   - listening: The hosts to listen on.
  ///   - origins: Allowed origins such as `https://notes.example.org`; `*` allows every host.
  package init(isOpen: Bool, listening: [String], origins: [String]) {
    self.isOpen = isOpen
    allowsAll = origins.contains("*")
    // A listen address in IPv6 has no brackets.
    let known =
      listening.map { IPAddress($0)?.isIPv4 == false ? "[\($0)]" : $0 }
      + origins.compactMap(Self.authority)
    let hosts = known.compactMap(Self.parsed)
    names = Set(hosts.compactMap { if case .name(let name) = $0 { name } else { nil } })
    addresses = Set(
      hosts.compactMap { if case .address(let address) = $0 { address } else { nil } })
    allowsAddresses = addresses.contains { $0 == Self.anyFour || $0 == Self.anySix }
  }

  private static let anyFour = IPAddress("0.0.0.0")
  private static let anySix = IPAddress("::")

  /// Whether the hosts of a request are allowed.
  ///
  /// Without `Host`, a request is not a browser's and is allowed. A forwarded host is checked too.
  package func allows(_ head: RequestHead) -> Bool {
    guard isOpen, !allowsAll else { return true }
    let asked = [head.headers["host"], head.headers["x-forwarded-host"]?.firstOfList]
    return asked.allSatisfy { $0.map(allows(authority:)) ?? true }
  }

  /// Whether a host is allowed; a port may follow it.
  package func allows(authority: String) -> Bool {
    guard isOpen, !allowsAll else { return true }
    switch Self.parsed(authority) {
    case .address(let address):
      return allowsAddresses || address.isLoopback || addresses.contains(address)
    case .name(let name):
      return name == "localhost" || name.hasSuffix(".localhost") || names.contains(name)
    case nil: return false
    }
  }

  /// The response to a request for another host.
  package static let refusal = Response.problem(
    421, .notAllowed,
    "anyone may read and write here, so this server answers to localhost, loopback addresses and the "
      + "host it listens on alone; if it is to be asked for by this name, the operator adds "
      + "allowed-origin = https:// and the name, or has tokens checked with auth-key")

  private enum Host {
    case name(String)
    case address(IPAddress)
  }

  /// Parses a host, which a port may follow; `nil` if it is malformed.
  private static func parsed(_ authority: String) -> Host? {
    let text = authority.lowercased()
    // URLs cannot contain the zone of an IPv6 address.
    guard text.utf8.allSatisfy({ isPlain($0) }), !text.utf8.contains(UInt8(ascii: "%")) else {
      return nil
    }
    if let address = IPAddress(hop: text) { return .address(address) }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.count == 1 || parts[1].allSatisfy(\.isWholeNumber) else {
      return nil
    }
    // A trailing dot does not change a name, and browsers send it if the user typed it.
    let name = parts[0].hasSuffix(".") ? parts[0].dropLast() : parts[0]
    if let address = IPAddress(name) { return .address(address) }
    return name.isEmpty ? nil : .name(String(name))
  }

  /// Whether a host may contain a byte: letters, digits and a few other characters.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"),
      UInt8(ascii: "["), UInt8(ascii: "]"):
      true
    default: false
    }
  }

  private static func authority(of origin: String) -> String? {
    OriginPolicy.normalized(origin).flatMap {
      $0.split(separator: "/", omittingEmptySubsequences: true).last.map(String.init)
    }
  }
}
