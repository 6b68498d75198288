import CParleyLibwebsocketsShim
import Glibc

/// A server that does as little as possible: one thread, epoll, no checks. `/echo` returns each
/// message, and messages to `/pub` are sent to all clients at `/sub`. It accepts only this
/// program's handshake key, and fails where a real server would have to handle an error. With a
/// certificate it uses TLS by the same calls as Parley.
final class NullServer {
  private enum Role { case none, echo, subscriber, publisher }

  private struct Connection {
    var file: Int32 = -1
    var ssl: OpaquePointer?
    var isShaking = false
    var role = Role.none
    var rest: [UInt8] = []
  }

  private static let room = 1 << 16
  private let poller = Poller()
  private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 16)
  private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 16)
  private var connections: [Connection] = [Connection()]
  private var subscribers: [Int32] = []
  private let tls: OpaquePointer?

  private init(tls: OpaquePointer?) { self.tls = tls }

  static func run(port: Int, certificate: String?, key: String?) -> Never {
    signal(SIGPIPE, SIG_IGN)
    var tls: OpaquePointer?
    if let certificate, let key {
      tls = parley_tls_create(certificate, key)
      guard tls != nil else { fail("certificate and key cannot be used") }
    }
    let server = NullServer(tls: tls)
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var one: Int32 = 1
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0, listen(file, 4096) == 0 else { fail("port \(port): \(lastError())") }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    server.connections[0].file = file
    server.poller.add(file, as: 0, writing: false)
    while true { server.poller.wait(milliseconds: -1) { index, _ in server.ready(index) } }
  }

  private func ready(_ index: Int) {
    guard index > 0 else { return accept() }
    let file = connections[index].file
    guard file >= 0, let base = input.baseAddress else { return }
    let kept = connections[index].rest.count
    if kept > 0 {
      connections[index].rest.withUnsafeBytes { input.copyMemory(from: $0) }
      connections[index].rest = []
    }
    let got = read(index, base + kept, Self.room - kept)
    if got == Line.blocked {
      connections[index].rest = Array(UnsafeRawBufferPointer(rebasing: input[..<kept]))
      return
    }
    guard got > 0 else {
      if let ssl = connections[index].ssl { parley_tls_close(ssl) }
      if connections[index].role == .subscriber { subscribers.removeAll { $0 == file } }
      close(file)
      connections[index] = Connection()
      return
    }
    let bytes = UnsafeRawBufferPointer(start: base, count: kept + got)
    if connections[index].role == .none {
      welcome(bytes, index)
    } else {
      answer(bytes, index)
    }
  }

  /// Returns the number of bytes read, 0 at the end, or `blocked`.
  @inline(__always)
  private func read(_ index: Int, _ bytes: UnsafeMutableRawPointer, _ room: Int) -> Int {
    guard let ssl = connections[index].ssl else {
      return recv(connections[index].file, bytes, room, 0)
    }
    if connections[index].isShaking {
      let result = parley_tls_shake(ssl)
      guard result == 1 else { return result == Int32(PARLEY_TLS_AGAIN) ? Line.blocked : 0 }
      connections[index].isShaking = false
    }
    let count = parley_tls_read(ssl, bytes, Int32(room))
    return count > 0 ? Int(count) : count == Int32(PARLEY_TLS_AGAIN) ? Line.blocked : 0
  }

  private func accept() {
    while true {
      let file = Glibc.accept(connections[0].file, nil, nil)
      if file < 0 { return }
      var one: Int32 = 1
      setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
      var connection = Connection(file: file)
      if let tls {
        _ = fcntl(file, F_SETFL, O_NONBLOCK)
        connection.ssl = parley_tls_open(tls, file)
        connection.isShaking = true
      }
      connections.append(connection)
      poller.add(file, as: connections.count - 1, writing: false)
    }
  }

  private func welcome(_ bytes: UnsafeRawBufferPointer, _ index: Int) {
    guard bytes.suffix(4).elementsEqual([13, 10, 13, 10]) else {
      connections[index].rest = Array(bytes)
      return
    }
    let head = String(decoding: bytes.prefix(16), as: UTF8.self)
    let role: Role =
      head.hasPrefix("GET /sub") ? .subscriber : head.hasPrefix("GET /pub") ? .publisher : .echo
    connections[index].role = role
    if role == .subscriber {
      guard tls == nil else { fail("fan-out is measured without TLS") }
      subscribers.append(connections[index].file)
    }
    let answer = Array(
      ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(Client.accept)\r\n\r\n").utf8)
    answer.withUnsafeBytes { give(index, $0) }
  }

  private func answer(_ bytes: UnsafeRawBufferPointer, _ index: Int) {
    guard let target = output.baseAddress else { return }
    var bytes = bytes
    var filled = 0
    while let head = FrameCoding.head(bytes), bytes.count >= head.length + head.payloadLength {
      let headLength = head.length - 4
      for place in 0..<headLength { output[filled + place] = bytes[place] }
      output[filled + 1] &= 0x7f
      filled += headLength
      let payload = bytes.baseAddress.map { $0 + head.length }
      guard let payload else { return }
      let mask = (payload - 4).loadUnaligned(as: UInt32.self)
      var place = 0
      while place + 4 <= head.payloadLength {
        let word = payload.loadUnaligned(fromByteOffset: place, as: UInt32.self) ^ mask
        output.storeBytes(of: word, toByteOffset: filled + place, as: UInt32.self)
        place += 4
      }
      while place < head.payloadLength {
        output[filled + place] =
          payload.load(fromByteOffset: place, as: UInt8.self)
          ^ bytes[head.length - 4 + place % 4]
        place += 1
      }
      filled += head.payloadLength
      bytes = UnsafeRawBufferPointer(rebasing: bytes[(head.length + head.payloadLength)...])
    }
    if !bytes.isEmpty { connections[index].rest = Array(bytes) }
    guard filled > 0 else { return }
    if connections[index].role == .publisher {
      for file in subscribers { give(file, target, filled) }
    } else {
      give(index, UnsafeRawBufferPointer(start: target, count: filled))
    }
  }

  private func give(_ index: Int, _ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    guard let ssl = connections[index].ssl else {
      return give(connections[index].file, base, bytes.count)
    }
    let count = Int32(bytes.count)
    if parley_tls_write(ssl, base, count) != count { fail("a client does not keep up") }
  }

  private func give(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) {
    let sent = send(file, bytes, count, 0)
    // A client that has gone is noticed at the next read.
    if sent >= 0 ? sent < count : errno == EAGAIN { fail("a client does not keep up") }
  }
}
