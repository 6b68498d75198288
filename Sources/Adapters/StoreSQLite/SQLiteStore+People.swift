import GatewayPorts
import StoreRecords

/// Receipts, membership, blocks and presence times of people in rooms.
extension SQLiteStore {
  func reply(to request: PeopleRequest) throws(StoreError) -> PeopleReply {
    switch request {
    case .receipt(let place, let receipt): return try note(receipt, of: place)
    case .receipts(let place): return try receipts(of: place)
    case .flag(let room, let flag):
      return try keep(flag, in: room)
    case .unflag(let place, let person):
      guard let room = try row(of: place.room) else { return .unknownPublication }
      try sql("DELETE FROM flags WHERE room = ? AND offset = ? AND person = ?").run(
        room.number, place.offset, person)
      return .done
    case .flags(let room, let limit): return .flags(try flags(in: room, limit: limit))
    case .member(let name, let person, let isMember):
      let room = try rowMade(for: name)
      try sql(
        isMember
          ? "INSERT OR IGNORE INTO room_members (room, person) VALUES (?, ?)"
          : "DELETE FROM room_members WHERE room = ? AND person = ?"
      ).run(room.number, person)
      return .done
    case .members(let room): return .members(try members(of: room))
    case .block(let block, let isBlocked):
      try sql(
        isBlocked
          ? "INSERT OR IGNORE INTO blocks (person, blocked) VALUES (?, ?)"
          : "DELETE FROM blocks WHERE person = ? AND blocked = ?"
      ).run(block.person, block.blocked)
      return .done
    case .blocks: return .blocks(try blocks())
    case .online(let people, let time):
      let upsert = try sql(
        """
        INSERT INTO last_online (person, time) VALUES (?, ?)
        ON CONFLICT (person) DO UPDATE SET time =
          CASE WHEN time - excluded.time > \(TimeOrder.pullMax) THEN excluded.time
          ELSE max(time, excluded.time) END
        """)
      for person in people { try upsert.run(person, time) }
      return .done
    case .lastOnline(let people):
      var times: [Timestamp?] = []
      for person in people { times.append(try lastOnline(person)) }
      return .lastOnline(times)
    }
  }

  /// A publication's room and author, if it is kept.
  private func author(
    of place: PublicationPlace
  ) throws(StoreError) -> (room: Int, person: PersonID?)? {
    guard let room = try row(of: place.room) else { return nil }
    return try sql("SELECT person FROM publications WHERE room = ? AND offset = ?").first(
      room.number, place.offset
    ) {
      (room.number, $0.optionalText(0))
    }
  }

  private func note(
    _ receipt: Receipt, of place: PublicationPlace
  ) throws(StoreError) -> PeopleReply {
    guard let (room, author) = try author(of: place) else { return .unknownPublication }
    if let known = try stage(room, place.offset, receipt.personID), known >= receipt.stage {
      return .receipt(
        Receipt(personID: receipt.personID, stage: known), author: author, isChanged: false)
    }
    try sql("INSERT OR REPLACE INTO receipts (room, offset, person, state) VALUES (?, ?, ?, ?)")
      .run(
        room, place.offset, receipt.personID, receipt.stage.number)
    if receipt.stage == .read {
      try noteRead(place.room, by: receipt.personID, through: place.offset)
    }
    return .receipt(receipt, author: author, isChanged: true)
  }

  private func stage(
    _ room: Int, _ offset: Int, _ person: PersonID
  ) throws(StoreError) -> ReceiptStage? {
    try sql("SELECT state FROM receipts WHERE room = ? AND offset = ? AND person = ?").first(
      room, offset, person
    ) { $0.integer(0) }
    .flatMap(ReceiptStage.init(number:))
  }

  private func receipts(of place: PublicationPlace) throws(StoreError) -> PeopleReply {
    guard let (room, author) = try author(of: place) else { return .unknownPublication }
    let receipts = try sql(
      "SELECT person, state FROM receipts WHERE room = ? AND offset = ? ORDER BY person"
    ).rows(room, place.offset) {
      row throws(StoreError) in
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
    try sql(
      "INSERT OR REPLACE INTO flags (room, offset, person, reason, time) VALUES (?, ?, ?, ?, ?)"
    ).run(room, flag.offset, flag.personID, flag.reason ?? "", flag.time)
    return .done
  }

  private func flags(in name: RoomName, limit: Int) throws(StoreError) -> [PublicationFlag] {
    guard let room = try row(of: name) else { return [] }
    return try sql(
      """
      SELECT offset, person, reason, time FROM flags WHERE room = ?
      ORDER BY offset DESC, person LIMIT ?
      """
    ).rows(room.number, limit) { row in
      let reason = row.text(2)
      return PublicationFlag(
        offset: row.integer(0), personID: row.text(1), reason: reason.isEmpty ? nil : reason,
        time: Timestamp(row.integer(3)))
    }
  }

  private func members(of name: RoomName) throws(StoreError) -> [PersonID] {
    guard let room = try row(of: name) else { return [] }
    return try sql("SELECT person FROM room_members WHERE room = ? ORDER BY person").rows(
      room.number
    ) { $0.text(0) }
  }

  private func blocks() throws(StoreError) -> [PersonBlock] {
    try sql("SELECT person, blocked FROM blocks ORDER BY person, blocked").rows {
      PersonBlock(person: $0.text(0), blocked: $0.text(1))
    }
  }

  private func lastOnline(_ person: PersonID) throws(StoreError) -> Timestamp? {
    try sql("SELECT time FROM last_online WHERE person = ?").first(person) {
      Timestamp($0.integer(0))
    }
  }
}
