import ParleyGatewayPorts
import SocketMessages

/// Reporting publications to moderators, who are people with the right to manage the room.
extension Rooms {
  func handle(
    _ message: ClientMessage.Flag, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let moderation = try checks.offered(people.moderation)
    let room = RoomName(message.room)
    try checks.check(.read, "reading", in: room, connection)
    try checks.countSignal(connection)
    let reason = message.reason ?? ""
    guard reason.utf8.count <= settings.limits.keyBytesMax else {
      throw MessageRefusal(.tooLarge, "a reason may have \(settings.limits.keyBytesMax) bytes")
    }
    let flag = PublicationFlag(
      offset: message.offset, personID: connection.person,
      reason: reason.isEmpty ? nil : reason, time: dependencies.clock.now)
    moderation.set(flag, in: room, isFlagged: message.isFlagged, store: storage) {
      [unowned self] reply in
      switch reply {
      case .unknownPublication: sendUnknownPublication(ref: ref, to: connection)
      case .failed(let error): checks.sendUnavailable(error, ref: ref, to: connection)
      case .receipt, .receipts, .flags, .members, .blocks, .lastOnline:
        checks.sendUnavailable(
          .unexpectedReply(reply.name, insteadOf: Void.self), ref: ref, to: connection)
      case .done:
        let news = Self.news(of: flag, in: room, isFlagged: message.isFlagged)
        send(news, ref: ref, to: connection)
        notifyModerators(news, in: room, except: connection)
        presence.notifyNodes(.flag(flag, isFlagged: message.isFlagged), in: room)
      }
    }
  }

  /// Returns the message that notifies moderators of a report, or of its withdrawal.
  static func news(
    of flag: PublicationFlag, in room: RoomName, isFlagged: Bool
  ) -> ServerMessage {
    .flag(
      .init(
        room: room.text, offset: flag.offset, personID: flag.personID.text, isFlagged: isFlagged,
        reason: isFlagged ? flag.reason : nil))
  }

  func notifyModerators(
    _ news: ServerMessage, in room: RoomName, except author: Connection? = nil
  ) {
    for id in rooms[room]?.members ?? [] {
      guard let connection = connections[id], connection !== author,
        connection.dialect.traits.hearsOfPeople,
        connection.verbs(on: .room(room)).contains(.manage)
      else { continue }
      send(news, ref: pushID(), to: connection)
    }
  }

  func handle(
    _ message: ClientMessage.Flags, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let moderation = try checks.offered(people.moderation)
    let room = RoomName(message.room)
    try checks.check(.manage, "managing", in: room, connection)
    moderation.list(room, limit: settings.limits.pageMax, store: storage) {
      [unowned self] reply in
      switch reply.outcome({ if case .flags(let flags) = $0 { flags } else { nil } }) {
      case .success(let flags):
        send(.flags(.init(room: message.room, flags: flags)), ref: ref, to: connection)
      case .failure(let error): checks.sendUnavailable(error, ref: ref, to: connection)
      }
    }
  }
}
