import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Groups, likes and badges in the JSON of the HTTP API.
enum GroupJSON {
  // MARK: Reading

  /// Returns a group's fields in a body; `nil` if it is not a JSON object, or a type is wrong.
  static func changes(in body: [UInt8]) -> GroupChanges? {
    JSONBody.fields(in: body, GroupChanges()) { changes, key, reader throws(JSONError) in
      switch key {
      case "name": changes.name = try reader.string()
      case "description":
        changes.description = .some(try reader.skipNull() ? nil : try reader.string())
      case "picture": changes.picture = .some(try reader.skipNull() ? nil : try reader.string())
      case "open": changes.isOpen = try reader.boolean()
      default: try reader.skipValue()
      }
    }
  }

  /// The other optional fields of bodies.
  struct Fields {
    var nickname: String?
    var reaction: String?
    var offset: Int?
  }

  /// Returns the fields of a body, which may be empty; `nil` if it is neither empty nor a JSON
  /// object, or a field has the wrong type.
  static func fields(in body: [UInt8]) -> Fields? {
    if body.isEmpty { return Fields() }
    return JSONBody.fields(in: body, Fields()) { fields, key, reader throws(JSONError) in
      switch key {
      case "nickname": fields.nickname = try reader.skipNull() ? nil : try reader.string()
      case "reaction": fields.reaction = try reader.skipNull() ? nil : try reader.string()
      case "offset": fields.offset = try reader.integer()
      default: try reader.skipValue()
      }
    }
  }

  // MARK: Writing

  /// Returns the response for a reply of the store.
  static func response(_ reply: GroupReply, to request: GroupRequest) -> Response {
    switch reply {
    case .group(let group, let former, _):
      return .json(former == nil ? 201 : 200, JSONWriter.bytes { append(group, &$0) })
    case .groups(let groups, let hasMore):
      return list("groups", groups, next: hasMore ? groups.last?.room.text : nil, append)
    case .member(let member, let former, _):
      return .json(former == nil ? 201 : 200, JSONWriter.bytes { append(member, &$0) })
    case .removed, .deleted: return Response(status: 204)
    case .members(let members, let hasMore):
      return list("members", members, next: hasMore ? members.last?.personID.text : nil, append)
    case .like:
      guard case .like(let place, let person, let reaction?, _) = request else {
        return Response(status: 204)
      }
      let like = Reaction(offset: place.offset, personID: person, reaction: reaction)
      return .json(200, JSONWriter.bytes { append(like, &$0) })
    case .likes(let likes, let hasMore):
      let last = hasMore ? likes.last.map { "\($0.offset)" } : nil
      return list("likes", likes, next: last, append)
    case .badge(let badge): return .json(200, JSONWriter.bytes { append(badge, &$0) })
    case .badges(let badges, let hasMore):
      return list("badges", badges, next: hasMore ? badges.last?.room.text : nil, append)
    case .unknownGroup:
      return .problem(404, .unknownDocument, "the room is not a group; make it one, with a name")
    case .unknownPublication:
      return .problem(
        404, .unknownPublication, "no publication has this offset, or it is no longer stored")
    case .notAllowed:
      return .problem(403, .notAllowed, "only members of the group, or its creator, may do this")
    case .tooMany: return .problem(409, .tooMany, "the limit is reached")
    }
  }

  /// `{"groups": [ … ], "next": …}`
  private static func list<Item>(
    _ name: StaticString, _ items: [Item], next: String?,
    _ append: (Item, inout [UInt8]) -> Void
  ) -> Response {
    let body = JSONWriter.object { object, body in
      object.key(name, &body)
      JSONWriter.array(items, &body) { append($0, &$1) }
      object.field("next", next, &body)
    }
    return .json(200, body)
  }

  private static func append(_ group: ChatGroup, _ body: inout [UInt8]) {
    JSONWriter.object(&body) { object, body in
      object.field("room", group.room, &body)
      object.field("name", group.facts.name, &body)
      object.field("description", group.facts.description, &body)
      object.field("picture", group.facts.picture, &body)
      object.field("open", group.facts.isOpen, &body)
      object.field("creatorId", group.creator, &body)
      object.field("createdAt", Int(group.createdAt), &body)
      object.field("updatedAt", Int(group.updatedAt), &body)
      object.field("memberCount", group.memberCount, &body)
    }
  }

  private static func append(_ member: GroupMember, _ body: inout [UInt8]) {
    JSONWriter.object(&body) { object, body in
      object.field("personId", member.personID, &body)
      object.field("nickname", member.nickname, &body)
      object.field("joinedAt", Int(member.joinedAt), &body)
    }
  }

  private static func append(_ like: Reaction, _ body: inout [UInt8]) {
    JSONWriter.object(&body) { object, body in
      object.field("offset", like.offset, &body)
      object.field("personId", like.personID, &body)
      object.field("reaction", like.reaction, &body)
    }
  }

  private static func append(_ badge: RoomBadge, _ body: inout [UInt8]) {
    JSONWriter.object(&body) { object, body in
      object.field("room", badge.room, &body)
      object.field("readThrough", badge.readThrough, &body)
      object.field("unread", badge.unread, &body)
    }
  }
}
