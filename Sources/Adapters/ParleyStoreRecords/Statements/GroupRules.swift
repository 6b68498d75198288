import ParleyGatewayPorts
import ParleyJSON

/// Groups, reactions to publications, and read marks.
struct GroupRules<Store: RoomTable> {
  let store: Store

  func reply(to request: GroupRequest) throws(StoreError) -> GroupReply {
    switch request {
    case .put(let room, let changes, let actor, let time):
      return try put(room, changes, by: actor, time)
    case .delete(let room, let actor): return try delete(group: room, by: actor)
    case .group(let room):
      guard let (_, group) = try group(room) else { return .unknownGroup }
      return .group(group, former: group.facts, by: "")
    case .groups(let person, let after, let limit):
      return try groups(of: person, after: after, limit: limit)
    case .putMember(let room, let person, let nickname, let actor, let time, let membersMax):
      return try put(
        person, nickname: nickname, in: room, by: actor, time, membersMax: membersMax)
    case .removeMember(let room, let person, let actor):
      return try remove(person, from: room, by: actor)
    case .members(let room, let after, let limit):
      return try members(of: room, after: after, limit: limit)
    case .like(let place, let person, let reaction, let likesMax):
      return try like(place, person, reaction, likesMax: likesMax)
    case .likes(let room, let since, let limit):
      return try likes(in: room, since: since, limit: limit)
    case .read(let room, let person, let offset, let marksMax):
      return try read(room, by: person, through: offset, marksMax: marksMax)
    case .badges(let person, let after, let limit):
      return try badges(of: person, after: after, limit: limit)
    }
  }

  // MARK: Groups

  private func group(_ name: RoomName) throws(StoreError) -> (room: Int, ChatGroup)? {
    guard let room = try store.row(of: name) else { return nil }
    return try store.first(Self.selectGroup + " WHERE room = $1", room.number) {
      (room.number, Self.group($0, name))
    }
  }

  private static var selectGroup: String {
    """
    SELECT g.title, g.purpose, g.picture, g.open, g.creator, g.created, g.updated, g.members, g.name
    FROM chat_groups g
    """
  }

  private static func group(_ row: Store.Row, _ name: RoomName) -> ChatGroup {
    ChatGroup(
      room: name,
      facts: GroupFacts(
        name: row.text(0), description: row.optionalText(1), picture: row.optionalText(2),
        isOpen: row.integer(3) != 0),
      creator: row.optionalName(4), createdAt: Timestamp(row.integer(5)),
      updatedAt: Timestamp(row.integer(6)), memberCount: row.integer(7))
  }

  private func member(_ person: PersonID, of room: Int) throws(StoreError) -> GroupMember? {
    try store.first(
      "SELECT nickname, joined FROM group_members WHERE room = $1 AND person = $2", room,
      person
    ) {
      GroupMember(
        personID: person, nickname: $0.text(0), joinedAt: Timestamp($0.integer(1)))
    }
  }

  /// Returns the actor as a member; `nil` if the actor is not a member.
  private func membership(
    of actor: ChangeActor, in room: Int
  ) throws(StoreError) -> GroupMember? {
    guard let person = actor.person else { return nil }
    return try member(person, of: room)
  }

  private func put(
    _ name: RoomName, _ changes: GroupChanges, by actor: ChangeActor, _ time: Timestamp
  ) throws(StoreError) -> GroupReply {
    store.context.noteTime(time)
    if let (room, former) = try group(name) {
      let own = try membership(of: actor, in: room)
      guard own != nil || actor.manages else { return .notAllowed }
      var group = former
      group.facts = changes.applied(to: former.facts) ?? former.facts
      if group.facts != former.facts {
        group.updatedAt = time
        try store.change(
          """
          UPDATE chat_groups SET title = $2, purpose = $3, picture = $4, open = $5, updated = $6
          WHERE room = $1
          """, room, group.facts.name, group.facts.description, group.facts.picture,
          group.facts.isOpen ? 1 : 0, time)
      }
      return .group(group, former: former.facts, by: own?.nickname ?? actor.name)
    }
    guard let facts = changes.applied(to: nil) else { return .unknownGroup }
    guard actor.person != nil || actor.manages else { return .notAllowed }
    let room = try store.rowMade(for: name)
    try store.change(
      """
      INSERT INTO chat_groups
        (room, name, title, purpose, picture, open, creator, created, updated, members)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, 0)
      """, room.number, name, facts.name, facts.description, facts.picture, facts.isOpen ? 1 : 0,
      actor.person, time)
    var group = ChatGroup(
      room: name, facts: facts, creator: actor.person, createdAt: time, updatedAt: time,
      memberCount: 0)
    if let person = actor.person {
      let member = GroupMember(personID: person, nickname: actor.name, joinedAt: time)
      try add(member, to: room, name)
      group.memberCount = 1
    }
    return .group(group, former: nil, by: actor.name)
  }

  private func delete(
    group name: RoomName, by actor: ChangeActor
  ) throws(StoreError) -> GroupReply {
    guard let (room, group) = try group(name) else { return .unknownGroup }
    guard actor.manages || Self.isSame(actor.person, group.creator) else { return .notAllowed }
    try store.change(
      """
      DELETE FROM room_members WHERE room = $1
        AND person IN (SELECT person FROM group_members WHERE room = $1)
      """, room)
    try store.change("DELETE FROM group_members WHERE room = $1", room)
    try store.change("DELETE FROM read_marks WHERE room = $1", room)
    try store.change("DELETE FROM chat_groups WHERE room = $1", room)
    return .deleted
  }

  private func groups(
    of person: PersonID, after: RoomName?, limit: Int
  ) throws(StoreError) -> GroupReply {
    var groups = try store.rows(
      Self.selectGroup + """
         JOIN group_members m ON m.room = g.room
        WHERE m.person = $1 AND m.name > $2 ORDER BY m.name LIMIT $3
        """, person, after ?? "", limit + 1
    ) { Self.group($0, $0.name(8)) }
    let hasMore = groups.count > limit
    if hasMore { groups.removeLast() }
    return .groups(groups, hasMore: hasMore)
  }

  private static func isSame(_ one: PersonID?, _ other: PersonID?) -> Bool {
    guard let one, let other else { return false }
    return one == other
  }

  // MARK: Members

  private func put(
    _ person: PersonID, nickname: String?, in name: RoomName, by actor: ChangeActor,
    _ time: Timestamp, membersMax: Int
  ) throws(StoreError) -> GroupReply {
    store.context.noteTime(time)
    guard let (room, group) = try group(name) else { return .unknownGroup }
    let isOwn = Self.isSame(actor.person, person)
    let own = try membership(of: actor, in: room)
    let by = own?.nickname ?? actor.name
    if var member = try member(person, of: room) {
      guard own != nil || actor.manages else { return .notAllowed }
      let former = member.nickname
      guard let nickname, !nickname.isExactly(former) else {
        return .member(member, former: former, by: by)
      }
      guard isOwn || actor.manages || Self.isSame(actor.person, group.creator) else {
        return .notAllowed
      }
      member.nickname = nickname
      try store.change(
        "UPDATE group_members SET nickname = $3 WHERE room = $1 AND person = $2", room,
        person, nickname)
      return .member(member, former: former, by: by)
    }
    guard own != nil || actor.manages || isOwn && group.facts.isOpen else { return .notAllowed }
    guard group.memberCount < membersMax else { return .tooMany }
    let member = GroupMember(
      personID: person, nickname: nickname ?? (isOwn ? actor.name : person.text), joinedAt: time)
    try add(member, to: try store.rowMade(for: name), name)
    return .member(member, former: nil, by: isOwn ? member.nickname : by)
  }

  /// Adds a member. The member receives push notifications while offline, and existing publications
  /// count as read.
  private func add(
    _ member: GroupMember, to room: RoomRow, _ name: RoomName
  ) throws(StoreError) {
    try store.change(
      """
      INSERT INTO group_members (room, person, name, nickname, joined)
      VALUES ($1, $2, $3, $4, $5)
      """, room.number, member.personID, name, member.nickname, member.joinedAt)
    try store.change("UPDATE chat_groups SET members = members + 1 WHERE room = $1", room.number)
    try store.change(
      "INSERT INTO room_members (room, person) VALUES ($1, $2) ON CONFLICT DO NOTHING",
      room.number, member.personID)
    try store.change(
      """
      INSERT INTO read_marks (person, name, room, "offset") VALUES ($1, $2, $3, $4)
      ON CONFLICT DO NOTHING
      """, member.personID, name, room.number, room.head)
  }

  private func remove(
    _ person: PersonID, from name: RoomName, by actor: ChangeActor
  ) throws(StoreError) -> GroupReply {
    guard let (room, group) = try group(name) else { return .unknownGroup }
    guard
      actor.manages || Self.isSame(actor.person, person)
        || Self.isSame(actor.person, group.creator)
    else { return .notAllowed }
    let by = try membership(of: actor, in: room)?.nickname ?? actor.name
    guard let member = try member(person, of: room) else { return .removed(nil, by: by) }
    try store.change("DELETE FROM group_members WHERE room = $1 AND person = $2", room, person)
    try store.change("UPDATE chat_groups SET members = members - 1 WHERE room = $1", room)
    try store.change("DELETE FROM room_members WHERE room = $1 AND person = $2", room, person)
    try store.change("DELETE FROM read_marks WHERE person = $1 AND name = $2", person, name)
    return .removed(member, by: by)
  }

  private func members(
    of name: RoomName, after: PersonID?, limit: Int
  ) throws(StoreError) -> GroupReply {
    guard let (room, _) = try group(name) else { return .unknownGroup }
    var members = try store.rows(
      """
      SELECT person, nickname, joined FROM group_members
      WHERE room = $1 AND person > $2 ORDER BY person LIMIT $3
      """, room, after ?? "", limit + 1
    ) {
      GroupMember(
        personID: $0.name(0), nickname: $0.text(1), joinedAt: Timestamp($0.integer(2)))
    }
    let hasMore = members.count > limit
    if hasMore { members.removeLast() }
    return .members(members, hasMore: hasMore)
  }

  // MARK: Likes

  private func like(
    _ place: PublicationAddress, _ person: PersonID, _ reaction: String?, likesMax: Int
  ) throws(StoreError) -> GroupReply {
    guard let room = try store.row(of: place.room)?.number else { return .unknownPublication }
    guard let reaction else {
      let removed = try store.changedRows(
        #"DELETE FROM likes WHERE room = $1 AND "offset" = $2 AND person = $3"#, room,
        place.offset, person)
      return .like(isChanged: removed > 0)
    }
    let isKept = try store.first(
      #"SELECT 1 FROM publications WHERE room = $1 AND "offset" = $2"#, room, place.offset
    ) { _ in true }
    guard isKept ?? false else { return .unknownPublication }
    let former = try store.first(
      #"SELECT reaction FROM likes WHERE room = $1 AND "offset" = $2 AND person = $3"#, room,
      place.offset, person
    ) { $0.text(0) }
    if let former {
      guard !former.isExactly(reaction) else { return .like(isChanged: false) }
      try store.change(
        #"UPDATE likes SET reaction = $4 WHERE room = $1 AND "offset" = $2 AND person = $3"#,
        room, place.offset, person, reaction)
      return .like(isChanged: true)
    }
    let count = try store.first(
      #"SELECT count(*) FROM likes WHERE room = $1 AND "offset" = $2"#, room, place.offset
    ) { $0.integer(0) }
    guard count ?? 0 < likesMax else { return .tooMany }
    try store.change(
      #"INSERT INTO likes (room, "offset", person, reaction) VALUES ($1, $2, $3, $4)"#, room,
      place.offset, person, reaction)
    return .like(isChanged: true)
  }

  private func likes(
    in name: RoomName, since: Int, limit: Int
  ) throws(StoreError) -> GroupReply {
    guard let room = try store.row(of: name)?.number else { return .likes([], hasMore: false) }
    func read(_ condition: String, _ bound: Int, _ limit: Int) throws(StoreError)
      -> [Reaction]
    {
      try store.rows(
        """
        SELECT l."offset", l.person, l.reaction FROM likes l
        JOIN publications p ON p.room = l.room AND p."offset" = l."offset"
        WHERE l.room = $1 AND l."offset" \(condition) $2 ORDER BY l."offset", l.person LIMIT $3
        """, room, bound, limit
      ) {
        Reaction(offset: $0.integer(0), personID: $0.name(1), reaction: $0.text(2))
      }
    }
    // Skip reactions to publications that have expired; housekeeping removes them.
    let oldest = try store.first(
      #"SELECT coalesce(min("offset"), 0) FROM publications WHERE room = $1"#, room
    ) { $0.integer(0) }
    var found = try read(">", max(since, (oldest ?? 0) - 1), limit + 1)
    guard found.count > limit, let last = found.last?.offset else {
      return .likes(found, hasMore: false)
    }
    // Return whole publications only: drop the last one, unless it is the only one.
    found.removeAll { $0.offset == last }
    if found.isEmpty { found = try read("=", last, .max) }
    return .likes(found, hasMore: true)
  }

  // MARK: Read marks

  private func read(
    _ name: RoomName, by person: PersonID, through offset: Int, marksMax: Int
  ) throws(StoreError) -> GroupReply {
    let offset = min(max(offset, 0), try store.row(of: name)?.head ?? 0)
    var known = try store.first(
      #"SELECT "offset" FROM read_marks WHERE person = $1 AND name = $2"#, person, name
    ) { $0.integer(0) }
    if known == nil {
      let count = try store.first("SELECT count(*) FROM read_marks WHERE person = $1", person) {
        $0.integer(0)
      }
      guard count ?? 0 < marksMax else { return .tooMany }
      try store.change(
        #"INSERT INTO read_marks (person, name, room, "offset") VALUES ($1, $2, $3, $4)"#,
        person, name, store.rowMade(for: name).number, offset)
      known = offset
    }
    let through = max(known ?? 0, offset)
    try store.change(
      #"UPDATE read_marks SET "offset" = $3 WHERE person = $1 AND name = $2"#, person, name,
      through)
    let head = try store.row(of: name)?.head ?? 0
    return .badge(RoomBadge(room: name, readThrough: through, unread: max(0, head - through)))
  }

  /// Marks publications as read by a person who has read or published one.
  func noteRead(_ name: RoomName, by person: PersonID, through offset: Int)
    throws(StoreError)
  {
    try store.change(
      #"UPDATE read_marks SET "offset" = $3 WHERE person = $1 AND name = $2 AND "offset" < $3"#,
      person, name, offset)
  }

  private func badges(
    of person: PersonID, after: RoomName?, limit: Int
  ) throws(StoreError) -> GroupReply {
    var badges = try store.rows(
      """
      SELECT m.name, m."offset", r.head FROM read_marks m JOIN rooms r ON r.number = m.room
      WHERE m.person = $1 AND m.name > $2 ORDER BY m.name LIMIT $3
      """, person, after ?? "", limit + 1
    ) {
      let (offset, head) = ($0.integer(1), $0.integer(2))
      return RoomBadge(
        room: $0.name(0), readThrough: min(offset, head), unread: max(0, head - offset))
    }
    let hasMore = badges.count > limit
    if hasMore { badges.removeLast() }
    return .badges(badges, hasMore: hasMore)
  }
}
