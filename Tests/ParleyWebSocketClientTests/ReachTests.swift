#if os(Linux)
  import Foundation
  import Testing
  import ParleyWebSocketClient

  @Suite("An unreachable address")
  struct ReachTests {
    /// The system refuses this one at once. What was opened for it is closed once: the number may
    /// belong to another owner by the second time.
    @Test("is reported with the system's message")
    func refusedAtOnce() async throws {
      let url = try #require(WebSocketURL("ws://255.255.255.255:1/"))
      let exchange = HTTPExchange(method: "GET", url: url, headers: [], body: [])
      let error = await #expect(throws: HTTPExchange.Failure.self) { try await exchange.run() }
      guard case .connection(.unreachable(let words))? = error else {
        Issue.record("expected that it is unreachable, not \(String(describing: error))")
        return
      }
      #expect(words != String(cString: strerror(EBADF)))
    }
  }
#endif
