import JSON
import OTCore

extension ServerMessage {
  /// Appends the message as JSON.
  ///
  /// - Parameter messageID: for a reply, the name of what it answers.
  public func encode(messageID: String, into buffer: inout [UInt8]) {
    encode(messageID: messageID, into: &buffer, text: nil)
  }

  /// Appends the message as JSON.
  ///
  /// - Parameters:
  ///   - messageID: for a reply, the name of what it answers.
  ///   - text: appends the document's text of `joined` or `resync` in place of the message's own,
  ///     as a JSON string, or notes where it belongs and appends nothing.
  ///   - presence: appends the participants of `joined` in place of the message's own, as an array.
  package func encode(
    messageID: String, into buffer: inout [UInt8], text: ((inout [UInt8]) -> Void)?,
    presence: ((inout [UInt8]) -> Void)? = nil
  ) {
    func write(
      _ type: StaticString, _ data: (inout JSONWriter.Object, inout [UInt8]) -> Void
    ) {
      Envelope.write(messageID: messageID, type: type, into: &buffer, data: data)
    }
    switch self {
    case .welcome(let welcome): write("welcome", welcome.encode)
    case .refreshed(let refreshed): write("refreshed", refreshed.encode)
    case .granted(let granted): write("granted", granted.encode)
    case .tokenExpiring(let message):
      write("tokenExpiring") { $0.field("expiresAt", message.expiresAt, &$1) }
    case .accessChanged(let message):
      write("accessChanged") { data, buffer in
        data.field("documentId", message.documentID, &buffer)
        data.field("access", message.access.rawValue, &buffer)
      }
    case .joined(let joined):
      write("joined") { joined.encode(&$0, &$1, text: text, presence: presence) }
    case .changes(let message):
      write("changes") { data, buffer in
        data.field("documentId", message.documentID, &buffer)
        data.field("revision", message.revision, &buffer)
        data.key("changes", &buffer)
        JSONWriter.array(message.changes, &buffer) { $0.encode(&$1) }
        data.field("time", message.time, &buffer)
      }
    case .acknowledged(let message):
      write("acknowledged") { data, buffer in
        data.field("documentId", message.documentID, &buffer)
        data.field("sequence", message.sequence, &buffer)
        data.field("revision", message.revision, &buffer)
        data.field("time", message.time, &buffer)
      }
    case .refused(let message):
      write("refused") { data, buffer in
        data.field("documentId", message.documentID, &buffer)
        data.field("sequence", message.sequence, &buffer)
        data.field("code", message.code.rawValue, &buffer)
        data.field("message", message.message, &buffer)
        data.field("retryable", message.retryable, &buffer)
        data.field("retryAfter", message.retryAfter, &buffer)
      }
    case .resync(let message):
      write("resync") { data, buffer in
        data.field("documentId", message.documentID, &buffer)
        data.field("reason", message.reason.rawValue, &buffer)
        data.field("epoch", message.epoch, &buffer)
        data.field("revision", message.revision, &buffer)
        if let text {
          data.key("text", &buffer)
          text(&buffer)
        } else {
          data.field("text", message.text, &buffer)
        }
        data.field("lastSequence", message.lastSequence, &buffer)
        data.field("change", message.change, &buffer)
      }
    case .selections(let message):
      write("selections") { data, buffer in
        data.field("documentId", message.documentID, &buffer)
        data.field("revision", message.revision, &buffer)
        data.field("clientId", message.clientID, &buffer)
        data.key("selections", &buffer)
        JSONWriter.selections(message.selections, &buffer)
      }
    case .presence(let message):
      EncodedPresence(message).encode(messageID: messageID, into: &buffer)
    case .left(let message):
      write("left") { $0.field("documentId", message.documentID, &$1) }
    case .subscribed, .unsubscribed, .published, .publication, .roomHistory, .roomPresence,
      .typing, .receipt, .receipts, .lastOnline, .blocks, .flag, .flags, .following:
      encodeRooms(messageID: messageID, into: &buffer)
    case .resourceUpdate(let message): write("resourceUpdate", message.encode)
    case .documentChanged(let message):
      write("documentChanged") { data, buffer in
        data.field("documentId", message.documentID, &buffer)
        data.field("title", message.title, &buffer)
        data.field("deleted", message.deleted, &buffer)
      }
    case .error(let message):
      write("error") { data, buffer in
        data.field("code", message.code.rawValue, &buffer)
        data.field("message", message.message, &buffer)
        data.field("retryable", message.retryable, &buffer)
        data.field("retryAfter", message.retryAfter, &buffer)
      }
    case .goodbye(let message):
      write("goodbye") { data, buffer in
        data.field("reason", message.reason, &buffer)
        data.key("reconnectAfter", &buffer)
        let range = message.reconnectAfter
        JSONWriter.array([range.lowerBound, range.upperBound], &buffer) {
          JSONWriter.integer($0, &$1)
        }
      }
    case .pong(let message):
      write("pong") { $0.field("serverTime", message.serverTime, &$1) }
    case .unknown: break
    }
  }
}

extension ServerMessage.Welcome {
  fileprivate func encode(_ data: inout JSONWriter.Object, _ buffer: inout [UInt8]) {
    data.field("protocol", Self.protocolName, &buffer)
    data.field("clientId", clientID, &buffer)
    data.field("resumeToken", resumeToken, &buffer)
    data.field("serverTime", serverTime, &buffer)
    data.field("demo", demo, &buffer)
    data.key("capabilities", &buffer)
    JSONWriter.array(capabilities, &buffer) { JSONWriter.string($0, &$1) }
    data.key("limits", &buffer)
    JSONWriter.object(&buffer) { object, buffer in
      for (name, path) in Limits.fields { object.field(name, limits[keyPath: path], &buffer) }
    }
  }
}

extension Limits {
  /// Every limit by its name on the wire.
  package static var fields: [(name: StaticString, path: WritableKeyPath<Limits, Int>)] {
    [
      ("messageBytesMax", \.messageBytesMax), ("documentScalarsMax", \.documentScalarsMax),
      ("documentsPerConnectionMax", \.documentsPerConnectionMax),
      ("roomsPerConnectionMax", \.roomsPerConnectionMax),
      ("documentIdBytesMax", \.documentIDBytesMax), ("roomBytesMax", \.roomBytesMax),
      ("nameBytesMax", \.nameBytesMax), ("titleBytesMax", \.titleBytesMax),
      ("selectionsMax", \.selectionsMax), ("publicationBytesMax", \.publicationBytesMax),
      ("keyBytesMax", \.keyBytesMax), ("pageMax", \.pageMax), ("presentMax", \.presentMax),
      ("presenceLeaseMilliseconds", \.presenceLeaseMilliseconds),
      ("typingMilliseconds", \.typingMilliseconds), ("signsPerSecondMax", \.signsPerSecondMax),
      ("operationComponentsMax", \.operationComponentsMax), ("grantsMax", \.grantsMax),
      ("burstSeconds", \.burstSeconds), ("messagesPerSecondMax", \.messagesPerSecondMax),
      ("bytesPerSecondMax", \.bytesPerSecondMax), ("userConnectionsMax", \.userConnectionsMax),
      ("userConnectsPerSecondMax", \.userConnectsPerSecondMax),
      ("userMessagesPerSecondMax", \.userMessagesPerSecondMax),
      ("userBytesPerSecondMax", \.userBytesPerSecondMax),
      ("userRequestsPerSecondMax", \.userRequestsPerSecondMax),
      ("addressConnectionsMax", \.addressConnectionsMax),
      ("addressConnectsPerSecondMax", \.addressConnectsPerSecondMax),
      ("addressMessagesPerSecondMax", \.addressMessagesPerSecondMax),
      ("addressBytesPerSecondMax", \.addressBytesPerSecondMax),
      ("addressRequestsPerSecondMax", \.addressRequestsPerSecondMax),
    ]
  }
}

extension ServerMessage.Participant {
  func encode(_ buffer: inout [UInt8]) {
    JSONWriter.object(&buffer) { object, buffer in
      object.field("clientId", clientID, &buffer)
      object.field("name", name, &buffer)
      object.field("color", color, &buffer)
      if !selections.isEmpty {
        object.key("selections", &buffer)
        JSONWriter.selections(selections, &buffer)
      }
    }
  }
}

extension ServerMessage.Change {
  fileprivate func encode(_ buffer: inout [UInt8]) {
    JSONWriter.object(&buffer) { object, buffer in
      object.field("clientId", clientID, &buffer)
      object.field("sequence", sequence, &buffer)
      object.key("operation", &buffer)
      operation.appendJSON(to: &buffer)
    }
  }
}

extension ServerMessage.Joined {
  fileprivate func encode(
    _ data: inout JSONWriter.Object, _ buffer: inout [UInt8],
    text write: ((inout [UInt8]) -> Void)?, presence list: ((inout [UInt8]) -> Void)?
  ) {
    data.field("documentId", documentID, &buffer)
    data.field("title", title, &buffer)
    data.field("epoch", epoch, &buffer)
    data.field("revision", revision, &buffer)
    switch content {
    case .text(let text):
      if let write {
        data.key("text", &buffer)
        write(&buffer)
      } else {
        data.field("text", text, &buffer)
      }
    case .changes(let changes):
      data.key("changes", &buffer)
      JSONWriter.array(changes, &buffer) { $0.encode(&$1) }
    }
    data.field("lastSequence", lastSequence, &buffer)
    data.field("change", change, &buffer)
    data.field("access", access.rawValue, &buffer)
    data.key("presence", &buffer)
    if let list {
      list(&buffer)
    } else {
      JSONWriter.array(presence, &buffer) { $0.encode(&$1) }
    }
    data.field("people", people, &buffer)
  }
}

extension ResourceUpdate {
  func encode(_ data: inout JSONWriter.Object, _ buffer: inout [UInt8]) {
    data.field("resourceId", resourceID, &buffer)
    // Present even when nobody is named: deployed clients decode it as an optional field.
    data.key("senderId", &buffer)
    if let senderID {
      JSONWriter.string(senderID, &buffer)
    } else {
      JSONWriter.raw("null", &buffer)
    }
  }
}
