public import SocketMessages

/// A question to the server about rooms and the people in them, or a wish of the person's that holds
/// from then on. Either may be asked again without harm.
public enum RoomRequest: Sendable, Equatable {
  /// A page of what a room remembers.
  case history(ClientMessage.RoomHistory)
  /// The receipts of a publication of one's own.
  case receipts(ClientMessage.Receipts)
  /// The times at which people were online last.
  case lastOnline(ClientMessage.LastOnline)
  /// All people that the person blocks.
  case blocks
  /// The reports in a room, for moderators.
  case flags(ClientMessage.Flags)
  /// Block or unblock a person.
  case block(ClientMessage.Block)
  /// Report a publication, or take the report back.
  case flag(ClientMessage.Flag)
  /// Follow a room while offline, or no longer.
  case follow(ClientMessage.Follow)

  /// Whether it changes something: then it waits for those before it.
  var isWish: Bool {
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

  /// Whether this is what the request asks for.
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
  /// A page of what a room remembers.
  case history(ServerMessage.RoomHistory)
  /// The receipts of a publication.
  case receipts(ServerMessage.Receipts)
  /// The times at which people were online last.
  case lastOnline(ServerMessage.LastOnline)
  /// All people that the person blocks, also after a change.
  case blocks(ServerMessage.Blocks)
  /// The report that now holds.
  case flag(ServerMessage.Flag)
  /// The reports in a room.
  case flags(ServerMessage.Flags)
  /// Whether the room is followed now.
  case following(ServerMessage.Following)
}

/// Why a ``RoomRequest`` has no answer.
public enum RoomRequestFailure: Error, Sendable, Equatable {
  /// The server refuses it.
  case refused(ErrorCode)
  /// The client has become another person's, whose request it was not.
  case otherPerson
}
