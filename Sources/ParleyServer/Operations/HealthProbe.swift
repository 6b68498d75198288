import GatewayPorts
import HTTPClientCurl
import TransportLibwebsockets

/// Asks a running server on this machine whether it takes changes, as a container's health check does.
///
/// The address is that of the settings, a loopback address if one of several is. A server that listens on all
/// addresses is asked at loopback, and
/// its certificate is not judged: it names the host that others know.
package struct HealthProbe {
  /// The answer.
  package enum Outcome: Equatable, Sendable {
    /// The server takes changes.
    case ready
    /// The server answered with this status: it starts, ends, or has no room on its disk.
    case notReady(status: Int)
    /// The server did not answer, for this reason.
    case unreachable(String)
  }

  /// The address that is asked.
  package let url: String
  private let request: CurlClient.Request

  /// Prepares to ask the server that has these settings; its port must be a set one, not 0.
  package init(_ configuration: Configuration, timeoutMilliseconds: Int = 5_000) {
    let host = Self.reachable(
      configuration.hosts.first(where: ListenAddress.isLoopback) ?? configuration.hosts[0])
    let isSecure = configuration.transport.tls != nil
    url = "\(isSecure ? "https" : "http")://\(host):\(configuration.port)/ready"
    var request = CurlClient.Request(
      url: url, headers: [], body: nil, timeoutMilliseconds: timeoutMilliseconds)
    request.acceptsAnyCertificate = true
    // This machine counts as a proxy when it is named as one; its connections begin as theirs then.
    let asker = host.hasPrefix("[") ? "::1" : "127.0.0.1"
    request.sendsProxyHeader =
      configuration.proxyProtocol
      && IPAddress(asker).map(TrustedProxies(configuration.trustedProxies).trusts) == true
    self.request = request
  }

  /// Asks, and waits for the answer.
  package func ask() -> Outcome {
    switch request.outcome() {
    case .answered(status: 200, _): .ready
    case .answered(let status, _): .notReady(status: status)
    case .failed(let reason): .unreachable(reason)
    }
  }

  /// The address at which this machine reaches a server that listens on the host.
  private static func reachable(_ host: String) -> String {
    switch host {
    // `::` listens on IPv4, too, and IPv6 may be switched off.
    case "0.0.0.0", "::": "127.0.0.1"
    default: host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    }
  }
}
