import ParleyGatewayPorts
import Glibc
import Testing
import ParleyTransportLibwebsockets

/// Three loops that serve together. A path `/to/N…` belongs to loop *N*.
private final class Crew {
  let balancer: ConnectionBalancer
  let servers: [TestServer]
  var port: Int { servers[0].port }

  init(_ change: (inout LibwebsocketsTransport.Configuration) -> Void = { _ in }) throws {
    var configuration = LibwebsocketsTransport.Configuration()
    change(&configuration)
    let shaped = configuration
    let balancer = ConnectionBalancer(
      count: 3, configuration: shaped,
      home: { head in
        head.path.hasPrefix("/to/") ? Int(head.path.dropFirst(4).prefix(1)) : nil
      })
    self.balancer = balancer
    // The first last: it listens.
    servers = try (0..<3).reversed().map { place in
      try TestServer(in: balancer, place: place) { server, configuration in
        configuration = shaped
        server.onRequest = { server, id, head, body in
          server.transport.respond(
            to: id, with: Response(status: 200, body: Array("\(place) \(head.path) ".utf8) + body))
        }
      }
    }.reversed()
  }

  deinit { for server in servers { server.stop() } }
}

@Suite("Several loops", .serialized)
struct ConnectionBalancerTests {
  @Test func `connections are distributed evenly, and their ids contain the loop`() throws {
    let balancer = try Crew()
    var clients = try (0..<9).map { _ in try TestClient.open(port: balancer.port) }
    for (index, client) in clients.enumerated() {
      try client.sendText("hello \(index)")
      #expect(try client.receive().text == "hello \(index)")
    }
    var ids: Set<ConnectionID> = []
    for (place, server) in balancer.servers.enumerated() {
      let open = try server.onLoop { $0.open }
      #expect(open.count == 3)
      #expect(open.allSatisfy { ConnectionBalancer.loop(of: $0) == place })
      ids.formUnion(open)
    }
    #expect(ids.count == 9)
    // Who is missing somewhere is made up for there.
    let leaving = try balancer.servers[1].onLoop { $0.open }
    for id in leaving {
      try balancer.servers[1].onLoop { $0.transport.close(id, code: CloseCode(1000), reason: "") }
    }
    for client in clients {
      // Closed clients notice it; the others have nothing to read.
      try client.sendText("?")
      if try client.receive().opcode == 8 { try client.sendClose(1000) }
    }
    for id in leaving { try balancer.servers[1].log.closed(id) }
    clients += try (0..<3).map { _ in try TestClient.open(port: balancer.port) }
    for server in balancer.servers { #expect(try server.onLoop { $0.open.count } == 3) }
  }

  @Test(arguments: ["", "x", String(repeating: "long ", count: 50_000)])
  func `a request is answered by the loop where it belongs, on any connection`(body: String) throws
  {
    let balancer = try Crew()
    let clients = try (0..<4).map { _ in try TestClient(port: balancer.port) }
    for round in 0..<4 {
      for (index, client) in clients.enumerated() {
        let place = (round + index) % 3
        let path = "/to/\(place)/\(round)"
        let answer = try client.request(path, "POST", body: body)
        #expect(answer.status == 200)
        #expect(answer.text == "\(place) \(path) " + body)
      }
    }
  }

  @Test func `a long body is accepted and read by the loop of its request`() throws {
    let balancer = try Crew { $0.bodyBytesMax = 10 }
    for server in balancer.servers {
      _ = try server.onLoop { server in
        server.onBody = { [place = server.place] _, head in
          // Only the loop of the path takes it.
          head.path.hasPrefix("/to/\(place)")
            ? .take(upTo: 100_000, for: Holder(address: nil)) : .tooLong
        }
        return true
      }
    }
    let body = String(repeating: "long ", count: 10_000)
    let client = try TestClient(port: balancer.port)
    for place in [2, 1, 1, 0] {
      let path = "/to/\(place)/x"
      #expect(try client.request(path, "POST", body: body).text == "\(place) \(path) " + body)
      try client.write("POST \(path) HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      try client.write("5\r\n01234\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n")
      #expect(try client.answer().text == "\(place) \(path) 012340123456789abcdef")
    }
  }

  @Test func `bytes read after a request move with it`() throws {
    let balancer = try Crew()
    let client = try TestClient(port: balancer.port)
    let paths = ["/to/2/a", "/to/2/b", "/any", "/to/2/c"]
    try client.write(paths.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
    for path in paths { #expect(try client.answer().text == "2 \(path) ") }
    // A client that asks another loop before it has one loop's answer has to wait.
    try client.write(
      ["/to/2/a", "/to/1/b"].map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
    #expect(try client.answer().text == "2 /to/2/a ")
    let refusal = try client.answer()
    #expect(refusal.status == 503 && refusal.text.contains("at a time"))
    #expect(try client.isAtEnd())
  }

  @Test func `a WebSocket is opened in the loop of its request`() throws {
    let balancer = try Crew()
    for place in [1, 0, 2, 1] {
      let client = try TestClient.open(port: balancer.port, "/to/\(place)")
      try client.sendText("here")
      #expect(try client.receive().text == "here")
      let open = try balancer.servers[place].onLoop { $0.open }
      #expect(open.count == 1)
      try client.sendClose(1000)
      _ = try client.receiveClose()
      for id in open { try balancer.servers[place].log.closed(id) }
    }
  }

  @Test func `the limit of connections applies to all loops together`() throws {
    let balancer = try Crew { $0.connectionsMax = 4 }
    let clients = try (0..<4).map { try TestClient.open(port: balancer.port, "/to/\($0 % 3)") }
    let late = try TestClient(port: balancer.port)
    #expect(try late.answer().status == 503)
    try clients[0].sendClose(1000)
    _ = try clients[0].receiveClose()
    #expect(try clients[0].isAtEnd())
    let last = try TestClient.open(port: balancer.port)
    try last.sendText("in")
    #expect(try last.receive().text == "in")
  }

  @Test func `a request to an ended loop is closed, and the others continue`() throws {
    let balancer = try Crew()
    balancer.servers[1].stop()
    let client = try TestClient.open(port: balancer.port, "/to/2")
    let asking = try TestClient(port: balancer.port)
    try asking.write("GET /to/1 HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try asking.isAtEnd())
    try client.sendText("still")
    #expect(try client.receive().text == "still")
  }

  @Test func `a turn accepts 256 of many connections, and all are accepted in the end`() throws {
    let balancer = try Crew()
    let clients = try (0..<420).map { _ in try TestClient(port: balancer.port) }
    var movers: [TestClient] = []
    for client in clients {
      if try !client.request("/any", "GET", body: "").text.hasPrefix("1 ") { movers.append(client) }
    }
    #expect(movers.count == 280)
    let turns = TurnCounts()
    try balancer.servers[1].onLoop { server in
      let answer = server.onRequest
      server.onRequest = {
        turns.count()
        answer($0, $1, $2, $3)
      }
      server.onTurnEnded = { _ in
        turns.end()
        return false
      }
    }
    // The loop waits until all are in its mailbox; none of them is among those taken.
    balancer.servers[1].transport.mailbox.post { turns.hold() }
    turns.waitUntilHeld()
    for client in movers { try client.write("GET /to/1 HTTP/1.1\r\nHost: a\r\n\r\n") }
    for place in [0, 2] {
      while try balancer.servers[place].onLoop({ $0.transport.connectionCount }) > 0 {}
    }
    turns.release()
    for client in movers { #expect(try client.answer().text == "1 /to/1 ") }
    let counts = try balancer.servers[1].onLoop { _ in turns.counts }
    #expect(counts.reduce(0, +) == 280)
    #expect(counts.max() == 256)
  }
}

/// Requests of each turn of a loop. Used on the loop's thread, but for what waits for it and ``release()``.
private final class TurnCounts: @unchecked Sendable {
  private(set) var counts: [Int] = []
  private var requests = 0
  private var held = sem_t()
  private var released = sem_t()

  init() {
    sem_init(&held, 0, 0)
    sem_init(&released, 0, 0)
  }

  func count() { requests += 1 }

  func end() {
    if requests > 0 { counts.append(requests) }
    requests = 0
  }

  func hold() {
    sem_post(&held)
    sem_wait(&released)
  }

  func waitUntilHeld() { sem_wait(&held) }
  func release() { sem_post(&released) }
}
