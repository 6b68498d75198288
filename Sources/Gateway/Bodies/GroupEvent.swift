import ParleyGatewayPorts
import ParleyJSON

/// An event of a group, as structured data for group chats.
struct GroupEvent {
  let type: String
  let data: JSONFields

  /// Returns the events for a reply; empty if nothing has changed.
  static func events(_ reply: GroupReply, by actor: PersonID?) -> [GroupEvent] {
    switch reply {
    case .group(let group, let former?, let name):
      var events: [GroupEvent] = []
      if !group.facts.name.isExactly(former.name) {
        events.append(
          GroupEvent(
            type: "group.name_change",
            data: ["user": person(actor, name), "name": JSONValue(group.facts.name)]))
      }
      if group.facts.picture != former.picture {
        var data: JSONFields = ["user": person(actor, name)]
        if let picture = group.facts.picture {
          data.append(.init("avatar_url", JSONValue(picture)))
        }
        events.append(GroupEvent(type: "group.avatar_change", data: data))
      }
      return events
    case .member(let member, let former, let name):
      guard let former else {
        return [
          GroupEvent(
            type: "membership.announce.added",
            data: [
              "added_users": JSONValue([person(member.personID, member.nickname)]),
              "adder_user": person(actor, name),
            ])
        ]
      }
      guard !former.isExactly(member.nickname) else { return [] }
      return [
        GroupEvent(
          type: "membership.nickname_changed",
          data: ["user": person(member.personID, former), "name": JSONValue(member.nickname)])
      ]
    case .removed(let member?, let name):
      return [
        GroupEvent(
          type: "membership.notifications.removed",
          data: [
            "removed_user": person(member.personID, member.nickname),
            "remover_user": person(actor, name),
          ])
      ]
    default: return []
    }
  }

  private static func person(_ id: PersonID?, _ nickname: String) -> JSONValue {
    ["id": JSONValue(id?.text ?? ""), "nickname": JSONValue(nickname)]
  }

  /// Returns the message that announces the event. Its id, time and text for old apps are added
  /// when it is sent.
  func line(in room: RoomName) -> JSONValue {
    let prefix = "/group/"
    let name = room.text
    let group = name.utf8.starts(with: prefix.utf8) ? String(name.dropFirst(prefix.count)) : name
    let event: JSONValue = ["type": JSONValue(type), "data": JSONValue(data)]
    let subject: JSONValue = ["group_id": JSONValue(group), "event": event]
    return ["type": JSONValue("line.create"), "subject": subject]
  }
}
