import GatewayPorts
import JSON

/// An event of a group, in the parts that group chats know.
struct GroupEvent {
  let type: String
  let data: JSONFields

  /// The events that a reply stands for; none where nothing has changed.
  static func events(_ reply: GroupReply, by actor: PersonID?) -> [GroupEvent] {
    switch reply {
    case .group(let group, let former?, let name):
      var events: [GroupEvent] = []
      if !group.facts.name.utf8.elementsEqual(former.name.utf8) {
        events.append(
          GroupEvent(
            "group.name_change", ("user", person(actor, name)),
            ("name", JSONValue(group.facts.name))))
      }
      if group.facts.picture != former.picture {
        var data = [("user", person(actor, name))]
        if let picture = group.facts.picture { data.append(("avatar_url", JSONValue(picture))) }
        events.append(GroupEvent("group.avatar_change", data))
      }
      return events
    case .member(let member, let former, let name):
      guard let former else {
        return [
          GroupEvent(
            "membership.announce.added",
            ("added_users", JSONValue([person(member.personID, member.nickname)])),
            ("adder_user", person(actor, name)))
        ]
      }
      guard !former.utf8.elementsEqual(member.nickname.utf8) else { return [] }
      return [
        GroupEvent(
          "membership.nickname_changed", ("user", person(member.personID, former)),
          ("name", JSONValue(member.nickname)))
      ]
    case .removed(let member?, let name):
      return [
        GroupEvent(
          "membership.notifications.removed",
          ("removed_user", person(member.personID, member.nickname)),
          ("remover_user", person(actor, name)))
      ]
    default: return []
    }
  }

  private init(_ type: String, _ data: (String, JSONValue)...) { self.init(type, data) }

  private init(_ type: String, _ data: [(String, JSONValue)]) {
    self.type = type
    self.data = JSONFields(data.map { JSONFields.Field($0.0, $0.1) })
  }

  private static func person(_ id: PersonID?, _ nickname: String) -> JSONValue {
    JSONValue(
      JSONFields([
        JSONFields.Field("id", JSONValue(id ?? "")),
        JSONFields.Field("nickname", JSONValue(nickname)),
      ]))
  }

  /// The message that says so. Its id, its time and the sentence for old apps are added where it is
  /// given out.
  func line(in room: RoomName) -> JSONValue {
    let prefix = "/group/"
    let group = room.utf8.starts(with: prefix.utf8) ? String(room.dropFirst(prefix.count)) : room
    let event = JSONFields([
      JSONFields.Field("type", JSONValue(type)), JSONFields.Field("data", JSONValue(data)),
    ])
    let subject = JSONFields([
      JSONFields.Field("group_id", JSONValue(group)),
      JSONFields.Field("event", JSONValue(event)),
    ])
    return JSONValue(
      JSONFields([
        JSONFields.Field("type", JSONValue("line.create")),
        JSONFields.Field("subject", JSONValue(subject)),
      ]))
  }
}
