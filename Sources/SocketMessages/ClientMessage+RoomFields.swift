import ParleyJSON
import ParleyModel

// The fields of clients' messages about rooms. Each field's name is written only here.

extension ReceiptStage: MessageWord {}

extension RoomPosition: MessageObject {
  static var blank: Self { Self(epoch: "", offset: 0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("epoch", &epoch.text)
    try fields.required("offset", &offset)
  }
}

extension ClientMessage.Subscribe: MessageObject {
  static var blank: Self { Self(room: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.optional("position", &position)
    try fields.flag("presence", &isPresent)
    #if !hasFeature(Embedded)
      try fields.optional("values", &values)
      try fields.flag("latest", &isLatest)
      try fields.anyJSON("presenceData", &presenceData)
    #endif
  }
}

extension ClientMessage.Unsubscribe: MessageObject {
  static var blank: Self { Self(room: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
  }
}

extension ClientMessage.Publish: MessageObject {
  static var blank: Self {
    var blank = Self(room: "", data: .blank)
    #if !hasFeature(Embedded)
      blank.data = nil
    #endif
    return blank
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    #if hasFeature(Embedded)
      try fields.required("data", &data)
    #else
      try fields.anyJSON("data", &data)
      try fields.optional("values", &values)
      try fields.optional("ifOffsets", &ifOffsets)
      try fields.optional("ifPosition", &ifPosition)
    #endif
    try fields.optional("key", &key)
    try fields.optional("senderId", &senderID)
    try fields.flag("push", &pushes)
  }
}

#if !hasFeature(Embedded)
  extension ClientMessage.Values: MessageObject {
    static var blank: Self { Self(room: "") }
    mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
      try fields.required("room", &room)
      var prefix: String? = prefix.isEmpty ? nil : prefix
      try fields.optional("prefix", &prefix)
      self.prefix = prefix ?? ""
      var after = after?.text
      try fields.optional("after", &after)
      self.after = after.map { ValueName($0) }
    }
  }

  extension ClientMessage.RoomPresence: MessageObject {
    static var blank: Self { Self(room: "", data: nil) }
    mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
      try fields.required("room", &room)
      try fields.anyJSON("data", &data)
    }
  }

  extension ClientMessage.Signal: MessageObject {
    static var blank: Self { Self(room: "", name: "", data: .blank) }
    mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
      try fields.required("room", &room)
      try fields.required("name", &name)
      try fields.required("data", &data)
    }
  }
#endif

extension ClientMessage.RoomHistory: MessageObject {
  static var blank: Self { Self(room: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.optional("since", &since)
    try fields.optional("before", &before)
    try fields.optional("limit", &limit)
  }
}

extension ClientMessage.Typing: MessageObject {
  static var blank: Self { Self(room: "", isTyping: false) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("typing", &isTyping)
  }
}

extension ClientMessage.Receipt: MessageObject {
  static var blank: Self { Self(room: "", offset: 0, state: .delivered) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("offset", &offset)
    try fields.required("state", &state)
  }
}

extension ClientMessage.Receipts: MessageObject {
  static var blank: Self { Self(room: "", offset: 0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("offset", &offset)
  }
}

extension ClientMessage.LastOnline: MessageObject {
  static var blank: Self { Self(room: "", people: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("people", &people)
  }
}

extension ClientMessage.Block: MessageObject {
  static var blank: Self { Self(personID: "", isBlocked: false) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("personId", &personID)
    try fields.required("blocked", &isBlocked)
  }
}

extension ClientMessage.Flag: MessageObject {
  static var blank: Self { Self(room: "", offset: 0, isFlagged: false) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("offset", &offset)
    try fields.required("flagged", &isFlagged)
    try fields.optional("reason", &reason)
  }
}

extension ClientMessage.Flags: MessageObject {
  static var blank: Self { Self(room: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
  }
}

extension ClientMessage.Follow: MessageObject {
  static var blank: Self { Self(room: "", isFollowing: false) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("following", &isFollowing)
  }
}
