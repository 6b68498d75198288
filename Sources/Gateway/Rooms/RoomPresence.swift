import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// Presence: connected people, people in rooms, and typing, at this node and others.
final class RoomPresence: Part {
  let board: Switchboard
  /// The handlers of the features for people in rooms.
  let people: PeopleHandlers
  let rooms: RoomTable
  let checks: RoomChecks
  let storage: PeopleStorage
  /// Receives other nodes' messages about rooms.
  unowned var owner: (any RoomPresenceOwner)?

  /// The connections of each connected person.
  var online: [PersonID: Set<ConnectionID>] = [:]
  /// Uptime in milliseconds at which connected people were last stored.
  private var stampedOnlineAt: Int64 = 0
  /// Apps' descriptions of people, by room and person, for clients of their protocols.
  var descriptions: [RoomName: [PersonID: JSONValue]] = [:]
  /// Exchanges people with other nodes; `nil` without other nodes.
  var exchange: PeopleExchange?
  /// The connection ids that represent other nodes.
  var nodeConnectionIDs: ExactDictionary<ConnectionID> = [:]
  /// The connection ids that represent people who type at other nodes, by room and person.
  var typingElsewhere: [RoomName: [PersonID: ConnectionID]] = [:]
  /// Uptime in milliseconds at which blocks were last read.
  var blocksReadAt: Int64 = 0
  /// The number of each person's blocks that are not stored yet.
  var blocksUnderWay: [PersonID: Int] = [:]

  init(
    _ board: Switchboard, _ people: PeopleHandlers, _ rooms: RoomTable, _ checks: RoomChecks,
    _ storage: PeopleStorage
  ) {
    self.board = board
    self.people = people
    self.rooms = rooms
    self.checks = checks
    self.storage = storage
    if board.settings.sharesStore {
      exchange = PeopleExchange(node: board.dependencies.names.next())
    }
  }

  /// Whether a person is connected, at this node or another.
  func isOnline(_ person: PersonID) -> Bool { online[person] != nil }

  // MARK: Connected

  func goOnline(_ connection: Connection) {
    online[connection.person, default: []].insert(connection.id)
    exchange?.enter(
      Self.nodesTopic, NodePerson(profile: .init(personID: connection.person, name: "")),
      by: connection.id)
  }

  /// Removes a connection from those online. After a person's last one, stores the time.
  func goOffline(_ connection: Connection) {
    let person = connection.person
    guard online[person]?.remove(connection.id) != nil else { return }
    exchange?.leave(Self.nodesTopic, person.text, by: connection.id, isBroken: false)
    guard online[person]?.isEmpty ?? false else { return }
    online[person] = nil
    // Without a user the person is the client, whose time no one requests later.
    guard connection.user != nil else { return }
    people.lastOnline?.ended(person, at: dependencies.clock.now, store: storage)
  }

  /// Returns a person's native connections with these rights in a room.
  func connections(of person: PersonID, who verbs: Verbs, in room: RoomName) -> [Connection] {
    (online[person] ?? []).compactMap { connections[$0] }.filter {
      $0.dialect.traits.hearsOfPeople && $0.verbs(on: .room(room)).isSuperset(of: verbs)
    }
  }

  /// Notifies a room's subscribers with these rights of a person's action, except that person.
  func tell(
    _ message: ServerMessage, in room: RoomName, to verbs: Verbs, about person: PersonID
  ) {
    var shared: Frame?
    for id in rooms[room]?.members ?? [] {
      guard let connection = connections[id], connection.dialect.traits.hearsOfPeople,
        connection.person != person,
        connection.verbs(on: .room(room)).isSuperset(of: verbs),
        !people.separates(connection.person, from: person)
      else { continue }
      let frame = shared ?? frame(message, ref: pushID())
      shared = frame
      send(frame, to: connection)
    }
  }

  // MARK: Presence in rooms

  /// Throws if the connection must not become present in a room.
  func checkPresence(in room: RoomName, _ connection: Connection) throws(MessageRefusal) {
    let presence = try checks.offered(people.presence)
    try checks.checkRight(.presence, "presence in", in: room, connection)
    try checks.countSignal(connection)
    let (isPresent, count) = presence.standing(of: connection.person, in: room)
    let presentMax = settings.limits.presentMax
    guard isPresent || count < presentMax else {
      throw MessageRefusal(
        .tooMany, "\(presentMax) people may be present in a room; subscribe without")
    }
  }

  func enterPresence(_ room: RoomName, _ connection: Connection) {
    connection.present[room] = connection.person
    enter(room, profile(of: connection, in: room), by: connection.id)
  }

  /// Throws if data is too large for presence.
  func checkPresenceData(_ data: JSONValue?) throws(MessageRefusal) {
    // Messages between nodes contain a person's data, and are smaller.
    let bytesMax = settings.sharesStore ? 2_048 : 4_096
    guard let count = data?.utf8.count, count > bytesMax else { return }
    throw MessageRefusal(
      .tooLarge, "data of presence may have \(bytesMax) bytes; this has \(count)")
  }

  /// Changes the data with which a person is present in a room. Of several clients of the person, the
  /// newest data count.
  func handle(
    _ message: ClientMessage.RoomPresence, _ connection: Connection
  ) throws(MessageRefusal) {
    let room = RoomName(message.room)
    try checks.check(.presence, "presence in", in: room, connection)
    try checks.countSignal(connection)
    try checkPresenceData(message.data)
    guard connection.present[room] != nil else {
      throw MessageRefusal(.notJoined, "subscribe to the room with presence first")
    }
    connection.presenceData[room] = message.data
    guard !connection.isSilent else { return }
    enter(room, profile(of: connection, in: room), by: connection.id)
  }

  /// Makes a connection's person present in a room, with an app's profile and description.
  func enterPresence(
    _ room: RoomName, _ connection: Connection, as profile: PersonProfile, _ description: JSONValue?
  ) {
    connection.profiles[room] = profile
    connection.present[room] = profile.personID
    describe(profile.personID, in: room, as: description)
    enter(room, profile, by: connection.id)
  }

  /// Whether a person is present in a room, or one more may be.
  func hasPlace(for person: PersonID, in room: RoomName) -> Bool {
    guard let presence = people.presence else { return false }
    let (isPresent, count) = presence.standing(of: person, in: room)
    return isPresent || count < settings.limits.presentMax
  }

  /// Stores an app's description of a person in a room, or removes it.
  func describe(_ person: PersonID, in room: RoomName, as description: JSONValue?) {
    guard let description else {
      descriptions[room]?[person] = nil
      return
    }
    descriptions[room, default: [:]][person] = description
    // Descriptions remain of people who left before they were announced.
    guard let all = descriptions[room], all.count > 2 * settings.limits.presentMax else { return }
    for (person, _) in all where people.presence?.standing(of: person, in: room).isPresent != true {
      descriptions[room]?[person] = nil
    }
  }

  /// Returns an app's description of a person in a room.
  func description(of person: PersonID, in room: RoomName) -> JSONValue? {
    descriptions[room]?[person]
  }

  func leavePresence(_ room: RoomName, _ connection: Connection, isBroken: Bool) {
    guard let person = connection.present.removeValue(forKey: room) else { return }
    connection.profiles[room] = nil
    connection.presenceData[room] = nil
    depart(
      room, person, by: connection.id, isBroken: isBroken, now: dependencies.clock.uptime)
  }

  private func profile(of connection: Connection, in room: RoomName) -> PersonProfile {
    if let profile = connection.profiles[room] { return profile }
    var profile = PersonProfile(
      personID: connection.person, name: connection.name, color: connection.color)
    profile.data = connection.presenceData[room]
    return profile
  }

  /// Returns the announced people in a room that are visible to this reader, always with the
  /// reader. Later diffs apply to this state.
  func present(in room: RoomName, to reader: Connection) -> [PersonProfile] {
    let own = profile(of: reader, in: room)
    let others = (people.presence?.announced(in: room) ?? []).filter {
      $0.personID != own.personID && !people.separates(reader.person, from: $0.personID)
    }
    return (others + [own])
      .sorted { $0.personID < $1.personID }
  }

  func shareRoomProfile(of connection: Connection) {
    guard !connection.isSilent else { return }
    for (room, _) in connection.present {
      enter(room, profile(of: connection, in: room), by: connection.id)
    }
  }

  /// Records that a connection has sent a message, and shows a person who was silent again.
  func heard(_ connection: Connection, now: Int64) {
    connection.heardAt = now
    guard connection.isSilent else { return }
    connection.isSilent = false
    shareRoomProfile(of: connection)
  }

  /// Ends expired leases and typing, and sends changes of presence.
  func tickPeople(now: Int64) {
    let lease = Int64(settings.limits.presenceLeaseMilliseconds)
    for connection in connectionsInOrder({
      !$0.present.isEmpty && !$0.isSilent && now - $0.heardAt >= lease
    }) {
      connection.isSilent = true
      for (room, person) in connection.present {
        depart(room, person, by: connection.id, isBroken: false, now: now)
      }
    }
    tickNodes(now: now)
    for change in people.typing?.expire(now: now) ?? [] {
      typingElsewhere[change.room]?[change.person] = nil
      show(change)
    }
    // Changes wait until the blocks are loaded: a change that is hidden is not sent later.
    if people.blocking?.isReady ?? true {
      for change in people.presence?.takeChanges(now: now) ?? [] {
        people.rooms?.changed(change)
        tell(change)
      }
    }
    stampOnline(now: now)
  }

  /// Periodically stores who is connected, so that a crash loses no more than one period.
  private func stampOnline(now: Int64) {
    guard let lastOnline = people.lastOnline,
      now - stampedOnlineAt >= settings.lastOnlineMilliseconds
    else { return }
    stampedOnlineAt = now
    var seen: [PersonID] = []
    for (person, ids) in online
    where ids.contains(where: { connections[$0]?.user != nil }) {
      seen.append(person)
    }
    guard !seen.isEmpty else { return }
    lastOnline.seen(seen, at: dependencies.clock.now, store: storage)
  }

  private func tell(_ change: PresenceChange) {
    for group in rooms[change.room]?.compactedGroups() ?? [] {
      var shared: [Frame]?
      for connection in group.members.compactMap({ connections[$0] }) {
        guard let own = connection.present[change.room] else { continue }
        let visible = visible(change, to: connection, whoIs: own)
        let frames = visible.map(group.dialect.frames) ?? shared ?? group.dialect.frames(of: change)
        if visible == nil { shared = frames }
        for frame in frames { send(frame, to: connection) }
      }
    }
    for person in change.left { descriptions[change.room]?[person] = nil }
  }

  /// Returns the part of a change that a reader receives; `nil` for the whole change.
  private func visible(
    _ change: PresenceChange, to connection: Connection, whoIs own: PersonID
  ) -> PresenceChange? {
    let reader = connection.person
    let isBlocking = people.blocking?.concerns(reader) ?? false
    let isOwn = { (person: PersonID) in person == own }
    let hidesItself =
      !connection.dialect.traits.hearsOfItself
      && (change.joined.contains { isOwn($0.personID) } || change.left.contains(where: isOwn))
    guard isBlocking || hidesItself else { return nil }
    let isHidden = { (person: PersonID) in
      hidesItself && isOwn(person) || isBlocking && self.people.separates(reader, from: person)
    }
    return PresenceChange(
      room: change.room, joined: change.joined.filter { !isHidden($0.personID) },
      updated: change.updated.filter { !isHidden($0.personID) },
      left: change.left.filter { !isHidden($0) })
  }

  /// Ends a connection's presence in a room after it has lost the right.
  func hide(_ connection: Connection, in room: RoomName) {
    if let change = people.typing?.end(room, on: connection.id) { tell(change) }
    guard connection.present[room] != nil else { return }
    let seen = present(in: room, to: connection).map(\.personID)
    leavePresence(room, connection, isBroken: false)
    // The reader receives no presence from now on, so all people are shown as gone.
    send(
      .roomPresence(.init(room: room, joined: [], updated: [], left: seen)), ref: pushID(),
      to: connection)
  }

  // MARK: Typing

  func handle(_ typing: ClientMessage.Typing, _ connection: Connection) throws(MessageRefusal) {
    let handler = try checks.offered(people.typing)
    let room = RoomName(typing.room)
    try checks.check(.presence, "presence in", in: room, connection)
    try checks.countSignal(connection)
    guard connection.rooms.contains(room) else {
      throw MessageRefusal(.notJoined, "subscribe to the room before typing in it")
    }
    let change =
      typing.isTyping
      ? handler.begin(
        room, connection.person, on: connection.id, now: dependencies.clock.uptime)
      : handler.end(room, on: connection.id)
    if let change {
      tell(change)
    } else if typing.isTyping {
      // Without this message the typing would expire at other nodes.
      notifyNodes(.typing(connection.person, isTyping: true), in: room)
    }
  }

  /// Notifies subscribers on this node that a person types, or has stopped.
  func show(_ change: TypingChange) {
    tell(
      .typing(
        .init(room: change.room.text, personID: change.person.text, isTyping: change.isTyping)),
      in: change.room, to: .presence, about: change.person)
  }
}
