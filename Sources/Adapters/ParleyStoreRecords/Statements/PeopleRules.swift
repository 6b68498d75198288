import ParleyGatewayPorts

/// Receipts, flags, membership, blocks and presence times of people in rooms.
struct PeopleRules<Store: PeopleTable> {
  let store: Store
  private var groups: GroupRules<Store> { GroupRules(store: store) }

  func reply(to request: PeopleRequest) throws(StoreError) -> PeopleReply {
    switch request {
    case .receipt(let place, let receipt): return try note(receipt, of: place)
    case .receipts(let place): return try receipts(of: place)
    case .flag(let room, let flag):
      return try keep(flag, in: room)
    case .unflag(let place, let person):
      guard let room = try store.row(of: place.room) else { return .unknownPublication }
      try store.change(
        #"DELETE FROM flags WHERE room = $1 AND "offset" = $2 AND person = $3"#, room.number,
        place.offset, person)
      return .done
    case .flags(let room, let limit): return .flags(try flags(in: room, limit: limit))
    case .member(let name, let person, isMember: true):
      let room = try store.rowMade(for: name)
      try store.change(
        "INSERT INTO room_members (room, person) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        room.number, person)
      return .done
    case .member(let name, let person, isMember: false):
      guard let room = try store.row(of: name) else { return .done }
      try store.change(
        "DELETE FROM room_members WHERE room = $1 AND person = $2", room.number, person)
      return .done
    case .members(let room): return .members(try members(of: room))
    case .block(let block, let isBlocked):
      try store.change(
        isBlocked
          ? "INSERT INTO blocks (person, blocked) VALUES ($1, $2) ON CONFLICT DO NOTHING"
          : "DELETE FROM blocks WHERE person = $1 AND blocked = $2", block.person,
        block.blocked)
      return .done
    case .blocks: return .blocks(try blocks())
    case .online(let people, let time):
      try store.note(online: people, time)
      return .done
    case .lastOnline(let people): return .lastOnline(try store.lastOnline(people))
    }
  }

  /// Returns a publication's room and author; `nil` if the publication is not stored.
  private func author(
    of place: PublicationAddress
  ) throws(StoreError) -> (room: Int, person: PersonID?)? {
    guard let room = try store.row(of: place.room) else { return nil }
    return try store.first(
      #"SELECT person FROM publications WHERE room = $1 AND "offset" = $2"#, room.number,
      place.offset
    ) { (room.number, $0.optionalName(0) as PersonID?) }
  }

  private func note(
    _ receipt: Receipt, of place: PublicationAddress
  ) throws(StoreError) -> PeopleReply {
    guard let (room, author) = try author(of: place) else { return .unknownPublication }
    let known = try store.first(
      #"SELECT state FROM receipts WHERE room = $1 AND "offset" = $2 AND person = $3"#, room,
      place.offset, receipt.personID
    ) { ReceiptStage(number: $0.integer(0)) }
    if let known = known ?? nil, known >= receipt.stage {
      return .receipt(
        Receipt(personID: receipt.personID, stage: known), author: author, isChanged: false)
    }
    try store.change(
      """
      INSERT INTO receipts (room, "offset", person, state) VALUES ($1, $2, $3, $4)
      ON CONFLICT (room, "offset", person) DO UPDATE SET state = excluded.state
      """, room, place.offset, receipt.personID, receipt.stage.number)
    if receipt.stage == .read {
      try groups.noteRead(place.room, by: receipt.personID, through: place.offset)
    }
    return .receipt(receipt, author: author, isChanged: true)
  }

  private func receipts(of place: PublicationAddress) throws(StoreError) -> PeopleReply {
    guard let (room, author) = try author(of: place) else { return .unknownPublication }
    let receipts = try store.rows(
      """
      SELECT person, state FROM receipts WHERE room = $1 AND "offset" = $2 ORDER BY person
      """, room, place.offset
    ) { row throws(StoreError) in
      guard let stage = ReceiptStage(number: row.integer(1)) else {
        throw .damaged("a receipt has an unknown stage; \(damageAdvice)")
      }
      return Receipt(personID: row.name(0), stage: stage)
    }
    return .receipts(receipts, author: author)
  }

  private func keep(
    _ flag: PublicationFlag, in name: RoomName
  ) throws(StoreError) -> PeopleReply {
    let place = PublicationAddress(room: name, offset: flag.offset)
    guard let (room, _) = try author(of: place) else { return .unknownPublication }
    try store.change(
      """
      INSERT INTO flags (room, "offset", person, reason, time) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (room, "offset", person) DO UPDATE SET reason = excluded.reason,
        time = excluded.time
      """, room, flag.offset, flag.personID, flag.reason ?? "", flag.time)
    return .done
  }

  private func flags(in name: RoomName, limit: Int) throws(StoreError) -> [PublicationFlag] {
    guard let room = try store.row(of: name) else { return [] }
    return try store.rows(
      """
      SELECT "offset", person, reason, time FROM flags WHERE room = $1
      ORDER BY "offset" DESC, person LIMIT $2
      """, room.number, max(limit, 0)
    ) { row in
      let reason = row.text(2)
      return PublicationFlag(
        offset: row.integer(0), personID: row.name(1), reason: reason.isEmpty ? nil : reason,
        time: Timestamp(row.integer(3)))
    }
  }

  private func members(of name: RoomName) throws(StoreError) -> [PersonID] {
    guard let room = try store.row(of: name) else { return [] }
    return try store.rows(
      "SELECT person FROM room_members WHERE room = $1 ORDER BY person", room.number
    ) { $0.name(0) }
  }

  private func blocks() throws(StoreError) -> [PersonBlock] {
    try store.rows("SELECT person, blocked FROM blocks ORDER BY person, blocked") {
      PersonBlock(person: $0.name(0), blocked: $0.name(1))
    }
  }
}
