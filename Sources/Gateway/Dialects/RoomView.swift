import Bayeux
import GatewayPorts
import JSON
import SocketIO
import SocketMessages

/// The forms of a publication in the dialects.
enum RoomView {
  /// `realtime:event`.
  static func socketEvent(_ data: JSONValue, in room: RoomName) -> SocketPacket {
    SocketPacket(event: "realtime:event", [["name": JSONValue(room), "data": data]])
  }

  /// Returns the event for subscribers: `realtime:resource` for data that names an action and a
  /// resource, `realtime:event` for anything else.
  static func socketIO(_ data: JSONValue, in room: RoomName) -> SocketPacket {
    guard var fields = data.fields, fields["action"]?.string != nil,
      fields["type"]?.string != nil, fields["resource"] != nil
    else { return socketEvent(data, in: room) }
    fields.set("room", JSONValue(room))
    if fields["path"] == nil { fields.append(.init("path", .null)) }
    return SocketPacket(event: "realtime:resource", [JSONValue(fields)])
  }

  /// The same with its place in the room, for those who want to go on from there one day.
  static func numbered(
    _ data: JSONValue, _ point: RoomPosition, in room: RoomName
  ) -> SocketPacket {
    let packet = socketIO(data, in: room)
    guard let name = packet.eventName, var fields = packet.arguments.first?.fields else {
      return packet
    }
    fields.set("epoch", JSONValue(point.epoch))
    fields.set("offset", JSONValue(point.offset))
    return SocketPacket(event: name, [JSONValue(fields)])
  }

  /// That a resource has changed, without saying how.
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

  /// That a resource has changed, for Bayeux.
  static func bayeux(_ update: ResourceUpdate) -> JSONValue {
    [
      "type": JSONValue("resourceUpdate"), "resourceId": JSONValue(update.resourceID),
      "senderId": update.senderID.map { JSONValue($0) } ?? .null,
    ]
  }

  /// Returns the published data. A message of a group chat, which has neither id nor time before it
  /// is stored, gets its position as id, and its time; one that describes a change of the group in
  /// parts also gets the sentence made from them, which old apps look for.
  static func placed(_ publication: Publication) -> JSONValue {
    let data = publication.data
    guard var fields = data.fields, fields["type"]?.string == GroupChatForm.line,
      var subject = fields["subject"]?.fields, subject["id"] == nil
    else { return data }
    subject.set("id", JSONValue(String(publication.offset)))
    if subject["created_at"] == nil {
      subject.set("created_at", JSONValue(Int(publication.time / 1_000)))
    }
    if let prose = subject["event"]?.fields.flatMap({ GroupChatForm.prose(of: $0) }) {
      let words = [
        ("user_id", JSONValue(GroupChatForm.systemUserID)),
        ("name", JSONValue(GroupChatForm.systemName)),
        ("text", JSONValue(prose)), ("system", JSONValue(true)),
      ]
      for (name, value) in words where subject[name] == nil { subject.set(name, value) }
      if fields["alert"] == nil { fields.set("alert", JSONValue(prose)) }
    }
    fields.set("subject", JSONValue(subject))
    if fields["received_at"] == nil { fields.set("received_at", JSONValue(Int(publication.time))) }
    return JSONValue(fields)
  }
}

extension JSONFields {
  /// Gives a field another value, in its place.
  mutating func set(_ name: String, _ value: JSONValue) {
    let field = Field(name, value)
    var isThere = false
    let fields = all.map { old in
      guard old.name.utf8.elementsEqual(name.utf8) else { return old }
      isThere = true
      return field
    }
    self = JSONFields(isThere ? fields : fields + [field])
  }
}
