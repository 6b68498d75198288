import ParleyGatewayPorts

/// Requirements for groups, reactions and read marks.
package enum GroupConformance {
  private static let ann = ChangeActor(person: "ann", name: "Ann", manages: false)
  private static let ben = ChangeActor(person: "ben", name: "Ben", manages: false)
  private static let manager = ChangeActor(person: nil, name: "service", manages: true)

  private static func named(_ name: String) -> GroupChanges {
    var changes = GroupChanges()
    changes.name = name
    return changes
  }

  private static func join(
    _ person: PersonID, _ nickname: String? = nil, _ room: RoomName = "g", by actor: ChangeActor,
    membersMax: Int = 10
  ) -> GroupRequest {
    .putMember(room, person, nickname: nickname, by: actor, time: 5, membersMax: membersMax)
  }

  package static let checks: [ConformanceCheck] = [
    ConformanceCheck("a group is made, changed and forgotten, by who may") { rig in
      try expect(rig.group(.group("g")), .unknownGroup, "before it is made")
      try expect(
        rig.group(.put("g", GroupChanges(), by: ann, time: 1)), .unknownGroup, "without a name")
      let nobody = ChangeActor(person: nil, name: "", manages: false)
      try expect(rig.group(.put("g", named("G"), by: nobody, time: 1)), .notAllowed, "by nobody")
      var group = ChatGroup(
        room: "g", facts: GroupFacts(name: "G"), creator: "ann", createdAt: 1, updatedAt: 1,
        memberCount: 1)
      try expect(
        rig.group(.put("g", named("G"), by: ann, time: 1)),
        .group(group, former: nil, by: "Ann"), "made")
      try expect(rig.group(.put("g", named("H"), by: ben, time: 2)), .notAllowed, "by a stranger")
      var changes = named("H")
      changes.description = "about"
      changes.picture = "p"
      let former = group.facts
      group.facts = GroupFacts(name: "H", description: "about", picture: "p")
      group.updatedAt = 3
      try expect(
        rig.group(.put("g", changes, by: ann, time: 3)),
        .group(group, former: former, by: "Ann"), "changed")
      try expect(
        rig.group(.put("g", changes, by: manager, time: 4)),
        .group(group, former: group.facts, by: "service"), "the same again")
      changes = GroupChanges()
      changes.picture = .some(nil)
      let pictured = group.facts
      group.facts.picture = nil
      group.updatedAt = 5
      try expect(
        rig.group(.put("g", changes, by: ann, time: 5)),
        .group(group, former: pictured, by: "Ann"), "without its picture")
      try rig.restart()
      try expect(
        rig.group(.group("g")), .group(group, former: group.facts, by: ""), "after a restart")
      try expect(rig.group(.delete("g", by: ben)), .notAllowed, "deleted by a stranger")
      try expect(rig.group(.delete("g", by: ann)), .deleted, "deleted")
      try expect(rig.group(.delete("g", by: ann)), .unknownGroup, "deleted again")
      try expect(
        rig.group(.badges(of: "ann", after: nil, limit: 9)), .badges([], hasMore: false),
        "badges of a group that is gone")
      try expect(rig.people(.members("g")), .members([]), "followers of a group that is gone")
    },
    ConformanceCheck("members join, are renamed and leave, by who may") { rig in
      _ = try rig.group(.put("g", named("G"), by: ann, time: 1))
      let member = GroupMember(personID: "ben", nickname: "B", joinedAt: 5)
      try expect(rig.group(join("ben", by: ben)), .notAllowed, "by themselves")
      try expect(
        rig.group(join("ben", "B", by: ann)), .member(member, former: nil, by: "Ann"), "added")
      try expect(
        rig.group(join("ben", by: ann)), .member(member, former: "B", by: "Ann"), "added again")
      try expect(rig.group(join("ann", "X", by: ben)), .notAllowed, "another's name")
      var renamed = member
      renamed.nickname = "Benny"
      try expect(
        rig.group(join("ben", "Benny", by: ben)), .member(renamed, former: "B", by: "B"),
        "one's own name")
      try expect(rig.group(join("cid", by: ben, membersMax: 2)), .tooMany, "too many")
      _ = try rig.group(join("cid", by: ben))
      try expect(rig.people(.members("g")), .members(["ann", "ben", "cid"]), "followers")
      try rig.restart()
      try expect(
        rig.group(.members("g", after: "ann", limit: 1)), .members([renamed], hasMore: true),
        "a page of members")
      try expect(rig.group(.removeMember("g", "cid", by: ben)), .notAllowed, "removed by another")
      try expect(
        rig.group(.removeMember("g", "ben", by: ben)), .removed(renamed, by: "Benny"), "left")
      try expect(
        rig.group(.removeMember("g", "ben", by: ann)), .removed(nil, by: "Ann"), "who has left")
      let cid = GroupMember(personID: "cid", nickname: "cid", joinedAt: 5)
      try expect(
        rig.group(.removeMember("g", "cid", by: ann)), .removed(cid, by: "Ann"), "removed")
      try expect(
        rig.group(.members("g", after: nil, limit: 9)),
        .members([GroupMember(personID: "ann", nickname: "Ann", joinedAt: 1)], hasMore: false),
        "who is left")
      var open = GroupChanges()
      open.isOpen = true
      _ = try rig.group(.put("g", open, by: ann, time: 6))
      try expect(
        rig.group(join("ben", by: ben)),
        .member(GroupMember(personID: "ben", nickname: "Ben", joinedAt: 5), former: nil, by: "Ben"),
        "into an open group")
    },
    ConformanceCheck("a person's groups are read in pages") { rig in
      for room in ["b", "a", "c"] as [RoomName] {
        _ = try rig.group(.put(room, named(room.text), by: room == "b" ? ben : ann, time: 1))
      }
      _ = try rig.group(join("ann", nil, "b", by: ben))
      func rooms(after room: RoomName?) throws -> [RoomName] {
        guard
          case .groups(let groups, _) = try rig.group(.groups(of: "ann", after: room, limit: 2))
        else { throw ConformanceFailure("expected groups") }
        return groups.map(\.room)
      }
      try expect(rooms(after: nil), ["a", "b"], "the first page")
      try expect(rooms(after: "b"), ["c"], "the next page")
    },
    ConformanceCheck("each person has one like for each publication") { rig in
      func like(_ offset: Int, _ person: PersonID, _ reaction: String?, max: Int = 3) throws
        -> GroupReply
      {
        try rig.group(
          .like(
            PublicationAddress(room: "r", offset: offset), person, reaction: reaction,
            likesMax: max))
      }
      try expect(like(1, "ann", "like"), .unknownPublication, "of nothing")
      for number in 1...3 { _ = try rig.publish("r", "\(number)", time: Timestamp(number)) }
      try expect(like(1, "ann", "like"), .like(isChanged: true), "a like")
      try expect(like(1, "ann", "like"), .like(isChanged: false), "the same like")
      try expect(like(1, "ann", "👍"), .like(isChanged: true), "another reaction")
      try expect(like(1, "ben", "👍", max: 1), .tooMany, "too many")
      _ = try like(1, "ben", "like")
      _ = try like(3, "ben", "like")
      try expect(like(2, "ben", nil), .like(isChanged: false), "no like taken back")
      try rig.restart()
      let first = [
        Reaction(offset: 1, personID: "ann", reaction: "👍"),
        Reaction(offset: 1, personID: "ben", reaction: "like"),
      ]
      let last = Reaction(offset: 3, personID: "ben", reaction: "like")
      try expect(
        rig.group(.likes("r", since: 0, limit: 9)), .likes(first + [last], hasMore: false), "all")
      try expect(
        rig.group(.likes("r", since: 0, limit: 2)), .likes(first, hasMore: true), "a page")
      try expect(
        rig.group(.likes("r", since: 0, limit: 1)), .likes(first, hasMore: true),
        "a page of one publication")
      try expect(
        rig.group(.likes("r", since: 1, limit: 1)), .likes([last], hasMore: false), "the rest")
      try expect(like(3, "ben", nil), .like(isChanged: true), "taken back")
      try expect(
        rig.group(.likes("r", since: 1, limit: 9)), .likes([], hasMore: false), "none left")
    },
    ConformanceCheck("what is unread is counted from what was read, received and written") { rig in
      _ = try rig.publish("g", "1", person: "ben", time: 1)
      _ = try rig.group(.put("g", named("G"), by: ann, time: 1))
      _ = try rig.group(join("ben", by: ann))
      func badge(_ person: PersonID) throws -> [Int] {
        guard case .badges(let badges, _) = try rig.group(.badges(of: person, after: nil, limit: 9))
        else { throw ConformanceFailure("expected badges") }
        return badges.flatMap { [$0.readThrough, $0.unread] }
      }
      try expect(badge("ann"), [1, 0], "who joins has read what is there")
      for number in 2...4 {
        _ = try rig.publish("g", "\(number)", person: "ben", time: Timestamp(number))
      }
      try expect(badge("ann"), [1, 3], "others' publications")
      try expect(badge("ben"), [4, 0], "one's own")
      let receipt = Receipt(personID: "ann", stage: .read)
      _ = try rig.people(.receipt(PublicationAddress(room: "g", offset: 2), receipt))
      try expect(badge("ann"), [2, 2], "after a receipt")
      try expect(
        rig.group(.read("g", "ann", through: 3, marksMax: 9)),
        .badge(RoomBadge(room: "g", readThrough: 3, unread: 1)), "read")
      try expect(
        rig.group(.read("g", "ann", through: 1, marksMax: 9)),
        .badge(RoomBadge(room: "g", readThrough: 3, unread: 1)), "never back")
      try expect(
        rig.group(.read("g", "ann", through: 99, marksMax: 9)),
        .badge(RoomBadge(room: "g", readThrough: 4, unread: 0)), "never ahead")
      _ = try rig.publish("s", "1", person: "ben", time: 5)
      try expect(
        rig.group(.read("s", "ann", through: 0, marksMax: 1)), .tooMany, "too many rooms")
      _ = try rig.group(.read("s", "ann", through: 0, marksMax: 2))
      try rig.restart()
      try expect(badge("ann"), [4, 0, 0, 1], "after a restart")
      try expect(
        rig.group(.badges(of: "ann", after: "g", limit: 1)),
        .badges([RoomBadge(room: "s", readThrough: 0, unread: 1)], hasMore: false), "a page")
    },
  ]
}

extension StoreRig {
  func group(_ request: GroupRequest) throws -> GroupReply {
    let replies = try perform(.groups(request))
    guard case .groups(let reply) = replies[0]
    else { throw unexpected(replies[0], "a reply about groups") }
    return reply
  }
}
