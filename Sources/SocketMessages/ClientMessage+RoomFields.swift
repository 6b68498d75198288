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
  }
}

extension ClientMessage.Unsubscribe: MessageObject {
  static var blank: Self { Self(room: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
  }
}

extension ClientMessage.Publish: MessageObject {
  static var blank: Self { Self(room: "", data: .blank) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("data", &data)
    try fields.optional("key", &key)
    try fields.optional("senderId", &senderID)
    try fields.flag("push", &pushes)
  }
}

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
