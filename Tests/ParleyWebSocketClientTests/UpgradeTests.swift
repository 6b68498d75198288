import ParleyOTWorkloads
import Testing
import ParleyWebSocketClient

@Suite("Addresses of WebSocket servers")
struct WebSocketURLTests {
  @Test(
    "schemes, hosts, ports and paths",
    arguments: [
      ("ws://localhost", false, "localhost", 80, "/", "localhost"),
      ("wss://notes.example.org", true, "notes.example.org", 443, "/", "notes.example.org"),
      ("HTTPS://a.b:8443/x?y=z", true, "a.b", 8443, "/x?y=z", "a.b:8443"),
      ("http://[::1]:81/ws", false, "::1", 81, "/ws", "[::1]:81"),
      ("ws://h?q", false, "h", 80, "/?q", "h"),
    ])
  func reading(
    _ text: String, isSecure: Bool, host: String, port: UInt16, path: String, header: String
  ) throws {
    let url = try #require(WebSocketURL(text))
    #expect(url.isSecure == isSecure)
    #expect(url.host == host)
    #expect(url.port == port)
    #expect(url.path == path)
    #expect(url.hostHeader == header)
  }

  @Test(
    "other addresses are rejected",
    arguments: [
      "", "notes", "ftp://a", "ws://", "ws://:80", "ws://a:0", "ws://a:99999", "ws://a:+1",
      "ws://u:p@a", "ws://a/#f", "ws://a b", "ws://a/\r\nX: y", "ws://é", "ws://[::1", "ws://::1",
      "ws://[::1]x",
    ])
  func refusing(_ text: String) { #expect(WebSocketURL(text) == nil) }
}

@Suite("The opening handshake of a client")
struct UpgradeTests {
  // The example of RFC 6455, section 1.3.
  private static let key = Array("the sample nonce".utf8)
  private static let answer =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: chat\r\n\r\n"

  @Test("the request is the RFC's")
  func request() throws {
    let upgrade = Upgrade(key: Self.key, subprotocol: "chat")
    let url = try #require(WebSocketURL("ws://example.com:8080/chat"))
    let text = String(decoding: upgrade.request(to: url), as: UTF8.self)
    #expect(text.hasPrefix("GET /chat HTTP/1.1\r\nHost: example.com:8080\r\n"))
    #expect(text.contains("\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"))
    #expect(text.contains("\r\nSec-WebSocket-Protocol: chat\r\n"))
    #expect(text.hasSuffix("\r\n\r\n"))
  }

  @Test("a valid response is accepted in any split, and bytes after it remain", arguments: 1...40)
  func cutting(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var upgrade = Upgrade(key: Self.key, subprotocol: "chat")
    var rest = Array(Self.answer.utf8)[...]
    while true {
      let count = min(rest.count, 1 + random.below(40))
      let isLast = count == rest.count
      let piece = rest.prefix(count) + (isLast ? [0x81, 0x00] : [])
      rest = rest.dropFirst(count)
      let used = try upgrade.take(piece)
      #expect(used == (isLast ? count : nil))
      if isLast { break }
    }
  }

  @Test(
    "another response is refused with the reason",
    arguments: [
      ("101 Switching", "401 Unauthorised", WebSocketFailure.status(401)),
      ("HTTP/1.1", "HTTP/1.0", .notWebSocket("its answer is not HTTP/1.1")),
      ("Upgrade: websocket\r\n", "", .notWebSocket("it does not upgrade")),
      (
        "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "AAAA",
        .notWebSocket("its sec-websocket-accept does not fit the key")
      ),
      (": chat", ": talk", .notWebSocket("it does not speak chat")),
      ("Connection:", "Connection", .notWebSocket("a header has no colon")),
      (
        "\r\n\r\n", "\r\nsec-websocket-extensions: x\r\n\r\n",
        .notWebSocket("it uses an extension that was not offered")
      ),
      (
        "\r\n\r\n", "\r\nsec-websocket-protocol: chat\r\n\r\n",
        .notWebSocket("sec-websocket-protocol was sent twice")
      ),
    ])
  func refusing(_ old: String, _ new: String, _ failure: WebSocketFailure) {
    var upgrade = Upgrade(key: Self.key, subprotocol: "chat")
    let answer = Self.answer.replacing(old, with: new)
    #expect(throws: failure) { try upgrade.take(Array(answer.utf8)) }
  }

  @Test("white space around a header's value is ignored")
  func space() throws {
    var upgrade = Upgrade(key: Self.key, subprotocol: "chat")
    let answer = Self.answer.replacing("websocket\r\n", with: "\t websocket \t\r\n")
    #expect(try upgrade.take(Array(answer.utf8)) == answer.utf8.count)
  }

  @Test("an endless response is refused at the size limit")
  func bound() throws {
    var upgrade = Upgrade(key: Self.key, subprotocol: nil)
    #expect(try upgrade.take(repeatElement(0x61, count: Upgrade.headBytesMax - 1)) == nil)
    #expect(throws: WebSocketFailure.notWebSocket("its answer is too long")) {
      try upgrade.take([0x61])
    }
  }
}
