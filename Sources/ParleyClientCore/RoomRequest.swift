public import SocketMessages

/// A request to the server about rooms and the people in them: a query, or a change of the person's
/// settings or reports. Repeating either is harmless.
public enum RoomRequest: Sendable, Equatable {
  /// A page of a room's history.
  case history(ClientMessage.RoomHistory)
  /// The receipts of the person's own publication.
  case receipts(ClientMessage.Receipts)
  /// The times at which people were online last.
  case lastOnline(ClientMessage.LastOnline)
  /// All people that the person blocks.
  case blocks
  /// The reports in a room, for moderators.
  case flags(ClientMessage.Flags)
  /// Block or unblock a person.
  case block(ClientMessage.Block)
  /// Report a publication, or withdraw the report.
  case flag(ClientMessage.Flag)
  /// Turn push notifications of a room on or off.
  case follow(ClientMessage.Follow)

  /// Whether the request changes something. If so, it waits for earlier ones that do.
  var changesState: Bool {
    switch self {
    case .history, .receipts, .lastOnline, .blocks, .flags: false
    case .block, .flag, .follow: true
    }
  }

  var message: ClientMessage {
    switch self {
    case .history(let request): .roomHistory(request)
    case .receipts(let request): .receipts(request)
    case .lastOnline(let request): .lastOnline(request)
    case .blocks: .blocks
    case .flags(let request): .flags(request)
    case .block(let request): .block(request)
    case .flag(let request): .flag(request)
    case .follow(let request): .follow(request)
    }
  }

  /// Whether a reply has the type and the room or publication of the request.
  func isAnswered(by reply: RoomReply) -> Bool {
    switch (self, reply) {
    case (.history(let request), .history(let reply)): request.room.isSame(as: reply.room)
    case (.receipts(let request), .receipts(let reply)):
      request.room.isSame(as: reply.room) && request.offset == reply.offset
    case (.lastOnline(let request), .lastOnline(let reply)): request.room.isSame(as: reply.room)
    case (.blocks, .blocks), (.block, .blocks): true
    case (.flags(let request), .flags(let reply)): request.room.isSame(as: reply.room)
    case (.flag(let request), .flag(let reply)):
      request.room.isSame(as: reply.room) && request.offset == reply.offset
    case (.follow(let request), .following(let reply)): request.room.isSame(as: reply.room)
    case (.history, _), (.receipts, _), (.lastOnline, _), (.blocks, _), (.flags, _), (.block, _),
      (.flag, _), (.follow, _):
      false
    }
  }
}

/// The server's answer to a ``RoomRequest``.
public enum RoomReply: Sendable, Equatable {
  /// A page of a room's history.
  case history(ServerMessage.RoomHistory)
  /// The receipts of a publication.
  case receipts(ServerMessage.Receipts)
  /// The times at which people were online last.
  case lastOnline(ServerMessage.LastOnline)
  /// All people that the person blocks, also as the reply to a block.
  case blocks(ServerMessage.Blocks)
  /// The present state of the report.
  case flag(ServerMessage.Flag)
  /// The reports in a room.
  case flags(ServerMessage.Flags)
  /// Whether push notifications of the room are on.
  case following(ServerMessage.Following)
}

/// The reason why a ``RoomRequest`` has failed.
public enum RoomRequestFailure: Error, Sendable, Equatable {
  /// The server or this client has refused the request.
  case refused(ErrorCode)
  /// The client acts for another person now; the request was the former person's.
  case otherPerson
}
