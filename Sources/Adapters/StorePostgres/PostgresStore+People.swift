import GatewayPorts
import StoreRecords

/// Receipts, membership, blocks and presence times of people in rooms.
extension PostgresStore {
  func reply(to request: PeopleRequest) throws(StoreError) -> PeopleReply {
    switch request {
    case .receipt(let place, let receipt): return try note(receipt, of: place)
    case .receipts(let place): return try receipts(of: place)
    case .flag(let room, let flag):
      return try keep(flag, in: room)
    case .unflag(let place, let person):
      guard let room = try row(of: place.room) else { return .unknownPublication }
      change(
        #"DELETE FROM parley.flags WHERE room = $1 AND "offset" = $2 AND person = $3"#, room.number,
        place.offset, person)
      return .done
    case .flags(let room, let limit): return .flags(try flags(in: room, limit: limit))
    case .member(let name, let person, let isMember):
      let room = try rowMade(for: name)
      change(
        isMember
          ? """
          INSERT INTO parley.room_members (room, person) VALUES ($1, $2) ON CONFLICT DO NOTHING
          """ : "DELETE FROM parley.room_members WHERE room = $1 AND person = $2", room.number,
        person)
      return .done
    case .members(let room): return .members(try members(of: room))
    case .block(let block, let isBlocked):
      change(
        isBlocked
          ? "INSERT INTO parley.blocks (person, blocked) VALUES ($1, $2) ON CONFLICT DO NOTHING"
          : "DELETE FROM parley.blocks WHERE person = $1 AND blocked = $2", block.person,
        block.blocked)
      return .done
    case .blocks: return .blocks(try blocks())
    case .online(let people, let time):
      // In one order: two nodes may name the same people at once.
      change(
        """
        INSERT INTO parley.last_online AS l (person, time)
        SELECT DISTINCT p.person, $2::bigint FROM unnest($1) AS p(person) ORDER BY 1
        ON CONFLICT (person) DO UPDATE SET time =
          CASE WHEN l.time::numeric - excluded.time > \(TimeOrder.pullMax) THEN excluded.time
          ELSE greatest(l.time, excluded.time) END
        """, people, time)
      return .done
    case .lastOnline(let people):
      let found = try query(
        "SELECT person, time FROM parley.last_online WHERE person = ANY ($1)", people
      ).rows { (Array($0.text(0).utf8), Timestamp($0.integer(1))) }
      let times = Dictionary(found) { $1 }
      return .lastOnline(people.map { times[Array($0.utf8)] })
    }
  }

  /// A publication's room and author, if it is kept.
  private func author(
    of place: PublicationPlace
  ) throws(StoreError) -> (room: Int, person: PersonID?)? {
    guard let room = try row(of: place.room) else { return nil }
    return try query(
      #"SELECT person FROM parley.publications WHERE room = $1 AND "offset" = $2"#, room.number,
      place.offset
    ).first.map { (room.number, $0.optionalText(0)) }
  }

  private func note(
    _ receipt: Receipt, of place: PublicationPlace
  ) throws(StoreError) -> PeopleReply {
    guard let (room, author) = try author(of: place) else { return .unknownPublication }
    let known = try query(
      """
      SELECT state FROM parley.receipts WHERE room = $1 AND "offset" = $2 AND person = $3
      """, room, place.offset, receipt.personID
    ).first.flatMap { ReceiptStage(number: $0.integer(0)) }
    if let known, known >= receipt.stage {
      return .receipt(
        Receipt(personID: receipt.personID, stage: known), author: author, isChanged: false)
    }
    change(
      """
      INSERT INTO parley.receipts (room, "offset", person, state) VALUES ($1, $2, $3, $4)
      ON CONFLICT (room, "offset", person) DO UPDATE SET state = excluded.state
      """, room, place.offset, receipt.personID, receipt.stage.number)
    if receipt.stage == .read {
      noteRead(place.room, by: receipt.personID, through: place.offset)
    }
    return .receipt(receipt, author: author, isChanged: true)
  }

  private func receipts(of place: PublicationPlace) throws(StoreError) -> PeopleReply {
    guard let (room, author) = try author(of: place) else { return .unknownPublication }
    let receipts = try query(
      """
      SELECT person, state FROM parley.receipts WHERE room = $1 AND "offset" = $2 ORDER BY person
      """, room, place.offset
    ).rows { row throws(StoreError) in
      guard let stage = ReceiptStage(number: row.integer(1)) else {
        throw .damaged("a receipt has an unknown stage; \(damageAdvice)")
      }
      return Receipt(personID: row.text(0), stage: stage)
    }
    return .receipts(receipts, author: author)
  }

  private func keep(
    _ flag: PublicationFlag, in name: RoomName
  ) throws(StoreError) -> PeopleReply {
    let place = PublicationPlace(room: name, offset: flag.offset)
    guard let (room, _) = try author(of: place) else { return .unknownPublication }
    change(
      """
      INSERT INTO parley.flags (room, "offset", person, reason, time) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (room, "offset", person) DO UPDATE SET reason = excluded.reason,
        time = excluded.time
      """, room, flag.offset, flag.personID, flag.reason ?? "", flag.time)
    return .done
  }

  private func flags(in name: RoomName, limit: Int) throws(StoreError) -> [PublicationFlag] {
    guard let room = try row(of: name) else { return [] }
    return try query(
      """
      SELECT "offset", person, reason, time FROM parley.flags WHERE room = $1
      ORDER BY "offset" DESC, person LIMIT $2
      """, room.number, max(limit, 0)
    ).rows { row in
      let reason = row.text(2)
      return PublicationFlag(
        offset: row.integer(0), personID: row.text(1), reason: reason.isEmpty ? nil : reason,
        time: Timestamp(row.integer(3)))
    }
  }

  private func members(of name: RoomName) throws(StoreError) -> [PersonID] {
    guard let room = try row(of: name) else { return [] }
    return try query(
      "SELECT person FROM parley.room_members WHERE room = $1 ORDER BY person", room.number
    ).rows { $0.text(0) }
  }

  private func blocks() throws(StoreError) -> [PersonBlock] {
    try query("SELECT person, blocked FROM parley.blocks ORDER BY person, blocked").rows {
      PersonBlock(person: $0.text(0), blocked: $0.text(1))
    }
  }
}
