import ParleyBayeux
import ParleyGatewayPorts
import ParleyJSON
import ParleySocketIO
import SocketMessages

/// Conversion of publications to the messages of the dialects.
enum RoomView {
  /// Returns a `realtime:event` with data.
  static func socketEvent(_ data: JSONValue, in room: RoomName) -> SocketPacket {
    SocketPacket(event: "realtime:event", [["name": JSONValue(room), "data": data]])
  }

  /// Returns the event for subscribers: `realtime:resource` for data that names an action and a
  /// resource, `realtime:event` for anything else.
  static func socketIO(_ data: JSONValue, in room: RoomName) -> SocketPacket {
    guard let parts = data.values(of: "action", "type", "resource", "path"),
      parts[0]?.string != nil, parts[1]?.string != nil, parts[2] != nil
    else { return socketEvent(data, in: room) }
    var fields = [JSONFields.Field("room", JSONValue(room))]
    if parts[3] == nil { fields.append(.init("path", .null)) }
    return SocketPacket(event: "realtime:resource", [data.replacing(fields)])
  }

  /// Returns the event with its epoch and offset, from which a subscriber can resume later.
  static func numbered(
    _ data: JSONValue, _ point: RoomPosition, in room: RoomName
  ) -> SocketPacket {
    let packet = socketIO(data, in: room)
    guard let name = packet.eventName, let argument = packet.arguments.first else { return packet }
    let place = argument.replacing([
      .init("epoch", JSONValue(point.epoch.text)), .init("offset", JSONValue(point.offset)),
    ])
    return SocketPacket(event: name, [place])
  }

  /// Returns the event for a changed resource, without the change itself.
  static func socketIO(_ update: ResourceUpdate, in room: RoomName) -> SocketPacket {
    let resource: JSONValue = [
      "id": JSONValue(update.resourceID),
      "senderId": update.senderID.map { JSONValue($0) } ?? .null,
    ]
    return socketIO(
      [
        "action": JSONValue("updated"), "room": JSONValue(room), "type": JSONValue("resource"),
        "path": .null, "resource": resource,
      ], in: room)
  }

  /// Returns the event for a changed resource, for Bayeux.
  static func bayeux(_ update: ResourceUpdate) -> JSONValue {
    [
      "type": JSONValue("resourceUpdate"), "resourceId": JSONValue(update.resourceID),
      "senderId": update.senderID.map { JSONValue($0) } ?? .null,
    ]
  }

  /// Returns the published data; `nil` if a publication has none. A group chat message is stored without id and time: its
  /// offset and the time of publication are added. If it contains a structured event of the group,
  /// the sentence by which old apps recognise the event is added too.
  static func placed(_ publication: Publication) -> JSONValue? {
    guard let data = publication.data else { return nil }
    guard let parts = data.values(of: "type", "subject", "alert", "received_at"),
      parts[0]?.string == GroupChatForm.line, let subject = parts[1],
      let known = subject.values(
        of: "id", "created_at", "event", "user_id", "name", "text", "system"),
      known[0] == nil
    else { return data }
    var words: [JSONFields.Field] = [.init("id", JSONValue(String(publication.offset)))]
    var fields: [JSONFields.Field] = []
    if known[1] == nil {
      words.append(.init("created_at", JSONValue(Int(publication.time / 1_000))))
    }
    if let prose = known[2].flatMap({ GroupChatForm.prose(of: $0) }) {
      let said: [JSONFields.Field] = [
        .init("user_id", JSONValue(GroupChatForm.systemUserID)),
        .init("name", JSONValue(GroupChatForm.systemName)),
        .init("text", JSONValue(prose)), .init("system", JSONValue(true)),
      ]
      for (field, former) in zip(said, known[3...]) where former == nil { words.append(field) }
      if parts[2] == nil { fields.append(.init("alert", JSONValue(prose))) }
    }
    fields.append(.init("subject", subject.replacing(words)))
    if parts[3] == nil { fields.append(.init("received_at", JSONValue(Int(publication.time)))) }
    return data.replacing(fields)
  }
}

extension JSONFields {
  /// Replaces a field's value in its position, or appends the field.
  mutating func set(_ name: String, _ value: JSONValue) {
    let field = Field(name, value)
    var isThere = false
    let fields = all.map { old in
      guard old.name.isExactly(name) else { return old }
      isThere = true
      return field
    }
    self = JSONFields(isThere ? fields : fields + [field])
  }
}
