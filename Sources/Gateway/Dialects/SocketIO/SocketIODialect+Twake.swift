import ParleyGatewayPorts
import ParleyJSON
import ParleySocketIO
import SocketMessages

/// The events of the Twake family over Socket.IO.
extension SocketIODialect {
  /// Handles an event.
  func receivedTwake(
    _ name: String, _ arguments: [JSONValue], id: Int?, _ link: SocketIOLink
  ) {
    // Unknown events are dropped; the original server broadcasts `message` to all clients.
    guard let event = TwakeEvent(rawValue: name) else { return }
    switch event {
    case .authenticate: authenticate(TwakeFields(arguments.first).token, link)
    case .join: joinTwake(TwakeFields(arguments.first), link)
    case .leave: leaveTwake(room: TwakeFields(arguments.first), link)
    case .event: emit(TwakeFields(arguments.first), link)
    case .getOnline: answerOnline(TwakeForm.users(in: arguments), id: id, link)
    case .setOnline:
      // A user with a connection is online, regardless of what clients report.
      answerOnline([link.connection.person.text], id: id, link)
    }
  }

  /// Replies to an event over a rate limit, if the protocol has a reply for it.
  func refuseTwake(
    _ name: String, _ arguments: [JSONValue], _ excess: Excess, _ link: SocketIOLink
  ) {
    let words = excess.words(settings.limits)
    switch TwakeEvent(rawValue: name) {
    case .authenticate: refuse(words, link)
    case .join, .leave, .event:
      reply(name + ":error", RoomName(TwakeFields(arguments.first).name), words, to: link)
    case .getOnline, .setOnline, nil: break
    }
  }

  // MARK: Authentication

  private func authenticate(_ token: String?, _ link: SocketIOLink) {
    do throws(AuthenticationError) {
      let identity = try access.identity(for: token)
      if isRefused(identity, link) { return }
      let link = take(identity, link)
      // Send nothing if the resumed session has ended meanwhile.
      if !link.session.hasEnded { send(SocketPacket(event: "authenticated", []), to: link) }
    } catch {
      log(.notice, "token refused", "\(error)")
      refuse(error.words, link)
    }
  }

  /// Rejects a client over its user's limits of connections and sessions. A resumed session does
  /// not count again as a connection.
  ///
  /// - Returns: Whether the client was rejected.
  func isRefused(_ identity: Identity, _ link: SocketIOLink) -> Bool {
    if link.connection.identity == nil, link.claim == nil,
      let excess = access.excess(ofConnecting: identity)
    {
      refuse(excess.words(settings.limits), link)
      return true
    }
    guard let refusal = table.identify(link.connection, as: identity) else { return false }
    refuse(refusal.reason.words, link)
    return true
  }

  /// Sets the client's identity, and resumes the session that it has claimed.
  ///
  /// - Returns: The link that continues.
  func take(_ identity: Identity, _ link: SocketIOLink) -> SocketIOLink {
    link.authenticateBy = nil
    admit(link, as: identity)
    if let claim = link.claim {
      link.claim = nil
      return recover(link, claim, as: identity)
    }
    let connection = link.connection
    if let old = connection.identity, !old.user.isExactly(identity.user) {
      // The user has changed: discard the previous user's state.
      leaveTwake(link)
    }
    let isFirst = connection.identity == nil
    if isFirst { access.count(connection, towards: identity) }
    connection.identity = identity
    connection.name = access.name(of: identity, claimed: "Twake")
    if isFirst {
      cameOnline(link)
    } else {
      // The newer token may grant less.
      applyRights(to: link)
    }
    return link
  }

  /// Sends `unauthorized` to the client, and ends the session.
  func refuse(_ reason: String, _ link: SocketIOLink) {
    let error: JSONValue = ["message": JSONValue(reason), "data": TwakeForm.refusalData(reason)]
    send(SocketPacket(event: "unauthorized", [error]), to: link)
    send(SocketPacket(.disconnect), to: link)
    perform(link.session.end(.dismissed), for: link)
  }

  /// Whether the client has rights to a room: its own, or by the room's token.
  private func may(
    _ verbs: Verbs, in room: RoomName, token: String?, _ link: SocketIOLink
  ) -> Bool {
    guard let identity = connectionIdentity(link.connection) else { return false }
    if identity.may(verbs, .room(room)) { return true }
    if settings.dialects.allowsLegacyRoomTokens {
      if token?.isExactly("twake") ?? false { return true }
      if room.text.utf8.starts(with: "previous::".utf8) { return true }
    }
    return token.map { access.admits($0, to: room, user: identity.user) } ?? false
  }

  /// Returns the connection's identity; `nil` if its token has expired.
  private func connectionIdentity(_ connection: Connection) -> Identity? {
    connection.identity.flatMap { $0.isExpired(at: dependencies.clock.now) ? nil : $0 }
  }

  // MARK: Rooms

  private func reply(
    _ event: String, _ room: RoomName, _ message: String? = nil, to link: SocketIOLink
  ) {
    var fields: JSONFields = ["name": JSONValue(room)]
    if let message { fields.append(.init("message", JSONValue(message))) }
    send(SocketPacket(event: event, [JSONValue(fields)]), to: link)
  }

  private func joinTwake(_ fields: TwakeFields, _ link: SocketIOLink) {
    let room = RoomName(fields.name)
    let connection = link.connection
    let token = fields.token
    guard rooms.checks.problem(ofRoom: room) == nil, may(.read, in: room, token: token, link) else {
      reply("realtime:join:error", room, "User is not authorized to join room", to: link)
      return
    }
    let roomsMax = settings.limits.roomsPerConnectionMax
    guard connection.rooms.contains(room) || connection.rooms.count < roomsMax else {
      reply(
        "realtime:join:error", room, "A connection may join \(roomsMax) rooms; leave one first",
        to: link)
      return
    }
    if connection.identity?.may(.read, .room(room)) ?? false {
      link.roomsByToken.remove(room)
    } else {
      link.roomsByToken.insert(room)
    }
    if let position = fields.position {
      catchUpTwake(room, from: position, link)
    } else {
      link.numberedRooms.remove(room)
      if !connection.rooms.contains(room) { link.recovery?.joined[room] = recoveryLog.head }
      rooms.join(room: room, connection)
      reply("realtime:join:success", room, to: link)
    }
    showOnline(forRoom: room, link)
  }

  /// Shows the user as online in the presence room of a room.
  func showOnline(forRoom room: RoomName, _ link: SocketIOLink) {
    if let presenceRoom = TwakeForm.presenceRoom(for: room) { showOnline(in: presenceRoom, link) }
  }

  /// Joins a room for a client that requests positions: events contain their position, and the
  /// client first receives the publications after the position in the request, if any.
  private func catchUpTwake(_ room: RoomName, from place: JSONValue, _ link: SocketIOLink) {
    let connection = link.connection
    var position: RoomPosition?
    if let parts = place.values(of: "epoch", "offset"), let epoch = parts[0]?.string,
      let offset = parts[1]?.integer, offset >= 0
    {
      position = RoomPosition(epoch: Epoch(epoch), offset: offset)
    }
    link.numberedRooms.insert(room)
    let attempt = rooms.beginSubscribing(to: room, connection)
    link.recovery?.joined[room] = .max
    rooms.recover(
      RoomSubscribing(
        room: room, position: position, subscriber: .socketIO(connection.id), attempt: attempt))
  }

  /// Completes a join, and sends the publications that the client has missed.
  func finish(
    _ work: RoomSubscribing, _ outcome: StoreOutcome<RoomRecovery>, at place: ConnectionID
  ) {
    let room = work.room
    guard let link = byConnection[place], !link.isGone,
      link.connection.attempts[room] == work.attempt
    else { return }
    let connection = link.connection
    connection.attempts[room] = nil
    guard case .success(let recovery) = outcome else {
      leaveTwake(room, link)
      return reply("realtime:join:error", room, "Try again later", to: link)
    }
    link.recovery?.joined[room] = recoveryLog.head
    rooms.admit(to: room, connection)
    let head: JSONValue = [
      "epoch": JSONValue(recovery.head.epoch.text), "offset": JSONValue(recovery.head.offset),
    ]
    let success: JSONValue = [
      "name": JSONValue(room), "position": head,
      "recovered": JSONValue(work.position != nil && recovery.missed != nil),
    ]
    send(SocketPacket(event: "realtime:join:success", [success]), to: link)
    for publication in recovery.missed ?? []
    where rooms.people.isFor(connection, by: publication.personID) {
      guard let data = RoomView.placed(publication) else { continue }
      let point = RoomPosition(epoch: recovery.head.epoch, offset: publication.offset)
      send(RoomView.numbered(data, point, in: room), to: link)
    }
  }

  private func leaveTwake(room fields: TwakeFields, _ link: SocketIOLink) {
    let room = RoomName(fields.name)
    leaveTwake(room, link)
    reply("realtime:leave:success", room, to: link)
  }

  private func leaveTwake(_ room: RoomName, _ link: SocketIOLink) {
    rooms.leave(room: room, link.connection)
    link.numberedRooms.remove(room)
    link.roomsByToken.remove(room)
    link.recovery?.joined[room] = nil
  }

  /// Removes the client from rooms that its user may no longer read, and sends the error of a
  /// rejected join for each.
  func applyRights(to link: SocketIOLink) {
    for room in Array(link.connection.rooms) where !link.roomsByToken.contains(room) {
      guard !link.connection.verbs(on: .room(room)).contains(.read) else { continue }
      leaveTwake(room, link)
      reply("realtime:join:error", room, "User is not authorized to join room", to: link)
    }
  }

  private func emit(_ fields: TwakeFields, _ link: SocketIOLink) {
    let room = RoomName(fields.name)
    guard rooms.checks.problem(ofRoom: room) == nil, let data = fields.data,
      may(.publish, in: room, token: fields.token, link)
    else {
      reply("realtime:event:error", room, "User is not authorized to emit in this room", to: link)
      return
    }
    if let problem = rooms.checks.problem(ofData: data.utf8.count) {
      return reply("realtime:event:error", room, problem, to: link)
    }
    let person = link.connection.person
    let stamped = TwakeForm.stamped(data, person)
    guard stamped.value(of: "type")?.string != "writing" else {
      // Typing is relevant only now, so it is not stored.
      relay(event: stamped, in: room)
      return
    }
    rooms.publish(
      PublishRequest(room: room, data: stamped, person: person),
      for: .socketIO(link.connection.id))
  }

  /// Notifies a client that its event was rejected.
  func answer(_ place: ConnectionID, _ result: PublishResult, in room: RoomName) {
    guard case .refused(_, let message) = result, let link = byConnection[place] else { return }
    reply("realtime:event:error", room, message, to: link)
  }

  /// Sends an event to a room's current subscribers, without storing it.
  private func relay(event data: JSONValue, in room: RoomName) {
    let typing = data.value(of: "event")?.values(of: "user_id", "is_writing")
    let user = (typing?[0]?.string).map { PersonID($0) }
    deliver(.packet(RoomView.socketEvent(data, in: room), author: user), in: room)
    guard let user else { return }
    let started = typing?[1]?.boolean == false ? nil : Int(dependencies.clock.now)
    owner?.showTyping(
      JSONValue(GroupChatForm.typing(user.text, started: started)), of: user, in: room)
  }

  /// Handles a session that leaves the default namespace: its user goes offline.
  func leaveTwake(_ link: SocketIOLink) {
    let connection = link.connection
    for room in Array(connection.rooms) { leaveTwake(room, link) }
    if connection.identity != nil { wentOffline(link) }
    connection.identity = nil
    link.claim = nil
    link.recovery?.arrived = recoveryLog.head
    connection.meter.count(towards: nil)
  }

  // MARK: Presence

  func cameOnline(_ link: SocketIOLink) {
    online[link.connection.person, default: []].insert(link.connection.id)
    rooms.presence.goOnline(link.connection)
  }

  private func showOnline(in room: RoomName, _ link: SocketIOLink) {
    let person = link.connection.person
    guard !link.presenceRooms.contains(room) else { return }
    link.presenceRooms.insert(room)
    if let leaving = self.leaving.removeValue(forKey: person) {
      // The user was never offline, not even in rooms that this session has not rejoined yet.
      for room in leaving.rooms { link.presenceRooms.insert(room) }
      if leaving.rooms.contains(room) { return }
    }
    let isShown = otherSessions(of: person, than: link).contains {
      $0.presenceRooms.contains(room)
    }
    if !isShown { tell(room, person, isOnline: true) }
  }

  private func otherSessions(
    of person: PersonID, than link: SocketIOLink
  ) -> [SocketIOLink] {
    (online[person] ?? []).filter { $0 != link.connection.id }
      .compactMap { byConnection[$0] }
  }

  func wentOffline(_ link: SocketIOLink) {
    let person = link.connection.person
    rooms.presence.goOffline(link.connection)
    online[person]?.remove(link.connection.id)
    if online[person]?.isEmpty ?? false { online[person] = nil }
    let rooms = link.presenceRooms
    link.presenceRooms = []
    if let other = otherSessions(of: person, than: link).first {
      // Another session of the user continues to show the user in these rooms.
      for room in rooms { other.presenceRooms.insert(room) }
      return
    }
    var leaving = self.leaving[person]?.rooms ?? []
    for room in rooms { leaving.insert(room) }
    self.leaving[person] = (
      dependencies.clock.uptime + settings.dialects.graceMilliseconds, leaving
    )
  }

  /// Reports users as offline who have not returned within the grace period.
  func tickPresence(_ now: Int64) {
    for (person, leaving) in Array(self.leaving) where leaving.until <= now {
      self.leaving[person] = nil
      guard online[person] == nil else { continue }
      for room in leaving.rooms { tell(room, person, isOnline: false) }
    }
  }

  private func tell(_ room: RoomName, _ person: PersonID, isOnline: Bool) {
    let company = String(
      decoding: room.text.utf8.dropFirst("/users/online/".utf8.count), as: UTF8.self)
    let entry: JSONValue = [
      "company_id": JSONValue(company), "user_id": JSONValue(person),
      "is_online": JSONValue(isOnline),
    ]
    let list: JSONValue = ["online": JSONValue([entry])]
    let resource: JSONValue = [
      "action": JSONValue("event"), "room": JSONValue(room), "type": JSONValue("user:online"),
      "resource": list, "path": .null,
    ]
    deliver(.packet(SocketPacket(event: "realtime:resource", [resource]), author: nil), in: room)
  }

  private func answerOnline(_ users: [String], id: Int?, _ link: SocketIOLink) {
    guard let id, connectionIdentity(link.connection) != nil else { return }
    let pairs = users.prefix(TwakeForm.usersMax).map { user in
      let person = PersonID(user)
      return JSONValue([
        JSONValue(user), JSONValue(online[person] != nil || leaving[person] != nil),
      ])
    }
    let answer: JSONValue = ["data": JSONValue(Array(pairs))]
    send(SocketPacket(.acknowledgement, id: id, data: JSONValue([answer])), to: link)
  }
}
