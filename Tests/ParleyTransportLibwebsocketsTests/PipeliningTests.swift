import ParleyGatewayPorts
import Glibc
import Testing
import ParleyTransportLibwebsockets

/// Requests of which the next comes before the answer to the one before.
///
/// What holds: they are answered in order, whatever they are, and bytes that wait keep the loop from
/// nothing.
@Suite("Pipelining")
struct PipeliningTests {
  /// A request, and the echoing owner's answer.
  struct Request: CustomTestStringConvertible {
    var method: String
    var body: String?

    var bytes: String {
      let length = body.map { "Content-Length: \($0.utf8.count)\r\n" } ?? ""
      return "\(method) /a HTTP/1.1\r\nHost: a\r\n\(length)\r\n\(body ?? "")"
    }
    var answer: String { "\(method) /a  \(body ?? "")" }
    var testDescription: String { "\(method) \(body.map { "\($0.utf8.count)" } ?? "-")" }

    static let get = Request(method: "GET")
    static let post = Request(method: "POST", body: "x")
    static let empty = Request(method: "POST", body: "")
    static let put = Request(method: "PUT", body: String(repeating: "y", count: 3_000))
    static let large = Request(method: "POST", body: String(repeating: "z", count: 40_000))
    static let getWithBody = Request(method: "GET", body: "abc")
    static let delete = Request(method: "DELETE", body: "d")
  }

  private static let sequences: [[Request]] = [
    [.get, .get], [.post, .post], [.get, .post], [.post, .get], [.empty, .post], [.post, .empty],
    [.put, .put], [.large, .large], [.large, .get, .post], [.getWithBody, .getWithBody],
    [.delete, .delete], [.get, .get, .get], [.post, .post, .post, .post], [.get, .empty, .put],
    Array(repeating: .get, count: 20), Array(repeating: .post, count: 20),
  ]

  /// Reads the server's answers to requests, which must come in order.
  private func expectAnswers(to requests: [Request], _ client: TestClient) throws {
    for request in requests {
      let answer = try client.answer(to: request.method)
      #expect(answer.status == 200)
      #expect(answer.text == request.answer)
      #expect(answer.headers["connection"] == "keep-alive")
    }
  }

  @Test(arguments: sequences)
  func `requests in one packet are answered in order`(requests: [Request]) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(requests.map(\.bytes).joined())
    try expectAnswers(to: requests, client)
    #expect(try client.request("/alive").status == 200)
  }

  @Test(arguments: sequences)
  func `requests after an answered one are answered in order`(requests: [Request]) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    #expect(try client.request("/first").headers["connection"] == "keep-alive")
    try client.write(requests.map(\.bytes).joined())
    try expectAnswers(to: requests, client)
    #expect(try client.request("/alive").status == 200)
  }

  @Test(arguments: [
    [Request.post, .post], [.get, .post], [.post, .get], [.get, .get],
    [.getWithBody, .delete, .post],
  ])
  func `requests may be split anywhere`(requests: [Request]) throws {
    let server = try TestServer()
    defer { server.stop() }
    let bytes = Array(requests.map(\.bytes).joined().utf8)
    for cut in 1..<bytes.count {
      let client = try TestClient(port: server.port)
      try client.write(Array(bytes[..<cut]))
      // After a turn the first part has probably been read alone, which suffices.
      _ = try server.onLoop { _ in true }
      try client.write(Array(bytes[cut...]))
      try expectAnswers(to: requests, client)
    }
  }

  @Test(arguments: [[Request.get, .post], [.post, .post], [.get, .get], [.large, .post]])
  func `bytes behind a request do not keep the loop busy while its answer is awaited`(
    requests: [Request]
  ) throws {
    let counter = TurnCounter()
    let inHand = Collected<RequestID>()
    let server = try TestServer { server, configuration in
      counter.shape(server, &configuration)
      server.onRequest = { _, id, _, _ in inHand.append(id) }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(requests.map(\.bytes).joined())
    try server.log.wait("the request") { if case .requested = $0 { true } else { nil } }
    // More comes while the first is in hand, into the socket.
    try client.write(Request.post.bytes)
    try counter.expectIdle()
    _ = try server.onLoop { server in
      let answer = Response(status: 200, body: [0x61])
      server.onRequest = { server, id, _, _ in server.transport.respond(to: id, with: answer) }
      for id in inHand.all.reversed() { server.transport.respond(to: id, with: answer) }
      return true
    }
    for _ in 0...requests.count { #expect(try client.answer().text == "a") }
  }

  @Test func `bytes behind a request do not keep the loop busy while its answer is not read`()
    throws
  {
    let counter = TurnCounter()
    let body = [UInt8](repeating: 0x61, count: 16_000_000)
    let server = try TestServer { server, configuration in
      counter.shape(server, &configuration)
      server.onRequest = { server, id, head, _ in
        let isLarge = head.path == "/a"
        server.transport.respond(to: id, with: Response(status: 200, body: isLarge ? body : [0x62]))
      }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port, receiveBuffer: 4096)
    try client.write(Request.get.bytes + Request.post.bytes)
    // The answer has begun, and fills the buffers.
    #expect(try !client.isAtEnd())
    try client.write(Request.post.bytes)
    try counter.expectIdle()
    #expect(try TestClient(port: server.port).request("/b").text == "b")
    for _ in 0..<3 { #expect(try client.answer().body.count == body.count) }
  }

  @Test func `an upgrade behind a request waits for its answer`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(Request.get.bytes + Self.upgrade)
    try expectAnswers(to: [.get], client)
    #expect(try client.answer().status == 101)
    try client.sendText("after")
    #expect(try client.receive().text == "after")
  }

  @Test func `messages after a waiting upgrade are read`() throws {
    let inHand = Collected<RequestID>()
    let server = try TestServer { server, _ in
      server.onRequest = { _, id, _, _ in inHand.append(id) }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(Request.get.bytes + Self.upgrade)
    try server.log.wait("the request") { if case .requested = $0 { true } else { nil } }
    // Early, but before the client reads.
    try client.write(TestClient.frame(1, [0x61]))
    for _ in 0..<3 { _ = try server.onLoop { _ in true } }
    _ = try server.onLoop { server in
      for id in inHand.all { server.transport.respond(to: id, with: Response(status: 204)) }
      return true
    }
    #expect(try client.answer().status == 204)
    #expect(try client.answer().status == 101)
    #expect(try client.receive().text == "a")
  }

  @Test func `messages after an upgrade are read`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(
      Array(Self.upgrade.utf8) + TestClient.frame(1, [0x61]) + TestClient.frame(1, [0x62]))
    #expect(try client.answer().status == 101)
    #expect(try client.receive().text == "a")
    #expect(try client.receive().text == "b")
  }

  @Test func `requests after an upgrade are malformed frames`() throws {
    let counter = TurnCounter()
    let server = try TestServer { counter.shape($0, &$1) }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(Self.upgrade + Request.post.bytes + Request.post.bytes)
    #expect(try client.answer().status == 101)
    while try !client.isAtEnd() { _ = try client.takeForTest(1) }
    try counter.expectIdle()
    #expect(!server.log.all.contains { if case .received = $0 { true } else { false } })
  }

  @Test func `bytes behind an upgrade that is refused do not lose the refusal`() throws {
    let server = try TestServer { server, _ in
      server.onDecide = { _ in .refuse(Response(status: 403, body: Array("no".utf8))) }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(Self.upgrade + String(repeating: Request.put.bytes, count: 20))
    let answer = try client.answer()
    #expect(answer.status == 403)
    #expect(answer.text == "no")
    #expect(try client.isAtEnd())
  }

  @Test func `a flood behind a request ends with its connection`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(Request.get.bytes)
    let flood = [UInt8](repeating: 0x61, count: 1 << 20)
    // Until the server refuses more bytes: the test checks that the loop ends.
    while (try? client.write(flood)) != nil {}
    #expect(try TestClient(port: server.port).request("/alive").status == 200)
  }

  @Test func `encrypted requests in one record are answered in order`() throws {
    guard OpenSSLTool.isInstalled else { return }
    let folder = try OpenSSLTool.makeCertificate()
    defer { folder.remove() }
    let server = try TestServer {
      $1.tls = .init(certificatePath: folder.certificate, keyPath: folder.key)
    }
    defer { server.stop() }
    for requests in [[Request.post, .post], [.get, .post], [.get, .get], [.large, .large]] {
      let client = try OpenSSLTool.Connection(port: server.port)
      defer { client.end() }
      try client.write(Array(requests.map(\.bytes).joined().utf8))
      for request in requests {
        let head = try client.read(until: "\r\n\r\n")
        #expect(head.hasPrefix("HTTP/1.1 200"))
        #expect(head.contains("connection: keep-alive"))
        let answer = Array(request.answer.utf8)
        #expect(try client.read(answer.count) == answer)
      }
    }
    let client = try OpenSSLTool.Connection(port: server.port)
    defer { client.end() }
    try client.write(Array(Request.get.bytes.utf8))
    #expect(try client.read(until: "\r\n\r\n").contains("connection: keep-alive"))
  }

  private static let upgrade =
    "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "Sec-WebSocket-Key: \(TestClient.key)\r\nSec-WebSocket-Version: 13\r\n\r\n"
}

/// Counts a loop's turns between its ticks: a loop with nothing to do has about one.
final class TurnCounter: @unchecked Sendable {
  // Unchecked: all but the semaphore belongs to the loop's thread, and the count is read after it.
  private var turns = 0
  private var ticks: Int?
  private var semaphore = sem_t()
  private weak var server: TestServer?
  private static let ticksCounted = 20

  init() { sem_init(&semaphore, 0, 0) }
  deinit { sem_destroy(&semaphore) }

  func shape(_ server: TestServer, _ configuration: inout LibwebsocketsTransport.Configuration) {
    self.server = server
    configuration.tickMilliseconds = 10
    server.onTicked = { [unowned self] _ in
      guard let count = ticks else { return }
      ticks = count == Self.ticksCounted ? nil : count + 1
      if ticks == nil { sem_post(&semaphore) }
    }
    server.onTurnEnded = { [unowned self] _ in
      if ticks != nil { turns += 1 }
      return false
    }
  }

  /// Lets ticks pass, and expects hardly more turns than ticks.
  func expectIdle(sourceLocation: SourceLocation = #_sourceLocation) throws {
    guard let server else { return }
    _ = try server.onLoop { [self] _ in
      turns = 0
      ticks = 0
      return true
    }
    sem_wait(&semaphore)
    let count = try server.onLoop { [self] _ in turns }
    #expect(count < 5 * Self.ticksCounted, sourceLocation: sourceLocation)
  }
}
