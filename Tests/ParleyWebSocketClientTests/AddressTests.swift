import Glibc
import Testing
import ParleyWebSocketClient

@Suite("Hosts with several addresses", .timeLimit(.minutes(30)))
struct AddressTests {
  /// A port of this machine: one that answers, or one whose queue is full, so that the system swallows
  /// requests to connect.
  private final class Port {
    let number: UInt16
    let listener: Int32
    private var fillers: [Int32] = []

    init(backlog: Int32) throws {
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.loopback(0)
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let descriptor = listener
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(descriptor, address, size) == 0 && listen(descriptor, backlog) == 0
            && getsockname(descriptor, address, &size) == 0
        }
      }
      try #require(isBound)
      number = UInt16(bigEndian: address.sin_port)
    }

    deinit {
      for filler in fillers { close(filler) }
      close(listener)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      address.sin_port = port.bigEndian
      return address
    }

    /// Takes the places of the queue.
    func fill() {
      for _ in 0..<8 {
        let filler = socket(
          AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = Self.loopback(number)
        _ = withUnsafePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(filler, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
        fillers.append(filler)
      }
    }

    /// Answers the first connection with a status.
    static func answer(_ status: Int, on listener: Int32) {
      let client = accept(listener, nil, nil)
      let text = Array("HTTP/1.1 \(status) Busy\r\n\r\n".utf8)
      _ = text.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      close(client)
    }
  }

  @Test("an address that does not answer is followed by the next")
  func swallowing() async throws {
    let silent = try Port(backlog: 0)
    silent.fill()
    let open = try Port(backlog: 8)
    let addresses = [silent.number, open.number].flatMap { port in
      SocketAddress.all(of: "127.0.0.1", port: port)
    }
    let url = try #require(WebSocketURL("ws://127.0.0.1:\(silent.number)"))
    var options = WebSocketConnection.Options()
    options.addressMilliseconds = 20
    let thread = Thread { [listener = open.listener] in Port.answer(503, on: listener) }
    defer { withExtendedLifetime((silent, open)) { thread.join() } }
    await #expect(throws: WebSocketFailure.status(503)) {
      try await WebSocketConnection.open(url, options, addresses: addresses)
    }
  }

  @Test("a host is unreachable if no address accepts connections, with the last reason")
  func refusing() async throws {
    let ports = try [Port(backlog: 1), Port(backlog: 1)].map(\.number)
    let addresses = ports.flatMap { SocketAddress.all(of: "127.0.0.1", port: $0) }
    let url = try #require(WebSocketURL("ws://127.0.0.1:\(ports[0])"))
    await #expect(throws: WebSocketFailure.unreachable("Connection refused")) {
      try await WebSocketConnection.open(url, WebSocketConnection.Options(), addresses: addresses)
    }
  }
}

/// A thread that can be waited for.
private final class Thread {
  private var thread = pthread_t()

  init(_ body: @escaping @Sendable () -> Void) {
    final class Box {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    pthread_create(
      &thread, nil,
      { box in
        if let box { Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(Box(body)).toOpaque())
  }

  func join() { pthread_join(thread, nil) }
}
