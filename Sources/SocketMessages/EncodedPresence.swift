import ParleyJSON

/// Participants of a document, encoded once for many readers. Each reader's copy omits the reader.
package struct EncodedParticipants: Sendable {
  private let bytes: [UInt8]
  /// The byte range of each participant.
  private var places: [(client: String, range: Range<Int>)] = []

  /// Encodes participants.
  package init(_ participants: [ServerMessage.Participant]) {
    places.reserveCapacity(participants.count)
    var fields = MessageFields(.writing)
    for participant in participants {
      let start = fields.buffer.count
      fields.write(participant)
      places.append((participant.clientID, start..<fields.buffer.count))
    }
    bytes = fields.buffer
  }

  /// Whether the list contains no client but this one.
  package func isEmpty(leavingOut client: String?) -> Bool {
    switch places.count {
    case 0: true
    case 1: client.map { places[0].client.isExactly($0) } ?? false
    default: false
    }
  }

  /// Appends the participants as a JSON array.
  ///
  /// - Complexity: O(*n*) participants, plus their bytes.
  package func append(to buffer: inout [UInt8], leavingOut client: String? = nil) {
    JSONWriter.array(
      places.lazy.filter { place in
        client.map { !place.client.isExactly($0) } ?? true
      }, &buffer
    ) { $1.append(contentsOf: bytes[$0.range]) }
  }
}

/// A presence message, encoded once for many readers. Each reader's copy omits the reader.
package struct EncodedPresence: Sendable {
  private let message: ServerMessage.Presence
  private let joined: EncodedParticipants
  private let updated: EncodedParticipants

  /// Encodes the participants of a message.
  ///
  /// - Parameter joined: The encoded participants to use instead of `message.joined`.
  package init(_ message: ServerMessage.Presence, joined: EncodedParticipants? = nil) {
    self.message = message
    self.joined = joined ?? EncodedParticipants(message.joined)
    updated = EncodedParticipants(message.updated)
  }

  /// Whether the message without this client contains no change.
  package func isEmpty(leavingOut client: String) -> Bool {
    message.left.isEmpty && message.people == nil && joined.isEmpty(leavingOut: client)
      && updated.isEmpty(leavingOut: client)
  }

  /// Appends the message as JSON.
  ///
  /// - Parameter client: The reader, which is omitted; `nil` if the message does not contain it.
  package func encode(
    messageID: String, leavingOut client: String? = nil, into buffer: inout [UInt8]
  ) {
    Envelope.write(messageID: messageID, type: "presence", into: &buffer) { data, buffer in
      data.field("documentId", message.documentID, &buffer)
      data.key("joined", &buffer)
      joined.append(to: &buffer, leavingOut: client)
      data.key("updated", &buffer)
      updated.append(to: &buffer, leavingOut: client)
      data.key("left", &buffer)
      JSONWriter.array(message.left, &buffer) { JSONWriter.string($0, &$1) }
      data.field("people", message.people, &buffer)
    }
  }
}
