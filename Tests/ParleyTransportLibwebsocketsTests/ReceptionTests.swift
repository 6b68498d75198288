import ParleyGatewayPorts
import Testing
import ParleyTransportLibwebsockets
import ParleyWebSocketFrames

/// Messages and bodies that come in part: what they may hold, and what happens beyond.
@Suite("Reception")
struct ReceptionTests {
  private static let mebibyte = 1 << 20

  /// A server that reads bodies of a mebibyte, and holds four of all that come in part.
  private static func server(
    isLimited: Bool = true, onBody: ((Int?, RequestHead) -> BodyDecision)? = nil
  ) throws -> TestServer {
    try TestServer { server, configuration in
      configuration.bodyBytesMax = 16 << 10
      configuration.messageBytesMax = 16 << 10
      configuration.receptionBytesMax = 4 * mebibyte
      configuration.isLimited = { _ in isLimited }
      server.onBody =
        onBody ?? { _, head in
          .take(upTo: mebibyte, for: Holder(address: IPAddress(head.remoteAddress)))
        }
      server.onOpened = { server, id, _ in
        server.transport.admit(id, messageBytesMax: mebibyte, as: Holder(address: nil))
      }
    }
  }

  private static func post(_ count: Int) -> String {
    "POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: \(count)\r\n\r\n"
  }

  private static func bytes(_ count: Int) -> [UInt8] { Bytes.repeating([0x61], count: count) }

  /// Clients that have sent all but the last byte of a body each, and those of them that were refused.
  private static func partials(
    _ count: Int, _ server: TestServer
  ) throws -> (waiting: [TestClient], refused: Int) {
    var waiting: [TestClient] = []
    var refused = 0
    for _ in 0..<count {
      let client = try TestClient(port: server.port)
      let held = try held(server)
      try client.write(post(512 << 10))
      try client.write(bytes((512 << 10) - 1))
      // Wait until the server has refused or received the request.
      while true {
        let usage = server.transport.memoryUsage
        if usage.receptionRefusals > refused {
          refused += 1
          let answer = try client.answer()
          #expect(answer.status == 503)
          let seconds = Int(answer.headers["retry-after"] ?? "")
          #expect(seconds.map { (3...8).contains($0) } ?? false)
          break
        }
        if usage.receptionBytes >= held + (512 << 10) {
          waiting.append(client)
          break
        }
        _ = try server.onLoop { _ in true }
      }
    }
    return (waiting, refused)
  }

  private static func held(_ server: TestServer) throws -> Int {
    try server.onLoop { $0.transport.memoryUsage.receptionBytes }
  }

  @Test func `one address can use half of the memory, and others are read`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let (waiting, refused) = try Self.partials(6, server)
    #expect(waiting.count == 4)
    #expect(refused == 2)
    #expect(try Self.held(server) <= 2 * Self.mebibyte)
    // Another party, here a connection of a user, still has room.
    let other = try TestClient.open(port: server.port)
    try other.write(TestClient.frame(1, Self.bytes(Self.mebibyte)))
    #expect(try other.receive().payload.count == Self.mebibyte)
    // Finished requests return their memory.
    for client in waiting {
      try client.write([0x61])
      #expect(try client.answer().status == 200)
    }
    #expect(try Self.held(server) == 0)
  }

  @Test func `a client that leaves releases its memory`() throws {
    let server = try Self.server()
    defer { server.stop() }
    var (waiting, _) = try Self.partials(4, server)
    for client in waiting { client.reset() }
    waiting = []
    while try Self.held(server) > 0 {}
  }

  @Test func `a connection is refused when memory is short, and what it sent is freed`() throws {
    let server = try TestServer { server, configuration in
      configuration.messageBytesMax = 4 * Self.mebibyte
      configuration.receptionBytesMax = Self.mebibyte
    }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    try client.write(TestClient.frame(2, [], declaring: 3 * Self.mebibyte))
    try client.write(Self.bytes(2 * Self.mebibyte))
    try server.log.wait("crowded") { $0 == .droppedForMemory(id) ? true : nil }
    #expect(try client.receiveClose().closeCode == 4006)
    #expect(try Self.held(server) == 0)
    #expect(server.transport.memoryUsage.receptionRefusals == 1)
  }

  @Test func `a message has a few kilobytes until its connection is admitted`() throws {
    let server = try TestServer { server, configuration in
      configuration.messageBytesMax = 16 << 10
      server.onReceived = { server, id, bytes, kind in
        if bytes.count == 5 {
          server.transport.admit(id, messageBytesMax: Self.mebibyte, as: Holder(address: nil))
        }
        server.transport.send(Frame(kind, payload: bytes), to: id)
      }
    }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    // The large message comes right behind the one that admits.
    try client.write(
      TestClient.frame(1, Array("hello".utf8)) + TestClient.frame(1, Self.bytes(500_000)))
    #expect(try client.receive().payload.count == 5)
    #expect(try client.receive().payload.count == 500_000)
    let other = try TestClient.open(port: server.port)
    try other.write(TestClient.frame(1, Self.bytes((16 << 10) + 1)))
    try server.log.wait("oversized") {
      if case .oversized(_, 16_384) = $0 { true } else { nil }
    }
    #expect(server.transport.memoryUsage.earlyRefusals == 1)
  }

  @Test func `an upload counts with its length before it is read`() throws {
    let server = try TestServer { server, configuration in
      configuration.bodyBytesMax = 16 << 10
      configuration.uploadBytesMax = 1_000_000
      server.onBody = { count, _ in
        .take(upTo: count ?? 0, for: Holder(.user("ada")), isUpload: true)
      }
    }
    defer { server.stop() }
    let first = try TestClient(port: server.port)
    try first.write(Self.post(400_000))
    while server.transport.memoryUsage.uploadBytes != 400_000 {}
    let second = try TestClient(port: server.port)
    try second.write(Self.post(400_000))
    #expect(try second.answer().status == 503)
    try first.write(Self.bytes(400_000))
    #expect(try first.answer().status == 200)
    #expect(server.transport.memoryUsage.uploadBytes == 0)
  }

  // MARK: Clients that have ended their side

  @Test func `a client that has ended its side gets its responses, then the end`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write("GET /a HTTP/1.1\r\nhost: a\r\n\r\nGET /b HTTP/1.1\r\nhost: a\r\n\r\n")
    client.endSending()
    #expect(try client.answer().status == 200)
    #expect(try client.answer().status == 200)
    #expect(try client.isAtEnd())
  }

  @Test func `a poll whose client has ended its side is abandoned`() throws {
    let server = try TestServer { server, _ in
      server.onRequest = { _, _, _, _ in }
      server.onIsHeld = { _ in true }
    }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write("GET /a HTTP/1.1\r\nhost: a\r\n\r\n")
    let request = try server.log.wait("a request") {
      if case .requested(let id, _) = $0 { id } else { nil }
    }
    client.endSending()
    try server.log.wait("the end") { $0 == .abandoned(request) ? true : nil }
  }
}
