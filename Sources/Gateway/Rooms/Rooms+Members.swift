import ParleyGatewayPorts
import SocketMessages

/// Members of rooms, and events that rooms do not store.
extension Rooms {
  /// The resource that the room of the note list announces when tags change.
  static let tagsResource = "tags"

  /// Whether a room is a note's own, or tells a user of notices. Observers are not notified of these
  /// rooms.
  private static func isInternal(_ name: RoomName) -> Bool {
    name.text.utf8.starts(with: Identity.noteRoomPrefix.utf8)
      || name.text.utf8.starts(with: Identity.noticeRoomPrefix.utf8)
  }

  /// Makes a connection an occupant of a room.
  func occupy(_ name: RoomName, _ connection: Connection) {
    let isNew = rooms[name] == nil
    if isNew, !Self.isInternal(name) { people.rooms?.occupied(name) }
    rooms[name, default: Room()].admit(connection.id)
    if isNew { presence.follow(name) }
  }

  /// Makes a connection a member of a room, which receives publications from now on.
  func join(room name: RoomName, _ connection: Connection) {
    connection.rooms.insert(name)
    occupy(name, connection)
    rooms[name]?.add(connection)
    findPlace(in: name)
  }

  /// Makes a connection an occupant, which becomes a member after the store's reply.
  ///
  /// - Parameter waits: Whether delivery pauses until the reply, which has the publications.
  /// - Returns: The number of the attempt.
  func beginSubscribing(
    to name: RoomName, _ connection: Connection, waits: Bool = true
  ) -> UInt64 {
    connection.rooms.insert(name)
    occupy(name, connection)
    if waits { rooms[name]?.suspend(connection.id) }
    defer { nextAttempt += 1 }
    connection.attempts[name] = nextAttempt
    return nextAttempt
  }

  /// Makes an occupant a member after it has received the missed publications.
  func admit(to name: RoomName, _ connection: Connection) { rooms[name]?.add(connection) }

  /// Ends a connection's membership of a room.
  ///
  /// - Parameter isBroken: Whether the connection broke and may be resumed.
  func leave(room name: RoomName, _ connection: Connection, isBroken: Bool = false) {
    connection.rooms.remove(name)
    connection.attempts[name] = nil
    latest[connection.id]?[name] = nil
    presence.leavePresence(name, connection, isBroken: isBroken)
    if !isBroken, let change = people.typing?.end(name, on: connection.id) {
      presence.tell(change)
    }
    rooms[name]?.remove(connection.id)
    // What a connection outside the room reads does not depend on the members' position.
    if let waiting = rooms[name]?.cursor?.takeReader(connection.id) { finish(waiting) }
    guard rooms[name]?.isEmpty ?? false else { return }
    rooms[name] = nil
    if !Self.isInternal(name) { people.rooms?.vacated(name) }
    presence.unfollow(name)
  }

  /// Notifies a room's subscribers that a resource has changed. The room does not store the update.
  ///
  /// - Parameter sender: The publisher's name for itself; its app can ignore the update.
  func publish(resource: String, in name: RoomName, sender: String?) {
    let update = ResourceUpdate(resourceID: resource, senderID: sender)
    presence.notifyNodes(.update(update), in: name)
    deliver(update, in: name)
  }

  /// Notifies a room's members on this node.
  func deliver(_ update: ResourceUpdate, in name: RoomName) {
    owner?.deliverToSessions(update, in: name)
    tell(RoomEvent(room: name, content: .update(update)), by: nil)
  }

  /// Sends an event to a room's members, except to readers separated from the author by a block.
  func tell(_ news: RoomEvent, by author: PersonID?) {
    let isForAll = people.isForAll(by: author)
    let withoutValues = news.withoutValues
    for group in rooms[news.room]?.compactedGroups() ?? [] where !group.members.isEmpty {
      guard let news = group.takesValues ? news : withoutValues,
        let frame = group.dialect.frame(of: news)
      else { continue }
      let sender = group.dialect.sender(of: news)
      let lagging = group.takesValues ? laggingReaders(of: news, among: group.members.slots) : []
      board.broadcast(
        frame,
        to: isForAll && sender == nil && lagging.isEmpty
          ? group.members.slots
          : group.members.filter {
            $0 != sender && !lagging.contains($0)
              && (isForAll || connections[$0].map { people.isFor($0, by: author) } ?? false)
          })
      guard group.takesValues, !isForAll, let part = news.operationsAlone,
        let frame = group.dialect.frame(of: part)
      else { continue }
      let separated = group.members.filter {
        !lagging.contains($0) && !(connections[$0].map { people.isFor($0, by: author) } ?? true)
      }
      if !separated.isEmpty { board.broadcast(frame, to: separated) }
    }
  }

  /// Sends a member's event to all members, on this node and others. The room does not store it.
  func publish(_ event: TransientEvent, in name: RoomName) throws(MessageRefusal) {
    guard presence.notifyNodes(.event(event), in: name) else {
      throw MessageRefusal(
        .tooLarge,
        "with several servers an event and its data may have \(NodeMessage.bytesMax) bytes")
    }
    deliver(event, in: name)
  }

  /// Sends a member's event to the members on this node.
  func deliver(_ event: TransientEvent, in name: RoomName) {
    tell(RoomEvent(room: name, content: .event(event)), by: nil)
  }

  /// Handles another node's message about a room.
  func heard(_ content: NodeMessage.Content, in room: RoomName) {
    switch content {
    case .published(let offset): hear(of: offset, in: room)
    case .update(let update): deliver(update, in: room)
    case .event(let event): deliver(event, in: room)
    case .signal(let signal): queue(signal, in: room, from: nil)
    case .receipt(let offset, let receipt, let author):
      tell(receipt, of: PublicationAddress(room: room, offset: offset), to: author)
    case .flag(let flag, let isFlagged):
      notifyModerators(Self.news(of: flag, in: room, isFlagged: isFlagged), in: room)
    case .typing, .blocks, .beat, .change, .people, .ask: break  // They concern people.
    }
  }

  func publishNoteList() {
    publish(resource: Identity.noteListRoom.text, in: Identity.noteListRoom, sender: nil)
  }

  /// Notifies subscribers of the note list that tags have changed.
  func publishTags() {
    publish(resource: Self.tagsResource, in: Identity.noteListRoom, sender: nil)
  }
}
