import ParleyGatewayPorts
import ParleyJSON
import ParleySocketIO
import SocketMessages
import ParleyWebSocketFrames

/// Carrying sessions over WebSockets and polls.
extension SocketIODialect {
  /// The error codes of Engine.IO for refused requests.
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

  /// The session that a request names, if it belongs to that client.
  func link(_ query: QueryFields, address: String) -> SocketIOLink? {
    guard let sid = query["sid"], let link = bySession[sid],
      link.address.utf8.elementsEqual(address.utf8),
      link.session.generation == Self.generation(query)
    else { return nil }
    return link
  }

  /// Returns the answer to a request over a limit, with the status and the time to wait.
  static func refusal(_ excess: Excess) -> Response {
    var response = Refusal.forbidden.response
    response.status = 429
    return .tooMany(response, retryAfter: excess.retryAfter)
  }

  // MARK: WebSockets

  /// The response to refuse an upgrade with, or `nil` to let it pass.
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

  /// A WebSocket of Socket.IO is open.
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
      act(.close(id, code: CloseCode(1013), reason: SessionPlaces.Refusal.full.words))
      return
    }
    link.carrier = id
    byCarrier[id] = link
    if access.isDemo { admit(link, as: .demo) }
    perform(link.session.begin(), for: link)
  }

  /// Lets a client send messages of the full size, over what carries its session or may do so later.
  func admit(_ link: SocketIOLink, as identity: Identity) {
    for carrier in [link.carrier, link.probe].compactMap(\.self) {
      board.admit(carrier, as: identity, from: link.connection.limitedAddress)
    }
  }

  /// Begins a session; `nil` if there is no place for it.
  private func makeLink(
    _ generation: EngineGeneration, overWebSocket: Bool, address: String,
    from limited: IPAddress?
  ) -> SocketIOLink? {
    guard let connection = makePlace(at: address, from: limited) else { return nil }
    connection.limitedAddress = limited
    connection.meter = access.meter(from: limited)
    let session = SocketSession(
      id: dependencies.names.next(), generation: generation, overWebSocket: overWebSocket,
      settings: settings.dialects.socketIO, now: dependencies.clock.uptime)
    let link = SocketIOLink(session: session, connection: connection, address: address)
    link.authenticateBy = dependencies.clock.uptime + settings.dialects.authenticateMilliseconds
    byPlace[connection.id] = link
    bySession[session.id] = link
    return link
  }

  /// A message has come over a WebSocket.
  ///
  /// - Returns: whether the WebSocket carries a session of Socket.IO, or may do so later.
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
    if excess != nil, !link.connection.meter.hasPatience(allowances, now: now) {
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
      if awaited, !link.session.awaitsPong { noteArrival(link) }
      perform(actions, for: link, excess: excess)
    } else {
      // Binary attachments, which no app of this family sends.
      perform(link.session.end(.badPacket), for: link)
    }
  }

  private func endProbe(of link: SocketIOLink) {
    if let probe = link.probe { byCarrier[probe] = nil }
    link.probe = nil
    link.session.endProbe()
  }

  /// A message on a WebSocket was too long.
  ///
  /// - Returns: as for a message that has come.
  func oversized(byCarrier id: ConnectionID) -> Bool {
    guard let link = byCarrier[id] else { return false }
    perform(link.session.end(.badPacket), for: link)
    return true
  }

  /// A message on a WebSocket was dropped in part, since its sender holds its share of memory.
  ///
  /// - Returns: as for a message that has come.
  func crowded(carrier id: ConnectionID) -> Bool {
    guard let link = byCarrier[id] else { return false }
    perform(link.session.end(.flooding), for: link)
    return true
  }

  /// A WebSocket is gone.
  ///
  /// - Returns: as for a message that has come.
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

  /// Whether a request is a poll that waits.
  func isPoll(_ request: RequestID) -> Bool { byPoll[request] != nil }

  /// Decides about a long body: of a session whose client has authenticated.
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
    return .take(upTo: bytesMax, for: Holder(Stranger(identity, from: head.limitedAddress)))
  }

  /// Answers a request, or lets it wait.
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
    // A script's answer would be code for any page that asks.
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
        // The client has given up the waiting poll, or it would not ask again.
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

  /// Begins a session that polls.
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

  /// The client of a request went away.
  func abandoned(_ request: RequestID) {
    guard let link = byPoll[request] else { return }
    stopWaiting(link)
    link.session.abandonPoll()
  }
}

extension Response {
  /// The refusal of a further session while the server is full or stops.
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
