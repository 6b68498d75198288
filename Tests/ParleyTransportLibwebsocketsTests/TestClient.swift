import Glibc

/// A client over a blocking socket on loopback: what it sends is exactly what a test says.
final class TestClient {
  struct Failure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
  }

  /// A WebSocket frame as it came.
  struct Incoming: Equatable {
    var isFinal = true
    var opcode: UInt8
    var payload: [UInt8]
    var text: String { String(decoding: payload, as: UTF8.self) }
    var closeCode: Int? {
      opcode == 8 && payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil
    }
    var closeReason: String { String(decoding: payload.dropFirst(2), as: UTF8.self) }
  }

  /// A whole HTTP response.
  struct Answer {
    var status: Int
    var headers: [String: String]
    var body: [UInt8]
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  let descriptor: Int32
  private var inbox = Inbox()
  private var isShut = false

  /// - Parameter source: The last number of the loopback address to connect from.
  init(port: Int, receiveBuffer: Int32? = nil, source: UInt8? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    // Long enough for a loaded machine; a test that gets here has failed.
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var one: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    if var size = receiveBuffer {
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    func address(_ last: UInt8, port: Int) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = (UInt32(0x7f00_0000) + UInt32(last)).bigEndian
      return address
    }
    if let source {
      var own = address(source, port: 0)
      let status = withUnsafePointer(to: &own) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard status == 0 else { throw Failure("bind: \(String(cString: strerror(errno)))") }
    }
    var address = address(1, port: port)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Failure("connect: \(String(cString: strerror(errno)))") }
  }

  deinit { shut() }

  /// Closes the socket at once.
  func shut() {
    if !isShut { _ = close(descriptor) }
    isShut = true
  }

  /// Closes it with a reset.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    shut()
  }

  /// Ends the sending side alone.
  func endSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  // MARK: Bytes

  func write(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        let rest = UnsafeRawBufferPointer(rebasing: $0[sent...])
        return send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure("send: \(String(cString: strerror(errno)))") }
      sent += count
    }
  }

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  /// More bytes from the socket; `false` at its end.
  private func fill() throws -> Bool {
    let count = inbox.fill { recv(descriptor, $0.baseAddress, $0.count, 0) }
    if count < 0 {
      if errno == ECONNRESET { return false }
      throw Failure("recv: \(String(cString: strerror(errno)))")
    }
    return count > 0
  }

  private func take(_ take: (inout Inbox) -> [UInt8]?) throws -> [UInt8] {
    while true {
      if let bytes = take(&inbox) { return bytes }
      guard try fill() else { throw Failure("the server closed the connection") }
    }
  }

  private func take(_ count: Int) throws -> [UInt8] { try take { $0.take(count) } }

  /// Whether the server has closed, with nothing more to read.
  func isAtEnd() throws -> Bool {
    if !inbox.isEmpty { return false }
    return try !fill()
  }

  func takeForTest(_ count: Int) throws -> [UInt8] { try take(count) }

  // MARK: HTTP

  func request(
    _ target: String, _ method: String = "GET", headers: [String] = [], body: String? = nil
  ) throws -> Answer {
    var text = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
    for header in headers { text += header + "\r\n" }
    if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
    try write(text + "\r\n" + (body ?? ""))
    return try answer(to: method)
  }

  func answer(to method: String = "GET") throws -> Answer {
    let head = try take { $0.take(through: [13, 10, 13, 10]) }
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    guard let status = lines.first.flatMap({ Int($0.split(separator: " ")[1]) }) else {
      throw Failure("no status line")
    }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
    }
    if status == 100 { return try answer(to: method) }
    let length = method == "HEAD" ? 0 : headers["content-length"].flatMap { Int($0) } ?? 0
    return Answer(status: status, headers: headers, body: try take(length))
  }

  // MARK: WebSocket

  static let key = "dGhlIHNhbXBsZSBub25jZQ=="

  /// Sends a handshake, leaving out or replacing what a test wants to be wrong.
  func handshake(
    _ target: String = "/ws", key: String? = TestClient.key, version: String? = "13",
    subprotocols: String? = nil, headers: [String] = []
  ) throws -> Answer {
    var text = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    text += "Connection: Upgrade\r\n"
    if let key { text += "Sec-WebSocket-Key: \(key)\r\n" }
    if let version { text += "Sec-WebSocket-Version: \(version)\r\n" }
    if let subprotocols { text += "Sec-WebSocket-Protocol: \(subprotocols)\r\n" }
    for header in headers { text += header + "\r\n" }
    try write(text + "\r\n")
    return try answer()
  }

  /// A client whose handshake was accepted.
  static func open(
    port: Int, _ target: String = "/ws", subprotocols: String? = nil, receiveBuffer: Int32? = nil
  ) throws -> TestClient {
    let client = try TestClient(port: port, receiveBuffer: receiveBuffer)
    let answer = try client.handshake(target, subprotocols: subprotocols)
    guard answer.status == 101 else { throw Failure("status \(answer.status): \(answer.text)") }
    return client
  }

  /// A masked frame.
  static func frame(
    _ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, declaring length: Int? = nil,
    mask: [UInt8]? = [0x37, 0xfa, 0x21, 0x3d]
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(14 + payload.count)
    bytes.append((isFinal ? 0x80 : 0) | opcode)
    let bit: UInt8 = mask == nil ? 0 : 0x80
    let count = length ?? payload.count
    switch count {
    case ..<126: bytes.append(bit | UInt8(count))
    case ..<65536: bytes += [bit | 126, UInt8(count >> 8), UInt8(count & 255)]
    default:
      bytes.append(bit | 127)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(count >> shift & 255))
      }
    }
    bytes += mask ?? []
    let start = bytes.count
    bytes += payload
    if let mask { Bytes.mask(&bytes, from: start, with: mask) }
    return bytes
  }

  func sendText(_ text: String) throws { try write(Self.frame(1, Array(text.utf8))) }
  func sendBinary(_ bytes: [UInt8]) throws { try write(Self.frame(2, bytes)) }
  func sendClose(_ code: Int, _ reason: String = "") throws {
    try write(Self.frame(8, [UInt8(code >> 8), UInt8(code & 255)] + Array(reason.utf8)))
  }

  func receive() throws -> Incoming {
    let head = try take(2)
    guard head[1] & 0x80 == 0 else { throw Failure("the server masked a frame") }
    guard head[0] & 0x70 == 0 else { throw Failure("the server set a reserved bit") }
    var count = Int(head[1])
    if count >= 126 {
      count = try take(count == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
    }
    return Incoming(
      isFinal: head[0] & 0x80 != 0, opcode: head[0] & 15, payload: try take(count))
  }

  /// Reads up to the close frame, passing over everything else.
  func receiveClose() throws -> Incoming {
    while true {
      let frame = try receive()
      if frame.opcode == 8 { return frame }
    }
  }
}
