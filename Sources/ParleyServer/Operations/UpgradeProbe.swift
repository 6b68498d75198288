import ParleyHTTPClientCurl

/// Checks whether WebSocket handshakes reach a running server through its public address.
///
/// The server rejects the handshake in either case, so no connection remains open: with status 400
/// because no subprotocol is offered, or with 426 if a proxy has removed `Upgrade`.
struct UpgradeProbe {
  /// The result of the check.
  enum Outcome: Equatable {
    /// The handshake arrives unchanged.
    case passes
    /// The handshake arrives without `Upgrade`.
    case removed
    /// Another server, or the proxy itself, answered with this status.
    case other(status: Int)
    /// No response from the address, for this reason.
    case unreachable(String)
  }

  /// Sends the handshake, and blocks until the outcome is known.
  ///
  /// - Parameter publicURL: The public address of the page.
  static func ask(_ publicURL: String, timeoutMilliseconds: Int = 5_000) -> Outcome {
    var request = CurlClient.Request(
      url: ValueText.withoutSlash(publicURL) + "/ws",
      headers: [
        "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        // The example of RFC 6455; the key is not a secret.
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      ], body: nil, timeoutMilliseconds: timeoutMilliseconds)
    request.avoidsHTTP2 = true
    switch request.outcome() {
    case .answered(status: 400, _): return .passes
    case .answered(status: 426, _): return .removed
    case .answered(let status, _): return .other(status: status)
    case .failed(let reason): return .unreachable(reason)
    }
  }
}

extension CurlClient.Request {
  /// Sends the request, and blocks until its outcome is known.
  func outcome() -> CurlClient.Outcome {
    let client = CurlClient(waker: CurlClient.Waker())
    client.start(self, key: 0)
    while true {
      // `wait` may return early without an outcome. The client enforces the request's time limit.
      if let first = client.wait(atMostMilliseconds: Int64(timeoutMilliseconds)).first {
        return first.outcome
      }
    }
  }
}
