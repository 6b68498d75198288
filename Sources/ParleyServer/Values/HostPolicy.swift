import Gateway
package import GatewayPorts
import SocketMessages

/// The hosts by which a server may be asked for, as long as anyone may read and write.
///
/// A page of any site can make its name resolve to this machine's address (DNS rebinding). To the
/// browser the page and this server are one site then, with one `Origin`, and the page could read,
/// change and delete everything. Only `Host` tells: it has the name that the page came from.
///
/// Let in are `localhost` and names below it, loopback addresses, the host that is listened on, and
/// the hosts of `allowed-origin`. Where all of a machine's addresses are listened on, any address
/// is let in, since an address cannot be rebound. Ports are not looked at. Once tokens are
/// required, every host is let in, for such a page has no token.
package struct HostPolicy: Sendable {
  private let isOpen: Bool
  private let allowsAll: Bool
  private let allowsAddresses: Bool
  private let names: Set<String>
  private let addresses: Set<IPAddress>

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - isOpen: whether anyone may read and write.
  ///   - listening: the hosts that are listened on.
  ///   - origins: origins such as `https://notes.example.org`; `*` lets every host in.
  package init(isOpen: Bool, listening: [String], origins: [String]) {
    self.isOpen = isOpen
    allowsAll = origins.contains("*")
    // An IPv6 address that is listened on has no brackets.
    let known =
      listening.map { IPAddress($0)?.isFour == false ? "[\($0)]" : $0 }
      + origins.compactMap(Self.authority)
    let hosts = known.compactMap(Self.parsed)
    names = Set(hosts.compactMap { if case .name(let name) = $0 { name } else { nil } })
    addresses = Set(
      hosts.compactMap { if case .address(let address) = $0 { address } else { nil } })
    allowsAddresses = addresses.contains { $0 == Self.anyFour || $0 == Self.anySix }
  }

  private static let anyFour = IPAddress("0.0.0.0")
  private static let anySix = IPAddress("::")

  /// Whether a request may be answered.
  ///
  /// One without `Host` is no browser's. What a trusted proxy was asked for counts, too.
  package func allows(_ head: RequestHead) -> Bool {
    guard isOpen, !allowsAll else { return true }
    let asked = [head.headers["host"], head.headers["x-forwarded-host"]?.firstOfList]
    return asked.allSatisfy { $0.map(allows(authority:)) ?? true }
  }

  /// Whether a server may be asked for by a host, with or without a port.
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

  /// The answer to a request for another host.
  package static let refusal = Response.problem(
    421, .notAllowed,
    "anyone may read and write here, so this server answers to localhost, loopback addresses and the "
      + "host it listens on alone; if it is to be asked for by this name, the operator adds "
      + "allowed-origin = https:// and the name, or has tokens checked with auth-key")

  private enum Host {
    case name(String)
    case address(IPAddress)
  }

  /// Reads a host, which a port may follow; `nil` if it is malformed.
  private static func parsed(_ authority: String) -> Host? {
    let text = authority.lowercased()
    // A zone, which an address may have elsewhere, is not allowed in a URL.
    guard text.utf8.allSatisfy({ isPlain($0) }), !text.utf8.contains(UInt8(ascii: "%")) else {
      return nil
    }
    if let address = IPAddress(hop: text) { return .address(address) }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.count == 1 || parts[1].allSatisfy(\.isWholeNumber) else {
      return nil
    }
    // With its last dot a name is the same name, and browsers send it as it was typed.
    let name = parts[0].hasSuffix(".") ? parts[0].dropLast() : parts[0]
    if let address = IPAddress(name) { return .address(address) }
    return name.isEmpty ? nil : .name(String(name))
  }

  /// Letters, digits and the few marks that a host has.
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
