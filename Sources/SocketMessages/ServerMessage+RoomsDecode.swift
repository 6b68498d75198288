import JSON

extension ServerMessage {
  /// Reads a message about rooms; `nil` if it is about something else.
  static func decodeRooms(_ envelope: Envelope) throws(MessageError) -> ServerMessage? {
    switch envelope.type {
    case "publication": .publication(try RoomPublication(envelope))
    case "subscribed": .subscribed(try Subscribed(envelope))
    case "published": .published(try Published(envelope))
    case "roomHistory": .roomHistory(try RoomHistory(envelope))
    case "unsubscribed": .unsubscribed(try Unsubscribed(envelope))
    case "typing": .typing(try Typing(envelope))
    case "receipt": .receipt(try Receipt(envelope))
    case "receipts": .receipts(try Receipts(envelope))
    case "lastOnline": .lastOnline(try LastOnline(envelope))
    case "blocks": .blocks(try Blocks(envelope))
    case "flag": .flag(try Flag(envelope))
    case "flags": .flags(try Flags(envelope))
    case "following": .following(try Following(envelope))
    case "roomPresence": .roomPresence(try RoomPresence(envelope))
    default: nil
    }
  }
}

extension ServerMessage.Subscribed {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var epoch: String?
    var offset: Int?
    var isRecovered: Bool?
    var publications: [ServerMessage.PastPublication]?
    var present: [ServerMessage.Person]?
    self = try envelope.read("subscribed") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "epoch": epoch = try reader.string()
      case "offset": offset = try reader.integer()
      case "recovered": isRecovered = try reader.optionalBoolean()
      case "publications": publications = try reader.publications()
      case "present": present = try reader.isNull() ? nil : try reader.people()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        position: RoomPoint(
          epoch: try epoch.required("epoch"),
          offset: try offset.required("offset")),
        isRecovered: isRecovered,
        publications: publications ?? [],
        present: present)
    }
  }
}

extension ServerMessage.Published {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var epoch: String?
    var offset: Int?
    var isRepeated: Bool?
    self = try envelope.read("published") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "epoch": epoch = try reader.string()
      case "offset": offset = try reader.integer()
      case "repeated": isRepeated = try reader.boolean()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        position: RoomPoint(
          epoch: try epoch.required("epoch"),
          offset: try offset.required("offset")),
        isRepeated: try isRepeated.required("repeated"))
    }
  }
}

extension ServerMessage.RoomHistory {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var epoch: String?
    var offset: Int?
    var publications: [ServerMessage.PastPublication]?
    var hasGap: Bool?
    var hasMore: Bool?
    self = try envelope.read("roomHistory") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "epoch": epoch = try reader.string()
      case "offset": offset = try reader.integer()
      case "publications": publications = try reader.publications()
      case "gap": hasGap = try reader.boolean()
      case "more": hasMore = try reader.boolean()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        position: RoomPoint(
          epoch: try epoch.required("epoch"),
          offset: try offset.required("offset")),
        publications: try publications.required("publications"),
        hasGap: try hasGap.required("gap"),
        hasMore: try hasMore.required("more"))
    }
  }
}

extension ServerMessage.RoomPublication {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var epoch: String?
    var offset: Int?
    var time: Int64?
    var personID: String?
    var senderID: String?
    var data: JSONValue?
    self = try envelope.read("publication") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "epoch": epoch = try reader.string()
      case "offset": offset = try reader.integer()
      case "time": time = try reader.integer(as: Int64.self)
      case "personId": personID = try reader.optionalString()
      case "senderId": senderID = try reader.optionalString()
      case "data": data = try reader.value()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        epoch: try epoch.required("epoch"),
        publication: ServerMessage.PastPublication(
          offset: try offset.required("offset"),
          time: try time.required("time"), personID: personID,
          senderID: senderID, data: try data.required("data")))
    }
  }
}

extension ServerMessage.Unsubscribed {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    self = try envelope.read("unsubscribed") { key, reader throws(JSONError) in
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

extension ServerMessage.Typing {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var personID: String?
    var isTyping: Bool?
    self = try envelope.read("typing") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "personId": personID = try reader.string()
      case "typing": isTyping = try reader.boolean()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        personID: try personID.required("personId"),
        isTyping: try isTyping.required("typing"))
    }
  }
}

extension ServerMessage.Receipt {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var offset: Int?
    var personID: String?
    var state: String?
    self = try envelope.read("receipt") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "offset": offset = try reader.integer()
      case "personId": personID = try reader.string()
      case "state": state = try reader.string()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        offset: try offset.required("offset"),
        personID: try personID.required("personId"),
        state: try state.word("state"))
    }
  }
}

extension ServerMessage.Receipts {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var offset: Int?
    var receipts: [Item]?
    self = try envelope.read("receipts") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "offset": offset = try reader.integer()
      case "receipts":
        receipts = try reader.list { reader throws(JSONError) in try reader.receiptItem() }
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        offset: try offset.required("offset"),
        receipts: try receipts.required("receipts"))
    }
  }
}

extension ServerMessage.LastOnline {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var people: [Item]?
    self = try envelope.read("lastOnline") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "people":
        people = try reader.list { reader throws(JSONError) in try reader.lastOnlineItem() }
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        people: try people.required("people"))
    }
  }
}

extension ServerMessage.Blocks {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var people: [String]?
    self = try envelope.read("blocks") { key, reader throws(JSONError) in
      switch key {
      case "people": people = try reader.strings()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        people: try people.required("people"))
    }
  }
}

extension ServerMessage.Flag {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var offset: Int?
    var personID: String?
    var isFlagged: Bool?
    var reason: String?
    self = try envelope.read("flag") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "offset": offset = try reader.integer()
      case "personId": personID = try reader.string()
      case "flagged": isFlagged = try reader.boolean()
      case "reason": reason = try reader.optionalString()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        offset: try offset.required("offset"),
        personID: try personID.required("personId"),
        isFlagged: try isFlagged.required("flagged"),
        reason: reason)
    }
  }
}

extension ServerMessage.Flags {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var flags: [Item]?
    self = try envelope.read("flags") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "flags": flags = try reader.list { reader throws(JSONError) in try reader.flagItem() }
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        flags: try flags.required("flags"))
    }
  }
}

extension ServerMessage.Following {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var isFollowing: Bool?
    self = try envelope.read("following") { key, reader throws(JSONError) in
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

extension ServerMessage.RoomPresence {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var joined: [ServerMessage.Person]?
    var updated: [ServerMessage.Person]?
    var left: [String]?
    self = try envelope.read("roomPresence") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "joined": joined = try reader.people()
      case "updated": updated = try reader.people()
      case "left": left = try reader.strings()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        room: try room.required("room"),
        joined: try joined.required("joined"),
        updated: try updated.required("updated"),
        left: try left.required("left"))
    }
  }
}

extension JSONReader {
  fileprivate mutating func publications() throws(JSONError) -> [ServerMessage.PastPublication] {
    try list { reader throws(JSONError) in try reader.publication() }
  }

  fileprivate mutating func people() throws(JSONError) -> [ServerMessage.Person] {
    try list { reader throws(JSONError) in try reader.person() }
  }

  fileprivate mutating func publication() throws(JSONError) -> ServerMessage.PastPublication {
    var offset: Int?
    var time: Int64?
    var personID: String?
    var senderID: String?
    var data: JSONValue?
    try object { key, reader throws(JSONError) in
      switch key {
      case "offset": offset = try reader.integer()
      case "time": time = try reader.integer(as: Int64.self)
      case "personId": personID = try reader.optionalString()
      case "senderId": senderID = try reader.optionalString()
      case "data": data = try reader.value()
      default: try reader.skipValue()
      }
    }
    return ServerMessage.PastPublication(
      offset: try offset.required("offset"), time: try time.required("time"),
      personID: personID, senderID: senderID, data: try data.required("data"))
  }

  fileprivate mutating func person() throws(JSONError) -> ServerMessage.Person {
    var personID: String?
    var name: String?
    var color: String?
    try object { key, reader throws(JSONError) in
      switch key {
      case "personId": personID = try reader.string()
      case "name": name = try reader.string()
      case "color": color = try reader.optionalString()
      default: try reader.skipValue()
      }
    }
    return ServerMessage.Person(
      personID: try personID.required("personId"), name: try name.required("name"), color: color)
  }

  fileprivate mutating func receiptItem() throws(JSONError) -> ServerMessage.Receipts.Item {
    var personID: String?
    var state: String?
    try object { key, reader throws(JSONError) in
      switch key {
      case "personId": personID = try reader.string()
      case "state": state = try reader.string()
      default: try reader.skipValue()
      }
    }
    return ServerMessage.Receipts.Item(
      personID: try personID.required("personId"), state: try state.word("state"))
  }

  fileprivate mutating func lastOnlineItem() throws(JSONError) -> ServerMessage.LastOnline.Item {
    var personID: String?
    var isOnline: Bool?
    var time: Int64?
    try object { key, reader throws(JSONError) in
      switch key {
      case "personId": personID = try reader.string()
      case "online": isOnline = try reader.boolean()
      case "time": time = try reader.optionalTime()
      default: try reader.skipValue()
      }
    }
    return ServerMessage.LastOnline.Item(
      personID: try personID.required("personId"), isOnline: try isOnline.required("online"),
      time: time)
  }

  fileprivate mutating func flagItem() throws(JSONError) -> ServerMessage.Flags.Item {
    var offset: Int?
    var personID: String?
    var reason: String?
    var time: Int64?
    try object { key, reader throws(JSONError) in
      switch key {
      case "offset": offset = try reader.integer()
      case "personId": personID = try reader.string()
      case "reason": reason = try reader.optionalString()
      case "time": time = try reader.integer(as: Int64.self)
      default: try reader.skipValue()
      }
    }
    return ServerMessage.Flags.Item(
      offset: try offset.required("offset"), personID: try personID.required("personId"),
      reason: reason, time: try time.required("time"))
  }
}
