import Gateway
import Glibc
import GatewayPorts
import SocketMessages

/// Where calls go: `http://host:port/path`.
///
/// Without TLS: the service stands on this machine or behind a proxy that encrypts.
struct HookAddress: Sendable, Equatable {
  let host: String
  let port: String
  let path: String

  /// Reads an address; `nil` if it is none.
  init?(_ text: String) {
    let scheme = "http://"
    guard text.hasPrefix(scheme), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      return nil
    }
    let rest = text.dropFirst(scheme.count)
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    let authority = rest[..<slash]
    path = slash == rest.endIndex ? "/" : String(rest[slash...])
    let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
    guard let first = parts.first, !first.isEmpty, parts.count <= 2 else { return nil }
    host = String(first)
    if parts.count == 2 {
      guard let number = UInt16(parts[1]), number > 0 else { return nil }
      port = String(number)
    } else {
      port = "80"
    }
  }
}

/// Calls a service over HTTP, one call after the other, on a thread of its own.
///
/// Each call is made once: a service that answers with an error, or not at all, is not asked again,
/// since it may have done its work. What cannot be delivered is logged and dropped, and so is what
/// comes while too much waits.
final class HTTPHook: PushHandler, RoomObserver, Sendable {
  private static let waitingMax = 10_000
  private static let timeoutSeconds = 10

  private struct State {
    var waiting: [[UInt8]] = []
    var isStopping = false
    var hasStopped = false
    var isOverfull = false
  }

  private let state = Monitor(State())
  private let log: any LogSink

  init(_ address: HookAddress, log: any LogSink) {
    self.log = log
    Thread.start { [state, log] in Self.run(address, state, log) }
  }

  /// Hands over a push notification.
  func notify(_ notification: PushNotification) { post(notification.json) }

  func occupied(_ room: RoomName) { post(Self.event("occupied", room)) }

  func vacated(_ room: RoomName) { post(Self.event("vacated", room)) }

  private static func event(_ action: String, _ room: RoomName) -> [UInt8] {
    var body: [UInt8] = []
    JSONWriter.object(&body) { object, body in
      object.field("action", action, &body)
      object.field("room", room, &body)
    }
    return body
  }

  private func post(_ body: [UInt8]) {
    let wasOverfull = state.withLock { state in
      guard state.waiting.count < Self.waitingMax else {
        defer { state.isOverfull = true }
        return !state.isOverfull
      }
      state.isOverfull = false
      state.waiting.append(body)
      return false
    }
    if wasOverfull {
      log.write(.error, "calls dropped", [("reason", "more than \(Self.waitingMax) wait")])
    }
    state.signal()
  }

  /// Ends the thread after the call that is under way; what waits is dropped.
  func stop() {
    state.withLock { $0.isStopping = true }
    state.signal()
    state.wait(until: { $0.hasStopped }, then: { _ in })
  }

  private static func run(
    _ address: HookAddress, _ state: Monitor<State>, _ log: any LogSink
  ) {
    while true {
      let next: [UInt8]? = state.wait(
        until: { !$0.waiting.isEmpty || $0.isStopping },
        then: { $0.isStopping ? nil : $0.waiting.removeFirst() })
      guard let next else { break }
      if let problem = call(address, next) {
        log.write(.warning, "call failed", [("reason", problem)])
      }
    }
    state.withLock { $0.hasStopped = true }
    state.signal()
  }

  /// Makes one call; what went wrong, if anything.
  private static func call(_ address: HookAddress, _ body: [UInt8]) -> String? {
    guard let socket = connect(address) else { return "the service does not answer" }
    defer { close(socket) }
    let head =
      "POST \(address.path) HTTP/1.1\r\nHost: \(address.host):\(address.port)\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n"
      + "Connection: close\r\n\r\n"
    guard send(Array(head.utf8) + body, to: socket) else { return "the line broke" }
    var answer = [UInt8](repeating: 0, count: 64)
    var count = 0
    // `HTTP/1.1 200`
    while count < 12 {
      let received = answer.withUnsafeMutableBytes {
        recv(socket, $0.baseAddress?.advanced(by: count), $0.count - count, 0)
      }
      guard received > 0 else { return "no answer came" }
      count += received
    }
    return answer[9] == UInt8(ascii: "2") ? nil : "the service refused"
  }

  private static func connect(_ address: HookAddress) -> Int32? {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address.host, address.port, &hints, &found) == 0 else { return nil }
    defer { freeaddrinfo(found) }
    var next = found
    while let candidate = next?.pointee {
      let descriptor = socket(
        candidate.ai_family, candidate.ai_socktype | Int32(SOCK_CLOEXEC.rawValue),
        candidate.ai_protocol)
      if descriptor >= 0 {
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
        if Glibc.connect(descriptor, candidate.ai_addr, candidate.ai_addrlen) == 0 {
          return descriptor
        }
        close(descriptor)
      }
      next = candidate.ai_next
    }
    return nil
  }

  private static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = Glibc.send(
          socket, bytes.baseAddress?.advanced(by: sent), bytes.count - sent,
          Int32(MSG_NOSIGNAL))
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }
  }
}
