import OTCore

extension ServerMessage {
  /// Reads a message from the bytes of a text frame.
  ///
  /// - Throws: `MessageError` for anything that is no message, naming field and place.
  public static func decode(
    _ message: UnsafeRawBufferPointer
  ) throws(MessageError) -> (messageID: String, message: ServerMessage) {
    let bytes = message.assumingMemoryBound(to: UInt8.self)
    let envelope = try Envelope(bytes)
    guard let type = envelope.type else {
      throw envelope.named(.missing("type", in: "envelope"))
    }
    guard let messageID = envelope.messageID else {
      throw envelope.named(.missing("messageId", in: "envelope"))
    }
    guard knownTypes.contains(type) else { return (messageID, .unknown(type: type)) }
    var fields = Fields()
    let message = try envelope.read(bytes, as: type) { key, reader throws(JSONError) in
      try fields.read(key, type, &reader)
    } make: { () throws(MessageError) in
      try fields.message(of: type)
    }
    return (messageID, message)
  }

  private static let knownTypes: Set<String> = [
    "welcome", "joined", "changes", "acknowledged", "refused", "resync", "selections", "presence",
    "left", "subscribed", "unsubscribed", "resourceUpdate", "documentChanged", "error", "goodbye",
    "pong",
  ]

  /// All fields that any of the messages has: a client reads few of them, and none is hot there.
  private struct Fields {
    var documentID: String?
    var clientID: String?
    var resumeToken: String?
    var title: String?
    var epoch: String?
    var text: String?
    var code: String?
    var message: String?
    var reason: String?
    var room: String?
    var resourceID: String?
    var senderID: String?
    var access: String?
    var revision: Int?
    var sequence: Int?
    var lastSequence: Int?
    var serverTime: Int?
    var retryAfter: Int?
    var retryable: Bool?
    var deleted: Bool?
    var demo: Bool?
    var changes: [Change]?
    var selections: [Selection]?
    var joined: [Participant]?
    var updated: [Participant]?
    var left: [String]?
    var presence: [Participant]?
    var capabilities: [String]?
    var limits: Limits?
    var reconnectAfter: [Int]?

    mutating func read(
      _ key: String, _ type: String, _ reader: inout JSONReader
    ) throws(JSONError) {
      switch key {
      case "documentId": documentID = try reader.string()
      case "clientId": clientID = try reader.string()
      case "resumeToken": resumeToken = try reader.string()
      case "title": title = try reader.optionalString()
      case "epoch": epoch = try reader.string()
      case "text": text = try reader.string()
      case "code": code = try reader.string()
      case "message": message = try reader.string()
      case "reason": reason = try reader.string()
      case "room": room = try reader.string()
      case "resourceId": resourceID = try reader.string()
      case "senderId": senderID = try reader.optionalString()
      case "access": access = try reader.string()
      case "revision": revision = try reader.integer()
      case "sequence": sequence = try reader.integer()
      case "lastSequence": lastSequence = try reader.integer()
      case "serverTime": serverTime = try reader.integer()
      case "retryAfter": retryAfter = try reader.integer()
      case "retryable": retryable = try reader.boolean()
      case "deleted": deleted = try reader.boolean()
      case "demo": demo = try reader.boolean()
      case "changes": changes = try reader.list { reader throws(JSONError) in try reader.change() }
      case "selections": selections = try reader.selections()
      case "joined": joined = try reader.participants()
      case "updated": updated = try reader.participants()
      case "presence": presence = try reader.participants()
      case "left": left = try reader.list { reader throws(JSONError) in try reader.string() }
      case "capabilities":
        capabilities = try reader.list { reader throws(JSONError) in try reader.string() }
      case "limits": limits = try reader.limits()
      case "reconnectAfter":
        reconnectAfter = try reader.list { reader throws(JSONError) in try reader.integer() }
      default: try reader.skipValue()
      }
    }

    func message(of type: String) throws(MessageError) -> ServerMessage {
      func need<Value>(
        _ value: Value?, _ field: StaticString
      ) throws(MessageError) -> Value {
        guard let value else { throw .missing(field, in: type) }
        return value
      }
      func word<Word: RawRepresentable<String>>(
        _ value: String?, _ field: StaticString, _: Word.Type
      ) throws(MessageError) -> Word {
        guard let word = Word(rawValue: try need(value, field)) else {
          throw MessageError(.badMessage, "\(type): \(field) holds a word that is not known here")
        }
        return word
      }
      switch type {
      case "welcome":
        return .welcome(
          Welcome(
            clientID: try need(clientID, "clientId"),
            resumeToken: try need(resumeToken, "resumeToken"),
            serverTime: Int64(try need(serverTime, "serverTime")),
            demo: try need(demo, "demo"), capabilities: try need(capabilities, "capabilities"),
            limits: try need(limits, "limits")))
      case "joined":
        let content: Joined.Content
        if let text {
          content = .text(text)
        } else {
          content = .changes(try need(changes, "changes"))
        }
        return .joined(
          Joined(
            documentID: try need(documentID, "documentId"), title: try need(title, "title"),
            epoch: try need(epoch, "epoch"), revision: try need(revision, "revision"),
            content: content, lastSequence: try need(lastSequence, "lastSequence"),
            access: try word(access, "access", Joined.Access.self),
            presence: try need(presence, "presence")))
      case "changes":
        return .changes(
          Changes(
            documentID: try need(documentID, "documentId"),
            revision: try need(revision, "revision"), changes: try need(changes, "changes")))
      case "acknowledged":
        return .acknowledged(
          Acknowledged(
            documentID: try need(documentID, "documentId"),
            sequence: try need(sequence, "sequence"), revision: try need(revision, "revision")))
      case "refused":
        return .refused(
          Refused(
            documentID: try need(documentID, "documentId"),
            sequence: try need(sequence, "sequence"), code: try word(code, "code", ErrorCode.self),
            message: try need(message, "message"), retryable: try need(retryable, "retryable"),
            retryAfter: retryAfter))
      case "resync":
        return .resync(
          Resync(
            documentID: try need(documentID, "documentId"),
            reason: try word(reason, "reason", ResyncReason.self), epoch: try need(epoch, "epoch"),
            revision: try need(revision, "revision"), text: try need(text, "text"),
            lastSequence: try need(lastSequence, "lastSequence")))
      case "selections":
        return .selections(
          Selections(
            documentID: try need(documentID, "documentId"),
            revision: try need(revision, "revision"), clientID: try need(clientID, "clientId"),
            selections: try need(selections, "selections")))
      case "presence":
        return .presence(
          Presence(
            documentID: try need(documentID, "documentId"), joined: try need(joined, "joined"),
            updated: try need(updated, "updated"), left: try need(left, "left")))
      case "left": return .left(Left(documentID: try need(documentID, "documentId")))
      case "subscribed": return .subscribed(Subscribed(room: try need(room, "room")))
      case "unsubscribed": return .unsubscribed(Subscribed(room: try need(room, "room")))
      case "resourceUpdate":
        return .resourceUpdate(
          ResourceUpdate(resourceID: try need(resourceID, "resourceId"), senderID: senderID))
      case "documentChanged":
        return .documentChanged(
          DocumentChanged(
            documentID: try need(documentID, "documentId"), title: title,
            deleted: try need(deleted, "deleted")))
      case "error":
        return .error(
          Failure(
            code: try word(code, "code", ErrorCode.self), message: try need(message, "message"),
            retryable: try need(retryable, "retryable"), retryAfter: retryAfter))
      case "goodbye":
        let range = try need(reconnectAfter, "reconnectAfter")
        guard range.count == 2, range[0] <= range[1] else {
          throw MessageError(.badMessage, "goodbye: reconnectAfter is no range")
        }
        return .goodbye(
          Goodbye(reason: try need(reason, "reason"), reconnectAfter: range[0]...range[1]))
      case "pong":
        return .pong(Pong(serverTime: Int64(try need(serverTime, "serverTime"))))
      default: return .unknown(type: type)
      }
    }
  }
}

extension JSONReader {
  mutating func list<Element>(
    _ element: (inout JSONReader) throws(JSONError) -> Element
  ) throws(JSONError) -> [Element] {
    var elements: [Element] = []
    try array { reader throws(JSONError) in elements.append(try element(&reader)) }
    return elements
  }

  fileprivate mutating func participants() throws(JSONError) -> [ServerMessage.Participant] {
    try list { reader throws(JSONError) in
      var participant = ServerMessage.Participant(
        clientID: "", name: "", color: nil, selections: [])
      try reader.object { key, reader throws(JSONError) in
        switch key {
        case "clientId": participant.clientID = try reader.string()
        case "name": participant.name = try reader.string()
        case "color": participant.color = try reader.optionalString()
        case "selections": participant.selections = try reader.selections()
        default: try reader.skipValue()
        }
      }
      return participant
    }
  }

  fileprivate mutating func change() throws(JSONError) -> ServerMessage.Change {
    var change = ServerMessage.Change(clientID: "", sequence: 0, operation: TextOperation())
    try object { key, reader throws(JSONError) in
      switch key {
      case "clientId": change.clientID = try reader.string()
      case "sequence": change.sequence = try reader.integer()
      case "operation": change.operation = try reader.operation()
      default: try reader.skipValue()
      }
    }
    return change
  }

  fileprivate mutating func limits() throws(JSONError) -> Limits {
    var limits = Limits()
    try object { key, reader throws(JSONError) in
      if let field = Limits.fields.first(where: { "\($0.name)" == key }) {
        limits[keyPath: field.path] = try reader.integer()
      } else {
        try reader.skipValue()
      }
    }
    return limits
  }
}
