import JSON
import OTCore

extension ServerMessage {
  /// Reads a message from the bytes of a text frame.
  ///
  /// - Throws: `MessageError` for anything that is no message, naming field and place.
  public static func decode(
    _ message: UnsafeRawBufferPointer
  ) throws(MessageError) -> (messageID: String, message: ServerMessage) {
    let envelope = try Envelope(message)
    return (envelope.messageID.string, try decode(envelope))
  }

  private static func decode(_ envelope: Envelope) throws(MessageError) -> ServerMessage {
    switch envelope.type {
    case "changes": .changes(try Changes(envelope))
    case "acknowledged": .acknowledged(try Acknowledged(envelope))
    case "selections": .selections(try Selections(envelope))
    case "presence": .presence(try Presence(envelope))
    case "welcome": .welcome(try Welcome(envelope))
    case "refreshed": .refreshed(try Refreshed(envelope, "refreshed"))
    case "granted": .granted(try Refreshed(envelope, "granted"))
    case "tokenExpiring": .tokenExpiring(try TokenExpiring(envelope))
    case "accessChanged": .accessChanged(try AccessChanged(envelope))
    case "joined": .joined(try Joined(envelope))
    case "refused": .refused(try Refused(envelope))
    case "resync": .resync(try Resync(envelope))
    case "left": .left(try Left(envelope))
    case "resourceUpdate": .resourceUpdate(try ResourceUpdate(envelope))
    case "documentChanged": .documentChanged(try DocumentChanged(envelope))
    case "error": .error(try Failure(envelope))
    case "goodbye": .goodbye(try Goodbye(envelope))
    case "pong": .pong(try Pong(envelope))
    default: try decodeRooms(envelope) ?? .unknown(type: envelope.type.string)
    }
  }
}

extension ServerMessage.Welcome {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var protocolName: String?
    var clientID: String?
    var resumeToken: String?
    var serverTime: Int64?
    var demo: Bool?
    var capabilities: [String]?
    var limits: Limits?
    self = try envelope.read("welcome") { key, reader throws(JSONError) in
      switch key {
      case "protocol": protocolName = try reader.string()
      case "clientId": clientID = try reader.string()
      case "resumeToken": resumeToken = try reader.string()
      case "serverTime": serverTime = try reader.integer(as: Int64.self)
      case "demo": demo = try reader.boolean()
      case "capabilities": capabilities = try reader.strings()
      case "limits": limits = try reader.limits()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      guard try protocolName.required("protocol") == Self.protocolName else {
        throw .wrongValue(field: "protocol", expected: Self.protocolName)
      }
      return Self(
        clientID: try clientID.required("clientId"),
        resumeToken: try resumeToken.required("resumeToken"),
        serverTime: try serverTime.required("serverTime"),
        demo: try demo.required("demo"),
        capabilities: try capabilities.required("capabilities"),
        limits: try limits.required("limits"))
    }
  }
}

extension ServerMessage.Joined {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    var title: String?
    var epoch: String?
    var revision: Int?
    var text: String?
    var changes: [ServerMessage.Change]?
    var lastSequence: Int?
    var change: ChangeName?
    var access: String?
    var presence: [ServerMessage.Participant]?
    var people: Int?
    self = try envelope.read("joined") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "title": title = try reader.string()
      case "epoch": epoch = try reader.string()
      case "revision": revision = try reader.integer()
      case "text": text = try reader.string()
      case "changes": changes = try reader.list { reader throws(JSONError) in try reader.change() }
      case "lastSequence": lastSequence = try reader.integer()
      case "change": change = try reader.isNull() ? nil : try reader.changeName()
      case "access": access = try reader.string()
      case "presence": presence = try reader.participants()
      case "people": people = try reader.isNull() ? nil : try reader.integer()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      let content: Content =
        if let text { .text(text) } else {
          .changes(try changes.required("text or changes"))
        }
      return Self(
        documentID: try documentID.required("documentId"),
        title: try title.required("title"),
        epoch: try epoch.required("epoch"),
        revision: try revision.required("revision"), content: content,
        lastSequence: try lastSequence.required("lastSequence"), change: change,
        access: try access.word("access"),
        presence: try presence.required("presence"), people: people)
    }
  }
}

extension ServerMessage.Changes {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    var revision: Int?
    var changes: [ServerMessage.Change]?
    var time: Int64?
    self = try envelope.read("changes") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "revision": revision = try reader.integer()
      case "changes": changes = try reader.list { reader throws(JSONError) in try reader.change() }
      case "time": time = try reader.optionalTime()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        documentID: try documentID.required("documentId"),
        revision: try revision.required("revision"),
        changes: try changes.required("changes"), time: time)
    }
  }
}

extension ServerMessage.Acknowledged {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    var sequence: Int?
    var revision: Int?
    var time: Int64?
    self = try envelope.read("acknowledged") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "sequence": sequence = try reader.integer()
      case "revision": revision = try reader.integer()
      case "time": time = try reader.optionalTime()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        documentID: try documentID.required("documentId"),
        sequence: try sequence.required("sequence"),
        revision: try revision.required("revision"), time: time)
    }
  }
}

extension ServerMessage.Refused {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    var sequence: Int?
    var code: String?
    var message: String?
    var retryable: Bool?
    var retryAfter: Int?
    self = try envelope.read("refused") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "sequence": sequence = try reader.integer()
      case "code": code = try reader.string()
      case "message": message = try reader.string()
      case "retryable": retryable = try reader.boolean()
      case "retryAfter": retryAfter = try reader.optionalInteger()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        documentID: try documentID.required("documentId"),
        sequence: try sequence.required("sequence"),
        code: try code.word("code"),
        message: try message.required("message"),
        retryable: try retryable.required("retryable"), retryAfter: retryAfter)
    }
  }
}

extension ServerMessage.Resync {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    var reason: String?
    var epoch: String?
    var revision: Int?
    var text: String?
    var lastSequence: Int?
    var change: ChangeName?
    self = try envelope.read("resync") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "reason": reason = try reader.string()
      case "epoch": epoch = try reader.string()
      case "revision": revision = try reader.integer()
      case "text": text = try reader.string()
      case "lastSequence": lastSequence = try reader.integer()
      case "change": change = try reader.isNull() ? nil : try reader.changeName()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        documentID: try documentID.required("documentId"),
        reason: try reason.word("reason"),
        epoch: try epoch.required("epoch"),
        revision: try revision.required("revision"),
        text: try text.required("text"),
        lastSequence: try lastSequence.required("lastSequence"),
        change: change)
    }
  }
}

extension ServerMessage.Selections {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    var revision: Int?
    var clientID: String?
    var selections: [Selection]?
    self = try envelope.read("selections") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "revision": revision = try reader.integer()
      case "clientId": clientID = try reader.string()
      case "selections": selections = try reader.selections()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        documentID: try documentID.required("documentId"),
        revision: try revision.required("revision"),
        clientID: try clientID.required("clientId"),
        selections: try selections.required("selections"))
    }
  }
}

extension ServerMessage.Presence {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    var joined: [ServerMessage.Participant]?
    var updated: [ServerMessage.Participant]?
    var left: [String]?
    var people: Int?
    self = try envelope.read("presence") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "joined": joined = try reader.participants()
      case "updated": updated = try reader.participants()
      case "left": left = try reader.strings()
      case "people": people = try reader.isNull() ? nil : try reader.integer()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        documentID: try documentID.required("documentId"),
        joined: try joined.required("joined"),
        updated: try updated.required("updated"),
        left: try left.required("left"), people: people)
    }
  }
}

extension ServerMessage.Left {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    self = try envelope.read("left") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        documentID: try documentID.required("documentId"))
    }
  }
}

extension ServerMessage.DocumentChanged {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var documentID: String?
    var title: String?
    var deleted: Bool?
    self = try envelope.read("documentChanged") { key, reader throws(JSONError) in
      switch key {
      case "documentId": documentID = try reader.string()
      case "title": title = try reader.optionalString()
      case "deleted": deleted = try reader.boolean()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        documentID: try documentID.required("documentId"), title: title,
        deleted: try deleted.required("deleted"))
    }
  }
}

extension ServerMessage.Failure {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var code: String?
    var message: String?
    var retryable: Bool?
    var retryAfter: Int?
    self = try envelope.read("error") { key, reader throws(JSONError) in
      switch key {
      case "code": code = try reader.string()
      case "message": message = try reader.string()
      case "retryable": retryable = try reader.boolean()
      case "retryAfter": retryAfter = try reader.optionalInteger()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        code: try code.word("code"),
        message: try message.required("message"),
        retryable: try retryable.required("retryable"), retryAfter: retryAfter)
    }
  }
}

extension ServerMessage.Goodbye {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var reason: String?
    var reconnectAfter: [Int]?
    self = try envelope.read("goodbye") { key, reader throws(JSONError) in
      switch key {
      case "reason": reason = try reader.string()
      case "reconnectAfter":
        reconnectAfter = try reader.list { reader throws(JSONError) in try reader.integer() }
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      let range = try reconnectAfter.required("reconnectAfter")
      guard range.count == 2, range[0] <= range[1] else {
        throw .wrongValue(
          field: "reconnectAfter", expected: "two numbers, the second not below the first")
      }
      return Self(
        reason: try reason.required("reason"), reconnectAfter: range[0]...range[1])
    }
  }
}

extension ServerMessage.Pong {
  fileprivate init(_ envelope: Envelope) throws(MessageError) {
    var serverTime: Int64?
    self = try envelope.read("pong") { key, reader throws(JSONError) in
      switch key {
      case "serverTime": serverTime = try reader.integer(as: Int64.self)
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(serverTime: try serverTime.required("serverTime"))
    }
  }
}

extension ResourceUpdate {
  /// Reads an update, of whichever dialect.
  init(_ envelope: Envelope) throws(MessageError) {
    var resourceID: String?
    var senderID: String?
    self = try envelope.read("resourceUpdate") { key, reader throws(JSONError) in
      switch key {
      case "resourceId": resourceID = try reader.string()
      case "senderId": senderID = try reader.optionalString()
      default: try reader.skipValue()
      }
    } make: { () throws(JSONError) in
      Self(
        resourceID: try resourceID.required("resourceId"), senderID: senderID)
    }
  }
}

extension JSONReader {
  fileprivate mutating func participants() throws(JSONError) -> [ServerMessage.Participant] {
    try list { reader throws(JSONError) in try reader.participant() }
  }

  private mutating func participant() throws(JSONError) -> ServerMessage.Participant {
    var clientID: String?
    var name: String?
    var color: String?
    var selections: [Selection] = []
    try object { key, reader throws(JSONError) in
      switch key {
      case "clientId": clientID = try reader.string()
      case "name": name = try reader.string()
      case "color": color = try reader.optionalString()
      case "selections": selections = try reader.selections()
      default: try reader.skipValue()
      }
    }
    return ServerMessage.Participant(
      clientID: try clientID.required("clientId"), name: try name.required("name"), color: color,
      selections: selections)
  }

  fileprivate mutating func change() throws(JSONError) -> ServerMessage.Change {
    var clientID: String?
    var sequence: Int?
    var operation: TextOperation?
    try object { key, reader throws(JSONError) in
      switch key {
      case "clientId": clientID = try reader.string()
      case "sequence": sequence = try reader.integer()
      case "operation": operation = try reader.operation()
      default: try reader.skipValue()
      }
    }
    return ServerMessage.Change(
      clientID: try clientID.required("clientId"), sequence: try sequence.required("sequence"),
      operation: try operation.required("operation"))
  }

  /// Reads limits. One that the server does not name has its default.
  fileprivate mutating func limits() throws(JSONError) -> Limits {
    var limits = Limits()
    try object { key, reader throws(JSONError) in
      if let field = Limits.fields.first(where: { key == $0.name }) {
        limits[keyPath: field.path] = try reader.integer()
      } else {
        try reader.skipValue()
      }
    }
    return limits
  }
}
