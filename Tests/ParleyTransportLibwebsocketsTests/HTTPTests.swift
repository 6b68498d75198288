import ParleyGatewayPorts
import ParleyOTWorkloads
import Testing
import ParleyTransportLibwebsockets

@Suite("HTTP")
struct HTTPTests {
  @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
  func `every method reaches the owner`(method: String) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let bare = try client.request("/api/notes/1?a=b", method)
    #expect(bare.status == 200)
    #expect(bare.text == "\(method) /api/notes/1 a=b ")
  }

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"], [0, 1, 5000, 200_000])
  func `bodies arrive whole, one after the other`(method: String, count: Int) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let body = String(repeating: "x", count: count)
    for _ in 0..<3 {
      let answer = try client.request("/a", method, body: body)
      #expect(answer.status == 200)
      #expect(answer.text == "\(method) /a  " + body)
      #expect(answer.headers["connection"] == "keep-alive")
    }
  }

  @Test func `requests have their listening address, and each address has its limits`() throws {
    let server = try TestServer { server, configuration in
      configuration.connectionsMax = 1
      configuration.back = .init(host: "127.0.0.1", port: 0)
      configuration.backConnectionsMax = 1
      server.onRequest = { server, id, head, _ in
        let entrance = head.entrance == .back ? "back" : "front"
        server.transport.respond(to: id, with: Response(status: 200, body: Array(entrance.utf8)))
      }
    }
    defer { server.stop() }
    let backPort = server.transport.boundBackPort
    #expect(backPort != server.port)
    let front = try TestClient(port: server.port)
    #expect(try front.request("/").text == "front")
    #expect(try TestClient(port: server.port).request("/").status == 503)
    let back = try TestClient(port: backPort)
    #expect(try back.request("/").text == "back")
    #expect(try TestClient(port: backPort).request("/").status == 503)
    #expect(try front.request("/").text == "front")
  }

  @Test func `HEAD has the length but not the body`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let head = try client.request("/page", "HEAD")
    #expect(head.status == 200)
    #expect(head.headers["content-length"] == "12")
    #expect(head.headers["content-type"] == "text/plain")
    let get = try client.request("/page")
    #expect(get.text == "GET /page  ")
  }

  @Test func `a status without a body has no length`() throws {
    let server = try TestServer { server, _ in
      server.onRequest = { server, id, head, _ in
        server.transport.respond(to: id, with: Response(status: head.path == "/a" ? 204 : 304))
      }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    for path in ["/a", "/b"] {
      let answer = try client.request(path)
      #expect(answer.headers["content-length"] == nil)
    }
    #expect(try client.request("/a").status == 204)
  }

  @Test(arguments: [0, 1, 65_400, 65_536, 65_537, 1_000_000, 20_000_000])
  func `responses of any size arrive whole`(count: Int) throws {
    let body = Bytes.repeating(Bytes.values, count: count)
    let server = try TestServer { server, _ in
      server.onRequest = { server, id, _, _ in
        server.transport.respond(to: id, with: Response(status: 200, body: body))
      }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    for path in ["/a", "/b"] {
      #expect(Bytes.areEqual(try client.request(path).body, body))
    }
  }

  @Test func `a slow reader of a response delays no other client`() throws {
    let server = try TestServer { server, _ in
      server.onRequest = { server, id, head, _ in
        let count = head.path == "/large" ? 30_000_000 : 3
        server.transport.respond(
          to: id, with: Response(status: 200, body: [UInt8](repeating: 0x61, count: count)))
      }
    }
    defer { server.stop() }
    let slow = try TestClient(port: server.port, receiveBuffer: 4096)
    try slow.write("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
    for _ in 0..<20 { #expect(try TestClient(port: server.port).request("/").text == "aaa") }
    #expect(try slow.answer().body.count == 30_000_000)
  }

  @Test func `a response may be sent later, from another thread`() throws {
    let server = try TestServer { server, _ in server.onRequest = { _, _, _, _ in } }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
    let id = try server.log.wait("the request") {
      if case .requested(let id, _) = $0 { id } else { nil }
    }
    let done = try server.onLoop {
      $0.transport.respond(to: id, with: Response(status: 202))
      // A second answer is ignored.
      $0.transport.respond(to: id, with: Response(status: 500))
      return true
    }
    #expect(done)
    #expect(try client.answer().status == 202)
  }

  @Test func `a client that leaves is reported once`() throws {
    let server = try TestServer { server, _ in server.onRequest = { _, _, _, _ in } }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write("GET /never HTTP/1.1\r\nHost: a\r\n\r\n")
    let id = try server.log.wait("the request") {
      if case .requested(let id, _) = $0 { id } else { nil }
    }
    client.reset()
    try server.log.wait("the end of the wait") { $0 == .abandoned(id) ? true : nil }
    let done = try server.onLoop {
      $0.transport.respond(to: id, with: Response(status: 200))
      return true
    }
    #expect(done)
    #expect(server.log.all.filter { $0 == .abandoned(id) }.count == 1)
  }

  @Test(arguments: [1001, 100_000, 3_000_000])
  func `a body over the limit gets 413`(count: Int) throws {
    let server = try TestServer { $1.bodyBytesMax = 1000 }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.request("/", "POST", body: String(repeating: "x", count: count))
    #expect(answer.status == 413)
    #expect(answer.headers["connection"] == "close")
    #expect(try client.isAtEnd())
    #expect(!server.log.all.contains { if case .requested = $0 { true } else { false } })
  }

  @Test func `the owner's headers are added to every response, also to a refusal`() throws {
    let server = try TestServer {
      $1.bodyBytesMax = 1000
      $1.responseHeaders = { [("x-asked", $0.headers["x-ask"] ?? "nothing")] }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    #expect(try client.request("/", headers: ["X-Ask: a"]).headers["x-asked"] == "a")
    #expect(try client.request("/").headers["x-asked"] == "nothing")
    let refused = try client.request(
      "/", "POST", headers: ["X-Ask: b"], body: String(repeating: "x", count: 1001))
    #expect(refused.status == 413)
    #expect(refused.headers["x-asked"] == "b")
  }

  @Test func `a body of the limit passes`() throws {
    let server = try TestServer { $1.bodyBytesMax = 1000 }
    defer { server.stop() }
    let answer = try TestClient(port: server.port)
      .request("/", "POST", body: String(repeating: "x", count: 1000))
    #expect(answer.status == 200)
  }

  @Test func `a client may wait for 100`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
    var line: [UInt8] = []
    while line.last != 0x0a { line += try client.takeForTest(1) }
    #expect(String(decoding: line, as: UTF8.self) == "HTTP/1.1 100 Continue\r\n")
    _ = try client.takeForTest(2)
    try client.write("ok")
    #expect(try client.answer().text == "POST /  ok")
  }

  @Test func `the connection closes if either side requests it`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let polite = try TestClient(port: server.port)
    let answer = try polite.request("/", headers: ["Connection: close"])
    #expect(answer.status == 200)
    #expect(answer.headers["connection"] == "close")
    #expect(try polite.isAtEnd())
    let old = try TestClient(port: server.port)
    try old.write("GET / HTTP/1.0\r\n\r\n")
    #expect(try old.answer().status == 200)
    #expect(try old.isAtEnd())
  }

  @Test func `a header with a line break is not sent`() throws {
    let server = try TestServer { server, _ in
      server.onRequest = { server, id, _, _ in
        server.transport.respond(
          to: id,
          with: Response(
            status: 200, headers: [("x-a", "1\r\nx-evil: 1"), ("x-b", "2")], body: [0x62]))
      }
    }
    defer { server.stop() }
    let answer = try TestClient(port: server.port).request("/")
    #expect(answer.headers["x-evil"] == nil)
    #expect(answer.headers["x-a"] == nil)
    #expect(answer.headers["x-b"] == "2")
  }

  @Test(arguments: [
    ("/a%20b", "/a%20b"), ("/caf%C3%A9", "/caf%C3%A9"), ("/", "/"), ("//a", "/a"),
  ])
  func `a path is normalized`(sent: String, seen: String) throws {
    let server = try TestServer()
    defer { server.stop() }
    let answer = try TestClient(port: server.port).request(sent)
    #expect(answer.text == "GET \(seen)  ")
  }

  @Test(arguments: [
    ("a=b&c=d", "a=b&c=d"), ("a=1%262", "a=1%262"), ("flag", "flag"),
    ("a=%E6%BC%A2", "a=%E6%BC%A2"),
    ("a=b=c", "a=b=c"), ("", ""),
  ])
  func `a query keeps its meaning`(sent: String, seen: String) throws {
    let server = try TestServer()
    defer { server.stop() }
    let answer = try TestClient(port: server.port).request("/p?\(sent)")
    #expect(answer.text == "GET /p \(seen) ")
  }

  @Test(arguments: [
    ("GARBAGE\r\n\r\n", 400), ("GET /\r\n\r\n", 400), ("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA b: c\r\n\r\n", 400),
    ("GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /\u{7} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /a%0Ab HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /a?b=%0d HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", 400),
  ])
  func `malformed requests are answered`(bytes: String, status: Int) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(bytes)
    #expect(try client.answer().status == status)
    #expect(try client.isAtEnd())
  }

  @Test(arguments: [
    "/a%0Ab", "/a%0Db", "/a%0d%0AHost:%20b", "/a?b=%0Ac", "/a%0AX:%20y%20HTTP/1.1", "/%0A",
  ])
  func `a line break in the target of a later request does not cut it`(target: String) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    #expect(try client.request("/first").status == 200)
    #expect(try client.request(target).status == 400)
    #expect(try client.isAtEnd())
  }

  @Test(arguments: [
    "X-Auth", "X-Forwarded", "If", "Auth", "User", "Access", "Content", "Proxy", "X-Real",
    "Accept-CH", "Sec-WebSocket-Extension",
  ])
  func `an unknown header is ignored in any place`(name: String) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    #expect(try client.request("/", headers: ["\(name): b"]).status == 200)
    #expect(try client.request("/", headers: ["\(name): b", "Accept: */*"]).status == 200)
    #expect(try client.handshake(headers: ["\(name): b"]).status == 101)
  }

  @Test func `long extension headers are ignored`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let offer = Array(repeating: "permessage-deflate; client_max_window_bits", count: 40)
    let answer = try client.handshake(
      headers: ["Sec-WebSocket-Extensions: " + offer.joined(separator: ", ")])
    #expect(answer.status == 101)
    try client.sendText("a")
    #expect(try client.receive().text == "a")
  }

  @Test func `a body may come in chunks, and a target with its host`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(
      "POST http://elsewhere/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
    #expect(try client.answer().text == "POST /a  abcde")
  }

  @Test func `an upgrade to something else is ignored`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write("GET /a HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
    #expect(try client.answer().text == "GET /a  ")
  }

  @Test func `a head that is too long gets 431`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.request(
      "/", headers: ["X-Long: " + String(repeating: "a", count: 20_000)])
    #expect(answer.status == 431)
  }

  @Test func `a head near the limit passes`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let cookie = String(repeating: "a", count: 12_000)
    #expect(try client.request("/", headers: ["Cookie: " + cookie]).status == 200)
  }

  @Test func `a request that does not arrive gets 408`() throws {
    let server = try TestServer { $1.handshakeSeconds = 1 }
    defer { server.stop() }
    let silent = try TestClient(port: server.port)
    let slow = try TestClient(port: server.port)
    try slow.write("GET / HTTP/1.1\r\nHost:")
    #expect(try slow.answer().status == 408)
    #expect(try silent.answer().status == 408)
    #expect(try silent.isAtEnd())
  }

  @Test func `a body that does not arrive ends the connection`() throws {
    let server = try TestServer { $1.handshakeSeconds = 1 }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
    #expect(try client.answer().status == 408)
    #expect(try client.isAtEnd())
    #expect(!server.log.all.contains { if case .requested = $0 { true } else { false } })
  }

  @Test func `an idle connection is closed after a while`() throws {
    let server = try TestServer { $1.keepAliveSeconds = 1 }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    #expect(try client.request("/").headers["connection"] == "keep-alive")
    #expect(try client.isAtEnd())
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `malformed requests do not affect other clients`(seed: UInt64) throws {
    let server = try TestServer()
    defer { server.stop() }
    var generator = SplitMix64(seed: seed)
    let heads = [
      "GET /a?b=c HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=d\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
      "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: \(TestClient.key)\r\nSec-WebSocket-Version: 13\r\n\r\n",
    ].map { Array($0.utf8) }
    for round in 0..<300 {
      var bytes = heads[round % heads.count]
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: index)
        default: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
        }
      }
      let client = try TestClient(port: server.port)
      // After a refusal, the server may not read the rest.
      _ = try? client.write(bytes)
      client.shut()
    }
    #expect(try TestClient(port: server.port).request("/alive").status == 200)
  }
}
