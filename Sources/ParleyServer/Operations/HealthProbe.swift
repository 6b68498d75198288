import ParleyGatewayPorts
import ParleyHTTPClientCurl
import ParleyTransportLibwebsockets

/// Checks whether a running server on this machine accepts changes, for a container's health check.
///
/// Connects to the first loopback address of the settings, else to their first address. For a
/// server that listens on all addresses, connects to 127.0.0.1. The certificate is not verified: it
/// names the host under which other machines reach the server.
package struct HealthProbe {
  /// The result of the check.
  package enum Outcome: Equatable, Sendable {
    /// The server accepts changes.
    case ready
    /// The server answered with this status: it is starting, stopping, or out of disk space.
    case notReady(status: Int)
    /// The server did not answer, for this reason.
    case unreachable(String)
  }

  /// The address of the request.
  package let url: String
  private let request: CurlClient.Request

  /// Prepares a request to the server with these settings. The port must not be 0.
  package init(_ configuration: Configuration, timeoutMilliseconds: Int = 5_000) {
    let host = Self.reachable(
      configuration.hosts.first(where: ListenAddress.isLoopback) ?? configuration.hosts[0])
    let isSecure = configuration.transport.tls != nil
    url = "\(isSecure ? "https" : "http")://\(host):\(configuration.port)/ready"
    var request = CurlClient.Request(
      url: url, headers: [], body: nil, timeoutMilliseconds: timeoutMilliseconds)
    request.acceptsAnyCertificate = true
    // If this machine is a trusted proxy, the server expects a PROXY header from it.
    let asker = host.hasPrefix("[") ? "::1" : "127.0.0.1"
    request.sendsProxyHeader =
      configuration.proxyProtocol
      && IPAddress(asker).map(TrustedProxies(configuration.trustedProxies).trusts) == true
    self.request = request
  }

  /// Sends the request, and blocks until the outcome is known.
  package func ask() -> Outcome {
    switch request.outcome() {
    case .answered(status: 200, _): .ready
    case .answered(let status, _): .notReady(status: status)
    case .failed(let reason): .unreachable(reason)
    }
  }

  /// Returns the address at which this machine reaches a server that listens on the host.
  private static func reachable(_ host: String) -> String {
    switch host {
    // `::` accepts IPv4 too, and IPv6 may be disabled.
    case "0.0.0.0", "::": "127.0.0.1"
    default: host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    }
  }
}
