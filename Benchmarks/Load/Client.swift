import Glibc
import ParleyWebSocketFrames

/// The work that a workload does with its connections.
protocol Workload: AnyObject {
  /// Called after the handshake.
  func opened(_ connection: Int, _ client: Client)
  /// Called with a whole message, whose bytes are valid only during the call.
  func received(_ connection: Int, _ payload: UnsafeRawBufferPointer, _ client: Client)
  /// Called when the server has closed a connection, which most workloads do not expect.
  func closed(_ connection: Int, _ client: Client)
}

extension Workload {
  func closed(_ connection: Int, _ client: Client) {
    fail("the server has closed connection \(connection)")
  }
}

/// Many WebSocket connections on one thread, distributed evenly among the servers.
///
/// The client does as little as possible, so that it is not the bottleneck: frames are masked once,
/// each read is parsed in place, and only incomplete messages are copied.
final class Client {
  private struct Connection {
    enum Phase { case none, connecting, encrypting, shaking, open }
    var line = Line()
    var phase = Phase.none
    var request: [UInt8] = []
    /// The bytes of an incomplete frame.
    var rest: [UInt8] = []
    /// The length of the incomplete frame, head included; 0 if its head is incomplete.
    var awaited = 0
    /// The fragments of an incomplete message.
    var fragments: [UInt8] = []
    /// Bytes that the socket has not accepted.
    var unsent: [UInt8] = []
    var isWatchedForWriting = false
  }

  // The key of RFC 6455, section 1.3. It is constant, so the server's answer is, too.
  static let key = "dGhlIHNhbXBsZSBub25jZQ=="
  static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
  private static let room = 1 << 25
  /// The mask of all frames. It is constant, so each frame is encoded once; nothing here needs
  /// masking.
  static let maskKey: UInt32 = 0x8ec3_175a

  private let ports: [Int]
  private let tls: ClientTLS?
  private let poller = Poller()
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 16)
  private var connections: [Connection] = []
  private(set) var openCount = 0
  /// The number of completed handshakes, including those of closed connections.
  private(set) var handshakes = 0
  /// Whether connections end with a reset; otherwise the system reserves their ports for a minute.
  var resetsAtClose = false

  init(ports: [Int], tls: ClientTLS? = nil) {
    self.ports = ports
    self.tls = tls
    signal(SIGPIPE, SIG_IGN)
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  var serverCount: Int { ports.count }

  /// The index of a connection's server, from 0.
  func server(of index: Int) -> Int { index % ports.count }

  // MARK: Opening and closing

  /// Begins to connect. Returns the connection's index.
  @discardableResult
  func connect(_ path: String, subprotocol: String? = nil) -> Int {
    connections.append(Connection())
    connect(again: connections.count - 1, path, subprotocol: subprotocol)
    return connections.count - 1
  }

  func connect(again index: Int, _ path: String, subprotocol: String? = nil) {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard file >= 0 else { fail("socket: \(lastError())") }
    var one: Int32 = 1
    setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    if resetsAtClose {
      var at = linger(l_onoff: 1, l_linger: 0)
      setsockopt(file, SOL_SOCKET, SO_LINGER, &at, socklen_t(MemoryLayout<linger>.size))
    }
    let port = ports[server(of: index)]
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 || errno == EINPROGRESS else { fail("connect: \(lastError())") }
    var request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\n"
    request += "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    request += "Sec-WebSocket-Key: \(Self.key)\r\n"
    if let subprotocol { request += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
    connections[index].line = Line(file: file, tls: tls)
    connections[index].phase = .connecting
    connections[index].request = Array((request + "\r\n").utf8)
    connections[index].isWatchedForWriting = true
    poller.add(file, as: index, writing: true)
  }

  func close(_ index: Int) {
    guard connections[index].phase != .none else { return }
    if connections[index].phase == .open { openCount -= 1 }
    connections[index].line.close()
    connections[index] = Connection()
  }

  // MARK: Sending

  /// Sends a frame as it is.
  func send(_ frame: Frame, on index: Int) {
    frame.withUnsafeBytes { send($0, on: index) }
  }

  private func send(_ bytes: UnsafeRawBufferPointer, on index: Int) {
    var sent = 0
    if connections[index].unsent.isEmpty {
      sent = connections[index].line.send(bytes)
      if sent == bytes.count { return }
      if sent < 0 {
        guard sent == Line.blocked else { fail("send: \(lastError())") }
        sent = 0
      }
    }
    connections[index].unsent += bytes[sent...]
    watch(index, forWriting: true)
  }

  private func watch(_ index: Int, forWriting: Bool) {
    guard connections[index].isWatchedForWriting != forWriting else { return }
    connections[index].isWatchedForWriting = forWriting
    poller.modify(connections[index].line.file, as: index, writing: forWriting)
  }

  private func flush(_ index: Int) {
    let sent = connections[index].unsent.withUnsafeBytes { connections[index].line.send($0) }
    if sent < 0 {
      guard sent == Line.blocked else { fail("send: \(lastError())") }
      return
    }
    connections[index].unsent.removeFirst(sent)
    if connections[index].unsent.isEmpty { watch(index, forWriting: false) }
  }

  // MARK: Turning

  /// Waits for events and passes on what the sockets have received.
  func turn(milliseconds: Int, _ workload: some Workload) {
    poller.wait(milliseconds: milliseconds) { index, isWritable in
      switch connections[index].phase {
      case .none: return
      case .connecting: connected(index)
      case .encrypting: encrypt(index)
      case .shaking, .open:
        if isWritable, !connections[index].unsent.isEmpty { flush(index) }
        read(index, workload)
      }
    }
  }

  private func connected(_ index: Int) {
    var error: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(connections[index].line.file, SOL_SOCKET, SO_ERROR, &error, &size)
    guard error == 0 else { fail("connect: \(String(cString: strerror(error)))") }
    connections[index].phase = .encrypting
    watch(index, forWriting: false)
    encrypt(index)
  }

  /// Continues the TLS handshake, if there is one, then begins the WebSocket handshake.
  private func encrypt(_ index: Int) {
    guard connections[index].line.shake() else { return }
    connections[index].phase = .shaking
    let request = connections[index].request
    connections[index].request = []
    request.withUnsafeBytes { send($0, on: index) }
  }

  private func read(_ index: Int, _ workload: some Workload) {
    guard let base = buffer.baseAddress else { return }
    let kept = connections[index].rest.count
    // A larger message would need another reader; no server here sends one.
    guard kept < Self.room else { fail("a message is longer than \(Self.room) bytes") }
    let got = connections[index].line.receive(base + kept, Self.room - kept)
    if got <= 0 {
      if got == Line.blocked { return }
      if connections[index].phase == .shaking { fail("the server closed during the handshake") }
      close(index)
      workload.closed(index, self)
      return
    }
    if kept > 0 {
      // A long frame is assembled once, not at every read.
      guard kept + got >= connections[index].awaited else {
        return keep(UnsafeRawBufferPointer(start: base + kept, count: got), of: index)
      }
      connections[index].rest.withUnsafeBytes { buffer.copyMemory(from: $0) }
      connections[index].rest.removeAll(keepingCapacity: kept < 1 << 16)
      connections[index].awaited = 0
    }
    var bytes = UnsafeRawBufferPointer(start: base, count: kept + got)
    if connections[index].phase == .shaking {
      guard let length = answerLength(bytes) else { return keep(bytes, of: index) }
      connections[index].phase = .open
      openCount += 1
      handshakes += 1
      bytes = UnsafeRawBufferPointer(rebasing: bytes[length...])
      workload.opened(index, self)
    }
    parse(bytes, index, workload)
  }

  private func keep(_ bytes: UnsafeRawBufferPointer, of index: Int) {
    if !bytes.isEmpty { connections[index].rest += bytes }
  }

  /// Returns the length of the handshake's response; `nil` if it is incomplete.
  private func answerLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: [13, 10, 13, 10]) })
    else { return nil }
    guard text.hasPrefix("HTTP/1.1 101"), text.contains(Self.accept) else {
      fail("the server did not upgrade: \(text.prefix(300))")
    }
    return end + 4
  }

  private func parse(_ bytes: UnsafeRawBufferPointer, _ index: Int, _ workload: some Workload) {
    var bytes = bytes
    while let head = FrameCoding.head(bytes), bytes.count >= head.length + head.payloadLength {
      guard !head.isMasked else { fail("the server sends what it should not") }
      let end = head.length + head.payloadLength
      let payload = UnsafeRawBufferPointer(rebasing: bytes[head.length..<end])
      switch head.opcode {
      case 1 where head.isFinal, 2 where head.isFinal: workload.received(index, payload, self)
      case 0, 1, 2:
        connections[index].fragments += payload
        if head.isFinal {
          let whole = connections[index].fragments
          connections[index].fragments = []
          whole.withUnsafeBytes { workload.received(index, $0, self) }
        }
      case 8:
        close(index)
        workload.closed(index, self)
      case 9: send(.pong(payload, maskKey: Self.maskKey), on: index)
      default: break
      }
      guard connections[index].phase == .open else { return }
      bytes = UnsafeRawBufferPointer(rebasing: bytes[end...])
    }
    if let head = FrameCoding.head(bytes) {
      connections[index].awaited = head.length + head.payloadLength
    }
    keep(bytes, of: index)
  }
}
