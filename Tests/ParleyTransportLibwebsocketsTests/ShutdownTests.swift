import ParleyGatewayPorts
import Glibc
import Testing
import ParleyTransportLibwebsockets
import ParleyWebSocketFrames

@Suite("Starting and stopping", .serialized)
struct ShutdownTests {
  @Test func `a transport without connections stops`() throws {
    for _ in 0..<20 {
      let server = try TestServer()
      server.stop()
    }
  }

  @Test func `stopping twice does nothing`() throws {
    let server = try TestServer()
    server.stop()
    server.stop()
    #expect(!server.transport.mailbox.post {})
    #expect(!server.transport.mailbox.wake())
  }

  @Test func `every client gets a close frame after its queued frames`() throws {
    let server = try TestServer { server, _ in server.onReceived = { _, _, _, _ in } }
    let clients = try (0..<20).map { _ in try TestClient.open(port: server.port) }
    let ids = try server.onLoop { server in
      for id in server.open { server.transport.send(Frame(payload: Array("last".utf8)), to: id) }
      return server.open
    }
    #expect(ids.count == 20)
    let stopper = Stopper(server)
    stopper.begin()
    for client in clients {
      #expect(try client.receive().text == "last")
      let close = try client.receive()
      #expect(close.closeCode == 4002)
      #expect(close.closeReason == "restarting")
      try client.sendClose(4002)
      #expect(try client.isAtEnd())
    }
    stopper.finish()
    for id in ids { try server.log.closed(id) }
  }

  @Test func `clients that do not answer are disconnected in time`() throws {
    let server = try TestServer()
    let deaf = try TestClient.open(port: server.port)
    let id = try server.log.opened()
    server.transport.stop(within: 100)
    try server.log.closed(id)
    #expect(try deaf.receiveClose().closeCode == 1001)
  }

  @Test func `a request in hand is answered before the end`() throws {
    let server = try TestServer { server, _ in server.onRequest = { _, _, _, _ in } }
    let client = try TestClient(port: server.port)
    try client.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
    let id = try server.log.wait("the request") {
      if case .requested(let id, _) = $0 { id } else { nil }
    }
    let stopper = Stopper(server)
    stopper.begin()
    _ = try server.onLoop {
      $0.transport.respond(to: id, with: Response(status: 200, body: Array("done".utf8)))
      return true
    }
    #expect(try client.answer().text == "done")
    stopper.finish()
  }

  @Test func `after stopAccepting new clients are refused, and connected ones stay`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let port = server.port
    let client = try TestClient.open(port: port)
    server.transport.stopAccepting()
    #expect(throws: TestClient.Failure.self) { _ = try TestClient(port: port).handshake() }
    try client.sendText("still")
    #expect(try client.receive().text == "still")
  }

  @Test func `no descriptors remain after stopping`() async {
    // In a process of its own, since other tests open descriptors, too.
    await #expect(processExitsWith: .success) {
      // Descriptors that the first start opens permanently do not count.
      let warm = try TestServer()
      _ = try TestClient.open(port: warm.port)
      warm.stop()
      let before = openDescriptors()
      for _ in 0..<8 {
        let server = try TestServer()
        let clients = try (0..<10).map { _ in try TestClient.open(port: server.port) }
        let idle = try TestClient(port: server.port)
        for client in clients { try client.sendText("x") }
        for client in clients { _ = try client.receive() }
        server.transport.stop(within: 50)
        withExtendedLifetime(idle) {}
      }
      let after = openDescriptors()
      // The run time opens a few of its own at any moment; a leak would come eightfold.
      #expect(after < before + 8)
    }
  }

  @Test func `a port in use is reported`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let port = server.port
    let error = #expect(throws: TransportError.self) {
      _ = try TestServer { $1.port = port }
    }
    #expect(error == .addressInUse(host: "127.0.0.1", port: port))
    #expect(error?.description.contains("choose another port") == true)
  }

  @Test func `unknown hosts and foreign addresses are reported`() throws {
    let foreign = #expect(throws: TransportError.self) {
      _ = try TestServer { $1.hosts = ["192.0.2.77"] }
    }
    guard case .cannotListen("192.0.2.77", _, _) = foreign else {
      Issue.record("got \(String(describing: foreign))")
      return
    }
    let unknown = #expect(throws: TransportError.self) {
      _ = try TestServer { $1.hosts = ["256.1.1.1.invalid"] }
    }
    guard case .unknownHost = unknown else {
      Issue.record("got \(String(describing: unknown))")
      return
    }
  }

  @Test(arguments: [
    (["::"], ["127.0.0.1", "::1"]), (["0.0.0.0"], ["127.0.0.1"]),
    (["127.0.0.1", "::1"], ["127.0.0.1", "::1"]),
    (["127.0.0.1", "127.0.0.2"], ["127.0.0.1", "127.0.0.2"]),
    // What another address contains is bound once.
    (["127.0.0.1", "::", "0.0.0.0"], ["127.0.0.1", "::1"]),
    (["127.0.0.1", "127.0.0.1"], ["127.0.0.1"]),
  ])
  func `several addresses share one port`(hosts: [String], reachable: [String]) throws {
    let server = try TestServer { $1.hosts = hosts }
    defer { server.stop() }
    for address in reachable where address != "::1" || hasIPv6 {
      #expect(connects(to: address, port: server.port), "\(address)")
    }
  }

  @Test func `of several hosts the unusable one is named, and nothing stays open`() throws {
    let error = #expect(throws: TransportError.self) {
      _ = try TestServer { $1.hosts = ["127.0.0.1", "192.0.2.77"] }
    }
    guard case .cannotListen("192.0.2.77", let port, _) = error else {
      Issue.record("got \(String(describing: error))")
      return
    }
    #expect(port != 0)
    #expect(!connects(to: "127.0.0.1", port: port))
  }

  @Test func `localhost serves both families on one port`() throws {
    let server = try TestServer { $1.hosts = ["localhost"] }
    defer { server.stop() }
    let client = try TestClient.open(port: server.port)
    try client.sendText("x")
    #expect(try client.receive().text == "x")
  }
}

/// Whether this machine has a loopback address of IPv6.
private let hasIPv6 = access("/proc/net/if_inet6", R_OK) == 0

/// Whether a connection to an address is accepted.
private func connects(to address: String, port: Int) -> Bool {
  var hints = addrinfo()
  hints.ai_flags = AI_NUMERICHOST
  hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
  var list: UnsafeMutablePointer<addrinfo>?
  guard getaddrinfo(address, "\(port)", &hints, &list) == 0, let entry = list?.pointee else {
    return false
  }
  defer { freeaddrinfo(list) }
  let descriptor = socket(entry.ai_family, entry.ai_socktype, 0)
  defer { close(descriptor) }
  return connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0
}

private func openDescriptors() -> Int {
  guard let folder = opendir("/proc/self/fd") else { return -1 }
  defer { closedir(folder) }
  var count = 0
  while readdir(folder) != nil { count += 1 }
  return count
}

/// Stops a server beside the test's own thread.
final class Stopper: @unchecked Sendable {
  private let server: TestServer
  private var thread = pthread_t()

  init(_ server: TestServer) { self.server = server }

  func begin() {
    pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let stopper = Unmanaged<Stopper>.fromOpaque(argument).takeRetainedValue()
        stopper.server.transport.stop(
          code: CloseCode(4002), reason: "restarting", within: 10_000)
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
  }

  func finish() { pthread_join(thread, nil) }
}
