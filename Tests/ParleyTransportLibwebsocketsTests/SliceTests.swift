import ParleyGatewayPorts
import Glibc
import ParleyLocks
import Testing
import ParleyTransportLibwebsockets
import ParleyWebSocketFrames

/// Long frames to many connections, which several turns of the loop write.
@Suite("Sending in slices")
struct SliceTests {
  /// Holds a thread until another one opens it.
  private final class Gate: @unchecked Sendable {
    // Unchecked: a semaphore is made for several threads.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
      sem_destroy(semaphore)
      semaphore.deallocate()
    }

    func wait() { sem_wait(semaphore) }
    func open() { sem_post(semaphore) }
  }

  /// The bytes that wait for each follower, and for the client that sends a ping, at the end of a turn.
  private struct Turn: Sendable {
    var followers: [Int]
    var pinger: Int
    /// Whether the ping has been received.
    var isAfterPing: Bool
  }

  private struct Run: Sendable {
    var followers: [ConnectionID] = []
    var pinger: ConnectionID?
    var hasSent = false
    var hasPing = false
    var turns: [Turn] = []
  }

  private static let sliceBytes = 64 << 10

  /// Four hundred followers, whose first slices are too much for three turns.
  @Test("a ping is answered between the slices of a long frame to a crowd")
  func crowd() throws {
    let long = Frame(.binary, payload: Bytes.repeating(Bytes.values, count: 100_000))
    let end = Frame(payload: Array("end".utf8))
    let run = Locked(Run())
    let server = try TestServer { server, _ in
      let echo = server.onReceived
      server.onReceived = { server, id, message, kind in
        run.withLock { $0.hasPing = $0.hasSent }
        echo(server, id, message, kind)
      }
      server.onTurnEnded = { server in
        run.withLock { run in
          guard run.hasSent, let pinger = run.pinger else { return }
          run.turns.append(
            Turn(
              followers: run.followers.map(server.transport.queuedBytes),
              pinger: server.transport.queuedBytes(for: pinger), isAfterPing: run.hasPing))
        }
        return false
      }
    }
    defer { server.stop() }
    let pinger = try TestClient.open(port: server.port)
    let followers = try (0..<400).map { _ in try TestClient.open(port: server.port) }
    _ = try server.onLoop { server in
      run.withLock { ($0.pinger, $0.followers) = (server.open[0], Array(server.open[1...])) }
    }
    let (inside, gate) = (Gate(), Gate())
    server.transport.mailbox.post {
      inside.open()
      gate.wait()
      let ids = run.withLock { run in
        run.hasSent = true
        return run.followers
      }
      for frame in [long, end] { server.transport.send(frame, to: ids) }
    }
    // The turn has read from its sockets: the ping is for the next one.
    inside.wait()
    try pinger.sendText("ping")
    gate.open()
    #expect(try pinger.receive().text == "ping")
    for follower in followers {
      #expect(try Bytes.areEqual(follower.receive().payload, Array(long.payload)))
      #expect(try follower.receive().text == "end")
    }
    let turns = run.withLock { $0.turns }
    let whole = long.byteCount + end.byteCount
    // After the answer has gone, some followers have not had anything.
    #expect(turns.contains { $0.isAfterPing && $0.pinger == 0 && $0.followers.contains(whole) })
    for turn in turns {
      let (least, most) = (turn.followers.min() ?? 0, turn.followers.max() ?? 0)
      #expect(most - least <= Self.sliceBytes, "a second slice before the first of another")
    }
    #expect(try server.onLoop { $0.transport.queuedBytesBound } == 0)
  }

  @Test("a queue over the limit closes no connection whose socket has room")
  func limit() throws {
    let server = try TestServer { $1.queuedBytesMax = 1 << 20 }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    let frame = Frame(.binary, payload: Bytes.repeating(Bytes.values, count: 300_000))
    let queued = try server.onLoop { server in
      for _ in 0..<4 { server.transport.send(frame, to: id) }
      return server.transport.queuedBytes(for: id)
    }
    #expect(queued <= 1 << 20 && queued > 512 << 10)
    for _ in 0..<4 {
      #expect(try Bytes.areEqual(client.receive().payload, Array(frame.payload)))
    }
    // Bytes that the transport wrote at once because of the limit cause a `drained`, too.
    try server.log.wait("the drained event") { $0 == .drained(id) ? true : nil }
  }

  @Test("a connection is stalled while its socket is full, and not while it waits for a turn")
  func stalled() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient.open(port: server.port, receiveBuffer: 4096)
    let id = try server.log.opened()
    let frame = Frame(.binary, payload: Bytes.repeating(Bytes.values, count: 6_000_000))
    let atOnce = try server.onLoop { server in
      server.transport.send(frame, to: id)
      return server.transport.isStalled(id)
    }
    #expect(!atOnce)
    #expect(try server.onLoop { $0.transport.isStalled(id) })
    #expect(try client.receive().payload.count == 6_000_000)
    try server.log.wait("the drained event") { $0 == .drained(id) ? true : nil }
    #expect(try !server.onLoop { $0.transport.isStalled(id) })
  }

  @Test("a stop sends all that was queued, in slices, before it closes")
  func stop() throws {
    let server = try TestServer { server, _ in server.onReceived = { _, _, _, _ in } }
    let clients = try (0..<200).map { _ in try TestClient.open(port: server.port) }
    let frame = Frame(.binary, payload: Bytes.repeating(Bytes.values, count: 100_000))
    let stopper = Stopper(server)
    _ = try server.onLoop { server in
      server.transport.send(frame, to: server.open)
      return true
    }
    stopper.begin()
    for client in clients {
      #expect(try Bytes.areEqual(client.receive().payload, Array(frame.payload)))
      #expect(try client.receive().closeCode == 4002)
      try client.sendClose(4002)
    }
    stopper.finish()
  }
}
