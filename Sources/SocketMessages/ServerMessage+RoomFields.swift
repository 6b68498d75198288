import ParleyJSON
import ParleyModel

// The fields of servers' messages about rooms. Each field's name is written only here.

extension ServerMessage.Subscribed: MessageObject {
  static var blank: Self { Self(room: "", position: .blank) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try position.visit(&fields)
    try fields.optional("recovered", &isRecovered)
    try fields.unlessEmpty("publications", &publications)
    try fields.optional("present", &present)
    #if !hasFeature(Embedded)
      try fields.optional("values", &values)
      try fields.flag("more", &hasMore)
    #endif
  }
}

extension ServerMessage.Unsubscribed: MessageObject {
  static var blank: Self { Self(room: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
  }
}

extension ServerMessage.Published: MessageObject {
  static var blank: Self { Self(room: "", position: .blank, isRepeated: false) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try position.visit(&fields)
    try fields.required("repeated", &isRepeated)
  }
}

extension Publication: MessageObject {
  static var blank: Self {
    var blank = Self(offset: 0, time: 0, data: .blank)
    #if !hasFeature(Embedded)
      blank.data = nil
    #endif
    return blank
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("offset", &offset)
    try fields.required("time", &time)
    try fields.optional("personId", &personID)
    try fields.optional("senderId", &senderID)
    #if hasFeature(Embedded)
      try fields.required("data", &data)
    #else
      try fields.anyJSON("data", &data)
      try fields.optional("values", &values)
    #endif
  }
}

extension ServerMessage.RoomPublication: MessageObject {
  static var blank: Self { Self(room: "", epoch: "", publication: .blank) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("epoch", &epoch.text)
    try publication.visit(&fields)
  }
}

#if !hasFeature(Embedded)
  extension ServerMessage.Values: MessageObject {
    static var blank: Self {
      Self(room: "", position: .blank, values: NamedValues(), hasMore: false)
    }
    mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
      try fields.required("room", &room)
      try position.visit(&fields)
      try fields.required("values", &values)
      try fields.required("more", &hasMore)
    }
  }

  extension ServerMessage.Signal: MessageObject {
    static var blank: Self {
      Self(room: "", clientID: nil, personID: nil, name: "", data: .blank)
    }
    mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
      try fields.required("room", &room)
      try fields.optional("clientId", &clientID)
      try fields.optional("personId", &personID)
      try fields.required("name", &name)
      try fields.required("data", &data)
    }
  }
#endif

extension ServerMessage.RoomHistory: MessageObject {
  static var blank: Self {
    Self(room: "", position: .blank, publications: [], hasGap: false, hasMore: false)
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try position.visit(&fields)
    try fields.required("publications", &publications)
    try fields.required("gap", &hasGap)
    try fields.required("more", &hasMore)
  }
}

extension PersonProfile: MessageObject {
  static var blank: Self { Self(personID: "", name: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("personId", &personID.text)
    try fields.required("name", &name)
    try fields.optional("color", &color)
    #if !hasFeature(Embedded)
      try fields.anyJSON("data", &data)
    #endif
  }
}

extension PresenceChange: MessageObject {
  static var blank: Self { Self(room: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room.text)
    try fields.required("joined", &joined)
    try fields.required("updated", &updated)
    try fields.required("left", &left)
  }
}

extension ServerMessage.Typing: MessageObject {
  static var blank: Self { Self(room: "", personID: "", isTyping: false) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("personId", &personID)
    try fields.required("typing", &isTyping)
  }
}

extension ServerMessage.Receipt: MessageObject {
  static var blank: Self { Self(room: "", offset: 0, personID: "", state: .delivered) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("offset", &offset)
    try fields.required("personId", &personID)
    try fields.required("state", &state)
  }
}

extension ServerMessage.Receipts: MessageObject {
  static var blank: Self { Self(room: "", offset: 0, receipts: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("offset", &offset)
    try fields.required("receipts", &receipts)
  }
}

extension Receipt: MessageObject {
  static var blank: Self { Self(personID: "", stage: .delivered) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("personId", &personID.text)
    try fields.required("state", &stage)
  }
}

extension ServerMessage.LastOnline: MessageObject {
  static var blank: Self { Self(room: "", people: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("people", &people)
  }
}

extension ServerMessage.LastOnline.Item: MessageObject {
  static var blank: Self { Self(personID: "", isOnline: false, time: nil) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("personId", &personID)
    try fields.required("online", &isOnline)
    try fields.optional("time", &time)
  }
}

extension ServerMessage.Blocks: MessageObject {
  static var blank: Self { Self(people: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("people", &people)
  }
}

extension ServerMessage.Flag: MessageObject {
  static var blank: Self {
    Self(room: "", offset: 0, personID: "", isFlagged: false, reason: nil)
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("offset", &offset)
    try fields.required("personId", &personID)
    try fields.required("flagged", &isFlagged)
    try fields.optional("reason", &reason)
  }
}

extension ServerMessage.Flags: MessageObject {
  static var blank: Self { Self(room: "", flags: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("flags", &flags)
  }
}

extension PublicationFlag: MessageObject {
  static var blank: Self { Self(offset: 0, personID: "", reason: nil, time: 0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("offset", &offset)
    try fields.required("personId", &personID.text)
    try fields.optional("reason", &reason)
    try fields.required("time", &time)
  }
}

extension ServerMessage.Following: MessageObject {
  static var blank: Self { Self(room: "", isFollowing: false) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("room", &room)
    try fields.required("following", &isFollowing)
  }
}
