import Bayeux
import GatewayPorts
import JSON
import SocketMessages
import WebSocketFrames

/// Speaking Bayeux over WebSockets and requests.
extension Gateway {
  private typealias Way = BayeuxLink.Way

  // MARK: WebSockets

  func openedBayeux(_ id: ConnectionID, address: String, from limited: IPAddress?) {
    bayeux.byCarrier[id] = []
    bayeux.addresses[id] = address
    bayeux.meters[id] = access.rates.meter(from: limited)
  }

  /// A message has come over a WebSocket of Bayeux: one object, or an array of them.
  func receivedBayeux(_ bytes: UnsafeRawBufferPointer, on id: ConnectionID) {
    guard let messages = BayeuxMessage.decode(bytes) else {
      act(.close(id, code: CloseCode(CloseReason.badMessage.rawValue), reason: "expected JSON"))
      return
    }
    if messages.isEmpty { send([], overWebSocket: id) }
    let now = surroundings.clock.uptime
    let excess = bayeux.meters[id]?.draw(
      messages: messages.count, bytes: bytes.count, allowances, now: now)
    if let excess {
      count(excess)
      guard bayeux.meters[id]?.hasPatience(allowances, now: now) ?? true else {
        act(
          .close(
            id, code: CloseCode(CloseReason.tooFast.rawValue), reason: "too much at once; wait"))
        return
      }
      refuse(messages, excess, by: .webSocket(id))
      return
    }
    for message in messages {
      handle(message, from: bayeux.addresses[id] ?? "", by: .webSocket(id))
    }
  }

  private func send(_ messages: [[UInt8]], overWebSocket id: ConnectionID) {
    act(.send(Frame(.text, payload: BayeuxReply.frame(messages)), to: id))
  }

  func closedBayeux(_ id: ConnectionID) {
    bayeux.addresses[id] = nil
    bayeux.meters[id] = nil
    for link in bayeux.byCarrier.removeValue(forKey: id) ?? [] {
      link.carrier = nil
      link.session.interrupted()
    }
  }

  // MARK: Requests

  /// Answers a request of Bayeux, or lets it wait.
  func requestBayeux(_ request: RequestID, head: RequestHead, body: [UInt8]) {
    let json: [UInt8]
    var callback: ScriptCallback?
    switch head.method {
    case "OPTIONS":
      respond(request, .preflight(head))
      return
    case "POST": json = Self.bayeuxBody(head, body)
    case "GET":
      let query = QueryFields(head.query)
      guard let message = query["message"] else {
        respond(request, Self.withoutMessage(head.path).allowing(head))
        return
      }
      callback = query["jsonp"].map(ScriptCallback.init) ?? .standard
      guard callback != nil else {
        respond(
          request,
          Response.problem(
            400, .badMessage, "expected the name of a function as jsonp, such as __jsonp1__"
          ).allowing(head))
        return
      }
      json = Array(message.utf8)
    default:
      respond(request, Response.methodNotAllowed("GET", "POST").allowing(head))
      return
    }
    guard var messages = BayeuxMessage.decode(json) else {
      respond(
        request, Response.problem(400, .badMessage, "expected messages as JSON").allowing(head))
      return
    }
    if callback != nil, !settings.allowsTokenInURL { dropTokens(of: &messages) }
    let exchange = BayeuxLink.Exchange(request, head, callback)
    var meter = access.rates.meter(from: head.limitedAddress)
    let excess = meter.draw(
      messages: messages.count, bytes: json.count, allowances, now: surroundings.clock.uptime)
    if let excess {
      count(excess)
      refuse(messages, excess, by: .request(exchange))
    } else {
      for message in messages { handle(message, from: head.remoteAddress, by: .request(exchange)) }
    }
    exchange.isRead = true
    finish(exchange)
  }

  /// The JSON of a request: its body, or a form's field.
  ///
  /// A form is told by how it begins: pages of other origins send one as plain text, or without any
  /// type.
  private static func bayeuxBody(_ head: RequestHead, _ body: [UInt8]) -> [UInt8] {
    guard body.starts(with: "message=".utf8) else { return body }
    let form = String(decoding: body, as: UTF8.self).split(separator: "+").joined(separator: "%20")
    return QueryFields(form)["message"].map { Array($0.utf8) } ?? []
  }

  /// Answers a request that reads and has no message: somebody looks for a file here.
  private static func withoutMessage(_ path: String) -> Response {
    guard let name = path.utf8.split(separator: UInt8(ascii: "/")).last,
      name.contains(UInt8(ascii: "."))
    else { return .problem(400, .badMessage, "expected messages as JSON in the field message") }
    return .problem(
      404, .notOffered, "no client is served here; load the one for browsers from Faye's package")
  }

  /// Takes tokens out of messages that stand in a URL, where logs and histories keep them.
  private func dropTokens(of messages: inout [BayeuxMessage]) {
    guard messages.contains(where: { $0.accessToken != nil }) else { return }
    log(.notice, "token refused", "it is in a URL; see allow-token-in-url")
    for index in messages.indices { messages[index].accessToken = nil }
  }

  private func finish(_ exchange: BayeuxLink.Exchange) {
    guard exchange.isRead, exchange.pending == 0, !exchange.isHeld else { return }
    let json = BayeuxReply.frame(exchange.replies)
    var response = Response(
      status: 200, headers: [("content-type", "application/json; charset=utf-8")], body: json)
    if let callback = exchange.callback {
      response.headers = [
        ("content-type", "application/javascript; charset=utf-8"),
        // Whoever follows a link to it saves a file instead of seeing a page.
        ("content-disposition", "attachment; filename=f.txt"),
      ]
      response.body = callback.script(json)
    }
    response.headers.append(("x-content-type-options", "nosniff"))
    response.headers.append(("cache-control", "no-store"))
    respond(exchange.request, response.allowing(exchange.head))
  }

  /// The client of a request that waits went away.
  func abandonedBayeux(_ link: BayeuxLink) {
    if let exchange = link.exchange { bayeux.byRequest[exchange.request] = nil }
    link.exchange = nil
    link.session.interrupted()
  }

  // MARK: Messages

  private func answer(_ bytes: [UInt8], by way: Way) {
    switch way {
    case .webSocket(let id): send([bytes], overWebSocket: id)
    case .request(let exchange): exchange.replies.append(bytes)
    }
  }

  private func handle(_ message: BayeuxMessage, from address: String, by way: Way) {
    metrics.received["bayeux", default: 0] += 1
    switch message.channel {
    case "": refuse(message, .missing("channel"), by: way)
    case "/meta/handshake": shakeHands(message, from: address, by: way)
    case "/meta/connect", "/meta/disconnect", "/meta/subscribe", "/meta/unsubscribe":
      guard let clientID = message.clientID else {
        return refuse(message, .missing("clientId"), advice: Self.newHandshake, by: way)
      }
      guard let link = bayeux.bySession[clientID],
        link.address.utf8.elementsEqual(address.utf8)
      else {
        return refuse(message, .unknownClient(clientID), advice: Self.newHandshake, by: way)
      }
      switch message.channel {
      case "/meta/connect": connect(message, link, by: way)
      case "/meta/disconnect":
        answer(BayeuxReply.reply(to: message, clientID: clientID), by: way)
        perform(link.session.end(), for: link)
      case "/meta/subscribe": subscribe(message, link, by: way)
      default: unsubscribe(message, link, by: way)
      }
    default: publish(message, from: address, by: way)
    }
  }

  private static let newHandshake = BayeuxReply.Advice(reconnect: "handshake")

  private func refuse(
    _ message: BayeuxMessage, _ error: BayeuxError, clientID: String? = nil,
    subscription: [String]? = nil, advice: BayeuxReply.Advice? = nil, by way: Way
  ) {
    answer(
      BayeuxReply.reply(
        to: message, clientID: clientID, error: error, subscription: subscription,
        advice: advice), by: way)
  }

  /// Refuses what was too much: messages of the protocol's own with advice when to try again.
  private func refuse(_ messages: [BayeuxMessage], _ excess: Excess, by way: Way) {
    for message in messages {
      refuse(
        message, .tooFast(message.channel), clientID: message.clientID,
        advice: message.channel.utf8.starts(with: "/meta/".utf8)
          ? BayeuxReply.Advice(interval: excess.retryAfter ?? settings.retryAfterMilliseconds)
          : nil,
        by: way)
    }
  }

  private func shakeHands(_ message: BayeuxMessage, from address: String, by way: Way) {
    func refuse(_ error: BayeuxError) {
      self.refuse(message, error, advice: Self.newHandshake, by: way)
    }
    guard message.version != nil else { return refuse(.missing("version")) }
    guard let types = message.supportedConnectionTypes else {
      return refuse(.missing("supportedConnectionTypes"))
    }
    guard types.contains(where: BayeuxReply.connectionTypes.contains) else {
      return refuse(.connectionTypes(types.prefix(16).map { String($0.prefix(64)) }))
    }
    guard !board.isDraining, !hasTooManySessions else { return refuse(.unavailable("handshake")) }
    let now = surroundings.clock.uptime
    let place = makePlace()
    let connection = Connection(
      id: place, dialect: session, address: address, openedAt: surroundings.clock.now,
      phase: .ready)
    metrics.connectionsOpened += 1
    connection.client = surroundings.names.next()
    let link = BayeuxLink(
      session: BayeuxSession(
        id: surroundings.names.next(), settings: settings.dialects.bayeux, now: now),
      connection: connection, address: address, pingAt: now + settings.dialects.pingMilliseconds)
    connections[place] = connection
    bayeux.byPlace[place] = link
    bayeux.bySession[link.session.id] = link
    answer(
      BayeuxReply.reply(to: message, clientID: link.session.id, advice: link.session.advice),
      by: way)
  }

  private func connect(_ message: BayeuxMessage, _ link: BayeuxLink, by way: Way) {
    guard let type = message.connectionType else {
      return refuse(
        message, .missing("connectionType"), clientID: link.session.id,
        advice: Self.newHandshake, by: way)
    }
    guard BayeuxReply.connectionTypes.contains(type) else {
      return refuse(
        message, .connectionTypes([String(type.prefix(64))]), advice: Self.newHandshake, by: way)
    }
    let now = surroundings.clock.uptime
    // Whatever it says of itself, how it comes decides: some declare polling on a WebSocket.
    switch way {
    case .webSocket(let id):
      if link.carrier != id {
        if let old = link.carrier { bayeux.byCarrier[old]?.removeAll { $0 === link } }
        link.carrier = id
        bayeux.byCarrier[id, default: []].append(link)
      }
      perform(link.session.connect(webSocket: message, now: now), for: link)
    case .request(let exchange):
      if let old = link.carrier {
        bayeux.byCarrier[old]?.removeAll { $0 === link }
        link.carrier = nil
      }
      // What waits is answered by the actions; then this request takes its place.
      var actions = link.session.connect(request: message, now: now)
      if link.exchange != nil, !actions.isEmpty { perform([actions.removeFirst()], for: link) }
      link.exchange = exchange
      exchange.isHeld = true
      bayeux.byRequest[exchange.request] = link
      perform(actions, for: link)
    }
  }

  /// Does what a session wants done.
  private func perform(_ actions: [BayeuxSession.Action], for link: BayeuxLink) {
    for action in actions {
      switch action {
      case .send(let messages):
        guard let carrier = link.carrier else { break }
        send(messages, overWebSocket: carrier)
      case .answer(let messages):
        guard let exchange = link.exchange else { break }
        link.exchange = nil
        bayeux.byRequest[exchange.request] = nil
        exchange.isHeld = false
        exchange.replies += messages
        finish(exchange)
      case .end: forget(link)
      }
    }
  }

  private func forget(_ link: BayeuxLink) {
    if let carrier = link.carrier { bayeux.byCarrier[carrier]?.removeAll { $0 === link } }
    if let exchange = link.exchange {
      bayeux.byRequest[exchange.request] = nil
      exchange.isHeld = false
      finish(exchange)
    }
    bayeux.bySession[link.session.id] = nil
    bayeux.byPlace[link.connection.id] = nil
    bayeux.withPatterns[link.connection.id] = nil
    forget(link.connection)
  }

  /// Ends a session from this side.
  /// - Parameter comesBack: whether its client is to begin another, as it does unless told.
  func endBayeux(_ link: BayeuxLink, comesBack: Bool = true) {
    perform(link.session.end(comesBack: comesBack), for: link)
  }

  // MARK: Subscriptions

  /// Whether somebody may hear a channel: by a right to the room, or because it is their own.
  static func mayHear(_ channel: BayeuxChannel, _ identity: Identity) -> Bool {
    isOwn(channel, identity)
      || identity.may(.read, .room(channel.isPattern ? channel.text : channel.room))
  }

  private static func isOwn(_ channel: BayeuxChannel, _ identity: Identity) -> Bool {
    !identity.user.isEmpty && channel.text.utf8.elementsEqual("/user/\(identity.user)".utf8)
  }

  private func subscribe(_ message: BayeuxMessage, _ link: BayeuxLink, by way: Way) {
    let wanted = message.subscriptions ?? []
    func refuse(_ error: BayeuxError) {
      self.refuse(
        message, error, clientID: link.session.id, subscription: wanted, by: way)
    }
    guard let first = wanted.first else { return refuse(.missing("subscription")) }
    var channels: [BayeuxChannel] = []
    for text in wanted {
      guard let channel = BayeuxChannel(text) else {
        return refuse(.invalid(String(text.prefix(64))))
      }
      guard !channel.isMeta, !channel.isService else { return refuse(.forbidden(text)) }
      // Of several ways to write a room's name as a channel's only one is used.
      guard channel.isPattern || BayeuxChannel(room: channel.room) == channel else {
        return refuse(.invalid(String(text.prefix(64))))
      }
      channels.append(channel)
    }
    let identity: Identity
    do throws(AuthenticationError) {
      identity = try access.identity(for: message.accessToken)
    } catch {
      log(.notice, "token refused", "\(error)")
      return refuse(.forbidden(first))
    }
    for channel in channels where !Self.mayHear(channel, identity) {
      return refuse(.forbidden(channel.text))
    }
    let subscriptionsMax = settings.dialects.bayeux.subscriptionsMax
    guard
      link.subscriptions.count
        + channels.count(where: { link.subscriptions[$0.text] == nil }) <= subscriptionsMax
    else { return refuse(.forbidden(first)) }
    if !identity.isSamePerson(as: link.connection.identity) {
      if let excess = access.excess(ofConnecting: identity) {
        return self.refuse([message], excess, by: way)
      }
      access.count(link.connection, towards: identity)
    }
    take(identity, link)
    for channel in channels {
      link.subscriptions[channel.text] = .init(channel: channel, identity: identity)
      if channel.isPattern {
        bayeux.withPatterns[link.connection.id] = link
      } else {
        rooms.join(room: channel.room, link.connection)
      }
    }
    answer(
      BayeuxReply.reply(to: message, clientID: link.session.id, subscription: wanted), by: way)
  }

  /// Makes the session somebody's, who is connected from here on.
  private func take(_ identity: Identity, _ link: BayeuxLink) {
    let isSamePerson = identity.isSamePerson(as: link.connection.identity)
    if !isSamePerson { rooms.goOffline(link.connection) }
    link.connection.identity = identity
    if !isSamePerson { rooms.goOnline(link.connection) }
  }

  private func unsubscribe(_ message: BayeuxMessage, _ link: BayeuxLink, by way: Way) {
    let channels = message.subscriptions ?? []
    for text in channels {
      if let subscription = link.subscriptions[text] { end(subscription.channel, of: link) }
    }
    answer(
      BayeuxReply.reply(to: message, clientID: link.session.id, subscription: channels), by: way)
  }

  /// Ends the subscriptions whose token has ended, was taken back, or gives the right no more.
  ///
  /// The client is told by a refusal that it has not asked for. One that has no subscription left
  /// has to shake hands again, and brings newer tokens with its subscriptions.
  func endSubscriptions(of link: BayeuxLink) {
    let ended = link.subscriptions.values.filter { !stands($0) }.map(\.channel)
      .sorted { $0.text < $1.text }
    guard !ended.isEmpty else { return }
    for channel in ended { end(channel, of: link) }
    if link.subscriptions.isEmpty { return endBayeux(link) }
    if let identity = link.connection.identity, !stands(identity),
      let other = link.subscriptions.values.first?.identity
    {
      take(other, link)
    }
    for channel in ended {
      send(
        SharedEvent(BayeuxReply.ended(channel.text, clientID: link.session.id)), to: link)
    }
  }

  private func stands(_ subscription: BayeuxLink.Subscription) -> Bool {
    stands(subscription.identity) && Self.mayHear(subscription.channel, subscription.identity)
  }

  private func stands(_ identity: Identity) -> Bool {
    if let end = identity.expiresAt, end <= surroundings.clock.now { return false }
    return !access.isRevoked(identity)
  }

  private func end(_ channel: BayeuxChannel, of link: BayeuxLink) {
    guard link.subscriptions.removeValue(forKey: channel.text) != nil else { return }
    if !channel.isPattern {
      rooms.leave(room: channel.room, link.connection)
    } else if !link.subscriptions.values.contains(where: \.channel.isPattern) {
      bayeux.withPatterns[link.connection.id] = nil
    }
  }

  // MARK: Publishing

  private func publish(_ message: BayeuxMessage, from address: String, by way: Way) {
    let link = message.clientID.flatMap { bayeux.bySession[$0] }
    if let clientID = message.clientID {
      guard let link, link.address.utf8.elementsEqual(address.utf8) else {
        return self.refuse(
          message, .unknownClient(clientID), advice: Self.newHandshake, by: way)
      }
    }
    func refuse(_ error: BayeuxError) {
      self.refuse(message, error, clientID: message.clientID, by: way)
    }
    guard let channel = BayeuxChannel(message.channel), !channel.isPattern else {
      return refuse(.invalid(String(message.channel.prefix(64))))
    }
    guard !channel.isMeta, !channel.isService else { return refuse(.forbidden(channel.text)) }
    guard let data = message.data else { return refuse(.missing("data")) }
    // By a token of its own, or by the one that the channel is heard with.
    let identity: Identity
    do throws(AuthenticationError) {
      if message.accessToken == nil, let own = link?.subscriptions[channel.text],
        own.isValid(for: channel, surroundings.clock.now)
      {
        identity = own.identity
      } else {
        identity = try access.identity(for: message.accessToken)
      }
    } catch { return refuse(.forbidden(channel.text)) }
    let fields = data.fields
    let reply = BayeuxReply.reply(to: message, clientID: message.clientID)
    switch fields?["type"]?.string {
    case "ping" where link != nil && Self.mayHear(channel, identity):
      if let link { deliver(data, channel, to: link) }
      answer(reply, by: way)
      return
    case "typing" where Self.mayType(on: channel, identity):
      var stamped = Self.typing(fields)
      let person = identity.user.isEmpty ? link?.connection.client ?? "" : identity.user
      stamped.set("user_id", JSONValue(person))
      deliverBayeux(JSONValue(stamped), by: person, in: channel.room)
      answer(reply, by: way)
      return
    default: break
    }
    guard identity.may(.publish, .room(channel.room)) else {
      return refuse(.forbidden(channel.text))
    }
    if let excess = access.excess(ofPublishingBy: identity, bytes: data.utf8.count) {
      return self.refuse([message], excess, by: way)
    }
    if case .request(let exchange) = way { exchange.pending += 1 }
    let person = identity.user.isEmpty ? link?.connection.client : identity.user
    rooms.publish(
      PublishRequest(
        room: channel.room, data: Self.stamped(data, identity.user), person: person),
      for: .bayeux(BayeuxPublishing(message: message, channel: channel, reply: reply, way: way)))
  }

  /// Tells a publisher what became of its event.
  func answer(bayeux publishing: BayeuxPublishing, _ result: PublishResult) {
    switch result {
    case .published(_, isRepeated: false):
      // The publisher hears the event first, then that it was taken.
      bayeux.afterDelivery.append((publishing.reply, publishing.way))
    case .published: finish(publishing.reply, by: publishing.way)
    case .refused:
      let message = publishing.message
      finish(
        BayeuxReply.reply(
          to: message, clientID: message.clientID,
          error: .unavailable(publishing.channel.text)), by: publishing.way)
    }
  }

  /// Gives an answer that its exchange has waited for.
  private func finish(_ bytes: [UInt8], by way: Way) {
    answer(bytes, by: way)
    guard case .request(let exchange) = way else { return }
    exchange.pending -= 1
    finish(exchange)
  }

  /// Whether somebody may be seen typing on a channel.
  private static func mayType(on channel: BayeuxChannel, _ identity: Identity) -> Bool {
    isOwn(channel, identity) || identity.may([.read, .presence], .room(channel.room))
  }

  /// Returns the part of a typing message that is passed on; it carries no content of its own,
  /// since typing needs no right to publish.
  private static func typing(_ said: JSONFields?) -> JSONFields {
    var fields = JSONFields([JSONFields.Field("type", JSONValue("typing"))])
    if let started = said?["started"]?.integer {
      fields.append(JSONFields.Field("started", JSONValue(started)))
    }
    return fields
  }

  /// The data with the sender's own id where a message names its author: nobody speaks for others,
  /// and no user for the service.
  private static func stamped(_ data: JSONValue, _ user: String) -> JSONValue {
    guard !user.isEmpty, var fields = data.fields else { return data }
    if fields["user_id"] != nil { fields.set("user_id", JSONValue(user)) }
    if let subject = fields["subject"]?.fields {
      var subject = JSONFields(subject.all.filter { $0.name != "event" })
      if subject["user_id"] != nil || fields["type"] != nil {
        subject.set("user_id", JSONValue(user))
      }
      if subject["system"] != nil { subject.set("system", JSONValue(false)) }
      fields.set("subject", JSONValue(subject))
    }
    return JSONValue(fields)
  }

  // MARK: Delivering

  /// Passes data on to all who hear a room's channel, but those who have nothing to do with its
  /// author.
  func deliverBayeux(_ data: JSONValue, by author: PersonID?, in room: RoomName) {
    guard !bayeux.byPlace.isEmpty, let channel = BayeuxChannel(room: room) else { return }
    let event = self.event(data, channel)
    let now = surroundings.clock.now
    let isForAll = rooms.isForAll(by: author)
    // Who hears it by name and by a pattern hears it once.
    var reached: Set<ConnectionID> = []
    for member in rooms.members(of: room) {
      guard let link = bayeux.byPlace[member] else { continue }
      if !bayeux.withPatterns.isEmpty { reached.insert(member) }
      if link.hears(channel, now: now), isForAll || rooms.isFor(link.connection, by: author) {
        send(event, to: link)
      }
    }
    for (place, link) in bayeux.withPatterns where !reached.contains(place) {
      if link.hears(channel, now: now), isForAll || rooms.isFor(link.connection, by: author) {
        send(event, to: link)
      }
    }
  }

  /// An event encoded once for all Bayeux sessions on WebSockets.
  private struct SharedEvent {
    let bytes: [UInt8]
    let frame: Frame

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      frame = Frame(.text, payload: BayeuxReply.frame([bytes]))
    }
  }

  private func event(_ data: JSONValue, _ channel: BayeuxChannel) -> SharedEvent {
    let bytes = BayeuxReply.event(
      channel: channel.text, data: data, id: String(bayeux.nextEvent, radix: 36))
    bayeux.nextEvent += 1
    return SharedEvent(bytes)
  }

  private func deliver(_ data: JSONValue, _ channel: BayeuxChannel, to link: BayeuxLink) {
    send(event(data, channel), to: link)
  }

  private func send(_ event: SharedEvent, to link: BayeuxLink) {
    guard link.session.isOnWebSocket, let carrier = link.carrier else {
      perform(link.session.deliver(event.bytes), for: link)
      return
    }
    guard surroundings.queuedBytes(carrier) <= settings.queuedBytesMax else {
      act(.close(carrier, code: CloseCode(CloseReason.slowReader.rawValue), reason: "too slow"))
      perform(link.session.end(), for: link)
      return
    }
    act(.send(event.frame, to: carrier))
  }

  /// Runs the sends that waited for a publication's delivery.
  func finishDelivery() {
    guard !bayeux.afterDelivery.isEmpty else { return }
    let waiting = bayeux.afterDelivery
    bayeux.afterDelivery.removeAll()
    for (bytes, way) in waiting { finish(bytes, by: way) }
  }

  /// Time has passed.
  func tickBayeux() {
    let now = surroundings.clock.uptime
    for link in Array(bayeux.byPlace.values) {
      perform(link.session.ticked(now: now), for: link)
      guard link.pingAt <= now else { continue }
      link.pingAt = now + settings.dialects.pingMilliseconds
      let own = link.subscriptions.values.first { $0.channel.text.utf8.starts(with: "/user/".utf8) }
      guard let own, !own.channel.isPattern, link.session.isOnWebSocket else { continue }
      let ping = JSONFields([JSONFields.Field("type", JSONValue("ping"))])
      deliver(JSONValue(ping), own.channel, to: link)
    }
  }
}
