import ParleyGatewayPorts
import Glibc
import ParleyLocks
import Testing
import ParleyTransportLibwebsockets
import ParleyWebSocketFrames

@Suite("Flow")
struct FlowTests {
  @Test func `a slow reader's queue grows, then drains`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port, receiveBuffer: 4096)
    let id = try server.log.opened()
    let frame = Frame(payload: [UInt8](repeating: 0x61, count: 10_000))
    let total = 1000
    let queued = try server.onLoop { server in
      for _ in 0..<total { server.transport.send(frame, to: id) }
      return server.transport.queuedBytes(for: id)
    }
    #expect(queued == total * frame.byteCount)
    // The next turn has written; the socket has not taken all of it.
    let left = try server.onLoop { $0.transport.queuedBytes(for: id) }
    #expect(left > 0 && left < queued)
    #expect(!server.log.all.contains(.drained(id)))
    for _ in 0..<total { #expect(try client.receive().payload.count == 10_000) }
    try server.log.wait("the drained event") { $0 == .drained(id) ? true : nil }
    #expect(try server.onLoop { $0.transport.queuedBytes(for: id) } == 0)
  }

  @Test func `a shared frame reaches all, also after a lagging reader`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let slow = try TestClient.open(port: server.port, receiveBuffer: 4096)
    let slowID = try server.log.opened()
    let fast = try TestClient.open(port: server.port)
    let fastID = try server.log.wait("another connection") {
      if case .opened(let id, _) = $0, id != slowID { id } else { nil }
    }
    let frame = Frame(payload: [UInt8](repeating: 0x61, count: 10_000))
    let total = 1000
    // The bytes queued in one turn bound the queue of each client; beyond a stalled reader only
    // asking tells.
    let bounds = try server.onLoop { server in
      let before = server.transport.queuedBytesBound
      for _ in 0..<total { server.transport.send(frame, to: [slowID, fastID]) }
      return [before, server.transport.queuedBytesBound]
    }
    #expect(bounds == [0, total * frame.byteCount])
    #expect(try server.onLoop { $0.transport.queuedBytesBound } == .max)
    for _ in 0..<total { #expect(try fast.receive().payload.count == 10_000) }
    for _ in 0..<total { #expect(try slow.receive().payload.count == 10_000) }
    try server.log.wait("the drained event") { $0 == .drained(slowID) ? true : nil }
    #expect(try server.onLoop { $0.transport.queuedBytesBound } == 0)
  }

  /// The owner is woken at the end of a turn in which 200 connections were sent a frame.
  @Test(
    "a reply that comes while many are written to goes with it, unless much is queued",
    arguments: [(100, true), (64 << 10, false)])
  func reply(bytes: Int, goesWithIt: Bool) throws {
    let first = Frame(payload: [UInt8](repeating: 0x61, count: bytes))
    let second = Frame(payload: Array("second".utf8))
    let state = Locked((isDue: false, isReplying: false, wasInTurn: [Bool]()))
    let server = try TestServer { server, _ in
      server.onTurnEnded = { server in
        let isDue = state.withLock { state in
          defer { (state.isDue, state.isReplying) = (false, state.isReplying || state.isDue) }
          return state.isDue
        }
        guard isDue else { return false }
        server.transport.send(first, to: server.open)
        server.transport.mailbox.wake()
        return false
      }
      server.onWoken = { server in
        let isReplying = state.withLock { state in
          defer { state.isReplying = false }
          if state.isReplying { state.wasInTurn.append(server.transport.isInTurn) }
          return state.isReplying
        }
        if isReplying { server.transport.send(second, to: server.open) }
      }
    }
    defer { server.stop() }
    let clients = try (0..<200).map { _ in try TestClient.open(port: server.port) }
    // Who has an answer has been opened at the server.
    for client in clients {
      try client.sendText("there?")
      #expect(try client.receive().text == "there?")
    }
    _ = try server.onLoop { _ in state.withLock { $0.isDue = true } }
    for client in clients {
      #expect(try client.receive().payload.count == bytes)
      #expect(try client.receive().text == "second")
    }
    #expect(state.withLock { $0.wasInTurn } == [!goesWithIt])
    #expect(try server.onLoop { $0.transport.queuedBytesBound } == 0)
  }

  @Test func `drained is reported after a large write that the socket accepts at once`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    let small = Frame(payload: [UInt8](repeating: 0x61, count: 100))
    let large = Frame(payload: [UInt8](repeating: 0x62, count: 17 << 10))
    _ = try server.onLoop { server in
      server.transport.send(small, to: id)
      return true
    }
    #expect(try client.receive().payload.count == 100)
    #expect(!server.log.all.contains(.drained(id)))
    _ = try server.onLoop { server in
      server.transport.send(large, to: id)
      return true
    }
    #expect(try client.receive().payload.count == 17 << 10)
    try server.log.wait("the drained event") { $0 == .drained(id) ? true : nil }
  }

  /// A message in three frames, the middle one long, as it comes to a reader.
  private func fragments(_ client: TestClient) throws -> [TestClient.Incoming] {
    var frames = [try client.receive()]
    while frames.last?.isFinal == false { frames.append(try client.receive()) }
    return frames
  }

  private func payload(of frames: [TestClient.Incoming]) -> [UInt8] {
    frames.reduce(into: []) { $0 += $1.payload }
  }

  @Test("fragments of any length make one message", arguments: [1, 65_526, 65_527, 300_000])
  func fragments(bytes: Int) throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    let text = Bytes.repeating(Bytes.letters, count: bytes)
    let parts = [
      Frame(.text, .first, payload: Array("<".utf8)), Frame(.text, .middle, payload: text),
      Frame(.text, .last, payload: Array(">".utf8)), Frame(payload: Array("next".utf8)),
    ]
    _ = try server.onLoop { server in
      for part in parts { server.transport.send(part, to: id) }
      return true
    }
    let frames = try fragments(client)
    #expect(payload(of: frames) == Array("<".utf8) + text + Array(">".utf8))
    #expect(frames.map(\.opcode) == [1] + [UInt8](repeating: 0, count: frames.count - 1))
    #expect(try client.receive().text == "next")
    #expect(try server.onLoop { $0.transport.queuedBytes(for: id) } == 0)
  }

  @Test func `a long last fragment ends its message`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    let text = [UInt8](repeating: 0x61, count: 200_000)
    _ = try server.onLoop { server in
      server.transport.send(Frame(.binary, .first, payload: text), to: id)
      server.transport.send(Frame(.binary, .last, payload: text), to: id)
      return true
    }
    let frames = try fragments(client)
    #expect(frames.first?.opcode == 2)
    #expect(payload(of: frames) == text + text)
  }

  @Test func `a slow reader of long fragments gets what had begun, and is closed over the limit`()
    throws
  {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port, receiveBuffer: 4096)
    let id = try server.log.opened()
    let text = [UInt8](repeating: 0x61, count: 6_000_000)
    let middle = Frame(.text, .middle, payload: text)
    _ = try server.onLoop { server in
      server.transport.send(Frame(.text, .first, payload: []), to: id)
      server.transport.send(middle, to: id)
      return true
    }
    let left = try server.onLoop { $0.transport.queuedBytes(for: id) }
    #expect(left > 0 && left < text.count)
    // A part of it has gone; the queue is thrown away in the middle of the message.
    _ = try server.onLoop { server in
      for _ in 0..<100 { server.transport.send(middle, to: id) }
      return true
    }
    var last = try client.receive()
    var bytes = 0
    while last.opcode < 8 {
      bytes += last.payload.count
      #expect(!last.isFinal)
      last = try client.receive()
    }
    #expect(last.closeCode == 4001)
    #expect(bytes <= text.count)
  }

  /// A door that a thread waits at.
  private final class Gate: @unchecked Sendable {
    private var semaphore = sem_t()
    init() { sem_init(&semaphore, 0, 0) }
    func wait() { sem_wait(&semaphore) }
    func open() { sem_post(&semaphore) }
  }

  /// The loop is held until eight clients have sent 100,000 bytes each.
  @Test("of large messages or bodies that wait, each turn takes some", arguments: [false, true])
  func large(areBodies: Bool) throws {
    let bytes = 100_000
    let turns = Locked((bytes: 0, all: [Int]()))
    let server = try TestServer { server, _ in
      let (onReceived, onRequest) = (server.onReceived, server.onRequest)
      server.onReceived = { server, id, message, kind in
        turns.withLock { $0.bytes += message.count }
        onReceived(server, id, message, kind)
      }
      server.onRequest = { server, id, head, body in
        turns.withLock { $0.bytes += body.count }
        onRequest(server, id, head, body)
      }
      server.onTurnEnded = { _ in
        turns.withLock { turns in
          if turns.bytes > 1_000 { turns.all.append(turns.bytes) }
          turns.bytes = 0
        }
        return false
      }
    }
    defer { server.stop() }
    let text = String(repeating: "x", count: bytes)
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(bytes)\r\n\r\n"
    let sent = areBodies ? Array((head + text).utf8) : TestClient.frame(1, Array(text.utf8))
    let clients = try (0..<8).map { _ in
      let port = server.port
      let client = areBodies ? try TestClient(port: port) : try TestClient.open(port: port)
      var size = Int32(4 * bytes)
      setsockopt(
        client.descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
      return client
    }
    // A client with an answer has been let in.
    for client in clients {
      if areBodies {
        #expect(try client.request("/", "POST", body: "there?").status == 200)
      } else {
        try client.sendText("there?")
        #expect(try client.receive().text == "there?")
      }
    }
    let gate = Gate()
    server.transport.mailbox.post { gate.wait() }
    for client in clients { try client.write(sent) }
    gate.open()
    for client in clients {
      if areBodies {
        #expect(try client.answer(to: "POST").body.count >= bytes)
      } else {
        #expect(try client.receive().payload.count == bytes)
      }
    }
    _ = try server.onLoop { _ in true }
    let all = turns.withLock { $0.all }
    #expect(all.reduce(0, +) == 8 * bytes)
    #expect(all.allSatisfy { $0 <= 3 * bytes }, "\(all)")
  }

  /// A client that sends one large message again and again, on a thread of its own.
  private final class Flood: @unchecked Sendable {
    private let client: TestClient
    private let frame: [UInt8]
    private let count: Int
    private var thread = pthread_t()

    init(_ client: TestClient, _ text: String, count: Int) {
      self.client = client
      frame = TestClient.frame(1, Array(text.utf8))
      self.count = count
    }

    func begin() {
      pthread_create(
        &thread, nil,
        { argument in
          guard let argument else { return nil }
          let flood = Unmanaged<Flood>.fromOpaque(argument).takeRetainedValue()
          for _ in 0..<flood.count { try? flood.client.write(flood.frame) }
          return nil
        }, Unmanaged.passRetained(self).toOpaque())
    }

    func finish() { pthread_join(thread, nil) }
  }

  @Test("one large message does not wait for another client's endless ones")
  func fairTurns() throws {
    let (bytes, count) = (100_000, 20)
    let server = try TestServer { server, _ in server.onReceived = { _, _, _, _ in } }
    defer { server.stop() }
    let eager = try TestClient.open(port: server.port)
    let modest = try TestClient.open(port: server.port)
    var size = Int32(4 * bytes)
    setsockopt(modest.descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    let gate = Gate()
    server.transport.mailbox.post { gate.wait() }
    let flood = Flood(eager, String(repeating: "e", count: bytes), count: count)
    flood.begin()
    try modest.sendText(String(repeating: "m", count: bytes))
    gate.open()
    flood.finish()
    _ = try modest.sendText("the end")
    try server.log.wait("the end") { event in
      if case .received(_, "the end", _) = event { true } else { nil }
    }
    let texts = server.log.all.compactMap { event in
      if case .received(_, let text, _) = event { text.first } else { nil }
    }
    // Two turns, of about three messages each.
    #expect(try #require(texts.firstIndex(of: "m")) < 10)
  }

  @Test("a turn comes when the owner wants one, though nothing happens")
  func rest() throws {
    let turns = Locked(0)
    let gate = Gate()
    let server = try TestServer { server, configuration in
      // No tick brings it.
      configuration.tickMilliseconds = 3_600_000
      server.rest = 1
      server.onTurnEnded = { server in
        let count = turns.withLock { turns in
          turns += 1
          return turns
        }
        if count == 20 {
          server.rest = nil
          gate.open()
        }
        return false
      }
    }
    gate.wait()
    server.stop()
    #expect(turns.withLock { $0 } >= 20)
  }

  @Test func `frames sent during drained are written`() throws {
    let rounds = 20
    let server = try TestServer { server, _ in
      var round = 0
      server.onDrained = { server, id in
        round += 1
        let payload = [UInt8](repeating: UInt8(round), count: 100_000)
        if round <= rounds { server.transport.send(Frame(.binary, payload: payload), to: id) }
      }
    }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    try client.sendBinary([UInt8](repeating: 0, count: 20_000))
    #expect(try client.receive().payload.count == 20_000)
    for round in 1...rounds {
      let frame = try client.receive()
      #expect(frame.payload.count == 100_000)
      #expect(frame.payload.first == UInt8(round))
    }
  }

  @Test func `a queue over the last limit closes with 4001`() throws {
    let server = try TestServer { $1.queuedBytesMax = 4 << 20 }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port, receiveBuffer: 4096)
    let id = try server.log.opened()
    let frame = Frame(payload: [UInt8](repeating: 0x61, count: 1 << 20))
    for _ in 0..<8 {
      _ = try server.onLoop { server in
        server.transport.send(frame, to: id)
        return true
      }
    }
    #expect(try server.onLoop { $0.transport.queuedBytes(for: id) } <= 4 << 20)
    #expect(try client.receiveClose().closeCode == 4001)
    client.shut()
    try server.log.closed(id)
  }

  @Test func `a reader that never reads is disconnected after its close`() throws {
    let server = try TestServer { $1.closeSeconds = 1 }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port, receiveBuffer: 4096)
    let id = try server.log.opened()
    _ = try server.onLoop { server in
      for _ in 0..<100 {
        server.transport.send(Frame(payload: [UInt8](repeating: 0x61, count: 1 << 18)), to: id)
      }
      server.transport.close(id, code: CloseCode(4001), reason: "")
      return true
    }
    try server.log.closed(id)
    client.shut()
  }

  @Test func `a hundred receive one broadcast in one order`() throws {
    let server = try TestServer { server, _ in
      server.onReceived = { server, _, bytes, _ in
        let frame = Frame(payload: bytes)
        for id in server.open { server.transport.send(frame, to: id) }
      }
    }
    defer { server.stop() }
    let clients = try (0..<100).map { _ in try TestClient.open(port: server.port) }
    var expected: [String] = []
    for round in 0..<50 {
      let text = "\(round) " + String(repeating: "x", count: round * 20)
      try clients[round % 3].sendText(text)
      expected.append(text)
    }
    let first = try (0..<50).map { _ in try clients[0].receive().text }
    #expect(Set(first) == Set(expected))
    for client in clients[1...] {
      for text in first { #expect(try client.receive().text == text) }
    }
  }

  @Test func `large frames to many arrive whole, with pings between`() throws {
    let payload = Bytes.repeating(Bytes.values, count: 300_000)
    let server = try TestServer { server, configuration in
      configuration.pingSeconds = 1
      server.onReceived = { server, _, _, _ in
        let frame = Frame(.binary, payload: payload)
        for _ in 0..<5 { for id in server.open { server.transport.send(frame, to: id) } }
      }
    }
    defer { server.stop() }
    let clients = try (0..<10).map { _ in
      try TestClient.open(port: server.port, receiveBuffer: 4096)
    }
    try clients[0].sendText("go")
    // Pings of the clients make the library put pongs between frames.
    for client in clients { try client.write(TestClient.frame(9, [1, 2, 3])) }
    for client in clients {
      var frames = 0
      while frames < 5 {
        let frame = try client.receive()
        if frame.opcode == 2 {
          #expect(Bytes.areEqual(frame.payload, payload))
          frames += 1
        } else {
          #expect(frame.opcode == 9 || frame.opcode == 10)
        }
      }
    }
  }

  @Test func `a slow reader is not treated as dead`() throws {
    let ticks = TickGate()
    let server = try TestServer { server, configuration in
      configuration.tickMilliseconds = 50
      configuration.pingSeconds = 1
      // Below the eight seconds of reading, and more than a busy machine makes this test wait.
      configuration.hangUpSeconds = 5
      server.onTicked = { _ in ticks.open() }
    }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port, receiveBuffer: 4096)
    let id = try server.log.opened()
    let size = 100_000
    let count = 160
    _ = try server.onLoop { server in
      let frame = Frame(.binary, payload: [UInt8](repeating: 7, count: size))
      for _ in 0..<count { server.transport.send(frame, to: id) }
      return true
    }
    // Nothing goes the other way but what TCP itself says: pings wait behind all this.
    var received = 0
    while received < count {
      ticks.wait()
      if try client.receive().opcode == 2 { received += 1 }
    }
    #expect(!server.log.all.contains(.closed(id)))
  }

  @Test func `silent clients are pinged, and disconnected without an answer`() throws {
    let server = try TestServer {
      $1.pingSeconds = 1
      $1.hangUpSeconds = 3
    }
    defer { server.stop() }
    let dead = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    let alive = try TestClient.open(port: server.port)
    #expect(try dead.receive().opcode == 9)
    for _ in 0..<4 {
      let ping = try alive.receive()
      #expect(ping.opcode == 9)
      try alive.write(TestClient.frame(10, ping.payload))
    }
    try server.log.closed(id)
    try alive.sendText("here")
    while true {
      let frame = try alive.receive()
      if frame.opcode == 1 { break }
    }
    while try !dead.isAtEnd() { _ = try dead.receive() }
  }

  @Test func `other threads wake the loop`() throws {
    let collected = Collected<Int>()
    let server = try TestServer()
    defer { server.stop() }
    let box = Mailbox<Int>(waking: server.transport.mailbox)
    _ = try server.onLoop { server in
      server.onWoken = { _ in for value in box.collect() { collected.append(value) } }
      return true
    }
    for value in 0..<1000 { box.post(value) }
    let count = try server.onLoop { _ in collected.all.count }
    // The last post may still be on its way behind the question; ask once more.
    let all = try server.onLoop { _ in collected.all }
    #expect(count <= all.count)
    #expect(all == Array(0..<1000))
    #expect(server.log.all.contains(.woken))
  }

  @Test func `an owner that requests another turn gets it at once, and its data is written`() throws
  {
    // No tick comes while the test runs, so nothing else turns the loop.
    let server = try TestServer { _, configuration in configuration.tickMilliseconds = 600_000 }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    defer { client.shut() }
    let id = try server.log.opened()
    let isArmed = try server.onLoop { server in
      var turnsLeft = 3
      server.onTurnEnded = { server in
        guard turnsLeft > 0 else { return false }
        server.transport.send(Frame(.text, payload: Array("turn \(turnsLeft)".utf8)), to: id)
        turnsLeft -= 1
        return turnsLeft > 0
      }
      return true
    }
    #expect(isArmed)
    for turn in [3, 2, 1] {
      #expect(try client.receive().payload == Array("turn \(turn)".utf8))
    }
  }
}

/// Releases a test's thread once for each of a loop's ticks.
private final class TickGate: @unchecked Sendable {
  // Unchecked: a semaphore is made for several threads.
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(semaphore, 0, 0) }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func open() { sem_post(semaphore) }
  func wait() { sem_wait(semaphore) }
}
