/// The servers of a NATS cluster, as configured:
/// `nats://user:password@one:4222,nats://two:4222`.
///
/// Only ``description`` may be shown, which omits names and passwords.
public struct NATSAddress: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  /// The addresses of the servers.
  let servers: [String]

  /// Parses an address; `nil` if it is invalid.
  public init?(_ text: String) {
    servers = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    guard servers.allSatisfy({ Self.place(of: $0) != nil }) else { return nil }
  }

  /// The scheme, host and port of each server.
  public var description: String {
    servers.compactMap(Self.place(of:)).joined(separator: ",")
  }

  /// Empty: a reflection would show the password.
  public var customMirror: Mirror { Mirror(self, children: []) }

  private static func place(of server: String) -> String? {
    guard let scheme = ["nats://", "tls://"].first(where: { server.utf8.starts(with: $0.utf8) })
    else { return nil }
    let place =
      server.dropFirst(scheme.count).split(
        separator: "@", omittingEmptySubsequences: false
      ).last ?? ""
    let (host, port) = place.last == "]" ? (place, nil) : divided(place)
    guard !host.isEmpty, !place.contains("/"),
      server.utf8.allSatisfy({ (33...126).contains($0) }),
      port.map({ UInt16($0).map { $0 > 0 } ?? false }) ?? true
    else { return nil }
    return scheme + place
  }

  private static func divided(_ place: Substring) -> (host: Substring, port: Substring?) {
    guard let colon = place.lastIndex(of: ":") else { return (place, nil) }
    return (place[..<colon], place[place.index(after: colon)...])
  }
}
