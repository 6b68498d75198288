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
      case "recovered": isRecovered = try reader.isNull() ? nil : try reader.boolean()
      case "publications": publications = try reader.publications()
      case "present": present = try reader.isNull() ? nil : try reader.people()
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "subscribed"),
        position: RoomPoint(
          epoch: try epoch.required("epoch", in: "subscribed"),
          offset: try offset.required("offset", in: "subscribed")),
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
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "published"),
        position: RoomPoint(
          epoch: try epoch.required("epoch", in: "published"),
          offset: try offset.required("offset", in: "published")),
        isRepeated: try isRepeated.required("repeated", in: "published"))
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
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "roomHistory"),
        position: RoomPoint(
          epoch: try epoch.required("epoch", in: "roomHistory"),
          offset: try offset.required("offset", in: "roomHistory")),
        publications: try publications.required("publications", in: "roomHistory"),
        hasGap: try hasGap.required("gap", in: "roomHistory"),
        hasMore: try hasMore.required("more", in: "roomHistory"))
    }
  }
}

extension ServerMessage.RoomPublication {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var room: String?
    var epoch: String?
    var offset: Int?
    var time: Int?
    var personID: String?
    var senderID: String?
    var data: JSONValue?
    self = try envelope.read("publication") { key, reader throws(JSONError) in
      switch key {
      case "room": room = try reader.string()
      case "epoch": epoch = try reader.string()
      case "offset": offset = try reader.integer()
      case "time": time = try reader.integer()
      case "personId": personID = try reader.optionalString()
      case "senderId": senderID = try reader.optionalString()
      case "data": data = try reader.value()
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "publication"),
        epoch: try epoch.required("epoch", in: "publication"),
        publication: ServerMessage.PastPublication(
          offset: try offset.required("offset", in: "publication"),
          time: Int64(try time.required("time", in: "publication")), personID: personID,
          senderID: senderID, data: try data.required("data", in: "publication")))
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
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "unsubscribed"))
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
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "typing"),
        personID: try personID.required("personId", in: "typing"),
        isTyping: try isTyping.required("typing", in: "typing"))
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
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "receipt"),
        offset: try offset.required("offset", in: "receipt"),
        personID: try personID.required("personId", in: "receipt"),
        state: try word(state, "state", in: "receipt"))
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
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "receipts"),
        offset: try offset.required("offset", in: "receipts"),
        receipts: try receipts.required("receipts", in: "receipts"))
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
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "lastOnline"),
        people: try people.required("people", in: "lastOnline"))
    }
  }
}

extension ServerMessage.Blocks {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var people: [String]?
    self = try envelope.read("blocks") { key, reader throws(JSONError) in
      switch key {
      case "people": people = try reader.list { reader throws(JSONError) in try reader.string() }
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      Self(
        people: try people.required("people", in: "blocks"))
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
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "flag"),
        offset: try offset.required("offset", in: "flag"),
        personID: try personID.required("personId", in: "flag"),
        isFlagged: try isFlagged.required("flagged", in: "flag"),
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
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "flags"),
        flags: try flags.required("flags", in: "flags"))
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
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "following"),
        isFollowing: try isFollowing.required("following", in: "following"))
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
      case "left": left = try reader.list { reader throws(JSONError) in try reader.string() }
      default: try reader.skipValue()
      }
    } make: { () throws(MessageError) in
      Self(
        room: try room.required("room", in: "roomPresence"),
        joined: try joined.required("joined", in: "roomPresence"),
        updated: try updated.required("updated", in: "roomPresence"),
        left: try left.required("left", in: "roomPresence"))
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
    var time: Int?
    var personID: String?
    var senderID: String?
    var data: JSONValue?
    try object { key, reader throws(JSONError) in
      switch key {
      case "offset": offset = try reader.integer()
      case "time": time = try reader.integer()
      case "personId": personID = try reader.optionalString()
      case "senderId": senderID = try reader.optionalString()
      case "data": data = try reader.value()
      default: try reader.skipValue()
      }
    }
    guard let offset else { throw .missing(field: "offset") }
    guard let time else { throw .missing(field: "time") }
    guard let data else { throw .missing(field: "data") }
    return ServerMessage.PastPublication(
      offset: offset, time: Int64(time), personID: personID, senderID: senderID, data: data)
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
    guard let personID else { throw .missing(field: "personId") }
    guard let name else { throw .missing(field: "name") }
    return ServerMessage.Person(
      personID: personID, name: name, color: color)
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
    guard let personID else { throw .missing(field: "personId") }
    guard let state, let state = ReceiptState(rawValue: state) else {
      throw .missing(field: "state")
    }
    return ServerMessage.Receipts.Item(
      personID: personID, state: state)
  }

  fileprivate mutating func lastOnlineItem() throws(JSONError) -> ServerMessage.LastOnline.Item {
    var personID: String?
    var isOnline: Bool?
    var time: Int?
    try object { key, reader throws(JSONError) in
      switch key {
      case "personId": personID = try reader.string()
      case "online": isOnline = try reader.boolean()
      case "time": time = try reader.optionalInteger()
      default: try reader.skipValue()
      }
    }
    guard let personID else { throw .missing(field: "personId") }
    guard let isOnline else { throw .missing(field: "online") }
    return ServerMessage.LastOnline.Item(
      personID: personID, isOnline: isOnline, time: time.map(Int64.init))
  }

  fileprivate mutating func flagItem() throws(JSONError) -> ServerMessage.Flags.Item {
    var offset: Int?
    var personID: String?
    var reason: String?
    var time: Int?
    try object { key, reader throws(JSONError) in
      switch key {
      case "offset": offset = try reader.integer()
      case "personId": personID = try reader.string()
      case "reason": reason = try reader.optionalString()
      case "time": time = try reader.integer()
      default: try reader.skipValue()
      }
    }
    guard let offset else { throw .missing(field: "offset") }
    guard let personID else { throw .missing(field: "personId") }
    guard let time else { throw .missing(field: "time") }
    return ServerMessage.Flags.Item(
      offset: offset, personID: personID, reason: reason, time: Int64(time))
  }
}
