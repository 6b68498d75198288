import CLibwebsockets
import CLibwebsocketsShim
import GatewayPorts
import Glibc

/// The thread that owns every connection, and all that libwebsockets keeps.
///
/// One turn: wait for events, let libwebsockets call back, read the mailbox, tell the owner that
/// this was all, then write what was queued. Nothing here is locked, and nothing here may be touched
/// from another thread.
final class Loop {
  let configuration: LibwebsocketsTransport.Configuration
  let mailbox: LoopMailbox
  private let departures: Departures
  let pulse = LoopPulse()
  private let census: Census
  private let backCensus: Census
  /// Let go when the loop ends, since owner and transport usually hold each other.
  var delegate: (any TransportDelegate)?

  private(set) var handle: OpaquePointer?
  private(set) var context: OpaquePointer?
  private var vhost: OpaquePointer?
  private let memory = LibraryMemory()

  /// Slots of connections; an id's lower bits are its slot's index.
  private var slots: [Session?] = []
  private var freeSlots: [Int] = []
  private var connectionSerial: UInt64 = 0
  private(set) var sessionCount = 0

  private var requestSerial: UInt64 = 0
  var requests: [RequestID: Session] = [:]

  /// Sessions with something to write at the end of this turn.
  var dirty: [Session] = []
  /// The bodies of responses that have not gone yet.
  var waitingBodies: WaitingBodies
  /// Sessions with a response to write, or to write more of, at the end of this turn.
  var answering: [Session] = []
  /// Sessions whose socket refused a write: cut at the end of this turn.
  var failed: [Session] = []
  /// Where frames are joined. A write needs no room before it, since it is sent as it is.
  let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  /// Seconds since the loop began.
  private(set) var second: Int32 = 0
  private var startedAt: Int64 = 0
  private(set) var stopDeadline: Int64?

  /// Slots fit in 22 bits: four million connections at once.
  private static let slotBits: UInt64 = 22

  init(
    configuration: LibwebsocketsTransport.Configuration, mailbox: LoopMailbox,
    departures: Departures, delegate: any TransportDelegate
  ) {
    self.configuration = configuration
    self.mailbox = mailbox
    self.departures = departures
    waitingBodies = WaitingBodies(byteCountMax: configuration.responseBytesMax)
    self.delegate = delegate
    census = Census(configuration)
    backCensus = Census(totalMax: configuration.backConnectionsMax)
  }

  /// Who counts the connections that come in there.
  func census(of entrance: Entrance) -> Census {
    switch entrance {
    case .front: census
    case .back: backCensus
    }
  }

  deinit { scratch.deallocate() }

  // MARK: Running

  /// The thread's whole life.
  func run(started: Gate<TransportError?>) {
    startedAt = monotonicMilliseconds()
    parley_pulse_begin(pulse.handle)
    defer { parley_pulse_leave(pulse.handle) }
    do throws(TransportError) {
      try open()
    } catch {
      started.open(error)
      return
    }
    started.open(nil)
    guard let handle else { return }
    var goesOn = false
    while true {
      let flags = goesOn ? parley_loop_poll(handle) : parley_loop_turn(handle)
      second = Int32(truncatingIfNeeded: (monotonicMilliseconds() - startedAt) / 1000)
      parley_pulse_count(pulse.handle)
      if flags & Int32(PARLEY_LOOP_WOKEN) != 0 { readMailbox() }
      if flags & Int32(PARLEY_LOOP_TICKED) != 0 { tick() }
      pulse.enter(.turnEnd)
      goesOn = delegate?.turnEnded() ?? false
      // Responses end requests, after which the library may begin others that waited.
      repeat {
        pulse.enter(.frames)
        flush()
        pulse.enter(.responses)
        flushAnswers()
      } while !dirty.isEmpty
      if !goesOn, let stopDeadline, sessionCount == 0 || monotonicMilliseconds() >= stopDeadline {
        break
      }
    }
    pulse.enter(.ending)
    end()
  }

  private func open() throws(TransportError) {
    lws_set_log_level(0, nil)
    let tick = Double(max(10, configuration.tickMilliseconds)) / 1000
    guard let handle = parley_loop_create(tick) else {
      throw .cannotStart(reason: "the system gives no event loop; raise the limit of open files")
    }
    var info = lws_context_creation_info()
    info.port = CONTEXT_PORT_NO_LISTEN_SERVER
    info.protocols = UnsafePointer(memory.protocols(configuration))
    info.user = Unmanaged.passUnretained(self).toOpaque()
    info.options =
      UInt64(LWS_SERVER_OPTION_LIBEV) | UInt64(LWS_SERVER_OPTION_VALIDATE_UTF8)
      | UInt64(LWS_SERVER_OPTION_NO_LWS_SYSTEM_STATES)
    info.foreign_loops = memory.foreignLoops(parley_loop_foreign(handle))
    info.pcontext = memory.contextCell
    info.max_http_header_data = UInt16(clamping: configuration.headBytesMax)
    // Requests that wait for their response keep their head.
    info.max_http_header_pool = 8192
    info.timeout_secs = UInt32(clamping: configuration.handshakeSeconds)
    info.timeout_secs_ah_idle = UInt32(clamping: configuration.handshakeSeconds)
    info.keepalive_timeout = Int32(clamping: configuration.keepAliveSeconds)
    // A whole record of TLS fits, so that none is left in part.
    info.pt_serv_buf_size = (16 << 10) + 64
    info.retry_and_idle_policy = UnsafePointer(memory.noPolicy)
    info.server_string = memory.string("parley")
    if let tls = configuration.tls {
      info.options |= UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
      info.ssl_cert_filepath = memory.string(tls.certificatePath)
      info.ssl_private_key_filepath = memory.string(tls.keyPath)
      info.alpn = memory.string("http/1.1")
    }
    guard let context = lws_create_context(&info),
      let vhost = lws_get_vhost_by_name(context, "default")
    else {
      parley_loop_destroy(handle)
      if let tls = configuration.tls {
        throw .certificate(
          path: tls.certificatePath, reason: "it was not accepted together with \(tls.keyPath)")
      }
      throw .cannotStart(
        reason: "install the packages libwebsockets17 and libwebsockets-evlib-ev, version 4.1")
    }
    parley_loop_report(
      handle, pulse.handle, LoopPulse.Stage.waiting.rawValue, LoopPulse.Stage.libwebsockets.rawValue
    )
    self.handle = handle
    self.context = context
    self.vhost = vhost
    mailbox.open(handle)
  }

  /// Has new connections see what the certificate's files hold now.
  func reloadCertificate() -> TransportError? {
    guard let tls = configuration.tls, let context else { return nil }
    // The files are read when no memory is given.
    guard
      lws_tls_cert_updated(context, tls.certificatePath, tls.keyPath, nil, 0, nil, 0) == 0
    else {
      return .certificate(
        path: tls.certificatePath, reason: "it was not accepted together with \(tls.keyPath)")
    }
    return nil
  }

  private func end() {
    for letter in mailbox.shut() {
      if case .arrival(let arrival) = letter { turnAway(arrival) }
    }
    guard let handle, let context else { return }
    lws_context_destroy(context)
    // With a foreign loop the library may need turns to finish; it clears the cell when it has.
    var turns = 0
    while memory.contextCell.pointee != nil, turns < 1000 {
      _ = parley_loop_poll(handle)
      turns += 1
    }
    for session in slots { if let session { retire(session) } }
    parley_loop_destroy(handle)
    self.handle = nil
    self.context = nil
    delegate = nil
  }

  // MARK: Mailbox and time

  private func readMailbox() {
    pulse.enter(.mailbox)
    let (letters, isForOwner) = mailbox.collect()
    for letter in letters {
      switch letter {
      case .arrival(let arrival): adopt(arrival)
      case .work(let work): work()
      case .stop(let order): beginStop(order)
      }
    }
    guard isForOwner else { return }
    pulse.enter(.replies)
    delegate?.woken()
  }

  private func beginStop(_ order: StopOrder) {
    guard stopDeadline == nil else { return }
    stopDeadline = monotonicMilliseconds() + Int64(max(0, order.milliseconds))
    for case let session? in slots {
      switch session.phase {
      case .open: beginClose(session, code: order.code, reason: order.reason)
      case .http where session.exchange == nil: cut(session)
      case .http: session.exchange?.closesAfter = true
      case .closing, .broken, .gone: break
      }
    }
  }

  private var sweptSecond: Int32 = 0

  private func tick() {
    if sweptSecond != second {
      sweptSecond = second
      pulse.enter(.sweep)
      sweep()
    }
    pulse.enter(.tick)
    reportAbandoned()
    // The library looks at its own timers (bodies, idle HTTP connections, closes) only after
    // an event of its own.
    if let context { lws_cancel_service(context) }
    delegate?.ticked()
  }

  /// Pings the silent, hangs up on the dead, cuts those who do not finish a request or closing.
  ///
  /// One pass over all connections each second. The library's own timers are kept in a sorted
  /// list, so that every message of every client would cost a walk along all the others.
  private func sweep() {
    let pingSeconds = Int32(clamping: configuration.pingSeconds)
    let hangUpSeconds = Int32(clamping: configuration.hangUpSeconds)
    for case let session? in slots {
      switch session.phase {
      case .open:
        let silence = second - session.heard
        if silence >= hangUpSeconds {
          cut(session)
        } else if silence >= pingSeconds, silence % pingSeconds == 0 {
          session.owesPing = true
          markDirty(session)
        }
      case .closing, .broken:
        if let farewell = session.farewell {
          if second >= farewell.deadline { cut(session) }
        } else {
          session.farewell = Farewell(
            code: CloseCode(1006), reason: "",
            deadline: second + Int32(clamping: configuration.closeSeconds))
        }
      case .http:
        // The library starts its own time anew with each piece of a body, so that one byte now and
        // then would last for ever.
        if let deadline = session.requestBy, second >= deadline { cut(session) }
      case .gone: break
      }
    }
  }

  /// Finds clients that went away while they waited: the library does not read from a
  /// connection whose request is in hand.
  private func reportAbandoned() {
    guard !requests.isEmpty else { return }
    var gone: [Session] = []
    for session in requests.values {
      guard let wsi = session.wsi else { continue }
      var byte: UInt8 = 0
      let count = recv(
        lws_get_socket_fd(wsi), &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
      if count == 0 || count < 0 && parley_would_block(errno) == 0 { gone.append(session) }
    }
    for session in gone { cut(session) }
  }

  // MARK: Sessions

  private func adopt(_ arrival: Arrival) {
    guard stopDeadline == nil, let vhost else { return turnAway(arrival) }
    let index = freeSlots.popLast() ?? slots.count
    guard index < 1 << Self.slotBits else { return turnAway(arrival) }
    if index == slots.count { slots.append(nil) }
    connectionSerial += 1
    let id = ConnectionID(connectionSerial << Self.slotBits | UInt64(index))
    let session = Session(id: id, address: arrival.address, entrance: arrival.entrance)
    session.requestBy = second + 1 + Int32(clamping: configuration.handshakeSeconds)
    slots[index] = session
    sessionCount += 1
    var description = lws_adopt_desc_t()
    description.vh = vhost
    description.type = lws_adoption_type(
      rawValue: LWS_ADOPT_SOCKET.rawValue | LWS_ADOPT_HTTP.rawValue
        | (configuration.tls == nil ? 0 : LWS_ADOPT_ALLOW_SSL.rawValue))
    description.fd.sockfd = arrival.descriptor
    description.opaque = Unmanaged.passUnretained(session).toOpaque()
    // On failure the library has closed the socket, and perhaps told us so already.
    let wsi = lws_adopt_descriptor_vhost_via_info(&description)
    if wsi == nil {
      retire(session)
    } else if session.phase != .gone {
      session.wsi = wsi
    }
  }

  private func turnAway(_ arrival: Arrival) {
    census(of: arrival.entrance).leave(arrival.address)
    _ = Glibc.close(arrival.descriptor)
  }

  /// The session of an id, if its connection stands.
  func session(_ id: ConnectionID) -> Session? {
    let index = Int(id.rawValue & (1 << Self.slotBits - 1))
    guard index < slots.count, let session = slots[index], session.id == id else { return nil }
    return session
  }

  /// Forgets a session and tells the owner. Called once the library is about to free its handle.
  func retire(_ session: Session) {
    guard session.phase != .gone else { return }
    let wasUpgraded = session.phase != .http
    session.phase = .gone
    if let wsi = session.wsi { lws_set_opaque_user_data(wsi, nil) }
    session.wsi = nil
    if let watch = session.roomWatch { parley_room_watch_destroy(watch) }
    session.roomWatch = nil
    if session.lingering >= 0 { departures.add(session.lingering) }
    session.lingering = -1
    session.queue = []
    session.assembled = []
    let index = Int(session.id.rawValue & (1 << Self.slotBits - 1))
    slots[index] = nil
    freeSlots.append(index)
    sessionCount -= 1
    census(of: session.entrance).leave(session.address)
    if let exchange = session.exchange {
      session.exchange = nil
      giveBody(of: exchange)
      requests[exchange.request] = nil
      if exchange.isDelivered, !exchange.isAnswered { delegate?.abandoned(exchange.request) }
    }
    if wasUpgraded { delegate?.closed(session.id) }
  }

  /// Ends a connection at once, without a word. Only between the library's callbacks: it frees
  /// the handle they work on.
  func cut(_ session: Session) {
    guard let wsi = session.wsi else { return }
    if session.phase == .open { session.phase = .broken }
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC)
  }

  func nextRequestID() -> RequestID {
    requestSerial += 1
    return RequestID(requestSerial)
  }
}
