import CParleyLibwebsocketsShim
import ParleyGatewayPorts
import Glibc
import ParleyHTTP1
import ParleyLocks
import ParleyWebSocketFrames

/// The event loop of the thread that owns every connection.
///
/// In a turn it waits for events, accepts and reads, reads the mailbox, notifies the owner of the
/// end of the turn, then writes the queued data, and the owner's replies that arrive meanwhile. If
/// much is queued, a turn writes a part, and the next one follows immediately. Nothing is locked,
/// so it must not be used from another thread.
final class Loop {
  let configuration: LibwebsocketsTransport.Configuration
  let mailbox: LoopMailbox
  let pulse = LoopProgress()
  let limits: HTTPLimits
  /// Returns header fields to add to each response.
  private let addedFields: (@Sendable (HTTPRequestHead) -> [HTTPServerConnection.Field])?
  private let counts: ConnectionCounts
  private let backCounts: ConnectionCounts
  /// The loops that share the connections; `nil` for a single loop.
  let balancer: ConnectionBalancer?
  /// The loop's number in the group.
  let place: Int
  /// The owner. It is released when the loop ends, which breaks the usual reference cycle.
  var delegate: (any TransportDelegate)?

  let poller = Poller()
  var tls: TLSContext?
  var doors: [Door] = []
  /// The time until which accepting is paused, because descriptors are exhausted; otherwise 0.
  var pausedUntil: Int64 = 0
  /// The time until which exhausted descriptors are not reported again.
  var silentUntil: Int64 = 0

  /// The time of the last turn that searched for an idle connection to close.
  var roomMadeAt: Int64 = 0
  /// The refused connections so far.
  var refused = RefusedConnections()
  /// Unreported refusals of PROXY headers, and the time until which they are not reported.
  var unreportedAnnouncements = 0
  var announcementsSilentUntil: Int64 = 0

  /// The slots of connections; an id's lower bits are its slot's index.
  @exclusivity(unchecked) private var slots: [Session?] = []
  private var freeSlots: [Int] = []
  private var connectionSerial: UInt64 = 0
  private(set) var sessionCount = 0
  /// Rejected connections that remain open to read the reason.
  private(set) var turnedAwayCount = 0

  /// Connections moved here by other loops, and the number of those taken over.
  private var arrivals: [MovedConnection] = []
  private var arrivalsTaken = 0
  /// Maximum arrivals taken over in one turn, because each may contain a request.
  private static let arrivalsPerTurn = 256

  private var requestSerial: UInt64 = 0
  var requests: [RequestID: Session] = [:]

  /// The steps of TLS handshakes left in this turn.
  private var handshakesLeft = 0
  /// The bytes of large messages and bodies that may still be passed to the owner in this turn.
  @exclusivity(unchecked) private var largeBytesLeft = 0
  /// Sessions with bytes to read in the next turn.
  @exclusivity(unchecked) private var ready: [Session] = []
  /// Sessions whose large messages wait for the next turn, which starts with them.
  @exclusivity(unchecked) private var putOff: [Session] = []
  /// Sessions with data queued in this turn, to be written at its end.
  @exclusivity(unchecked) var dirty: [Session] = []
  /// Sessions with room in their sockets and unsent data of earlier writes, next one first.
  @exclusivity(unchecked) var behind = SessionQueue()
  /// The bytes that may still be written in this turn; negative if the last write exceeded them.
  @exclusivity(unchecked) var writingLeft = 0
  /// The bytes of frames queued since the last flush; a frame for several connections counts once.
  @exclusivity(unchecked) var bytesOfTurn = 0
  /// The number of stalled WebSockets.
  @exclusivity(unchecked) var stalledCount = 0
  /// Whether the owner will be notified of the end of this turn.
  private(set) var isInTurn = false
  /// Sessions with a deadline: all HTTP connections, and closing WebSockets.
  @exclusivity(unchecked) private var timed: [Session] = []
  /// The bodies of responses that are not sent yet.
  var waitingBodies: WaitingBodies
  let accounts: ByteAccounts
  /// Refusals of memory not reported yet, and the times until which they are not reported.
  var unreportedRefusals: [MemoryKind: Int] = [:]
  var refusalsSilentUntil: [MemoryKind: Int64] = [:]
  /// The buffer for received bytes, valid while they are handled.
  private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
  /// The buffer in which small pieces are joined to one write.
  let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  /// The monotonic time in milliseconds, at the beginning of this turn.
  @exclusivity(unchecked) private(set) var now = monotonicMilliseconds()
  /// Seconds since the loop started.
  private(set) var second: Int32 = 0
  private var startedAt: Int64 = 0
  private var tickAt: Int64 = 0
  private var sweptSecond: Int32 = 0
  private var dateSecond: Int64 = 0
  /// The date for responses.
  private(set) var date = HTTPDate(secondsSince1970: 0)
  private(set) var stopDeadline: Int64?

  /// The bits of a slot's index, for four million simultaneous connections. Keys of listeners are
  /// smaller than any connection's id.
  private static let slotBits: UInt64 = 22
  /// The lowest bit of the loop's number in an id. The number uses the bits up to the second
  /// highest; the highest is reserved.
  static let placeShift: UInt64 = 56

  init(
    configuration: LibwebsocketsTransport.Configuration, mailbox: LoopMailbox,
    delegate: any TransportDelegate, balancer: ConnectionBalancer?, place: Int
  ) {
    self.balancer = balancer
    self.place = place
    self.configuration = configuration
    self.mailbox = mailbox
    self.delegate = delegate
    limits = HTTPLimits(configuration)
    addedFields =
      if let headers = configuration.responseHeaders {
        { @Sendable (head: HTTPRequestHead) in headers(RequestHead(head)) }
      } else {
        nil
      }
    accounts = balancer?.accounts ?? ByteAccounts(configuration)
    waitingBodies = WaitingBodies(accounts.responses)
    counts = balancer?.counts ?? ConnectionCounts(configuration)
    backCounts =
      balancer?.backCounts ?? ConnectionCounts(totalMax: configuration.backConnectionsMax)
  }

  deinit {
    input.deallocate()
    scratch.deallocate()
  }

  /// Returns the counts for connections at this entrance.
  func counts(of entrance: Entrance) -> ConnectionCounts {
    switch entrance {
    case .front: counts
    case .back: backCounts
    }
  }

  // MARK: Running

  /// Runs the loop until it is stopped.
  func run() {
    parley_name_thread("parley-loop")
    parley_pulse_begin(pulse.handle)
    defer { parley_pulse_leave(pulse.handle) }
    startedAt = monotonicMilliseconds()
    tickAt = startedAt + tickMilliseconds
    for door in doors { poller.watch(listener: door.listener, as: door.key) }
    var rest: Int?
    while true {
      isInTurn = true
      let isWoken = wait(
        atMost: ready.isEmpty && arrivals.isEmpty && behind.isEmpty ? rest : 0)
      parley_pulse_count(pulse.handle)
      pulse.enter(.sockets)
      serve()
      if isWoken { readMailbox() }
      takeArrivals()
      if now >= tickAt { tick() }
      pulse.enter(.turnEnd)
      rest = delegate?.turnEnded()
      isInTurn = false
      pulse.enter(.writing)
      flush()
      if let stopDeadline {
        if rest == nil, sessionCount == 0 { break }
        if rest != 0, now >= stopDeadline { break }
      }
    }
    pulse.enter(.ending)
    end()
  }

  private var tickMilliseconds: Int64 { Int64(max(10, configuration.tickMilliseconds)) }

  /// Waits for events until the next tick, at most `rest` ms. Returns whether work was posted.
  private func wait(atMost rest: Int?) -> Bool {
    var left: Int64 = 0
    if rest != 0 {
      left = max(0, tickAt - monotonicMilliseconds())
      if let rest { left = min(left, Int64(rest)) }
    }
    var isWoken = false
    pulse.enter(.waiting)
    poller.wait(milliseconds: Int32(clamping: left)) { key, events in
      if key == Poller.wakeKey {
        isWoken = true
      } else if let session = session(ConnectionID(key)) {
        session.stream.note(events)
        markReady(session)
      } else if let index = doors.firstIndex(where: { $0.key == key }) {
        doors[index].isReady = true
      }
    }
    now = monotonicMilliseconds()
    second = Int32(truncatingIfNeeded: (now - startedAt) / 1_000)
    return isWoken
  }

  private func serve() {
    handshakesLeft = Self.handshakesPerTurn
    largeBytesLeft = Self.largeBytesPerTurn
    acceptAll()
    guard !ready.isEmpty else { return }
    // Sessions that become ready meanwhile are served after all others.
    var batch: [Session] = []
    swap(&batch, &ready)
    for session in batch {
      session.isReady = false
      serve(session)
    }
    if !putOff.isEmpty {
      ready = putOff + ready
      putOff.removeAll()
    } else if ready.isEmpty {
      batch.removeAll(keepingCapacity: batch.count <= 1_024)
      ready = batch
    }
  }

  /// Marks a session to be served in the next turn.
  func markReady(_ session: Session) {
    guard !session.isReady else { return }
    session.isReady = true
    ready.append(session)
  }

  private func end() {
    for item in mailbox.shut() {
      switch item {
      case .closeDoors(let done): done.change { $0 = true }
      case .arrival(let moved): balancer?.drop(moved, at: place)
      case .work, .stop: break
      }
    }
    for moved in arrivals[arrivalsTaken...] { balancer?.drop(moved, at: place) }
    arrivals = []
    closeDoors()
    for case let session? in slots { retire(session) }
    delegate = nil
  }

  // MARK: Mailbox and time

  private func readMailbox() {
    pulse.enter(.mailbox)
    let (items, isForOwner) = mailbox.collect()
    for item in items {
      switch item {
      case .closeDoors(let done):
        closeDoors()
        done.change { $0 = true }
      case .arrival(let moved): arrivals.append(moved)
      case .work(let work): work()
      case .stop(let order): beginStop(order)
      }
    }
    guard isForOwner else { return }
    pulse.enter(.replies)
    delegate?.woken()
  }

  /// Lets the owner handle replies since the last read of the mailbox, unless letters have to be
  /// read first. The wake-up remains, so the next turn begins immediately.
  func lookForReplies() {
    guard mailbox.takeWake() else { return }
    let stage = pulse.enter(.replies)
    delegate?.woken()
    pulse.enter(stage)
  }

  /// Takes over some of the connections from other loops; the rest follows in later turns.
  private func takeArrivals() {
    guard !arrivals.isEmpty else { return }
    pulse.enter(.mailbox)
    let end = min(arrivals.count, arrivalsTaken + Self.arrivalsPerTurn)
    while arrivalsTaken < end {
      arrivalsTaken += 1
      take(arrivals[arrivalsTaken - 1])
    }
    guard arrivalsTaken == arrivals.count else { return }
    arrivals = []
    arrivalsTaken = 0
  }

  private func beginStop(_ order: StopOrder) {
    guard stopDeadline == nil else { return }
    closeDoors()
    stopDeadline = monotonicMilliseconds() + Int64(max(0, order.milliseconds))
    for case let session? in slots {
      if session.webSocket != nil {
        close(session, code: order.code, reason: order.reason)
      } else if let http = session.http {
        http.connection.stop(now: now)
        settle(session, http)
      }
    }
  }

  private func tick() {
    tickAt = now + tickMilliseconds
    if sweptSecond != second {
      sweptSecond = second
      pulse.enter(.sweep)
      sweep()
    }
    pulse.enter(.tick)
    expireAll()
    if pausedUntil != 0, now >= pausedUntil { resumeAccepting() }
    delegate?.ticked()
  }

  /// Pings silent WebSockets, and closes dead ones, in one pass each second.
  private func sweep() {
    let pingSeconds = Int32(clamping: max(1, configuration.pingSeconds))
    let hangUpSeconds = Int32(clamping: configuration.hangUpSeconds)
    for case let session? in slots {
      guard let webSocket = session.webSocket, webSocket.closing.isOpen else { continue }
      let silence = second - session.heard
      if silence >= hangUpSeconds {
        retire(session)
      } else if silence >= pingSeconds, silence % pingSeconds == 0 {
        ping(session, webSocket)
      }
    }
  }

  private func expireAll() {
    // Iterate backwards, because a removed session is replaced by the last one.
    for index in stride(from: timed.count - 1, through: 0, by: -1) where index < timed.count {
      let session = timed[index]
      guard let deadline = session.deadline, now >= deadline else { continue }
      expire(session)
    }
  }

  /// Updates the date of responses once a second.
  func refreshDate() {
    let seconds = Int64(time(nil))
    guard seconds != dateSecond else { return }
    dateSecond = seconds
    date = HTTPDate(secondsSince1970: seconds)
  }

  // MARK: Sessions

  /// Creates a session for an accepted socket; `nil` if there is no free slot.
  func admit(
    _ descriptor: Int32, from address: String, at entrance: Entrance, isCounted: Bool
  ) -> Session? {
    guard let stream = ByteStream(descriptor: descriptor, tls: isCounted ? tls : nil) else {
      _ = Glibc.close(descriptor)
      return nil
    }
    guard
      let session = seat(
        stream, from: address, at: entrance, isCounted: isCounted, http: HTTPHalf(newConnection()))
    else {
      stream.close()
      return nil
    }
    if !isCounted { turnedAwayCount += 1 }
    return session
  }

  /// Creates the HTTP state of a new connection.
  func newConnection() -> HTTPServerConnection {
    HTTPServerConnection(limits: limits, now: now, addedFields: addedFields)
  }

  /// Assigns a slot and an id to a stream; `nil` if there is no free slot.
  func seat(
    _ stream: ByteStream, from address: String, at entrance: Entrance, isCounted: Bool,
    http: HTTPHalf
  ) -> Session? {
    let index = freeSlots.popLast() ?? slots.count
    guard index < 1 << Self.slotBits else { return nil }
    if index == slots.count { slots.append(nil) }
    connectionSerial += 1
    let id = ConnectionID(
      UInt64(place) << Self.placeShift | connectionSerial << Self.slotBits | UInt64(index))
    let session = Session(
      id: id, address: address, entrance: entrance, isCounted: isCounted, stream: stream,
      http: http)
    session.heard = second
    guard poller.watch(connection: stream.descriptor, as: id.rawValue) else {
      freeSlots.append(index)
      return nil
    }
    slots[index] = session
    sessionCount += 1
    trackDeadline(of: session)
    return session
  }

  /// Releases a session's slot.
  func freeSlot(of session: Session) {
    let index = Int(session.id.rawValue & (1 << Self.slotBits - 1))
    slots[index] = nil
    freeSlots.append(index)
    sessionCount -= 1
  }

  /// Returns the session of an id, if its connection is open.
  func session(_ id: ConnectionID) -> Session? {
    let index = Int(id.rawValue & (1 << Self.slotBits - 1))
    guard index < slots.count, let session = slots[index], session.id == id else { return nil }
    return session
  }

  /// Starts checking a session's deadline.
  func trackDeadline(of session: Session) {
    guard session.timedIndex < 0 else { return }
    session.timedIndex = timed.count
    timed.append(session)
  }

  /// Stops checking a session's deadline.
  func untrackDeadline(of session: Session) {
    let index = session.timedIndex
    guard index >= 0 else { return }
    session.timedIndex = -1
    let last = timed.removeLast()
    guard index < timed.count else { return }
    timed[index] = last
    last.timedIndex = index
  }

  /// The connection that has been idle longest, if there is one.
  var longestIdle: Session? {
    timed.lazy.filter { $0.http?.isIdle ?? false }.min { $0.heard < $1.heard }
  }

  /// Closes a connection immediately, and notifies the owner.
  func retire(_ session: Session) {
    guard !session.isGone else { return }
    session.isGone = true
    if session.isStalled { stalledCount -= 1 }
    session.isStalled = false
    session.stream.close()
    stopCounting(session)
    untrackDeadline(of: session)
    freeSlot(of: session)
    if session.isCounted {
      counts(of: session.entrance).leave(session.address)
      balancer?.left(place)
    } else {
      turnedAwayCount -= 1
    }
    if let http = session.http {
      giveBodies(of: http)
      let asked = http.asked
      http.asked = []
      session.http = nil
      for request in asked.map(\.request) {
        requests[request] = nil
        delegate?.abandoned(request)
      }
    }
    if session.webSocket != nil {
      session.webSocket = nil
      delegate?.closed(session.id)
    }
  }

  func nextRequestID() -> RequestID {
    requestSerial += 1
    return RequestID(requestSerial)
  }

  // MARK: Reading

  /// Maximum steps of TLS handshakes in a turn; each may take some hundred microseconds.
  private static let handshakesPerTurn = 16

  /// Maximum reads of one connection in a turn, so that others do not wait.
  private static let readsPerTurn = 16

  /// Minimum bytes of a large message or body.
  private static let largeBytesMin = 32 << 10
  /// The bytes of large messages and bodies after which no further one is passed to the owner in a
  /// turn. The rest is read in later turns, so that many of them do not delay other connections.
  private static let largeBytesPerTurn = 256 << 10

  /// Counts a whole message or body that is passed to the owner.
  func handing(byteCount: Int) {
    if byteCount >= Self.largeBytesMin { largeBytesLeft -= byteCount }
  }

  /// Whether a session has part of a large message or body that has to wait for another turn.
  private func mustWait(_ session: Session) -> Bool {
    largeBytesLeft <= 0 && session.heldByteCount >= Self.largeBytesMin
  }

  /// Reads from a session's socket, and schedules writes if there is room.
  private func serve(_ session: Session) {
    guard !session.isGone else { return }
    let stream = session.stream
    if session.awaitsProxyHeader {
      guard stream.mayRead else { return }
      readAnnouncement(of: session, into: input)
      guard !session.isGone, !session.awaitsProxyHeader else { return }
    }
    if stream.isShaking {
      // A handshake is the most expensive operation, so a turn performs only some steps.
      guard handshakesLeft > 0 else { return markReady(session) }
      handshakesLeft -= 1
      guard stream.shake() else { return retire(session) }
      if stream.isShaking { return }
    }
    if stream.mayWrite, session.unsentByteCount > 0 {
      // A peer that accepts bytes is alive, even if a long text delays the pings.
      if session.webSocket != nil { session.heard = second }
      markDirty(session)
    }
    let largeBytesBefore = largeBytesLeft
    var reads = 0
    while !session.isGone, stream.mayRead {
      guard session.wantsInput else {
        // Unread bytes remain in the system's buffers, but a closed connection is detected.
        if stream.isAtEnd { peerEnded(session) }
        return
      }
      guard !mustWait(session) else {
        // A session that was served in this turn goes behind those that were not.
        if largeBytesLeft < largeBytesBefore { return markReady(session) }
        session.isReady = true
        return putOff.append(session)
      }
      guard reads < Self.readsPerTurn else { return markReady(session) }
      reads += 1
      switch stream.read(into: input) {
      case .bytes(let count):
        session.heard = second
        take(UnsafeMutableRawBufferPointer(rebasing: input[..<count]), from: session)
      case .blocked: break
      case .ended: peerEnded(session)
      case .failed: retire(session)
      }
    }
  }

  private func take(_ bytes: UnsafeMutableRawBufferPointer, from session: Session) {
    if let webSocket = session.webSocket {
      pulse.enter(.message)
      takeFrames(bytes, session, webSocket)
    } else if let http = session.http {
      pulse.enter(.request)
      takeRequests(UnsafeRawBufferPointer(bytes), session, http)
    }
    pulse.enter(.sockets)
  }

  /// Handles the end of the peer's sending side. Requests are still answered, unless the socket has
  /// failed or a request is a long poll, which a living client would keep open.
  private func peerEnded(_ session: Session) {
    if let http = session.http {
      let isGone =
        session.stream.hasFailed
        || http.asked.contains { delegate?.isHeld($0.request) ?? true }
      if isGone { http.connection.cut() } else { http.connection.peerEnded(now: now) }
      takeRequests(UnsafeRawBufferPointer(start: nil, count: 0), session, http)
    } else {
      retire(session)
    }
  }

  /// Handles a session's expired deadline.
  private func expire(_ session: Session) {
    if session.stream.isShaking || session.awaitsProxyHeader { return retire(session) }
    if let http = session.http {
      if let event = http.connection.expired(now: now) { handle(event, session, http) }
      if session.http === http { settle(session, http) }
    } else if let webSocket = session.webSocket {
      follow(webSocket.closing.expired(now: now), session, webSocket)
    }
  }
}
