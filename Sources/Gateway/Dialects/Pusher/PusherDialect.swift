import ParleyGatewayPorts
import ParleyJSON
import ParleyPusher
import SocketMessages
import ParleyWebSocketFrames

/// The server side of Pusher's protocol. A channel is a room; its name has the app's prefix.
///
/// Clients have no tokens. An app's signature grants a connection a channel until it closes.
final class PusherDialect: ConnectionDialect {
  let access: Access
  let rooms: Rooms
  /// The apps by key.
  let apps: ExactDictionary<PusherApp>
  /// The connections by id.
  private var links: [ConnectionID: PusherLink] = [:]
  /// The connections by the socket ids that signatures contain.
  private var bySocket: ExactDictionary<ConnectionID> = [:]
  /// The requests whose events wait for the store.
  var batches: [RequestID: PusherBatch] = [:]

  init(_ board: Switchboard, _ access: Access, _ rooms: Rooms) {
    self.access = access
    self.rooms = rooms
    var apps: ExactDictionary<PusherApp> = [:]
    for app in board.settings.dialects.pusher.apps { apps[app.key] = app }
    self.apps = apps
    super.init(
      board,
      Traits(
        listing: .pusher, hasTokens: false, hearsOfItself: false,
        closeCode: { UInt16(PusherError($0).code) }))
  }

  /// Breaks the reference cycles between connections and their dialect.
  func breakReferenceCycles() { (links, bySocket) = ([:], [:]) }

  // MARK: Connections

  /// Handles a new connection: greets or closes it.
  func opened(
    _ id: ConnectionID, key: String, query: String, at address: String,
    from limited: IPAddress?
  ) {
    let problem = PusherSession.problem(ofProtocol: QueryFields(query)["protocol"])
    guard problem == nil, let app = apps[key] else {
      return refuse(id, problem ?? .unknownApp)
    }
    let now = dependencies.clock.uptime
    let connection = Connection(
      id: id, dialect: self, address: address, openedAt: dependencies.clock.now, phase: .ready)
    connection.client = dependencies.names.next()
    connection.identity = Identity(
      user: "", grants: [Grant(.rooms, NamePattern(app.roomPrefix + "*"), [.read, .presence])])
    connection.limitedAddress = limited
    connection.meter = access.meter(from: limited)
    connection.heardAt = now
    let link = PusherLink(
      connection, app,
      PusherSession(
        app: app, socketID: socketID(), settings: sessionSettings, now: now))
    links[id] = link
    bySocket[link.session.socketID] = id
    board.enter(connection)
    metrics.connectionsOpened += 1
    send(Self.frame(link.session.greeting), to: connection)
  }

  /// Rejects a connection with a frame, since browsers hide an upgrade's status from pages.
  private func refuse(_ id: ConnectionID, _ error: PusherError) {
    metrics.closes[UInt16(error.code), default: 0] += 1
    act(.send(Self.frame(PusherFrame.error(error)), to: id))
    act(.close(id, code: CloseCode(UInt16(error.code)), reason: error.message))
  }

  private var sessionSettings: PusherSession.Settings {
    var session = PusherSession.Settings()
    // Silent subscribers must answer pings often enough to renew their presence.
    let third = Int64(settings.limits.presenceLeaseMilliseconds) / 3
    session.activityMilliseconds = min(session.activityMilliseconds, third)
    session.pongMilliseconds = min(session.pongMilliseconds, third)
    session.channelsMax = settings.limits.roomsPerConnectionMax
    return session
  }

  /// Returns a socket id that no earlier connection has used, as two numbers.
  private func socketID() -> String {
    let number = StableHash.of(dependencies.names.next())
    return "\(number >> 32).\(number & 0xffff_ffff)"
  }

  /// Handles the end of a connection.
  func closed(_ id: ConnectionID) {
    guard let link = links.removeValue(forKey: id) else { return }
    bySocket[link.session.socketID] = nil
  }

  /// Does the periodic work of connections, such as pings.
  func ticked() {
    guard !links.isEmpty else { return }
    let now = dependencies.clock.uptime
    for connection in connectionsInOrder({ self.links[$0.id] != nil && $0.isOpen }) {
      guard let link = links[connection.id] else { continue }
      perform(link.session.ticked(now: now), for: link)
    }
  }

  /// Closes this gateway's connections that are signed in as a channel's user.
  func endConnections(of channel: PusherChannel, _ app: PusherApp) {
    for connection in connectionsInOrder({ self.links[$0.id] != nil && $0.isOpen }) {
      guard let link = links[connection.id], link.app.key == app.key,
        let own = link.session.userID.flatMap({ PusherChannel(ofUser: $0) }),
        own.name.isExactly(channel.name)
      else { continue }
      perform(link.session.end(with: .unauthorised), for: link)
    }
  }

  static func frame(_ bytes: [UInt8]) -> Frame { Frame { $0 += bytes } }

  // MARK: Messages

  func received(
    _ bytes: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess?,
    on connection: Connection
  ) {
    guard let link = links[connection.id] else { return }
    guard bytes.count <= PusherMessage.bytesMax else {
      return oversized(connection, bytesMax: PusherMessage.bytesMax)
    }
    let message = PusherMessage(bytes)
    metrics.received[message?.metricName ?? "malformed", default: 0] += 1
    if let excess {
      return sendError(
        .tooFast, excess.words(settings.limits), ref: "", retryAfter: nil, to: connection)
    }
    perform(link.session.received(message, now: dependencies.clock.uptime), for: link)
  }

  func oversized(_ connection: Connection, bytesMax: Int) {
    send(Self.frame(PusherFrame.error(.tooLarge(bytesMax: bytesMax))), to: connection)
    board.close(connection, .messageTooLarge, "message too large")
  }

  func droppedForMemory(_ connection: Connection) {
    send(Self.frame(PusherFrame.error(.overCapacity)), to: connection)
    closeCrowded(connection)
  }

  func sendError(
    _ code: ErrorCode, _ message: String, ref: String, retryAfter: Int?,
    to connection: Connection
  ) {
    send(Self.frame(PusherFrame.error(.clientEventRefused(message))), to: connection)
  }

  func sendGoodbye(
    reason: String, reconnectAfter: ClosedRange<Int>, to connection: Connection
  ) {
    let error: PusherError = reason == "draining" ? .draining : .overCapacity
    send(Self.frame(PusherFrame.error(error)), to: connection)
  }

  /// Performs the actions of a connection's session.
  private func perform(_ actions: [PusherSession.Action], for link: PusherLink) {
    let connection = link.connection
    for action in actions {
      guard connection.isOpen else { return }
      switch action {
      case .send(let bytes): send(Self.frame(bytes), to: connection)
      case .subscribe(let channel, let member): subscribe(link, to: channel, as: member)
      case .unsubscribe(let channel):
        let room = RoomName(link.app.room(of: channel))
        link.cacheReads[room] = nil
        rooms.leave(room: room, connection)
      case .publish(let event): publish(event, of: link)
      case .close(let error): board.close(connection, CloseReason(error), error.message)
      }
    }
  }

  // MARK: Channels

  private func subscribe(
    _ link: PusherLink, to channel: PusherChannel, as member: PusherMember?
  ) {
    let connection = link.connection
    let room = RoomName(link.app.room(of: channel))
    do throws(PusherSubscriptionError) {
      if let problem = rooms.checks.problem(ofRoom: room) { throw .limit(problem) }
      if let member, !rooms.presence.hasPlace(for: PersonID(member.userID), in: room) {
        throw .limit("a channel may have \(settings.limits.presentMax) members")
      }
    } catch {
      link.session.refused(channel)
      return send(Self.frame(PusherFrame.refused(error, channel: channel.name)), to: connection)
    }
    rooms.join(room: room, connection)
    var members: [PusherMember]?
    if let member {
      rooms.presence.enterPresence(
        room, connection,
        as: PersonProfile(personID: PersonID(member.userID), name: name(of: member)),
        member.info)
      members = rooms.presence.present(in: room, to: connection).map { self.member($0, in: room) }
    }
    send(Self.frame(PusherFrame.subscribed(to: channel.name, members: members)), to: connection)
    guard channel.isCache else { return }
    link.cacheReads[room] = true
    rooms.read(
      RoomReading(
        room: room, range: .newest, limit: 1, filter: .all, reader: .pusher(connection.id)))
  }

  /// Returns the name by which users of other protocols see a member.
  private func name(of member: PusherMember) -> String {
    let name = OneLine.made(of: member.name)
    return name.utf8.count <= settings.limits.nameBytesMax ? name : member.userID
  }

  /// Converts a person in a room, who may use another protocol, to a member.
  private func member(_ profile: PersonProfile, in room: RoomName) -> PusherMember {
    PusherMember(
      userID: profile.personID.text,
      info: rooms.presence.description(of: profile.personID, in: room) ?? [
        "name": JSONValue(profile.name)
      ])
  }

  /// Sends the last event of a cache channel after it was read, or reports that it has none.
  func answer(_ id: ConnectionID, _ outcome: StoreOutcome<RoomPage>, of room: RoomName) {
    guard let link = links[id], link.connection.isOpen,
      // It is `nil` if a later event was already sent, or the client has left the channel.
      link.cacheReads.removeValue(forKey: room) != nil,
      let channel = link.app.channel(ofRoom: room.text), case .success(let page) = outcome
    else { return }
    let frame =
      page.publications.last.flatMap { Self.event($0, channel: channel.name) }
      ?? PusherFrame.cacheMiss(channel: channel.name)
    send(Self.frame(frame), to: link.connection)
  }

  private func publish(_ event: PusherClientEvent, of link: PusherLink) {
    let most = settings.dialects.pusher.clientEventsPerSecondMax
    let rate = Rate(perSecond: most, burst: most)
    guard link.clientEvents.draw(1, at: rate, now: dependencies.clock.uptime) == 0 else {
      return send(
        Self.frame(PusherFrame.error(.clientEventsTooFast(perSecondMax: most))),
        to: link.connection)
    }
    let transient = TransientEvent(
      name: event.event, data: event.data, sender: link.session.socketID,
      person: event.userID.map { PersonID($0) })
    do throws(MessageRefusal) {
      try rooms.publish(transient, in: RoomName(link.app.room(of: event.channel)))
    } catch {
      sendError(error.code, error.message, ref: "", retryAfter: nil, to: link.connection)
    }
  }
}

/// A connection of Pusher's protocol.
final class PusherLink {
  let connection: Connection
  let app: PusherApp
  var session: PusherSession
  /// The rate-limit usage of client events.
  var clientEvents = TokenBucket()
  /// The rooms whose last publication is being read for the client.
  var cacheReads: [RoomName: Bool] = [:]

  init(_ connection: Connection, _ app: PusherApp, _ session: PusherSession) {
    self.connection = connection
    self.app = app
    self.session = session
  }
}

// MARK: Rooms

extension PusherDialect: RoomMessaging {
  func frame(of news: RoomEvent) -> Frame? {
    guard let (app, channel) = find(news.room) else { return nil }
    switch news.content {
    case .publication(let publication, _):
      cancelCacheReads(of: news.room)
      return Self.event(publication, channel: channel.name).map(Self.frame)
    case .update(let update):
      return Self.frame(
        PusherFrame.event(
          "resourceUpdate", channel: channel.name,
          data: Self.text(["resourceId": JSONValue(update.resourceID)])))
    case .event(let event) where event.name == Self.terminating:
      endConnections(of: channel, app)
      return nil
    case .event(let event):
      return Self.frame(
        PusherFrame.event(
          PusherClientEvent(
            channel: channel, event: event.name, data: event.data, userID: event.person?.text)))
    case .signal: return nil
    }
  }

  /// Returns the event in a publication; data without one become the event `message`, and a
  /// publication without data has no event (`nil`).
  private static func event(_ publication: Publication, channel: String) -> [UInt8]? {
    guard let data = publication.data else { return nil }
    if let parts = data.values(of: "event", "data"), let name = parts[0]?.string,
      let text = parts[1]?.string, !PusherEvent.isOwn(name)
    {
      return PusherFrame.event(name, channel: channel, data: text)
    }
    return PusherFrame.event("message", channel: channel, data: text(data))
  }

  private static func text(_ value: JSONValue) -> String {
    String(decoding: value.utf8, as: UTF8.self)
  }

  func sender(of news: RoomEvent) -> ConnectionID? {
    switch news.content {
    case .publication(let publication, _): publication.senderID.flatMap { bySocket[$0] }
    case .event(let event): bySocket[event.sender]
    case .update, .signal: nil
    }
  }

  func frames(of change: PresenceChange) -> [Frame] {
    guard let (_, channel) = find(change.room) else { return [] }
    return change.joined.map {
      Self.frame(PusherFrame.added(member($0, in: change.room), channel: channel.name))
    } + change.left.map { Self.frame(PusherFrame.removed($0.text, channel: channel.name)) }
  }

  func lostReading(ofRoom room: RoomName, _ connection: Connection) {
    rooms.leave(room: room, connection)
  }

  /// Returns a room's app and channel. No app's prefix is the beginning of another's.
  private func find(_ room: RoomName) -> (PusherApp, PusherChannel)? {
    apps.values.lazy.compactMap { app in app.channel(ofRoom: room.text).map { (app, $0) } }.first
  }

  /// Cancels reads of a room's last publication, because a newer one is about to be sent.
  private func cancelCacheReads(of room: RoomName) {
    guard find(room)?.1.isCache ?? false else { return }
    for id in rooms.members(of: room) { links[id]?.cacheReads[room] = nil }
  }
}

extension PusherError {
  /// Creates the error that tells a client the reason of its closed connection.
  init(_ reason: CloseReason) {
    switch reason {
    case .draining, .rejoin, .disconnected: self = .draining
    case .idle: self = .pongMissing
    case .slowReader, .tooFast, .tooMany, .badMessage, .messageTooLarge, .helloMissing:
      self = .overCapacity
    case .unauthorised, .forbiddenOrigin, .replaced, .tokenExpired, .revoked, .dismissed:
      self = .unauthorised
    }
  }
}

extension CloseReason {
  /// Creates the close reason for an error that ends a connection.
  init(_ error: PusherError) {
    switch error {
    case .draining: self = .draining
    case .pongMissing: self = .idle
    case .overCapacity: self = .tooFast
    case .tooLarge: self = .messageTooLarge
    case .malformed, .clientEventRefused, .clientEventsTooFast: self = .badMessage
    case .unknownApp, .noProtocol, .unsupportedProtocol, .unauthorised: self = .unauthorised
    }
  }
}
