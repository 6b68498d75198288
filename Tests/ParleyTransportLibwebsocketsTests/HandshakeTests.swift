import ParleyGatewayPorts
import ParleyLocks
import Testing
import ParleyTransportLibwebsockets

@Suite("Handshakes")
struct HandshakeTests {
  @Test func `a client without a subprotocol gets none`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.handshake("/socket")
    #expect(answer.status == 101)
    #expect(answer.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(answer.headers["sec-websocket-protocol"] == nil)
    try client.sendText("hello")
    #expect(try client.receive() == .init(opcode: 1, payload: Array("hello".utf8)))
  }

  @Test(arguments: ["parley.v1", "other, parley.v1", "parley.v1,other"])
  func `the common subprotocol is selected`(offers: String) throws {
    let server = try TestServer { server, _ in
      server.onDecide = { _ in .accept(subprotocol: "parley.v1") }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.handshake("/ws", subprotocols: offers)
    #expect(answer.status == 101)
    #expect(answer.headers["sec-websocket-protocol"] == "parley.v1")
    let agreed = try server.log.wait("an opening") {
      if case .opened(_, let subprotocol) = $0 { subprotocol } else { nil }
    }
    #expect(agreed == "parley.v1")
  }

  @Test func `extensions are declined`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.handshake(headers: [
      "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
    ])
    #expect(answer.status == 101)
    #expect(answer.headers["sec-websocket-extensions"] == nil)
  }

  @Test func `a refusal is a whole response`() throws {
    let server = try TestServer { server, _ in
      server.onDecide = { _ in
        .refuse(
          Response(
            status: 403, headers: [("content-type", "application/json")],
            body: Array(#"{"code":"origin"}"#.utf8)))
      }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.handshake()
    #expect(answer.status == 403)
    #expect(answer.headers["content-type"] == "application/json")
    #expect(answer.text == #"{"code":"origin"}"#)
    #expect(try client.isAtEnd())
  }

  @Test func `a long refusal arrives whole`() throws {
    let server = try TestServer { server, _ in
      server.onDecide = { _ in
        .refuse(Response(status: 401, body: [UInt8](repeating: 0x61, count: 100_000)))
      }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.handshake()
    #expect(answer.status == 401)
    #expect(answer.body.count == 100_000)
    #expect(try client.isAtEnd())
  }

  @Test func `the owner sees the head as it came`() throws {
    let heads = Collected<RequestHead>()
    let server = try TestServer { server, _ in
      server.onDecide = {
        heads.append($0)
        return .accept(subprotocol: nil)
      }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.handshake(
      "/socket?token=a%20b&x=1&flag",
      headers: [
        "ObjectId: 507f1f77", "AUTHORIZATION: Bearer abc.def", "origin: http://localhost:1",
        "Cookie: a=1; b=2", "User-Agent: test", "X-Forwarded-For: 192.0.2.1",
        "X-Unknown: ignored",
      ])
    #expect(answer.status == 101)
    let head = try #require(heads.all.first)
    #expect(head.method == "GET")
    #expect(head.path == "/socket")
    #expect(head.query == "token=a%20b&x=1&flag")
    #expect(head.headers["objectid"] == "507f1f77")
    #expect(head.headers["authorization"] == "Bearer abc.def")
    #expect(head.headers["origin"] == "http://localhost:1")
    #expect(head.headers["cookie"] == "a=1; b=2")
    #expect(head.headers["host"] == "localhost")
    #expect(head.headers["user-agent"] == "test")
    #expect(head.headers["x-forwarded-for"] == "192.0.2.1")
    #expect(head.headers["upgrade"] == "websocket")
    #expect(head.remoteAddress == "127.0.0.1")
    #expect(!head.isSecure)
  }

  @Test(arguments: ["12", "8", "0", ""])
  func `another version gets 426`(version: String) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.handshake(version: version)
    #expect(answer.status == 426)
    #expect(answer.headers["sec-websocket-version"] == "13")
    #expect(try client.isAtEnd())
  }

  @Test(arguments: [nil, "", "short", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25j????"])
  func `a missing or malformed key gets 400`(key: String?) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.handshake(key: key)
    #expect(answer.status == 400)
    #expect(answer.text.contains("sec-websocket-key"))
    #expect(try client.isAtEnd())
  }

  @Test func `unknown subprotocols get 400`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let answer = try TestClient(port: server.port).handshake(subprotocols: "graphql-ws, soap")
    #expect(answer.status == 400)
    #expect(answer.text.contains("parley.v1"))
  }

  @Test func `a subprotocol that the owner rejects gets 400`() throws {
    let server = try TestServer { server, _ in
      server.onDecide = { _ in .accept(subprotocol: nil) }
    }
    defer { server.stop() }
    let answer = try TestClient(port: server.port).handshake(subprotocols: "parley.v1")
    #expect(answer.status == 400)
  }

  @Test func `a bad upgrade on a used connection is answered, too`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    #expect(try client.request("/first").status == 200)
    #expect(try client.handshake(version: "12").status == 426)
  }

  @Test func `an upgrade on a used connection works`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    #expect(try client.request("/first").status == 200)
    #expect(try client.handshake().status == 101)
    try client.sendText("after")
    #expect(try client.receive().text == "after")
  }

  @Test func `frames sent along with the handshake are read`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let handshake =
      "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
      + "Sec-WebSocket-Key: \(TestClient.key)\r\nSec-WebSocket-Version: 13\r\n\r\n"
    try client.write(
      Array(handshake.utf8) + TestClient.frame(1, Array("early".utf8))
        + TestClient.frame(1, Array("bird".utf8)))
    #expect(try client.answer().status == 101)
    #expect(try client.receive().text == "early")
    #expect(try client.receive().text == "bird")
  }

  @Test(arguments: [1, 7, 40])
  func `a handshake in pieces works`(size: Int) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let handshake = Array(
      ("GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: \(TestClient.key)\r\nSec-WebSocket-Version: 13\r\n\r\n").utf8)
    for start in stride(from: 0, to: handshake.count, by: size) {
      try client.write(Array(handshake[start..<min(start + size, handshake.count)]))
    }
    #expect(try client.answer().status == 101)
  }

  @Test func `the connections of an address are limited`() throws {
    let server = try TestServer { $1.connectionsPerAddressMax = 2 }
    defer { server.stop() }
    let first = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    let second = try TestClient.open(port: server.port)
    let third = try TestClient(port: server.port)
    #expect(try third.answer().status == 429)
    first.shut()
    try server.log.closed(id)
    let fourth = try TestClient.open(port: server.port)
    try second.sendText("2")
    try fourth.sendText("4")
    #expect(try second.receive().text == "2")
    #expect(try fourth.receive().text == "4")
  }

  @Test func shareOfAddress() throws {
    let server = try TestServer {
      $1.connectionsMax = 6
      $1.connectionsPerAddressMax = 6
    }
    defer { server.stop() }
    let flood = try (0..<3).map { _ in try TestClient.open(port: server.port) }
    #expect(try TestClient(port: server.port).answer().status == 429)
    // Other addresses still get connections.
    let others = try (2...4).map { try TestClient(port: server.port, source: $0) }
    for other in others {
      try other.write("GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try other.answer().status != 429)
    }
    for client in flood { client.shut() }
  }

  @Test func `a full server refuses handshakes with a reason`() throws {
    let server = try TestServer { $1.connectionsMax = 1 }
    defer { server.stop() }
    let first = try TestClient.open(port: server.port)
    let answer = try TestClient(port: server.port).answer()
    #expect(answer.status == 503)
    #expect(answer.headers["retry-after"] != nil)
    try first.sendText("x")
    #expect(try first.receive().text == "x")
  }
}

/// A value that one thread writes and another reads.
final class Collected<Value: Sendable>: Sendable {
  private let values = Locked<[Value]>([])

  // A copy that shares nothing: ThreadSanitizer does not see the counts of references.
  var all: [Value] { values.withLock { $0.map(\.self) } }

  func append(_ value: Value) { values.withLock { $0.append(value) } }
}
