import GatewayPorts
import JSON
import SocketIO
import SocketMessages
import WebSocketFrames

/// Carrying sessions of Socket.IO over WebSockets and polls.
extension Gateway {
  /// The error codes of Engine.IO for refused requests.
  private enum Refusal: Int {
    case unknownTransport = 0
    case unknownSession = 1
    case badHandshakeMethod = 2
    case badRequest = 3
    case forbidden = 4
    case unsupportedVersion = 5

    var words: String {
      switch self {
      case .unknownTransport: "Transport unknown"
      case .unknownSession: "Session ID unknown"
      case .badHandshakeMethod: "Bad handshake method"
      case .badRequest: "Bad request"
      case .forbidden: "Too many requests"
      case .unsupportedVersion: "Unsupported protocol version"
      }
    }

    var response: Response {
      var body: [UInt8] = []
      JSONWriter.object(&body) { object, body in
        object.field("code", rawValue, &body)
        object.field("message", words, &body)
      }
      return .json(400, body)
    }
  }

  private static func generation(_ query: QueryFields) -> EngineGeneration? {
    query["EIO"].flatMap { Int($0) }.flatMap(EngineGeneration.init(rawValue:))
  }

  /// The session that a request is for, if it is that client's.
  private func link(_ query: QueryFields, address: String) -> SocketIOLink? {
    guard let sid = query["sid"], let link = socketIO.bySession[sid],
      link.address.utf8.elementsEqual(address.utf8),
      link.session.generation == Self.generation(query)
    else { return nil }
    return link
  }

  /// Returns the answer to a request over a limit, with the status and the time to wait.
  private static func refusal(_ excess: Excess) -> Response {
    var response = Refusal.forbidden.response
    response.status = 429
    return .tooMany(response, retryAfter: excess.retryAfter)
  }

  // MARK: WebSockets

  /// The response to refuse an upgrade with, or `nil` to let it pass.
  func refusal(ofSocketIO query: String, address: String, _ head: RequestHead) -> Response? {
    let query = QueryFields(query)
    if let excess = access.excess(ofConnecting: head) { return Self.refusal(excess) }
    guard Self.generation(query) != nil else { return Refusal.unsupportedVersion.response }
    guard query["transport"] == "websocket" else { return Refusal.unknownTransport.response }
    if board.isDraining || query["sid"] == nil && hasTooManySessions { return .overloaded }
    guard query["sid"] != nil else { return nil }
    guard let link = link(query, address: address) else { return Refusal.unknownSession.response }
    return link.session.isOnWebSocket || link.probe != nil ? Refusal.badRequest.response : nil
  }

  /// Whether there are as many sessions as there may be.
  var hasTooManySessions: Bool {
    socketIO.bySession.count + bayeux.bySession.count >= settings.dialects.sessionsMax
  }

  func openedSocketIO(
    _ id: ConnectionID, query: String, address: String, from limited: IPAddress?
  ) {
    let query = QueryFields(query)
    if query["sid"] != nil {
      guard let link = link(query, address: address), link.session.beginProbe() else {
        act(.close(id, code: CloseCode(1002), reason: "no such session"))
        return
      }
      link.probe = id
      socketIO.byCarrier[id] = link
      return
    }
    guard let generation = Self.generation(query) else { return }
    let link = makeLink(generation, overWebSocket: true, address: address, from: limited)
    link.carrier = id
    socketIO.byCarrier[id] = link
    perform(link.session.begin(), for: link)
  }

  private func makeLink(
    _ generation: EngineGeneration, overWebSocket: Bool, address: String,
    from limited: IPAddress?
  ) -> SocketIOLink {
    let place = makePlace()
    let connection = Connection(
      id: place, dialect: session, address: address, openedAt: surroundings.clock.now,
      phase: .ready)
    metrics.connectionsOpened += 1
    connection.meter = access.rates.meter(from: limited)
    connection.client = surroundings.names.next()
    let session = SocketSession(
      id: surroundings.names.next(), generation: generation, overWebSocket: overWebSocket,
      settings: settings.dialects.socketIO, now: surroundings.clock.uptime)
    let link = SocketIOLink(session: session, connection: connection, address: address)
    link.authenticateBy = surroundings.clock.uptime + settings.dialects.authenticateMilliseconds
    connections[place] = connection
    socketIO.byPlace[place] = link
    socketIO.bySession[session.id] = link
    return link
  }

  /// A message has come over a WebSocket of Socket.IO.
  func receivedSocketIO(
    _ bytes: UnsafeRawBufferPointer, kind: MessageKind, on id: ConnectionID, _ link: SocketIOLink
  ) {
    let now = surroundings.clock.uptime
    metrics.received["socketIO", default: 0] += 1
    let excess = excess(of: link.connection, bytes: bytes.count, now: now)
    if let excess, closeIfFlooding(link.connection, excess, now: now) { return }
    if link.probe == id {
      guard kind == .text, let actions = link.session.receivedByProbe(bytes, now: now) else {
        endProbe(of: link)
        act(.close(id, code: CloseCode(1002), reason: "expected a probe, or the upgrade"))
        return
      }
      perform(actions, for: link)
    } else if kind == .text {
      let awaited = link.session.awaitsPong
      let actions = link.session.received(bytes, now: now)
      if awaited, !link.session.awaitsPong { noteArrival(link) }
      perform(actions, for: link, excess: excess)
    } else {
      // Binary attachments, which no app of this family sends.
      perform(link.session.end(.badPacket), for: link)
    }
  }

  private func endProbe(of link: SocketIOLink) {
    if let probe = link.probe { socketIO.byCarrier[probe] = nil }
    link.probe = nil
    link.session.endProbe()
  }

  /// A WebSocket of Socket.IO is gone.
  func closedSocketIO(_ id: ConnectionID, _ link: SocketIOLink) {
    if link.probe == id {
      endProbe(of: link)
    } else {
      socketIO.byCarrier[id] = nil
      link.carrier = nil
      perform(link.session.end(.closed), for: link)
    }
  }

  // MARK: Polling

  /// Answers a request of Socket.IO, or lets it wait.
  func requestSocketIO(_ request: RequestID, head: RequestHead, body: [UInt8]) {
    if head.method == "OPTIONS" {
      respond(request, .preflight(head))
      return
    }
    let query = QueryFields(head.query)
    func refuse(_ refusal: Refusal) { respond(request, refusal.response.allowing(head)) }
    guard let generation = Self.generation(query) else { return refuse(.unsupportedVersion) }
    guard query["transport"] == "polling" else {
      return refuse(query["transport"] == "websocket" ? .badRequest : .unknownTransport)
    }
    // A script's answer would be code for any page that asks.
    guard query["j"] == nil else { return refuse(.badRequest) }
    guard query["sid"] != nil else {
      guard head.method == "GET" else { return refuse(.badHandshakeMethod) }
      if board.isDraining || hasTooManySessions {
        respond(request, Response.overloaded.allowing(head))
        return
      }
      if let excess = access.excess(ofConnecting: head) {
        respond(request, Self.refusal(excess).allowing(head))
        return
      }
      let link = makeLink(
        generation, overWebSocket: false, address: head.remoteAddress, from: head.limitedAddress)
      wait(request, head, link)
      perform(link.session.begin(), for: link)
      return
    }
    guard let link = link(query, address: head.remoteAddress) else {
      return refuse(.unknownSession)
    }
    switch head.method {
    case "GET":
      if let old = link.poll {
        // The client has given it up, or it would not ask again.
        link.session.abandonPoll()
        stopWaiting(link)
        respond(old.request, Self.polled(noop(link.session.generation)).allowing(old.head))
      }
      guard let actions = link.session.poll() else { return refuse(.badRequest) }
      wait(request, head, link)
      perform(actions, for: link)
    case "POST":
      let now = surroundings.clock.uptime
      let awaited = link.session.awaitsPong
      guard let actions = link.session.posted(body, now: now) else {
        refuse(.badRequest)
        perform(link.session.end(.badPacket), for: link)
        return
      }
      metrics.received["socketIO", default: 0] += 1
      if awaited, !link.session.awaitsPong { noteArrival(link) }
      let excess = excess(
        of: link.connection, messages: max(1, actions.count(where: \.isEvent)),
        bytes: body.count, now: now)
      respond(
        request,
        Response(status: 200, headers: [("content-type", "text/html")], body: Array("ok".utf8))
          .allowing(head))
      perform(actions, for: link, excess: excess)
    default: refuse(.badHandshakeMethod)
    }
  }

  private func noop(_ generation: EngineGeneration) -> [UInt8] {
    EnginePayload.encode([EnginePacket.noop.text], generation: generation)
  }

  private static func polled(_ body: [UInt8]) -> Response {
    Response(
      status: 200,
      headers: [("content-type", "text/plain; charset=UTF-8"), ("cache-control", "no-store")],
      body: body)
  }

  private func wait(_ request: RequestID, _ head: RequestHead, _ link: SocketIOLink) {
    link.poll = (request, head)
    socketIO.byPoll[request] = link
  }

  private func stopWaiting(_ link: SocketIOLink) {
    if let poll = link.poll { socketIO.byPoll[poll.request] = nil }
    link.poll = nil
  }

  /// The client of a poll went away.
  func abandonedSocketIO(_ link: SocketIOLink) {
    stopWaiting(link)
    link.session.abandonPoll()
  }

  // MARK: Doing

  /// Does what a session wants done.
  ///
  /// - Parameter excess: why events are not to be done, if too much has come.
  func perform(
    _ actions: [SocketSession.Action], for link: SocketIOLink, excess: Excess? = nil
  ) {
    for action in actions {
      // On the way the client may have come back to what it had.
      let link = link.current
      switch action {
      case .send(let bytes):
        guard let carrier = link.carrier else { break }
        act(.send(Frame(.text, payload: bytes), to: carrier))
      case .sendToProbe(let bytes):
        guard let probe = link.probe else { break }
        act(.send(Frame(.text, payload: bytes), to: probe))
      case .adoptProbe:
        link.carrier = link.probe
        link.probe = nil
      case .answerPoll(let body):
        guard let poll = link.poll else { break }
        stopWaiting(link)
        respond(poll.request, Self.polled(body).allowing(poll.head))
      case .entered(_, let credentials):
        // Of the older generation everybody is in unasked.
        if link.session.generation == .four { enterTwake(link, credentials) }
      case .left(let namespace):
        guard namespace.utf8.elementsEqual("/".utf8) else { break }
        if !maySeeAgain(link, after: actions) { leaveTwake(link) }
      case .event(let namespace, let name, let arguments, let id):
        guard namespace.utf8.elementsEqual("/".utf8), link.session.isIn(namespace) else { break }
        if let excess {
          refuseTwake(name, arguments, excess, link)
        } else {
          receivedTwake(name, arguments, id: id, link)
        }
      case .acknowledged: break
      case .end(let ending): release(link, ending, isAway: maySeeAgain(link, after: actions))
      }
    }
  }

  /// Sends one packet to a session.
  func send(_ packet: SocketPacket, to link: SocketIOLink) {
    guard let recovery = link.recovery, packet.kind == .event else {
      perform(link.session.send(packet.engineText), for: link)
      return
    }
    let offset = recoveryLog.append(
      .packet(packet, author: nil), for: .client(recovery.id), now: surroundings.clock.uptime)
    if !link.isAway { perform(link.session.send(packet.numbered(offset).engineText), for: link) }
  }

  /// Sends a packet that others get too.
  private func send(_ packet: SharedPacket, to link: SocketIOLink) {
    guard link.session.isOnWebSocket, let carrier = link.carrier else {
      perform(link.session.send(packet.bytes), for: link)
      return
    }
    guard surroundings.queuedBytes(carrier) <= settings.queuedBytesMax else {
      perform(link.session.end(.slow), for: link)
      return
    }
    act(.send(packet.frame, to: carrier))
  }

  /// Sends something to those in a room who speak Socket.IO; each form of it is made once, if
  /// anybody wants it.
  func deliverSocketIO(_ content: SocketContent, in room: RoomName) {
    guard !socketIO.byPlace.isEmpty else { return }
    let isForAll = rooms.isForAll(by: content.author)
    var forms = PacketForms(content, in: room)
    var offset: String?
    for member in rooms.members(of: room) {
      guard let link = socketIO.byPlace[member],
        isForAll || rooms.isFor(link.connection, by: content.author)
      else { continue }
      if link.recovery != nil, offset == nil {
        offset = recoveryLog.append(content, for: .room(room), now: surroundings.clock.uptime)
      }
      if link.isAway { continue }
      send(
        forms.packet(
          hasPlace: !link.numberedRooms.isEmpty && link.numberedRooms.contains(room),
          offset: link.recovery == nil ? nil : offset),
        to: link)
    }
  }

  /// The session is over: lets go of what carries it, and of all that it had unless its client may
  /// come back to that.
  private func release(_ link: SocketIOLink, _ ending: SocketSession.Ending, isAway: Bool) {
    let code: UInt16 =
      switch ending {
      case .closed, .dismissed: 1000
      case .badPacket: 1002
      case .slow: CloseReason.slowReader.rawValue
      case .silent: CloseReason.idle.rawValue
      case .flooding: CloseReason.tooFast.rawValue
      }
    for id in [link.carrier, link.probe].compactMap(\.self) {
      socketIO.byCarrier[id] = nil
      act(.close(id, code: CloseCode(code), reason: "the session is over"))
    }
    if let poll = link.poll {
      stopWaiting(link)
      respond(poll.request, Refusal.unknownSession.response.allowing(poll.head))
    }
    link.carrier = nil
    link.probe = nil
    socketIO.bySession[link.session.id] = nil
    if isAway { goAway(link) } else { forget(link) }
  }

  /// Lets an older link go on with what carries a newer one, whose place it takes.
  func takeOver(_ link: SocketIOLink, by old: SocketIOLink) {
    old.session = link.session
    old.address = link.address
    old.connection.address = link.address
    old.carrier = link.carrier
    old.probe = link.probe
    old.poll = link.poll
    for carrier in [link.carrier, link.probe].compactMap(\.self) {
      socketIO.byCarrier[carrier] = old
    }
    if let poll = link.poll { socketIO.byPoll[poll.request] = old }
    socketIO.bySession[old.session.id] = old
    link.successor = old
    link.carrier = nil
    link.probe = nil
    link.poll = nil
    forget(link)
  }

  /// Lets go of all that a client had.
  func forget(_ link: SocketIOLink) {
    if let id = link.recovery?.id { socketIO.byRecovery[id] = nil }
    link.recovery = nil
    socketIO.byPlace[link.connection.id] = nil
    forget(link.connection)
  }

  /// Ends a session from this side, and lets nobody come back to it.
  func dismiss(_ link: SocketIOLink) {
    if link.isAway { forget(link) } else { perform(link.session.end(.dismissed), for: link) }
  }

  /// Ends the session that has this place, if one has, for it goes on although it was told to wait.
  func endFloodingSession(at place: ConnectionID) -> Bool {
    guard let link = socketIO.byPlace[place] else { return false }
    perform(link.session.end(.flooding), for: link)
    return true
  }

  /// Time has passed.
  func tickSocketIO() {
    let now = surroundings.clock.uptime
    for link in Array(socketIO.bySession.values) {
      let awaited = link.session.awaitsPong
      let actions = link.session.ticked(now: now)
      if !awaited, link.session.awaitsPong { link.recovery?.pinged = recoveryLog.head }
      perform(actions, for: link)
      if let deadline = link.authenticateBy, deadline <= now, !link.session.hasEnded {
        link.authenticateBy = nil
        refuse("no authenticate in time", link)
      }
    }
    tickRecovery(now)
    tickPresence(now)
  }
}

extension SocketSession.Action {
  fileprivate var isEvent: Bool {
    if case .event = self { true } else { false }
  }
}

extension Response {
  /// Too many are here, or nobody may come now.
  static var overloaded: Response {
    .problem(503, .unavailable, "no further sessions now; try again later")
  }
}
