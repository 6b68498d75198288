import JSON

extension ClientMessage {
  /// Appends a message about rooms as JSON.
  func encodeRooms(messageID: String, into buffer: inout [UInt8]) {
    func write(
      _ type: StaticString, _ data: (inout JSONWriter.Object, inout [UInt8]) -> Void
    ) {
      Envelope.write(messageID: messageID, type: type, into: &buffer, data: data)
    }
    switch self {
    case .subscribe(let message):
      write("subscribe") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("position", message.position, &buffer)
        if message.isPresent { data.field("presence", true, &buffer) }
      }
    case .unsubscribe(let message):
      write("unsubscribe") { data, buffer in
        data.field("room", message.room, &buffer)
      }
    case .publish(let message):
      write("publish") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("data", message.data, &buffer)
        data.field("key", message.key, &buffer)
        data.field("senderId", message.senderID, &buffer)
        if message.pushes { data.field("push", true, &buffer) }
      }
    case .roomHistory(let message):
      write("roomHistory") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("since", message.since, &buffer)
        data.field("before", message.before, &buffer)
        data.field("limit", message.limit, &buffer)
      }
    case .typing(let message):
      write("typing") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("typing", message.isTyping, &buffer)
      }
    case .receipt(let message):
      write("receipt") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("offset", message.offset, &buffer)
        data.field("state", message.state.rawValue, &buffer)
      }
    case .receipts(let message):
      write("receipts") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("offset", message.offset, &buffer)
      }
    case .lastOnline(let message):
      write("lastOnline") { data, buffer in
        data.field("room", message.room, &buffer)
        data.key("people", &buffer)
        JSONWriter.array(message.people, &buffer) { JSONWriter.string($0, &$1) }
      }
    case .block(let message):
      write("block") { data, buffer in
        data.field("personId", message.personID, &buffer)
        data.field("blocked", message.isBlocked, &buffer)
      }
    case .flag(let message):
      write("flag") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("offset", message.offset, &buffer)
        data.field("flagged", message.isFlagged, &buffer)
        data.field("reason", message.reason, &buffer)
      }
    case .flags(let message):
      write("flags") { data, buffer in
        data.field("room", message.room, &buffer)
      }
    case .follow(let message):
      write("follow") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("following", message.isFollowing, &buffer)
      }
    case .blocks: write("blocks") { _, _ in }
    case .hello, .refresh, .grant, .join, .change, .select, .leave, .profile, .ping, .unknown:
      preconditionFailure("this message is not about rooms")
    }
  }
}

extension JSONWriter.Object {
  /// Writes a place in a room's history, if there is one.
  fileprivate mutating func field(
    _ name: StaticString, _ point: RoomPoint?, _ buffer: inout [UInt8]
  ) {
    guard let point else { return }
    key(name, &buffer)
    JSONWriter.object(&buffer) { object, buffer in
      object.field("epoch", point.epoch, &buffer)
      object.field("offset", point.offset, &buffer)
    }
  }
}
