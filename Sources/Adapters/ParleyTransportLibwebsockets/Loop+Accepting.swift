import CParleyLibwebsocketsShim
import ParleyGatewayPorts
import Glibc
import ParleyHTTP1

/// A listening socket and its state.
struct Door {
  let listener: Int32
  let entrance: Entrance
  /// The listener's key in the poller, which is smaller than any connection's.
  let key: Poller.Key
  /// Whether connections may be waiting to be accepted.
  var isReady = false
}

extension Loop {
  /// Accepts waiting connections, a limited number in each turn.
  func acceptAll() {
    for index in doors.indices where doors[index].isReady {
      doors[index].isReady = false
      pulse.enter(.opening)
      accept(from: doors[index])
    }
  }

  private func accept(from door: Door) {
    // The poller reports the listener again while connections wait.
    for _ in 0..<64 {
      var address = sockaddr_storage()
      let descriptor = parley_accept(door.listener, &address)
      guard descriptor >= 0 else {
        let failure = errno
        if Self.shortages.contains(failure) { pauseAccepting(because: failure) }
        return
      }
      var one: Int32 = 1
      setsockopt(
        descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
      let name = Listener.name(of: &address)
      var verdict = counts(of: door.entrance).enter(name, now: now)
      if verdict == .full, makeRoom(at: door.entrance) {
        verdict = counts(of: door.entrance).enter(name, now: now)
      }
      refused.count(verdict)
      switch verdict {
      case .welcome:
        if let balancer, dealOut(descriptor, name, door, balancer) { continue }
        guard let session = admit(descriptor, from: name, at: door.entrance, isCounted: true) else {
          counts(of: door.entrance).leave(name)
          balancer?.left(place)
          continue
        }
        session.awaitsProxyHeader = requiresProxyHeader(name)
      case .full:
        turnAway(descriptor, name, door, 503, "the server is full; try again later")
      case .fullForAddress:
        turnAway(
          descriptor, name, door, 429, "too many connections from your address; close some first")
      case .tooFast(let milliseconds):
        turnAway(
          descriptor, name, door, 429, "too many new connections from your address; wait",
          retryAfter: (milliseconds + 999) / 1_000)
      }
    }
  }

  /// Closes the connection that has been idle longest, if it was idle for more than a second.
  ///
  /// It runs once in a turn, because it searches all idle connections.
  ///
  /// - Returns: Whether a connection was closed.
  private func makeRoom(at entrance: Entrance) -> Bool {
    guard roomMadeAt != now else { return false }
    roomMadeAt = now
    guard let session = longestIdle, session.isCounted, session.entrance == entrance,
      second - session.heard >= 2
    else { return false }
    refused.idle += 1
    retire(session)
    return true
  }

  private func requiresProxyHeader(_ address: String) -> Bool {
    IPAddress(address).map(configuration.requiresProxyHeader) ?? false
  }

  /// Assigns a connection to a loop, and counts it there. Returns whether it went to another loop.
  private func dealOut(
    _ descriptor: Int32, _ address: String, _ door: Door, _ balancer: ConnectionBalancer
  ) -> Bool {
    let chosen = balancer.deal()
    guard chosen != place else { return false }
    // Start TLS here, on the thread that also reloads the certificate.
    guard let stream = ByteStream(descriptor: descriptor, tls: tls) else {
      _ = Glibc.close(descriptor)
      counts(of: door.entrance).leave(address)
      balancer.left(chosen)
      return true
    }
    balancer.send(
      MovedConnection(
        stream, from: address, at: door.entrance, http: nil,
        .new(awaitsProxyHeader: requiresProxyHeader(address))
      ), to: chosen)
    return true
  }

  /// Maximum rejected connections that remain open to read the reason; further ones are closed.
  private static let turnedAwayMax = 1_024

  /// Rejects a connection beyond a limit with a response, without waiting for its request. With TLS
  /// it is closed instead, because the handshake would cost too much.
  private func turnAway(
    _ descriptor: Int32, _ address: String, _ door: Door, _ status: Int, _ message: String,
    retryAfter seconds: Int64? = nil
  ) {
    guard tls == nil, turnedAwayCount < Self.turnedAwayMax else {
      _ = Glibc.close(descriptor)
      return
    }
    guard
      let session = admit(descriptor, from: address, at: door.entrance, isCounted: false),
      let http = session.http
    else { return }
    refreshDate()
    http.connection.date = date
    let seconds = seconds.map(Int.init) ?? Int.random(in: Self.retrySeconds)
    http.connection.refuse(
      with: .last(status, message, [("retry-after", "\(seconds)")]), now: now)
    settle(session, http)
  }

  /// Reads a PROXY protocol header, and counts the connection under its client's address.
  func readAnnouncement(of session: Session, into room: UnsafeMutableRawBufferPointer) {
    let count: Int
    switch session.stream.peek(into: room) {
    case .bytes(let number): count = number
    case .blocked: return
    case .ended, .failed: return retire(session)
    }
    switch ProxyHeader.read(UnsafeRawBufferPointer(rebasing: room[..<count])) {
    case .incomplete:
      // An event reports more, or the deadline of the first request expires.
      if session.stream.isHungUp { retire(session) }
    case .malformed:
      refuseAnnouncement(of: session)
    case .whole(let client, let byteCount):
      guard session.stream.skip(byteCount, using: room) else { return retire(session) }
      session.awaitsProxyHeader = false
      // A health check of the proxy has no client.
      guard let client = client.map({ IPAddress(bytes: $0).description }) else { return }
      let counts = counts(of: session.entrance)
      let verdict = counts.move(from: session.address, to: client, now: now)
      refused.count(verdict)
      guard verdict == .welcome else { return retire(session) }
      session.address = client
    }
  }

  /// Closes a connection without its PROXY protocol header, and reports this at most once a minute.
  private func refuseAnnouncement(of session: Session) {
    refused.withoutProxyHeader += 1
    unreportedAnnouncements += 1
    let address = session.address
    retire(session)
    guard now >= announcementsSilentUntil else { return }
    announcementsSilentUntil = now + 60_000
    configuration.proxyHeaderMissing(address, unreportedAnnouncements)
    unreportedAnnouncements = 0
  }

  func closeDoors() {
    for door in doors {
      poller.unwatch(door.listener)
      _ = Glibc.close(door.listener)
    }
    doors = []
    pausedUntil = 0
  }

  private static let shortages: Set = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

  /// Pauses accepting, because the poller would report the listeners continuously while descriptors
  /// are exhausted, and closes the connection that has been idle longest.
  private func pauseAccepting(because failure: Int32) {
    if now >= silentUntil {
      silentUntil = now + 60_000
      configuration.acceptFailed(systemMessage(failure))
    }
    if let session = longestIdle { retire(session) }
    guard pausedUntil == 0 else { return }
    pausedUntil = now + 200
    for door in doors { poller.unwatch(door.listener) }
  }

  func resumeAccepting() {
    pausedUntil = 0
    for door in doors { poller.watch(listener: door.listener, as: door.key) }
  }
}
