package import JSON

extension ServerMessage {
  /// Appends a message about rooms as JSON.
  func encodeRooms(messageID: String, into buffer: inout [UInt8]) {
    func write(
      _ type: StaticString, _ data: (inout JSONWriter.Object, inout [UInt8]) -> Void
    ) {
      Envelope.write(messageID: messageID, type: type, into: &buffer, data: data)
    }
    switch self {
    case .subscribed(let message):
      write("subscribed") { data, buffer in
        data.field("room", message.room, &buffer)
        data.fields(message.position, &buffer)
        if let isRecovered = message.isRecovered { data.field("recovered", isRecovered, &buffer) }
        if !message.publications.isEmpty { data.field(message.publications, &buffer) }
        if let present = message.present { data.field("present", present, &buffer) }
      }
    case .published(let message):
      write("published") { data, buffer in
        data.field("room", message.room, &buffer)
        data.fields(message.position, &buffer)
        data.field("repeated", message.isRepeated, &buffer)
      }
    case .publication(let message):
      write("publication") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("epoch", message.epoch, &buffer)
        message.publication.encode(&data, &buffer)
      }
    case .roomHistory(let message):
      write("roomHistory") { data, buffer in
        data.field("room", message.room, &buffer)
        data.fields(message.position, &buffer)
        data.field(message.publications, &buffer)
        data.field("gap", message.hasGap, &buffer)
        data.field("more", message.hasMore, &buffer)
      }
    case .roomPresence(let message):
      write("roomPresence") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("joined", message.joined, &buffer)
        data.field("updated", message.updated, &buffer)
        data.key("left", &buffer)
        JSONWriter.array(message.left, &buffer) { JSONWriter.string($0, &$1) }
      }
    case .unsubscribed(let message):
      write("unsubscribed") { data, buffer in
        data.field("room", message.room, &buffer)
      }
    case .typing(let message):
      write("typing") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("personId", message.personID, &buffer)
        data.field("typing", message.isTyping, &buffer)
      }
    case .receipt(let message):
      write("receipt") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("offset", message.offset, &buffer)
        data.field("personId", message.personID, &buffer)
        data.field("state", message.state.rawValue, &buffer)
      }
    case .receipts(let message):
      write("receipts") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("offset", message.offset, &buffer)
        data.key("receipts", &buffer)
        JSONWriter.array(message.receipts, &buffer) { item, buffer in
          JSONWriter.object(&buffer) { data, buffer in
            data.field("personId", item.personID, &buffer)
            data.field("state", item.state.rawValue, &buffer)
          }
        }
      }
    case .lastOnline(let message):
      write("lastOnline") { data, buffer in
        data.field("room", message.room, &buffer)
        data.key("people", &buffer)
        JSONWriter.array(message.people, &buffer) { item, buffer in
          JSONWriter.object(&buffer) { data, buffer in
            data.field("personId", item.personID, &buffer)
            data.field("online", item.isOnline, &buffer)
            data.field("time", item.time.map { Int($0) }, &buffer)
          }
        }
      }
    case .blocks(let message):
      write("blocks") { data, buffer in
        data.key("people", &buffer)
        JSONWriter.array(message.people, &buffer) { JSONWriter.string($0, &$1) }
      }
    case .flag(let message):
      write("flag") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("offset", message.offset, &buffer)
        data.field("personId", message.personID, &buffer)
        data.field("flagged", message.isFlagged, &buffer)
        data.field("reason", message.reason, &buffer)
      }
    case .flags(let message):
      write("flags") { data, buffer in
        data.field("room", message.room, &buffer)
        data.key("flags", &buffer)
        JSONWriter.array(message.flags, &buffer) { item, buffer in
          JSONWriter.object(&buffer) { data, buffer in
            data.field("offset", item.offset, &buffer)
            data.field("personId", item.personID, &buffer)
            data.field("reason", item.reason, &buffer)
            data.field("time", item.time, &buffer)
          }
        }
      }
    case .following(let message):
      write("following") { data, buffer in
        data.field("room", message.room, &buffer)
        data.field("following", message.isFollowing, &buffer)
      }
    case .welcome, .refreshed, .granted, .tokenExpiring, .accessChanged, .joined, .changes,
      .acknowledged, .refused, .resync, .selections, .presence,
      .left, .resourceUpdate, .documentChanged, .error, .goodbye, .pong, .unknown:
      preconditionFailure("this message is not about rooms")
    }
  }
}

extension ServerMessage.PastPublication {
  package func encode(_ data: inout JSONWriter.Object, _ buffer: inout [UInt8]) {
    data.field("offset", offset, &buffer)
    data.field("time", time, &buffer)
    data.field("personId", personID, &buffer)
    data.field("senderId", senderID, &buffer)
    data.field("data", self.data, &buffer)
  }
}

extension ServerMessage.Person {
  package func encode(_ data: inout JSONWriter.Object, _ buffer: inout [UInt8]) {
    data.field("personId", personID, &buffer)
    data.field("name", name, &buffer)
    data.field("color", color, &buffer)
  }
}

extension JSONWriter.Object {
  /// Writes a place in a room's history as two fields.
  package mutating func fields(_ point: RoomPoint, _ buffer: inout [UInt8]) {
    field("epoch", point.epoch, &buffer)
    field("offset", point.offset, &buffer)
  }

  /// Writes `publications`.
  package mutating func field(
    _ publications: [ServerMessage.PastPublication], _ buffer: inout [UInt8]
  ) {
    key("publications", &buffer)
    JSONWriter.array(publications, &buffer) { publication, buffer in
      JSONWriter.object(&buffer, publication.encode)
    }
  }

  /// Writes a list of people.
  package mutating func field(
    _ name: StaticString, _ people: [ServerMessage.Person], _ buffer: inout [UInt8]
  ) {
    key(name, &buffer)
    JSONWriter.array(people, &buffer) { person, buffer in
      JSONWriter.object(&buffer, person.encode)
    }
  }
}
