import ParleyHTTPClientCurl

/// Requests the metadata of an identity provider, like the first step of a sign-in.
enum ProviderProbe {
  /// Returns the problem with the provider; `nil` if its metadata is valid.
  static func problem(with settings: ProviderSettings) -> String? {
    let client = CurlClient(waker: CurlClient.Waker())
    let clock = SystemClock()
    var memory = ProviderExchange.Memory()
    var exchange = ProviderExchange(.begin, settings: settings)
    var action = exchange.start(memory, uptime: clock.uptime)
    while true {
      switch action {
      case .end(.described), .end(.user): return nil
      case .end(.failed(let failure)): return failure.reason
      case .fetch(let request):
        client.start(request, key: 0)
        let answer = answer(client, request)
        action = exchange.answered(answer, &memory, uptime: clock.uptime, now: clock.now)
      }
    }
  }

  private static func answer(
    _ client: CurlClient, _ request: CurlClient.Request
  ) -> ProviderExchange.Answer {
    while true {
      switch client.wait(atMostMilliseconds: Int64(request.timeoutMilliseconds)).first?.outcome {
      case .answered(let status, _):
        return .answered(status: status, body: client.body(of: 0) ?? [])
      case .failed(let reason): return .failed(reason)
      // `wait` may return early without an outcome. The client enforces the request's time limit.
      case nil: continue
      }
    }
  }
}
