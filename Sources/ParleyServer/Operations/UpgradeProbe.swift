import HTTPClientCurl

/// Asks a running server through its public address whether WebSockets get through.
///
/// The request is a handshake that the server refuses in either case: with 400 if it has its `Upgrade`, for it offers
/// no subprotocol, and with 426 if a proxy has removed that. So no connection is left open.
struct UpgradeProbe {
  /// The answer.
  enum Outcome: Equatable {
    /// Handshakes arrive whole.
    case passes
    /// Handshakes arrive without `Upgrade`.
    case removed
    /// Another server, or a proxy by itself, answered with this status.
    case other(status: Int)
    /// The address did not answer, for this reason.
    case unreachable(String)
  }

  /// Asks, and waits for the answer.
  ///
  /// - Parameter publicURL: The address of the page as browsers know it.
  static func ask(_ publicURL: String, timeoutMilliseconds: Int = 5_000) -> Outcome {
    var request = CurlClient.Request(
      url: ValueText.withoutSlash(publicURL) + "/ws",
      headers: [
        "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        // The example of RFC 6455; it protects nothing.
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
  /// Sends it, and waits for its outcome.
  func outcome() -> CurlClient.Outcome {
    let client = CurlClient(waker: CurlClient.Waker())
    client.start(self, key: 0)
    while true {
      // Without an outcome the wait ended early; the request has a limit of its own.
      if let first = client.wait(atMostMilliseconds: Int64(timeoutMilliseconds)).first {
        return first.outcome
      }
    }
  }
}
