import CLibwebsocketsShim
import GatewayPorts
import Glibc

/// The thread that accepts connections.
///
/// libwebsockets drops a request it dislikes without a word: a missing key, an unknown
/// subprotocol, a head that is too long. So a connection waits here until the head of its first
/// request is whole, without taking it from the socket; a bad one is answered, a good one goes to
/// the loop. Slow and silent visitors never burden the loop either. Encrypted connections pass at
/// once, since their requests cannot be read yet.
///
/// The lobby also sees off connections that the loop has closed with bytes unread.
final class Lobby: @unchecked Sendable {
  // Unchecked: after `start`, all but `wakeUp` and `thread` belongs to the lobby's thread.

  private enum Stage {
    /// Waiting for the end of the request's head.
    case arriving
    /// Answered: what still comes is thrown away until the client closes, for closing with
    /// unread bytes would reset the connection and the answer could be lost.
    case leaving
  }

  private struct Visitor {
    var address: String
    var stage: Stage
    var deadline: Int64
    /// Whether the census knows of it.
    var isCounted = true
  }

  private let configuration: LibwebsocketsTransport.Configuration
  private let listeners: [Int32]
  private let census: Census
  private let departures: Departures?
  private let admit: @Sendable (Arrival) -> Bool
  private let poll: Int32
  private let wakeUp: Int32
  private var visitors: [Int32: Visitor] = [:]
  private var scratch: [UInt8]
  private var thread: WorkerThread?
  private let isEnding = Locked(false)
  /// Until when no accept is tried, because descriptors have run out.
  private var pausedUntil: Int64 = 0
  /// Until when nobody is told of such shortages.
  private var silentUntil: Int64 = 0

  init(
    configuration: LibwebsocketsTransport.Configuration, listeners: [Int32], census: Census,
    departures: Departures?, admit: @escaping @Sendable (Arrival) -> Bool
  ) {
    self.configuration = configuration
    self.listeners = listeners
    self.census = census
    self.departures = departures
    self.admit = admit
    scratch = [UInt8](repeating: 0, count: configuration.headBytesMax + 1)
    poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
  }

  deinit {
    _ = close(poll)
    _ = close(wakeUp)
  }

  func start() -> Bool {
    guard poll >= 0, wakeUp >= 0 else {
      Listener.close(listeners)
      return false
    }
    watch(wakeUp, EPOLLIN.rawValue)
    for listener in listeners { watch(listener, EPOLLIN.rawValue) }
    departures?.open(wakeUp)
    thread = WorkerThread(name: "parley-lobby") { self.run() }
    if thread == nil {
      departures?.shut()
      Listener.close(listeners)
    }
    return thread != nil
  }

  /// Closes the listening sockets of a lobby that is not to be started.
  func discard() { Listener.close(listeners) }

  /// Closes the listening sockets, turns visitors away, and waits for the thread to end.
  func stop() {
    isEnding.withLock { $0 = true }
    eventfd_write(wakeUp, 1)
    thread?.join()
    thread = nil
  }

  private func run() {
    var events = [epoll_event](repeating: epoll_event(), count: 256)
    var lastSweep = monotonicMilliseconds()
    while true {
      let count = epoll_wait(
        poll, &events, Int32(events.count),
        visitors.isEmpty && pausedUntil == 0 ? -1 : 250)
      let now = monotonicMilliseconds()
      for index in 0..<max(0, Int(count)) {
        let descriptor = events[index].data.fd
        if descriptor == wakeUp {
          if isEnding.withLock({ $0 }) { return end() }
          seeOff(now)
        } else if listeners.contains(descriptor) {
          accept(from: descriptor, now)
        } else {
          serve(descriptor, now)
        }
      }
      if pausedUntil != 0, now >= pausedUntil { resume() }
      if now - lastSweep >= 250 {
        lastSweep = now
        sweep(now)
      }
    }
  }

  private func end() {
    departures?.shut()
    Listener.close(listeners)
    for descriptor in Array(visitors.keys) { remove(descriptor) }
  }

  /// Takes over connections that the loop has closed.
  private func seeOff(_ now: Int64) {
    var count: eventfd_t = 0
    eventfd_read(wakeUp, &count)
    for descriptor in departures?.collect() ?? [] {
      guard visitors.count < Self.leavingMax else {
        _ = close(descriptor)
        continue
      }
      visitors[descriptor] = Visitor(
        address: "", stage: .leaving, deadline: now + Self.leavingMilliseconds, isCounted: false)
      watch(descriptor, Self.visitorEvents)
      shutdown(descriptor, Int32(SHUT_WR))
      if isFinished(descriptor) { remove(descriptor) }
    }
  }

  private func watch(_ descriptor: Int32, _ events: UInt32) {
    var event = epoll_event()
    event.events = events
    event.data.fd = descriptor
    epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event)
  }

  private func unwatch(_ descriptor: Int32) {
    var event = epoll_event()
    epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, &event)
  }

  private func accept(from listener: Int32, _ now: Int64) {
    // Bounded, so that those already here are served in between.
    for _ in 0..<64 {
      var address = sockaddr_storage()
      let descriptor = parley_accept(listener, &address)
      guard descriptor >= 0 else {
        let failure = errno
        if Self.shortages.contains(failure) { pause(now, because: failure) }
        return
      }
      var one: Int32 = 1
      setsockopt(
        descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one,
        socklen_t(MemoryLayout<Int32>.size))
      let name = Listener.name(of: &address)
      let verdict = census.enter(name, now: now)
      if configuration.tls != nil {
        if verdict != .welcome || !admit(Arrival(descriptor: descriptor, address: name)) {
          if verdict == .welcome { census.leave(name) }
          _ = close(descriptor)
        }
        continue
      }
      let deadline = now + Int64(configuration.handshakeSeconds) * 1000
      switch verdict {
      case .welcome:
        visitors[descriptor] = Visitor(address: name, stage: .arriving, deadline: deadline)
        watch(descriptor, Self.visitorEvents)
        look(at: descriptor, now)
      case .full:
        turnAway(descriptor, now, 503, "the server is full; try again later", name)
      case .fullForAddress:
        turnAway(
          descriptor, now, 429, "too many connections from your address; close some first", name)
      case .tooFast(let milliseconds):
        turnAway(
          descriptor, now, 429, "too many new connections from your address; wait", name,
          retryAfter: (milliseconds + 999) / 1_000)
      }
    }
  }

  /// A connection beyond a limit: answered at once, without waiting for its request.
  private func turnAway(
    _ descriptor: Int32, _ now: Int64, _ status: Int, _ message: String, _ address: String,
    retryAfter seconds: Int64 = 5
  ) {
    let response = ResponseEncoder.plain(status, message, [("retry-after", "\(seconds)")])
    guard visitors.count < Self.leavingMax else {
      write(ResponseEncoder.last(response), to: descriptor)
      shutdown(descriptor, Int32(SHUT_WR))
      _ = close(descriptor)
      return
    }
    visitors[descriptor] = Visitor(
      address: address, stage: .leaving, deadline: now, isCounted: false)
    watch(descriptor, Self.visitorEvents)
    refuse(descriptor, response, now)
  }

  /// As long as so few are here, those turned away are waited for until they have read why.
  private static let leavingMax = 1_024
  private static let leavingMilliseconds: Int64 = 2_000
  /// Edges only: peeking leaves the bytes, so a level would fire for ever.
  private static let visitorEvents =
    EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue

  private func serve(_ descriptor: Int32, _ now: Int64) {
    guard let visitor = visitors[descriptor] else { return }
    switch visitor.stage {
    case .arriving: look(at: descriptor, now)
    case .leaving: if isFinished(descriptor) { remove(descriptor) }
    }
  }

  private func look(at descriptor: Int32, _ now: Int64) {
    let count = recv(descriptor, &scratch, scratch.count, Int32(MSG_PEEK))
    guard count > 0 else {
      if count == 0 || parley_would_block(errno) == 0 { remove(descriptor) }
      return
    }
    let verdict = scratch.withUnsafeBytes {
      RequestPreview.inspect(
        UnsafeRawBufferPointer(rebasing: $0[..<count]),
        subprotocols: configuration.subprotocols, headBytesMax: configuration.headBytesMax)
    }
    switch verdict {
    case .incomplete:
      break
    case .admit:
      unwatch(descriptor)
      guard let visitor = visitors.removeValue(forKey: descriptor) else { return }
      if !admit(Arrival(descriptor: descriptor, address: visitor.address)) {
        census.leave(visitor.address)
        _ = close(descriptor)
      }
    case .refuse(let response):
      refuse(descriptor, response, now)
    }
  }

  private func refuse(_ descriptor: Int32, _ response: Response, _ now: Int64) {
    write(ResponseEncoder.last(response), to: descriptor)
    shutdown(descriptor, Int32(SHUT_WR))
    visitors[descriptor]?.stage = .leaving
    visitors[descriptor]?.deadline = now + Self.leavingMilliseconds
    if isFinished(descriptor) { remove(descriptor) }
  }

  /// A fresh socket's buffer takes an answer of this size whole.
  private func write(_ bytes: [UInt8], to descriptor: Int32) {
    _ = Glibc.send(
      descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
  }

  /// Throws away what a leaving client has sent, and returns whether it has closed.
  private func isFinished(_ descriptor: Int32) -> Bool {
    // Bounded, for a client may send as fast as this reads.
    for _ in 0..<16 {
      let count = recv(descriptor, &scratch, scratch.count, Int32(MSG_DONTWAIT))
      if count == 0 { return true }
      if count < 0 { return parley_would_block(errno) == 0 }
    }
    // Has the edge that is still unread reported again.
    var event = epoll_event()
    event.events = Self.visitorEvents
    event.data.fd = descriptor
    epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event)
    return false
  }

  private func sweep(_ now: Int64) {
    for (descriptor, visitor) in visitors where now >= visitor.deadline {
      switch visitor.stage {
      case .arriving:
        refuse(
          descriptor,
          ResponseEncoder.plain(408, "the request did not arrive in time; send it at once"), now)
      case .leaving:
        remove(descriptor)
      }
    }
  }

  private func remove(_ descriptor: Int32) {
    guard let visitor = visitors.removeValue(forKey: descriptor) else { return }
    if visitor.isCounted { census.leave(visitor.address) }
    _ = close(descriptor)
  }

  private static let shortages: Set = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

  // A listener stays readable while descriptors are short: look away for a moment instead of
  // spinning.
  private func pause(_ now: Int64, because failure: Int32) {
    guard pausedUntil == 0 else { return }
    if now >= silentUntil {
      silentUntil = now + 60_000
      configuration.acceptFailed(systemMessage(failure))
    }
    pausedUntil = now + 200
    for listener in listeners { unwatch(listener) }
  }

  private func resume() {
    pausedUntil = 0
    for listener in listeners { watch(listener, EPOLLIN.rawValue) }
  }
}
