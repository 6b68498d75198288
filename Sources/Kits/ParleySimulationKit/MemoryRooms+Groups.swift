import ParleyGatewayPorts
import ParleyJSON

/// Groups, reactions and read marks, in memory.
extension MemoryRooms {
  /// A group and its members.
  struct Group: Sendable {
    var group: ChatGroup
    var members: [PersonID: GroupMember] = [:]
  }

  /// The groups, reactions and read marks.
  struct Groups: Sendable {
    var groups: [RoomName: Group] = [:]
    var likes: [RoomName: [Int: [PersonID: Reaction]]] = [:]
    /// The offset through which each person has read, by room.
    var marks: [PersonID: [RoomName: (room: RoomName, offset: Int)]] = [:]
  }

  mutating func reply(to request: GroupRequest) -> GroupReply {
    switch request {
    case .put(let room, let changes, let actor, let time):
      return put(room, changes, by: actor, time)
    case .delete(let room, let actor):
      guard let found = groups.groups[room] else { return .unknownGroup }
      guard actor.manages || isSame(actor.person, found.group.creator) else {
        return .notAllowed
      }
      for person in found.members.keys {
        people.members[room]?.remove(person)
      }
      for person in groups.marks.keys { groups.marks[person]?[room] = nil }
      groups.groups[room] = nil
      return .deleted
    case .group(let room):
      guard let found = groups.groups[room] else { return .unknownGroup }
      return .group(found.group, former: found.group.facts, by: "")
    case .groups(let person, let after, let limit):
      let found = groups.groups.values.filter { $0.members[person] != nil }
        .map(\.group).sorted { $0.room < $1.room }
        .filter { after ?? "" < $0.room }
      return .groups(Array(found.prefix(limit)), hasMore: found.count > limit)
    case .putMember(let room, let person, let nickname, let actor, let time, let membersMax):
      return put(person, nickname, in: room, by: actor, time, membersMax)
    case .removeMember(let room, let person, let actor): return remove(person, room, by: actor)
    case .members(let room, let after, let limit):
      guard let found = groups.groups[room] else { return .unknownGroup }
      let members = found.members.values
        .sorted { $0.personID < $1.personID }
        .filter { after ?? "" < $0.personID }
      return .members(Array(members.prefix(limit)), hasMore: members.count > limit)
    case .like(let place, let person, let reaction, let likesMax):
      return like(place, person, reaction, likesMax)
    case .likes(let room, let since, let limit): return likes(room, since, limit)
    case .read(let room, let person, let offset, let marksMax):
      let head = publications(of: room).count
      let known = groups.marks[person]?[room]
      guard known != nil || groups.marks[person]?.count ?? 0 < marksMax else {
        return .tooMany
      }
      let through = max(known?.offset ?? 0, min(max(offset, 0), head))
      groups.marks[person, default: [:]][room] = (room, through)
      return .badge(RoomBadge(room: room, readThrough: through, unread: head - through))
    case .badges(let person, let after, let limit):
      let marks = (groups.marks[person] ?? [:]).values
        .sorted { $0.room < $1.room }
        .filter { after ?? "" < $0.room }
      let badges = marks.prefix(limit).map { mark in
        RoomBadge(
          room: mark.room, readThrough: mark.offset,
          unread: publications(of: mark.room).count - mark.offset)
      }
      return .badges(badges, hasMore: marks.count > limit)
    }
  }

  private func isSame(_ one: PersonID?, _ other: PersonID?) -> Bool {
    guard let one, let other else { return false }
    return one == other
  }

  private func own(_ actor: ChangeActor, _ found: Group) -> GroupMember? {
    actor.person.flatMap { found.members[$0] }
  }

  private mutating func put(
    _ room: RoomName, _ changes: GroupChanges, by actor: ChangeActor, _ time: Timestamp
  ) -> GroupReply {
    if var found = groups.groups[room] {
      let own = own(actor, found)
      guard own != nil || actor.manages else { return .notAllowed }
      let former = found.group.facts
      found.group.facts = changes.applied(to: former) ?? former
      if found.group.facts != former { found.group.updatedAt = time }
      groups.groups[room] = found
      return .group(found.group, former: former, by: own?.nickname ?? actor.name)
    }
    guard let facts = changes.applied(to: nil) else { return .unknownGroup }
    guard actor.person != nil || actor.manages else { return .notAllowed }
    groups.groups[room] = Group(
      group: ChatGroup(
        room: room, facts: facts, creator: actor.person, createdAt: time, updatedAt: time,
        memberCount: 0))
    if let person = actor.person {
      add(GroupMember(personID: person, nickname: actor.name, joinedAt: time), to: room)
    }
    guard let made = groups.groups[room]?.group else { return .unknownGroup }
    return .group(made, former: nil, by: actor.name)
  }

  private mutating func add(_ member: GroupMember, to room: RoomName) {
    let (name, person) = (room, member.personID)
    groups.groups[name]?.members[person] = member
    groups.groups[name]?.group.memberCount += 1
    people.members[name, default: []].insert(person)
    if groups.marks[person]?[name] == nil {
      groups.marks[person, default: [:]][name] = (room, publications(of: room).count)
    }
  }

  private mutating func put(
    _ person: PersonID, _ nickname: String?, in room: RoomName, by actor: ChangeActor,
    _ time: Timestamp, _ membersMax: Int
  ) -> GroupReply {
    guard let found = groups.groups[room] else { return .unknownGroup }
    let own = own(actor, found)
    let isOwn = isSame(actor.person, person)
    let by = own?.nickname ?? actor.name
    if var member = found.members[person] {
      guard own != nil || actor.manages else { return .notAllowed }
      let former = member.nickname
      guard let nickname, nickname != former else {
        return .member(member, former: former, by: by)
      }
      guard isOwn || actor.manages || isSame(actor.person, found.group.creator) else {
        return .notAllowed
      }
      member.nickname = nickname
      groups.groups[room]?.members[person] = member
      return .member(member, former: former, by: by)
    }
    guard own != nil || actor.manages || isOwn && found.group.facts.isOpen else {
      return .notAllowed
    }
    guard found.members.count < membersMax else { return .tooMany }
    let member = GroupMember(
      personID: person, nickname: nickname ?? (isOwn ? actor.name : person.text), joinedAt: time)
    add(member, to: room)
    return .member(member, former: nil, by: isOwn ? member.nickname : by)
  }

  private mutating func remove(
    _ person: PersonID, _ room: RoomName, by actor: ChangeActor
  ) -> GroupReply {
    let name = room
    guard let found = groups.groups[name] else { return .unknownGroup }
    guard
      actor.manages || isSame(actor.person, person) || isSame(actor.person, found.group.creator)
    else { return .notAllowed }
    let by = own(actor, found)?.nickname ?? actor.name
    guard let member = groups.groups[name]?.members.removeValue(forKey: person) else {
      return .removed(nil, by: by)
    }
    groups.groups[name]?.group.memberCount -= 1
    people.members[name]?.remove(person)
    groups.marks[person]?[name] = nil
    return .removed(member, by: by)
  }

  private mutating func like(
    _ place: PublicationAddress, _ person: PersonID, _ reaction: String?, _ likesMax: Int
  ) -> GroupReply {
    let (room, who) = (place.room, person)
    guard let reaction else {
      let former = groups.likes[room]?[place.offset]?.removeValue(forKey: who)
      return publications(of: place.room).isEmpty && former == nil
        ? .unknownPublication : .like(isChanged: former != nil)
    }
    guard publications(of: place.room).contains(where: { $0.offset == place.offset }) else {
      return .unknownPublication
    }
    let known = groups.likes[room]?[place.offset] ?? [:]
    guard known[who]?.reaction != reaction else { return .like(isChanged: false) }
    guard known[who] != nil || known.count < likesMax else { return .tooMany }
    groups.likes[room, default: [:]][place.offset, default: [:]][who] = Reaction(
      offset: place.offset, personID: person, reaction: reaction)
    return .like(isChanged: true)
  }

  private func likes(_ room: RoomName, _ since: Int, _ limit: Int) -> GroupReply {
    let offsets = (groups.likes[room] ?? [:]).keys.filter { $0 > since }.sorted()
    var found: [Reaction] = []
    for offset in offsets {
      let some = (groups.likes[room]?[offset] ?? [:]).values
        .sorted { $0.personID < $1.personID }
      if found.count + some.count > limit {
        return .likes(found.isEmpty ? some : found, hasMore: true)
      }
      found += some
    }
    return .likes(found, hasMore: false)
  }

  /// Advances a person's read position to an offset, if the person has a lower one in the room.
  mutating func noteRead(_ room: RoomName, by person: PersonID, through offset: Int) {
    let (name, who) = (room, person)
    guard let known = groups.marks[who]?[name], known.offset < offset else { return }
    groups.marks[who]?[name] = (room, offset)
  }
}
