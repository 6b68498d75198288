import ParleyGatewayPorts
import ParleyJSON
import ParleySocketIO
import SocketMessages
import ParleyWebSocketFrames

/// The transports of Socket.IO sessions: WebSockets and polls.
extension SocketIODialect {
  /// Engine.IO's error codes for rejected requests.
  enum Refusal: Int {
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

    var response: Response { response(400, words) }

    func response(_ status: Int, _ words: String) -> Response {
      var body: [UInt8] = []
      JSONWriter.object(&body) { object, body in
        object.field("code", rawValue, &body)
        object.field("message", words, &body)
      }
      return .json(status, body)
    }
  }

  static func generation(_ query: QueryFields) -> EngineGeneration? {
    query["EIO"].flatMap { Int($0) }.flatMap(EngineGeneration.init(rawValue:))
  }

  /// Returns the session in a request's query, if it belongs to the client's address.
  func link(_ query: QueryFields, address: String) -> SocketIOLink? {
    guard let sid = query["sid"], let link = bySession[sid],
      link.address.isExactly(address),
      link.session.generation == Self.generation(query)
    else { return nil }
    return link
  }

  /// Returns the response 429 for a request over a rate limit.
  static func refusal(_ excess: Excess) -> Response {
    var response = Refusal.forbidden.response
    response.status = 429
    return .tooMany(response, retryAfter: excess.retryAfter)
  }

  // MARK: WebSockets

  /// Returns the response that rejects an upgrade; `nil` if the upgrade may proceed.
  func refusal(ofUpgrade head: RequestHead, query: String, address: String) -> Response? {
    let query = QueryFields(query)
    if let excess = access.excess(ofConnecting: head) { return Self.refusal(excess) }
    guard Self.generation(query) != nil else { return Refusal.unsupportedVersion.response }
    guard query["transport"] == "websocket" else { return Refusal.unknownTransport.response }
    guard query["sid"] != nil else {
      return table.refusal(for: head.limitedAddress).map(\.response)
    }
    if board.isDraining { return .overloaded }
    guard let link = link(query, address: address) else { return Refusal.unknownSession.response }
    return link.session.isOnWebSocket || link.probe != nil ? Refusal.badRequest.response : nil
  }

  /// Handles a new WebSocket: the start of a session, or a probe for an existing session.
  func opened(
    _ id: ConnectionID, query: String, address: String, from limited: IPAddress?
  ) {
    let query = QueryFields(query)
    if query["sid"] != nil {
      guard let link = link(query, address: address), link.session.beginProbe() else {
        act(.close(id, code: CloseCode(1002), reason: "no such session"))
        return
      }
      link.probe = id
      byCarrier[id] = link
      if let identity = link.connection.identity ?? (access.isDemo ? .demo : nil) {
        admit(link, as: identity)
      }
      return
    }
    guard let generation = Self.generation(query) else { return }
    guard let link = makeLink(generation, overWebSocket: true, address: address, from: limited)
    else {
      act(.close(id, code: CloseCode(1013), reason: SessionSlots.Refusal.full.words))
      return
    }
    link.carrier = id
    byCarrier[id] = link
    if access.isDemo { admit(link, as: .demo) }
    perform(link.session.begin(), for: link)
  }

  /// Raises the message size limit for a session's WebSocket, and for one that probes.
  func admit(_ link: SocketIOLink, as identity: Identity) {
    for carrier in [link.carrier, link.probe].compactMap(\.self) {
      board.admit(carrier, as: identity, from: link.connection.limitedAddress)
    }
  }

  /// Begins a session; `nil` if no slot is free.
  private func makeLink(
    _ generation: EngineGeneration, overWebSocket: Bool, address: String,
    from limited: IPAddress?
  ) -> SocketIOLink? {
    guard let connection = makeConnection(at: address, from: limited) else { return nil }
    connection.limitedAddress = limited
    connection.meter = access.meter(from: limited)
    let session = SocketSession(
      id: dependencies.names.next(), generation: generation, overWebSocket: overWebSocket,
      settings: settings.dialects.socketIO, now: dependencies.clock.uptime)
    let link = SocketIOLink(session: session, connection: connection, address: address)
    link.authenticateBy = dependencies.clock.uptime + settings.dialects.authenticateMilliseconds
    byConnection[connection.id] = link
    bySession[session.id] = link
    return link
  }

  /// Handles a message on a WebSocket.
  ///
  /// - Returns: whether the WebSocket carries a session of Socket.IO, or probes for one.
  func received(
    _ bytes: UnsafeRawBufferPointer, kind: MessageKind, byCarrier id: ConnectionID
  ) -> Bool {
    guard let link = byCarrier[id] else { return false }
    receive(bytes, kind: kind, on: id, link)
    return true
  }

  private func receive(
    _ bytes: UnsafeRawBufferPointer, kind: MessageKind, on id: ConnectionID, _ link: SocketIOLink
  ) {
    let now = dependencies.clock.uptime
    metrics.received["socketIO", default: 0] += 1
    let excess = excess(of: link.connection, bytes: bytes.count, now: now)
    if excess != nil, !link.connection.meter.mayReject(allowances, now: now) {
      perform(link.session.end(.flooding), for: link)
      return
    }
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
      if awaited, !link.session.awaitsPong { confirmArrival(link) }
      perform(actions, for: link, excess: excess)
    } else {
      // Binary attachments, which no app of the Twake family sends.
      perform(link.session.end(.badPacket), for: link)
    }
  }

  private func endProbe(of link: SocketIOLink) {
    if let probe = link.probe { byCarrier[probe] = nil }
    link.probe = nil
    link.session.endProbe()
  }

  /// Handles a message on a WebSocket that exceeded the size limit.
  ///
  /// - Returns: whether the WebSocket belongs to Socket.IO.
  func oversized(byCarrier id: ConnectionID) -> Bool {
    guard let link = byCarrier[id] else { return false }
    perform(link.session.end(.badPacket), for: link)
    return true
  }

  /// Handles a message that was dropped in part: its sender has used its share of memory.
  ///
  /// - Returns: whether the WebSocket belongs to Socket.IO.
  func droppedForMemory(carrier id: ConnectionID) -> Bool {
    guard let link = byCarrier[id] else { return false }
    perform(link.session.end(.flooding), for: link)
    return true
  }

  /// Handles the end of a WebSocket.
  ///
  /// - Returns: whether the WebSocket belongs to Socket.IO.
  func closed(carrier id: ConnectionID) -> Bool {
    guard let link = byCarrier[id] else { return false }
    if link.probe == id {
      endProbe(of: link)
    } else {
      byCarrier[id] = nil
      link.carrier = nil
      perform(link.session.end(.closed), for: link)
    }
    return true
  }

  // MARK: Polling

  /// Whether a request is a waiting poll.
  func isPoll(_ request: RequestID) -> Bool { byPoll[request] != nil }

  /// Decides on a long body, which is accepted only for sessions with an authenticated client.
  func decision(onBody byteCount: Int?, of head: RequestHead) -> BodyDecision {
    func refuse(_ response: Response) -> BodyDecision { .refuse(response.allowing(head)) }
    guard let link = link(QueryFields(head.query), address: head.remoteAddress) else {
      return refuse(Refusal.unknownSession.response)
    }
    let identity = link.connection.identity ?? (access.isDemo ? .demo : nil)
    guard let identity else {
      return refuse(
        Refusal.badRequest.response(413, "too long before the client has authenticated"))
    }
    let bytesMax = settings.limits.messageBytesMax
    guard byteCount ?? 0 <= bytesMax else {
      return refuse(Refusal.badRequest.response(413, "a body may have \(bytesMax) bytes"))
    }
    return .take(upTo: bytesMax, for: Holder(LimitedClient(identity, from: head.limitedAddress)))
  }

  /// Answers a request, or holds it as a poll.
  func receive(_ request: RequestID, head: RequestHead, body: [UInt8]) {
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
    // A response as a script would expose its content to any page.
    guard query["j"] == nil else { return refuse(.badRequest) }
    guard query["sid"] != nil else {
      guard head.method == "GET" else { return refuse(.badHandshakeMethod) }
      return shakeHands(request, head, generation)
    }
    guard let link = link(query, address: head.remoteAddress) else {
      return refuse(.unknownSession)
    }
    switch head.method {
    case "GET":
      if let old = link.poll {
        // The client has given up the waiting poll, otherwise it would not send another.
        link.session.abandonPoll()
        stopWaiting(link)
        let noop = EnginePayload.encode(
          [EnginePacket.noop.text], generation: link.session.generation)
        respond(old.request, Self.polled(noop).allowing(old.head))
      }
      guard let actions = link.session.poll() else { return refuse(.badRequest) }
      wait(request, head, link)
      perform(actions, for: link)
    case "POST":
      let now = dependencies.clock.uptime
      let awaited = link.session.awaitsPong
      guard let actions = link.session.posted(body, now: now) else {
        refuse(.badRequest)
        perform(link.session.end(.badPacket), for: link)
        return
      }
      metrics.received["socketIO", default: 0] += 1
      if awaited, !link.session.awaitsPong { confirmArrival(link) }
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

  /// Begins a session that uses polling.
  private func shakeHands(_ request: RequestID, _ head: RequestHead, _ generation: EngineGeneration)
  {
    if let refusal = table.refusal(for: head.limitedAddress) {
      return respond(request, refusal.response.allowing(head))
    }
    if let excess = access.excess(ofConnecting: head) {
      return respond(request, Self.refusal(excess).allowing(head))
    }
    guard
      let link = makeLink(
        generation, overWebSocket: false, address: head.remoteAddress, from: head.limitedAddress)
    else { return respond(request, Response.overloaded.allowing(head)) }
    wait(request, head, link)
    perform(link.session.begin(), for: link)
  }

  static func polled(_ body: [UInt8]) -> Response {
    Response(
      status: 200,
      headers: [("content-type", "text/plain; charset=UTF-8"), ("cache-control", "no-store")],
      body: body)
  }

  private func wait(_ request: RequestID, _ head: RequestHead, _ link: SocketIOLink) {
    link.poll = (request, head)
    byPoll[request] = link
  }

  func stopWaiting(_ link: SocketIOLink) {
    if let poll = link.poll { byPoll[poll.request] = nil }
    link.poll = nil
  }

  /// Handles the disconnect of a waiting poll's client.
  func abandoned(_ request: RequestID) {
    guard let link = byPoll[request] else { return }
    stopWaiting(link)
    link.session.abandonPoll()
  }
}

extension Response {
  /// The rejection of a session while the server is full or shutting down.
  static var overloaded: Response {
    .tooMany(
      .problem(503, .unavailable, "no further sessions now; try again later"), retryAfter: nil)
  }
}

extension SocketSession.Action {
  fileprivate var isEvent: Bool {
    if case .event = self { true } else { false }
  }
}
