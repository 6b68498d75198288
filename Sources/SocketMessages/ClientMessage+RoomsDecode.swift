import JSON

extension ClientMessage {
  /// Reads a message about rooms; `nil` if it is about something else.
  static func decodeRooms(_ envelope: Envelope) throws(MessageError) -> ClientMessage? {
    switch envelope.type {
    case "subscribe": .subscribe(try Subscribe(envelope))
    case "unsubscribe": .unsubscribe(try Unsubscribe(envelope))
    case "publish": .publish(try Publish(envelope))
    case "roomHistory": .roomHistory(try RoomHistory(envelope))
    case "typing": .typing(try Typing(envelope))
    case "receipt": .receipt(try Receipt(envelope))
    case "receipts": .receipts(try Receipts(envelope))
    case "lastOnline": .lastOnline(try LastOnline(envelope))
    case "block": .block(try Block(envelope))
    case "flag": .flag(try Flag(envelope))
    case "flags": .flags(try Flags(envelope))
    case "follow": .follow(try Follow(envelope))
    case "blocks": .blocks
    default: nil
    }
  }
}

extension ClientMessage.Subscribe {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var position: RoomPoint?
    var isPresent: Bool?
    self = try envelope.read("subscribe") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "position": position = try reader.isNull() ? nil : try reader.roomPoint()
      case "presence": isPresent = try reader.optionalBoolean()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        position: position,
        isPresent: isPresent ?? false)
    }
  }
}

extension ClientMessage.Unsubscribe {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    self = try envelope.read("unsubscribe") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"))
    }
  }
}

extension ClientMessage.Publish {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var data: JSONValue?
    var key: String?
    var senderID: String?
    var pushes: Bool?
    self = try envelope.read("publish") { field, reader throws(JSONError) in
      switch field {
      case "room": room = try reader.string()
      case "data": data = try reader.value()
      case "key": key = try reader.optionalString()
      case "senderId": senderID = try reader.optionalString()
      case "push": pushes = try reader.optionalBoolean()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        data: try data.required("data"),
        key: key,
        senderID: senderID,
        pushes: pushes ?? false)
    }
  }
}

extension ClientMessage.RoomHistory {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var since: Int?
    var before: Int?
    var limit: Int?
    self = try envelope.read("roomHistory") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "since": since = try reader.optionalInteger()
      case "before": before = try reader.optionalInteger()
      case "limit": limit = try reader.optionalInteger()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        since: since,
        before: before,
        limit: limit)
    }
  }
}

extension ClientMessage.Typing {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var isTyping: Bool?
    self = try envelope.read("typing") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "typing": isTyping = try reader.boolean()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        isTyping: try isTyping.required("typing"))
    }
  }
}

extension ClientMessage.Receipt {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var offset: Int?
    var state: String?
    self = try envelope.read("receipt") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "offset": offset = try reader.integer()
      case "state": state = try reader.string()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        offset: try offset.required("offset"),
        state: try state.word("state"))
    }
  }
}

extension ClientMessage.Receipts {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var offset: Int?
    self = try envelope.read("receipts") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "offset": offset = try reader.integer()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        offset: try offset.required("offset"))
    }
  }
}

extension ClientMessage.LastOnline {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var people: [String]?
    self = try envelope.read("lastOnline") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "people": people = try reader.strings()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        people: try people.required("people"))
    }
  }
}

extension ClientMessage.Block {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var personID: String?
    var isBlocked: Bool?
    self = try envelope.read("block") { key, reader throws(JSONError) in
      switch key {
      case "personId": personID = try reader.string()
      case "blocked": isBlocked = try reader.boolean()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        personID: try personID.required("personId"),
        isBlocked: try isBlocked.required("blocked"))
    }
  }
}

extension ClientMessage.Flag {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var offset: Int?
    var isFlagged: Bool?
    var reason: String?
    self = try envelope.read("flag") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "offset": offset = try reader.integer()
      case "flagged": isFlagged = try reader.boolean()
      case "reason": reason = try reader.optionalString()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        offset: try offset.required("offset"),
        isFlagged: try isFlagged.required("flagged"),
        reason: reason)
    }
  }
}

extension ClientMessage.Flags {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    self = try envelope.read("flags") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"))
    }
  }
}

extension ClientMessage.Follow {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var isFollowing: Bool?
    self = try envelope.read("follow") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "following": isFollowing = try reader.boolean()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        isFollowing: try isFollowing.required("following"))
    }
  }
}

extension JSONReader {
  /// Reads `{"epoch": "…", "offset": 1}`.
  mutating func roomPoint() throws(JSONError) -> RoomPoint {
    var epoch: String?
    var offset: Int?
    try object { key, reader throws(JSONError) in
      switch key {
      case "epoch": epoch = try reader.string()
      case "offset": offset = try reader.integer()
      default: try reader.skipValue()
      }
    }
    return RoomPoint(epoch: try epoch.required("epoch"), offset: try offset.required("offset"))
  }
}
