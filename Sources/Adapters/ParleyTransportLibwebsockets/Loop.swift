import CParleyLibwebsocketsShim
import ParleyGatewayPorts
import Glibc
import ParleyHTTP1
import ParleyLocks
import ParleyWebSocketFrames

/// The thread that owns every connection.
///
/// One turn: wait for events, accept and read, read the mailbox, tell the owner that this was all,
/// then write what was queued, and what the owner adds when it is woken meanwhile. Of much that is queued,
/// a turn writes a part; then the next one comes at once. Nothing here is locked, and nothing here may be
/// touched from another thread.
final class Loop {
  let configuration: LibwebsocketsTransport.Configuration
  let mailbox: LoopMailbox
  let pulse = LoopProgress()
  let limits: HTTPLimits
  /// Fields to add to whatever answers a request.
  private let addedFields: (@Sendable (HTTPRequestHead) -> [HTTPServerConnection.Field])?
  private let counts: ConnectionCounts
  private let backCounts: ConnectionCounts
  /// The loops that connections are dealt out among; `nil` for one that serves alone.
  let balancer: ConnectionBalancer?
  /// Its number among them.
  let place: Int
  /// Released when the loop ends, since owner and transport usually hold each other.
  var delegate: (any TransportDelegate)?

  let poller = Poller()
  var tls: TLSContext?
  var doors: [Door] = []
  /// Until when no accept is tried, because descriptors have run out; 0 if they have not.
  var pausedUntil: Int64 = 0
  /// The time until which such shortages are not reported.
  var silentUntil: Int64 = 0

  /// The turn's time at which an idle connection was last looked for, whose place another needs.
  var roomMadeAt: Int64 = 0
  /// Connections that were refused until now.
  var refused = RefusedConnections()
  /// Rejected headers of proxies that were not reported, and the time until which none is.
  var unreportedAnnouncements = 0
  var announcementsSilentUntil: Int64 = 0

  /// Slots of connections; an id's lower bits are its slot's index.
  @exclusivity(unchecked) private var slots: [Session?] = []
  private var freeSlots: [Int] = []
  private var connectionSerial: UInt64 = 0
  private(set) var sessionCount = 0
  /// Connections that were turned away, and are waited for until they have read why.
  private(set) var turnedAwayCount = 0

  /// Connections that other loops have sent, and how many of them were taken.
  private var arrivals: [MovedConnection] = []
  private var arrivalsTaken = 0
  /// The number of arrivals that are taken in one turn: each may bring a request.
  private static let arrivalsPerTurn = 256

  private var requestSerial: UInt64 = 0
  var requests: [RequestID: Session] = [:]

  /// Steps of TLS handshakes that may be taken in this turn.
  private var handshakesLeft = 0
  /// Bytes of large messages and bodies that may still be handed to the owner in this turn.
  @exclusivity(unchecked) private var largeBytesLeft = 0
  /// Sessions with bytes to read in the turn to come.
  @exclusivity(unchecked) private var ready: [Session] = []
  /// Sessions whose large messages have to wait for the turn to come, which begins with them.
  @exclusivity(unchecked) private var putOff: [Session] = []
  /// Sessions for which this turn has queued something, which is written at its end.
  @exclusivity(unchecked) var dirty: [Session] = []
  /// Sessions whose sockets have room and that former writes have left, the next one first.
  @exclusivity(unchecked) var behind = SessionQueue()
  /// Bytes that may still be written in this turn; below zero if the last write was larger than that.
  @exclusivity(unchecked) var writingLeft = 0
  /// Bytes of frames that were queued since the last flush, each counted once however many get it.
  @exclusivity(unchecked) var bytesOfTurn = 0
  /// WebSockets that are stalled.
  @exclusivity(unchecked) var stalledCount = 0
  /// Whether the owner will be notified of this turn's end.
  private(set) var isInTurn = false
  /// Sessions with a deadline: all that speak HTTP, and those that close.
  @exclusivity(unchecked) private var timed: [Session] = []
  /// The bodies of responses that have not gone yet.
  var waitingBodies: WaitingBodies
  let accounts: ByteAccounts
  /// Memory refusals that have not been logged, and the time before which no further line is logged.
  var unreportedRefusals: [MemoryKind: Int] = [:]
  var refusalsSilentUntil: [MemoryKind: Int64] = [:]
  /// The buffer for bytes read, valid while they are handled.
  private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
  /// The buffer in which small pieces are joined to one write.
  let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  /// Milliseconds of a clock that never goes back, at the beginning of this turn.
  @exclusivity(unchecked) private(set) var now = monotonicMilliseconds()
  /// Seconds since the loop began.
  private(set) var second: Int32 = 0
  private var startedAt: Int64 = 0
  private var tickAt: Int64 = 0
  private var sweptSecond: Int32 = 0
  private var dateSecond: Int64 = 0
  /// The time for responses.
  private(set) var date = HTTPDate(secondsSince1970: 0)
  private(set) var stopDeadline: Int64?

  /// Slots fit in 22 bits: four million connections at once. Smaller numbers than a connection's
  /// name are the keys of doors.
  private static let slotBits: UInt64 = 22
  /// The loop's number occupies the bits of names from this one up to the highest, which is for
  /// others.
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

  /// Returns the census that counts connections at this entrance.
  func counts(of entrance: Entrance) -> ConnectionCounts {
    switch entrance {
    case .front: counts
    case .back: backCounts
    }
  }

  // MARK: Running

  /// The thread's whole life.
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

  /// Waits for events, for so many milliseconds at most and until the next tick, and returns
  /// whether work was posted.
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
        doors[index].isCalling = true
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
    // Sessions that become ready meanwhile have their turn after all others.
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

  /// Has a session looked at in the turn to come.
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

  /// Has the owner take what has come for it since the mailbox was read, if that is all that has come.
  /// The next turn begins at once, since the wake-up remains.
  func lookForReplies() {
    guard mailbox.takeWake() else { return }
    let stage = pulse.enter(.replies)
    delegate?.woken()
    pulse.enter(stage)
  }

  /// Takes some of the connections that other loops have sent; the rest has its turn after all
  /// others.
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

  /// Pings the silent and hangs up on the dead, in one pass over all connections each second.
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
    // Backwards, since the last one takes the place of one that goes.
    for index in stride(from: timed.count - 1, through: 0, by: -1) where index < timed.count {
      let session = timed[index]
      guard let deadline = session.deadline, now >= deadline else { continue }
      expire(session)
    }
  }

  /// Sets what all responses of this second have in common.
  func refreshDate() {
    let seconds = Int64(time(nil))
    guard seconds != dateSecond else { return }
    dateSecond = seconds
    date = HTTPDate(secondsSince1970: seconds)
  }

  // MARK: Sessions

  /// Makes a session of a socket that was accepted; `nil` if there is no room for it.
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

  /// The HTTP of a connection of which nothing was read.
  func newConnection() -> HTTPServerConnection {
    HTTPServerConnection(limits: limits, now: now, addedFields: addedFields)
  }

  /// Gives a stream a slot and a name; `nil` if there is no room for it.
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
    keepTime(of: session)
    return session
  }

  /// Has a session's slot be another's.
  func freeSlot(of session: Session) {
    let index = Int(session.id.rawValue & (1 << Self.slotBits - 1))
    slots[index] = nil
    freeSlots.append(index)
    sessionCount -= 1
  }

  /// The session of an id, if its connection is open.
  func session(_ id: ConnectionID) -> Session? {
    let index = Int(id.rawValue & (1 << Self.slotBits - 1))
    guard index < slots.count, let session = slots[index], session.id == id else { return nil }
    return session
  }

  /// Has a session's deadline looked at.
  func keepTime(of session: Session) {
    guard session.timedIndex < 0 else { return }
    session.timedIndex = timed.count
    timed.append(session)
  }

  /// Looks at a session's deadline no more.
  func dropTime(of session: Session) {
    let index = session.timedIndex
    guard index >= 0 else { return }
    session.timedIndex = -1
    let last = timed.removeLast()
    guard index < timed.count else { return }
    timed[index] = last
    last.timedIndex = index
  }

  /// The connection that has waited longest for a request, if there is an idle one.
  var longestIdle: Session? {
    timed.lazy.filter { $0.http?.isIdle ?? false }.min { $0.heard < $1.heard }
  }

  /// Closes a connection at once, and tells the owner.
  func retire(_ session: Session) {
    guard !session.isGone else { return }
    session.isGone = true
    if session.isStalled { stalledCount -= 1 }
    session.isStalled = false
    session.stream.close()
    stopCounting(session)
    dropTime(of: session)
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

  /// Steps of TLS handshakes in a turn, of which each may take some hundred microseconds.
  private static let handshakesPerTurn = 16

  /// Most reads of one connection in a turn, so that no other waits.
  private static let readsPerTurn = 16

  /// Bytes from which on a message or body is large.
  private static let largeBytesMin = 32 << 10
  /// Bytes of large messages and bodies that are handed to the owner in a turn, but for the last of
  /// them. The rest is read in later turns, so that many of them at once do not delay other
  /// connections.
  private static let largeBytesPerTurn = 256 << 10

  /// Takes note that a whole message or body is handed to the owner.
  func handing(byteCount: Int) {
    if byteCount >= Self.largeBytesMin { largeBytesLeft -= byteCount }
  }

  /// Whether a session is in the midst of a large message or body that has to wait for another turn.
  private func mustWait(_ session: Session) -> Bool {
    largeBytesLeft <= 0 && session.heldByteCount >= Self.largeBytesMin
  }

  /// Does what a session's socket has room and bytes for.
  private func serve(_ session: Session) {
    guard !session.isGone else { return }
    let stream = session.stream
    if session.awaitsProxy {
      guard stream.mayRead else { return }
      readAnnouncement(of: session, into: input)
      guard !session.isGone, !session.awaitsProxy else { return }
    }
    if stream.isShaking {
      // The dearest operation that a client can ask for: the others have their turn in between.
      guard handshakesLeft > 0 else { return markReady(session) }
      handshakesLeft -= 1
      guard stream.shake() else { return retire(session) }
      if stream.isShaking { return }
    }
    if stream.mayWrite, session.unsentByteCount > 0 {
      // A peer that takes bytes is alive, however long a text delays our pings.
      if session.webSocket != nil { session.heard = second }
      markDirty(session)
    }
    let largeBytesBefore = largeBytesLeft
    var reads = 0
    while !session.isGone, stream.mayRead {
      guard session.wantsInput else {
        // Unread bytes stay in the system's buffers; a closed connection is noticed all the same.
        if stream.isAtEnd { peerEnded(session) }
        return
      }
      guard !mustWait(session) else {
        // A session that had a share of this turn goes behind those that had none.
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

  /// The peer sends no more. It still gets answers, unless its socket has failed, or it waits for news: who polls asks
  /// again as long as it is there.
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

  /// A session's deadline has passed.
  private func expire(_ session: Session) {
    if session.stream.isShaking || session.awaitsProxy { return retire(session) }
    if let http = session.http {
      if let event = http.connection.expired(now: now) { handle(event, session, http) }
      if session.http === http { settle(session, http) }
    } else if let webSocket = session.webSocket {
      follow(webSocket.closing.expired(now: now), session, webSocket)
    }
  }
}
