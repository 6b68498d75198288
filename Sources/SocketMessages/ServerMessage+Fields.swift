import ParleyJSON
import OTCore

// The fields of the messages that servers send. Each field's name is written only here.

extension ErrorCode: MessageWord {}
extension ServerMessage.AccessChanged.Access: MessageWord {}
extension ServerMessage.Joined.Access: MessageWord {}
extension ServerMessage.ResyncReason: MessageWord {}

extension ServerMessage.Welcome: MessageObject {
  static var blank: Self {
    Self(
      clientID: "", resumeToken: "", serverTime: 0, demo: false, capabilities: [],
      limits: Limits())
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.constant("protocol", Self.protocolName)
    try fields.required("clientId", &clientID)
    try fields.required("resumeToken", &resumeToken)
    try fields.required("serverTime", &serverTime)
    try fields.required("demo", &demo)
    try fields.required("capabilities", &capabilities)
    try fields.required("limits", &limits)
    try fields.optional("personId", &personID)
  }
}

/// Limits that the server does not send have their defaults.
extension Limits: MessageObject {
  static var blank: Self { Self() }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.defaulted("messageBytesMax", &messageBytesMax)
    try fields.defaulted("documentScalarsMax", &documentScalarsMax)
    try fields.defaulted("documentsPerConnectionMax", &documentsPerConnectionMax)
    try fields.defaulted("roomsPerConnectionMax", &roomsPerConnectionMax)
    try fields.defaulted("documentIdBytesMax", &documentIDBytesMax)
    try fields.defaulted("roomBytesMax", &roomBytesMax)
    try fields.defaulted("nameBytesMax", &nameBytesMax)
    try fields.defaulted("titleBytesMax", &titleBytesMax)
    try fields.defaulted("selectionsMax", &selectionsMax)
    try fields.defaulted("publicationBytesMax", &publicationBytesMax)
    try fields.defaulted("keyBytesMax", &keyBytesMax)
    try fields.defaulted("pageMax", &pageMax)
    try fields.defaulted("presentMax", &presentMax)
    try fields.defaulted("presenceLeaseMilliseconds", &presenceLeaseMilliseconds)
    try fields.defaulted("typingMilliseconds", &typingMilliseconds)
    try fields.defaulted("signsPerSecondMax", &signsPerSecondMax)
    try fields.defaulted("operationComponentsMax", &operationComponentsMax)
    try fields.defaulted("grantsMax", &grantsMax)
    try fields.defaulted("burstSeconds", &burstSeconds)
    try fields.defaulted("messagesPerSecondMax", &messagesPerSecondMax)
    try fields.defaulted("bytesPerSecondMax", &bytesPerSecondMax)
    try fields.defaulted("userConnectionsMax", &userConnectionsMax)
    try fields.defaulted("userConnectsPerSecondMax", &userConnectsPerSecondMax)
    try fields.defaulted("userMessagesPerSecondMax", &userMessagesPerSecondMax)
    try fields.defaulted("userBytesPerSecondMax", &userBytesPerSecondMax)
    try fields.defaulted("userRequestsPerSecondMax", &userRequestsPerSecondMax)
    try fields.defaulted("addressConnectionsMax", &addressConnectionsMax)
    try fields.defaulted("addressConnectsPerSecondMax", &addressConnectsPerSecondMax)
    try fields.defaulted("addressMessagesPerSecondMax", &addressMessagesPerSecondMax)
    try fields.defaulted("addressBytesPerSecondMax", &addressBytesPerSecondMax)
    try fields.defaulted("addressRequestsPerSecondMax", &addressRequestsPerSecondMax)
  }
}

extension ServerMessage.Refreshed: MessageObject {
  static var blank: Self { Self(expiresAt: nil) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.optional("expiresAt", &expiresAt)
  }
}

extension ServerMessage.TokenExpiring: MessageObject {
  static var blank: Self { Self(expiresAt: 0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("expiresAt", &expiresAt)
  }
}

extension ServerMessage.AccessChanged: MessageObject {
  static var blank: Self { Self(documentID: "", access: .none) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("access", &access)
  }
}

extension ServerMessage.Participant: MessageObject {
  static var blank: Self { Self(clientID: "", name: "", color: nil, selections: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("clientId", &clientID)
    try fields.required("name", &name)
    try fields.optional("color", &color)
    try fields.unlessEmpty("selections", &selections)
    try fields.optional("personId", &personID)
  }
}

extension ServerMessage.Change: MessageObject {
  static var blank: Self { Self(clientID: "", sequence: 0, operation: TextOperation()) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("clientId", &clientID)
    try fields.required("sequence", &sequence)
    try fields.required("operation", &operation)
    try fields.optional("format", &format)
  }
}

extension ServerMessage.Joined: MessageObject {
  static var blank: Self {
    Self(
      documentID: "", title: "", epoch: "", revision: 0, content: .changes([]), lastSequence: 0,
      access: .read, presence: [])
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("title", &title)
    try fields.required("epoch", &epoch)
    try fields.required("revision", &revision)
    try fields.optional("kind", &kind)
    try fields.content(&content)
    try fields.optional("format", &format)
    try fields.required("lastSequence", &lastSequence)
    try fields.optional("change", &change)
    try fields.optional("settled", &settled)
    try fields.required("access", &access)
    try fields.required("presence", &presence, appendedBy: fields.presence)
    try fields.optional("people", &people)
    try fields.optional("numbers", &numbers)
  }
}

extension MessageFields {
  /// Visits `text` or `changes`. If `joined` contains both, the text counts.
  fileprivate mutating func content(
    _ content: inout ServerMessage.Joined.Content
  ) throws(JSONError) {
    switch mode {
    case .reading:
      let bit = bit(isRequired: true)
      if isAt("text") {
        content = .text(try reader.string())
        try took(bit, isRight: true)
      }
      if isAt("changes") {
        let changes = try [ServerMessage.Change].read(&self)
        if case .changes = content { content = .changes(changes ?? []) }
        try took(bit, isRight: changes != nil)
      }
    case .checking: _ = try isWrong("text or changes")
    case .writing:
      switch content {
      case .text(var value): try required("text", &value, appendedBy: text)
      case .changes(var changes): try required("changes", &changes)
      }
    case .listing:
      list("text", String.shape, .optional)
      list("changes", [ServerMessage.Change].shape, .optional)
    }
  }

  /// Visits a field whose value `append`, if there is one, writes instead.
  fileprivate mutating func required<Form: MessageForm>(
    _ name: StaticString, _ value: inout Form, appendedBy append: ((inout [UInt8]) -> Void)?
  ) throws(JSONError) {
    guard mode == .writing, let append else { return try required(name, &value) }
    key(name)
    append(&buffer)
  }
}

extension ServerMessage.Created: MessageObject {
  static var blank: Self { Self(documentID: "", title: "", isRepeated: false) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("title", &title)
    try fields.optional("folder", &folder)
    try fields.required("repeated", &isRepeated)
  }
}

extension ServerMessage.Behind: MessageObject {
  static var blank: Self { Self(documentID: "", epoch: "", revision: 0, lastSequence: 0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("epoch", &epoch)
    try fields.required("revision", &revision)
    try fields.required("lastSequence", &lastSequence)
    try fields.optional("settled", &settled)
  }
}

extension ServerMessage.DocumentHistory: MessageObject {
  static var blank: Self {
    Self(documentID: "", epoch: "", revision: 0, changes: [], hasMore: false)
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("epoch", &epoch)
    try fields.required("revision", &revision)
    try fields.required("changes", &changes)
    try fields.optional("time", &time)
    try fields.required("more", &hasMore)
  }
}

extension ServerMessage.Changes: MessageObject {
  static var blank: Self { Self(documentID: "", revision: 0, changes: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("revision", &revision)
    try fields.required("changes", &changes)
    try fields.optional("time", &time)
  }
}

extension ServerMessage.Acknowledged: MessageObject {
  static var blank: Self { Self(documentID: "", sequence: 0, revision: 0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("sequence", &sequence)
    try fields.required("revision", &revision)
    try fields.optional("time", &time)
  }
}

extension ServerMessage.Refused: MessageObject {
  static var blank: Self {
    Self(
      documentID: "", sequence: 0, code: .badMessage, message: "", retryable: false,
      retryAfter: nil)
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("sequence", &sequence)
    try fields.required("code", &code)
    try fields.required("message", &message)
    try fields.required("retryable", &retryable)
    try fields.optional("retryAfter", &retryAfter)
    #if !hasFeature(Embedded)
      try fields.optional("revision", &revision)
    #endif
  }
}

extension ServerMessage.Resync: MessageObject {
  static var blank: Self {
    Self(documentID: "", reason: .lagging, epoch: "", revision: 0, text: "", lastSequence: 0)
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("reason", &reason)
    try fields.required("epoch", &epoch)
    try fields.required("revision", &revision)
    try fields.optional("kind", &kind)
    try fields.required("text", &text, appendedBy: fields.text)
    try fields.optional("format", &format)
    try fields.required("lastSequence", &lastSequence)
    try fields.optional("change", &change)
  }
}

extension ServerMessage.Selections: MessageObject {
  static var blank: Self { Self(documentID: "", revision: 0, clientID: "", selections: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("revision", &revision)
    try fields.required("clientId", &clientID)
    try fields.required("selections", &selections)
  }
}

extension ServerMessage.Presence: MessageObject {
  static var blank: Self { Self(documentID: "", joined: [], updated: [], left: []) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.required("joined", &joined)
    try fields.required("updated", &updated)
    try fields.required("left", &left)
    try fields.optional("people", &people)
  }
}

extension ServerMessage.Left: MessageObject {
  static var blank: Self { Self(documentID: "") }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
  }
}

extension ServerMessage.DocumentChanged: MessageObject {
  static var blank: Self { Self(documentID: "", title: nil, deleted: false) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("documentId", &documentID)
    try fields.optional("title", &title)
    try fields.required("deleted", &deleted)
  }
}

extension ServerMessage.Failure: MessageObject {
  static var blank: Self {
    Self(code: .badMessage, message: "", retryable: false, retryAfter: nil)
  }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("code", &code)
    try fields.required("message", &message)
    try fields.required("retryable", &retryable)
    try fields.optional("retryAfter", &retryAfter)
    #if !hasFeature(Embedded)
      try fields.optional("position", &position)
      try fields.optional("values", &values)
    #endif
  }
}

extension ServerMessage.Goodbye: MessageObject {
  static var blank: Self { Self(reason: "", reconnectAfter: 0...0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("reason", &reason)
    try fields.required("reconnectAfter", &reconnectAfter)
  }
}

extension ServerMessage.Pong: MessageObject {
  static var blank: Self { Self(serverTime: 0) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("serverTime", &serverTime)
  }
}

extension ResourceUpdate: MessageObject {
  static var blank: Self { Self(resourceID: "", senderID: nil) }
  mutating func visit(_ fields: inout MessageFields) throws(JSONError) {
    try fields.required("resourceId", &resourceID)
    // Written even without a sender: deployed clients decode it as an optional field.
    try fields.nullable("senderId", &senderID)
  }
}
