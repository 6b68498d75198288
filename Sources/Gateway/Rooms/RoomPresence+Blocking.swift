import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Blocking people. ``PeopleHandlers/separates(_:from:)`` filters everything that is sent.
extension RoomPresence {
  /// Maximum people that one person can block, as in `Documentation/Limits.md`.
  private static let blocksMax = 1_000

  func handle(
    _ message: ClientMessage.Block, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let blocking = try checks.offered(people.blocking)
    try checks.countSignal(connection)
    let person = connection.person
    let other = PersonID(message.personID)
    guard !other.text.isEmpty, other.text.utf8.count <= settings.limits.nameBytesMax else {
      throw MessageRefusal(
        .tooLarge, "a person's id has 1 to \(settings.limits.nameBytesMax) bytes")
    }
    guard other != person else {
      throw MessageRefusal(.notAllowed, "people cannot block themselves")
    }
    // A guest could not remove a block later, and blocks of any number of guests would accumulate.
    guard !message.isBlocked || connection.identity?.isGuest != true else {
      throw MessageRefusal(
        .notAllowed, "guests of a link cannot block people; sign in first")
    }
    guard !message.isBlocked || !Identity.isProgram(other.text) else {
      throw MessageRefusal(.notAllowed, "API keys cannot be blocked, only people")
    }
    // Blocks that are not stored yet count as well.
    let underWay = blocksUnderWay[person] ?? 0
    guard !message.isBlocked || blocking.blocked(by: person).count + underWay < Self.blocksMax
    else {
      throw MessageRefusal(
        .tooMany, "the block list is full (\(Self.blocksMax)); unblock someone first")
    }
    if message.isBlocked { blocksUnderWay[person] = underWay + 1 }
    let before = people.visibleTo(person, other)
    blocking.set(
      PersonBlock(person: person, blocked: other), isBlocked: message.isBlocked, store: storage
    ) { [unowned self] error in
      if message.isBlocked, let count = blocksUnderWay[person] {
        blocksUnderWay[person] = count > 1 ? count - 1 : nil
      }
      if let error { return checks.sendUnavailable(error, ref: ref, to: connection) }
      sendBlocks(blocking, ref: ref, connection)
      tellNodesOfBlocks()
      let after = people.visibleTo(person, other)
      if before.first != after.first { shift(person, sees: other, isVisible: after.first) }
      if before.second != after.second { shift(other, sees: person, isVisible: after.second) }
    }
  }

  func handleBlocks(ref: String, _ connection: Connection) throws(MessageRefusal) {
    sendBlocks(try checks.offered(people.blocking), ref: ref, connection)
  }

  private func sendBlocks(
    _ blocking: any BlockingHandler, ref: String, _ connection: Connection
  ) {
    send(
      .blocks(.init(people: blocking.blocked(by: connection.person).map(\.text))), ref: ref,
      to: connection)
  }

  /// Shows a person to a reader, or hides them, in all rooms in which the reader is present.
  func shift(_ reader: PersonID, sees other: PersonID, isVisible: Bool) {
    guard let presence = people.presence else { return }
    for id in online[reader] ?? [] {
      guard let connection = connections[id], connection.dialect.traits.hearsOfPeople else {
        continue
      }
      for (room, _) in connection.present {
        let profile = presence.announced(in: room).first {
          $0.personID == other
        }
        guard let profile else { continue }
        if !isVisible {
          send(
            .typing(.init(room: room.text, personID: other.text, isTyping: false)), ref: pushID(),
            to: connection)
        }
        send(
          .roomPresence(
            PresenceChange(
              room: room, joined: isVisible ? [profile] : [],
              left: isVisible ? [] : [other])), ref: pushID(), to: connection)
      }
    }
  }
}
