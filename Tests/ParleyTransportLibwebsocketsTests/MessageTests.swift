import ParleyGatewayPorts
import ParleyOTWorkloads
import Testing
import ParleyTransportLibwebsockets
import ParleyWebSocketFrames

@Suite("Messages")
struct MessageTests {
  @Test(arguments: [0, 1, 125, 126, 1023, 1024, 1025, 4096, 65535, 65536, 200_000])
  func `text and binary are echoed unchanged`(count: Int) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let text = Bytes.repeating(Bytes.letters, count: count)
    try client.write(TestClient.frame(1, text))
    #expect(try client.receive() == .init(opcode: 1, payload: text))
    let binary = Bytes.repeating(Bytes.values, count: count)
    try client.sendBinary(binary)
    #expect(try client.receive() == .init(opcode: 2, payload: binary))
  }

  @Test func `text beyond ASCII survives being cut anywhere`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let text = String(repeating: "é漢🎈", count: 400)
    let frame = TestClient.frame(1, Array(text.utf8))
    for start in stride(from: 0, to: frame.count, by: 97) {
      try client.write(Array(frame[start..<min(start + 97, frame.count)]))
    }
    #expect(try client.receive().text == text)
  }

  @Test func `fragments are put together, with a ping between`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    try client.write(
      TestClient.frame(1, Array("one ".utf8), isFinal: false)
        + TestClient.frame(9, Array("ping".utf8))
        + TestClient.frame(0, Array("two ".utf8), isFinal: false)
        + TestClient.frame(0, [], isFinal: false)
        + TestClient.frame(0, Array("three".utf8)))
    #expect(try client.receive() == .init(opcode: 10, payload: Array("ping".utf8)))
    #expect(try client.receive().text == "one two three")
    try client.write(
      TestClient.frame(2, [], isFinal: false) + TestClient.frame(0, [1, 2, 3]))
    #expect(try client.receive() == .init(opcode: 2, payload: [1, 2, 3]))
  }

  @Test func `many messages in one read keep their order`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    var bytes: [UInt8] = []
    for number in 0..<500 { bytes += TestClient.frame(1, Array("message \(number)".utf8)) }
    try client.write(bytes)
    for number in 0..<500 { #expect(try client.receive().text == "message \(number)") }
  }

  @Test func `a message of the limit's size passes, one byte more does not`() throws {
    let server = try TestServer { server, _ in
      server.onOversized = {
        $0.transport.send(Frame(payload: Array("too large".utf8)), to: $1)
        $0.transport.close($1, code: CloseCode(4501), reason: "message too large")
      }
    }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let limit = [UInt8](repeating: 0x62, count: 1 << 20)
    try client.sendBinary(limit)
    #expect(try client.receive().payload == limit)
    // The declared length is enough to tell: of the payload only a byte is sent.
    try client.write(TestClient.frame(2, [1], declaring: limit.count + 1))
    #expect(try client.receive().text == "too large")
    let close = try client.receiveClose()
    #expect(close.closeCode == 4501)
    #expect(close.closeReason == "message too large")
  }

  @Test func `fragments count together`() throws {
    let server = try TestServer { server, configuration in
      configuration.messageBytesMax = 1000
      server.onOversized = { $0.transport.send(Frame(payload: Array("no".utf8)), to: $1) }
    }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    try client.write(TestClient.frame(1, [UInt8](repeating: 0x61, count: 600), isFinal: false))
    try client.write(TestClient.frame(0, [UInt8](repeating: 0x61, count: 600), isFinal: false))
    #expect(try client.receive().text == "no")
    // The connection remains open; the rest is thrown away.
    try client.write(TestClient.frame(0, [UInt8](repeating: 0x61, count: 5000)))
    try client.sendText("next")
    #expect(try client.receive().text == "next")
    let told = server.log.all.filter { if case .oversized = $0 { true } else { false } }
    #expect(told.count == 1)
  }

  @Test func `a huge declared length reserves nothing`() throws {
    let server = try TestServer { server, configuration in
      configuration.messageBytesMax = 1 << 50
    }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    try client.write(TestClient.frame(2, [1, 2, 3], declaring: 1 << 40))
    client.shut()
    try server.log.closed(id)
  }

  @Test(arguments: [[0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc3]])
  func `invalid UTF-8 closes with 1007`(bytes: [UInt8]) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    try client.write(TestClient.frame(1, bytes))
    #expect(try client.receiveClose().closeCode == 1007)
    #expect(!server.log.all.contains { if case .received = $0 { true } else { false } })
  }

  @Test(arguments: [1000, 1001, 1011, 3000, 3999, 4000, 4999])
  func `a peer's close is echoed`(code: Int) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    try client.sendClose(code, "bye")
    #expect(try client.receiveClose().closeCode == code)
    #expect(try client.isAtEnd())
    try server.log.closed(id)
  }

  @Test func `an empty close is answered`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    try client.write(TestClient.frame(8, []))
    #expect(try client.receiveClose().opcode == 8)
    try server.log.closed(id)
  }

  @Test func `a close frame is sent after the frames queued before it`() throws {
    let server = try TestServer { server, _ in
      server.onReceived = { server, id, _, _ in
        for number in 0..<1000 {
          server.transport.send(Frame(payload: Array("frame \(number)".utf8)), to: id)
        }
        server.transport.close(id, code: CloseCode(4002), reason: "draining")
        server.transport.send(Frame(payload: Array("never".utf8)), to: id)
      }
    }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    try client.sendText("go")
    for number in 0..<1000 { #expect(try client.receive().text == "frame \(number)") }
    let close = try client.receive()
    #expect(close.closeCode == 4002)
    #expect(close.closeReason == "draining")
    try client.sendClose(4002)
    #expect(try client.isAtEnd())
    try server.log.closed(id)
  }

  @Test func `after a close nothing is delivered`() throws {
    let server = try TestServer { server, _ in
      server.onReceived = { server, id, _, _ in
        server.transport.close(id, code: CloseCode(4500), reason: "")
      }
    }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    try client.write(
      TestClient.frame(1, Array("one".utf8)) + TestClient.frame(1, Array("two".utf8)))
    #expect(try client.receiveClose().closeCode == 4500)
    client.shut()
    try server.log.closed(id)
    let received = server.log.all.filter { if case .received = $0 { true } else { false } }
    #expect(received.count == 1)
  }

  @Test func `a long reason is cut between characters`() throws {
    let server = try TestServer { server, _ in
      server.onReceived = { server, id, _, _ in
        server.transport.close(
          id, code: CloseCode(4500), reason: String(repeating: "é", count: 100))
      }
    }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    try client.sendText("x")
    #expect(try client.receiveClose().closeReason == String(repeating: "é", count: 61))
  }

  @Test(arguments: [
    [0x83, 0x80, 0, 0, 0, 0], [0xc1, 0x80, 0, 0, 0, 0], [0x80, 0x80, 0, 0, 0, 0],
  ])
  func `reserved opcodes, reserved bits and stray continuations end the connection`(
    bytes: [UInt8]
  ) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    try client.write(bytes)
    #expect(try client.receiveClose().closeCode == 1002)
    client.shut()
    try server.log.closed(id)
  }

  @Test(arguments: [
    TestClient.frame(1, Array("bare".utf8), mask: nil),
    // A length in more bytes than it takes.
    [0x81, 0xfe, 0, 1, 0, 0, 0, 0, 0x61], [0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0x61],
    // A close frame with half a status.
    [0x88, 0x81, 0, 0, 0, 0, 0x03],
  ])
  func `frames that break a rule end the connection`(bytes: [UInt8]) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    try client.write(bytes)
    #expect(try client.receiveClose().closeCode == 1002)
    #expect(try client.isAtEnd())
    client.shut()
    try server.log.closed(id)
    #expect(!server.log.all.contains { if case .received = $0 { true } else { false } })
  }

  @Test func `a reset is reported to the owner`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    client.reset()
    try server.log.closed(id)
    #expect(try server.onLoop { $0.transport.queuedBytes(for: id) } == 0)
  }

  @Test func `malformed frames end only their connection`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let other = try TestClient.open(port: server.port)
    var generator = SplitMix64(seed: 7)
    for _ in 0..<100 {
      let client = try TestClient.open(port: server.port)
      try client.write((0..<200).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
      client.shut()
    }
    try other.sendText("still here")
    #expect(try other.receive().text == "still here")
  }
}
