import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Receipts, and the times at which people were last online.
extension Rooms {
  func handle(
    _ message: ClientMessage.Receipt, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let receipts = try checks.offered(people.receipts)
    let room = RoomName(message.room)
    try checks.check(.read, "reading", in: room, connection)
    try checks.countSignal(connection)
    let place = PublicationAddress(room: room, offset: message.offset)
    let receipt = Receipt(personID: connection.person, stage: message.state)
    receipts.note(receipt, of: place, store: storage) { [unowned self] reply in
      switch reply {
      case .receipt(let receipt, let author, let isChanged):
        send(Self.message(of: receipt, of: place), ref: ref, to: connection)
        guard isChanged, let author, author != receipt.personID else {
          return
        }
        tell(receipt, of: place, to: author)
        presence.notifyNodes(
          .receipt(offset: place.offset, receipt, author: author), in: place.room)
      case .unknownPublication: sendUnknownPublication(ref: ref, to: connection)
      case .failed(let error): checks.sendUnavailable(error, ref: ref, to: connection)
      case .done, .receipts, .flags, .members, .blocks, .lastOnline:
        checks.sendUnavailable(
          .unexpectedReply(reply.name, insteadOf: Receipt.self), ref: ref, to: connection)
      }
    }
  }

  private static func message(of receipt: Receipt, of place: PublicationAddress) -> ServerMessage {
    .receipt(
      .init(
        room: place.room.text, offset: place.offset, personID: receipt.personID.text,
        state: receipt.stage))
  }

  /// Notifies a publication's author on this node that a person has received or read it.
  func tell(_ receipt: Receipt, of place: PublicationAddress, to author: PersonID) {
    let message = Self.message(of: receipt, of: place)
    for reader in presence.connections(of: author, who: .read, in: place.room)
    where !people.separates(reader.person, from: receipt.personID) {
      send(message, ref: pushID(), to: reader)
    }
  }

  func handle(
    _ message: ClientMessage.Receipts, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let receipts = try checks.offered(people.receipts)
    let room = RoomName(message.room)
    try checks.check(.read, "reading", in: room, connection)
    let place = PublicationAddress(room: room, offset: message.offset)
    receipts.list(place, store: storage) { [unowned self] reply in
      switch reply {
      case .receipts(let all, let author):
        guard let author, author == connection.person else {
          sendError(
            .notAllowed, "receipts are for the author of the publication", ref: ref, to: connection)
          return
        }
        let visible = all.filter { !people.separates(connection.person, from: $0.personID) }
        send(
          .receipts(.init(room: place.room.text, offset: place.offset, receipts: visible)),
          ref: ref, to: connection)
      case .unknownPublication: sendUnknownPublication(ref: ref, to: connection)
      case .failed(let error): checks.sendUnavailable(error, ref: ref, to: connection)
      case .done, .receipt, .flags, .members, .blocks, .lastOnline:
        checks.sendUnavailable(
          .unexpectedReply(reply.name, insteadOf: [Receipt].self), ref: ref, to: connection)
      }
    }
  }

  func sendUnknownPublication(ref: String, to connection: Connection) {
    sendError(
      .unknownPublication, "no publication has this offset, or it is no longer stored", ref: ref,
      to: connection)
  }

  // MARK: Last online

  func handle(
    _ message: ClientMessage.LastOnline, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let room = RoomName(message.room)
    let lastOnline = try checks.offered(people.lastOnline)
    try checks.check(.presence, "presence in", in: room, connection)
    try checks.countSignal(connection)
    guard message.people.count <= settings.limits.pageMax else {
      throw MessageRefusal(.tooMany, "\(settings.limits.pageMax) people may be asked for at a time")
    }
    membersOf(room) { [unowned self] outcome in
      guard case .success(let members) = outcome else {
        if case .failure(let error) = outcome {
          checks.sendUnavailable(error, ref: ref, to: connection)
        }
        return
      }
      guard members.contains(connection.person) else {
        sendError(
          .notJoined, "subscribe to the room, or follow it, before asking for its people", ref: ref,
          to: connection)
        return
      }
      let known = message.people.map { PersonID($0) }.filter {
        members.contains($0) && !people.separates(connection.person, from: $0)
      }
      lastOnline.times(of: known, store: storage) { [unowned self] outcome in
        switch outcome {
        case .success(let times):
          send(
            .lastOnline(
              .init(
                room: room.text,
                people: zip(known, times).map { person, time in
                  ServerMessage.LastOnline.Item(
                    personID: person.text, isOnline: presence.isOnline(person), time: time)
                })), ref: ref, to: connection)
        case .failure(let error): checks.sendUnavailable(error, ref: ref, to: connection)
        }
      }
    }
  }

  /// Returns all members of a room: its followers and its current subscribers.
  private func membersOf(
    _ room: RoomName, then proceed: @escaping (Result<Set<PersonID>, StoreError>) -> Void
  ) {
    var members: Set<PersonID> = []
    for id in rooms[room]?.members ?? [] {
      if let connection = connections[id] { members.insert(connection.person) }
    }
    guard let membership = people.membership else { return proceed(.success(members)) }
    membership.members(of: room, store: storage) { outcome in
      proceed(
        outcome.map { followers in
          for person in followers { members.insert(person) }
          return members
        })
    }
  }
}
