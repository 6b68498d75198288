import ParleyGatewayPorts
import Testing
import ParleyTransportLibwebsockets

/// Headers of the PROXY protocol, by which a proxy says where its client is.
@Suite("Announced clients")
struct AnnouncementTests {
  private func serve(
    requiresProxyHeader: Bool = true,
    _ shape: (inout LibwebsocketsTransport.Configuration) -> Void = { _ in }
  ) throws -> TestServer {
    try TestServer { server, configuration in
      configuration.requiresProxyHeader = { _ in requiresProxyHeader }
      server.onRequest = { server, id, head, _ in
        server.transport.respond(
          to: id, with: Response(status: 200, body: Array(head.remoteAddress.utf8)))
      }
      shape(&configuration)
    }
  }

  private static let text = Array("PROXY TCP4 192.0.2.7 198.51.100.1 51000 443\r\n".utf8)
  /// Version 2, TCP over IPv4, from 192.0.2.7.
  private static let binary: [UInt8] =
    [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a, 0x21, 0x11, 0, 12]
    + [192, 0, 2, 7, 198, 51, 100, 1, 0xc7, 0x38, 0x01, 0xbb]
  private static let request = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)

  @Test(arguments: [text, binary])
  func `the client's address is the announced one, in any split`(header: [UInt8]) throws {
    let server = try serve()
    defer { server.stop() }
    let bytes = header + Self.request
    for cut in [0, 1, 5, header.count - 1, header.count, header.count + 3, bytes.count] {
      let client = try TestClient(port: server.port)
      try client.write(Array(bytes[..<cut]))
      _ = try server.onLoop { _ in true }
      try client.write(Array(bytes[cut...]))
      #expect(try client.answer().text == "192.0.2.7", "cut at \(cut)")
    }
  }

  @Test func `an address of IPv6 is announced, too`() throws {
    let server = try serve()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(Array("PROXY TCP6 2001:db8::7 2001:db8::1 51000 443\r\n".utf8) + Self.request)
    #expect(IPAddress(try client.answer().text) == IPAddress("2001:db8::7"))
  }

  @Test(arguments: [
    Array("PROXY UNKNOWN\r\n".utf8),
    [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a, 0x20, 0, 0, 0],
  ])
  func `a proxy may send its own requests`(header: [UInt8]) throws {
    let server = try serve()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(header + Self.request)
    #expect(try client.answer().text == "127.0.0.1")
  }

  @Test(arguments: [
    request, Array("PROXY TCP4 a b c d\r\n".utf8) + request,
    Array(repeating: UInt8(ascii: "P"), count: 200),
    Array("PROXY TCP4 192.0.2.7 198.51.100.1 51000 443 ".utf8)
      + [UInt8](repeating: 0x78, count: 200),
  ])
  func `a connection that begins with other bytes is closed`(bytes: [UInt8]) throws {
    let server = try serve()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(bytes)
    #expect(try client.isAtEnd())
    #expect(!server.log.all.contains { if case .requested = $0 { true } else { false } })
  }

  @Test func `refused headers are counted, and reported once a minute`() throws {
    let reports = Collected<[String]>()
    let server = try serve {
      $0.proxyHeaderMissing = { reports.append([$0, "\($1)"]) }
    }
    defer { server.stop() }
    for _ in 0..<3 {
      let client = try TestClient(port: server.port)
      try client.write(Self.request)
      #expect(try client.isAtEnd())
    }
    #expect(try server.onLoop { $0.transport.refusedConnections.withoutProxyHeader } == 3)
    #expect(reports.all == [["127.0.0.1", "1"]])
  }

  @Test func `an announced client beyond a limit is counted as refused`() throws {
    let server = try serve {
      $0.connectRatePerAddress = Rate(perSecond: 1, burst: 1)
      $0.isLimited = { !$0.isLoopback }
    }
    defer { server.stop() }
    var refused = 0
    while refused == 0 {
      let client = try TestClient(port: server.port)
      try client.write(Self.text + Self.request)
      _ = try? client.answer()
      refused = try server.onLoop { $0.transport.refusedConnections.tooFast }
    }
    #expect(try server.onLoop { $0.transport.refusedConnections.full } == 0)
  }

  @Test func `an incomplete header ends after the time limit`() throws {
    let server = try serve { $0.handshakeSeconds = 1 }
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(Array(Self.text.prefix(10)))
    #expect(try client.isAtEnd())
  }

  @Test func `a header from a client that is not a proxy is a malformed request`() throws {
    let server = try serve(requiresProxyHeader: false)
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    try client.write(Self.text + Self.request)
    #expect(try client.answer().status == 400)
  }

  @Test func `clients are limited by their own address`() throws {
    let server = try serve { $0.connectionsPerAddressMax = 4 }
    defer { server.stop() }
    func client(_ number: Int) throws -> TestClient {
      let client = try TestClient(port: server.port)
      try client.write(
        Array("PROXY TCP4 192.0.2.\(number) 198.51.100.1 1 2\r\n".utf8) + Self.request)
      return client
    }
    var held: [TestClient] = []
    for _ in 0..<4 {
      let client = try client(1)
      #expect(try client.answer().status == 200)
      held.append(client)
    }
    #expect(try client(1).isAtEnd())
    #expect(try client(2).answer().text == "192.0.2.2")
    held.removeLast().shut()
    // Who has gone is counted no more, once the loop has noticed.
    var next = try client(1)
    while try next.isAtEnd() { next = try client(1) }
    #expect(try next.answer().text == "192.0.2.1")
  }
}
