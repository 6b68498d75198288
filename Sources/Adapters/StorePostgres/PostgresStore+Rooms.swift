public import GatewayPorts
import Hashing
import JSON
package import StoreRecords

/// Rooms' histories: publishing, and reading back with every record verified.
extension PostgresStore {
  package func reply(to request: RoomRequest) throws(StoreError) -> RoomReply {
    switch request {
    case .publish(let name, let draft, let memory, let keyAge):
      return try publish(draft, in: name, memory, keyAge: keyAge)
    case .page(let name, let range, let limit, let bytesMax, let memory, let now):
      noteRoomTime(now)
      return .page(
        try page(of: name, range, limit: limit, bytesMax: bytesMax, memory, now: now))
    case .recover(let name, let position, let limit, let bytesMax, let memory, let now):
      noteRoomTime(now)
      return .recovery(
        try recover(name, from: position, limit: limit, bytesMax: bytesMax, memory, now: now))
    case .renewEpoch(let name, let from, let to):
      var row = try rowMade(for: name)
      if from.utf8.elementsEqual(row.epoch.utf8) {
        row.epoch = to
        write(row)
      }
      return .recovery(RoomRecovery(head: row.position, missed: nil))
    case .heads(let names):
      return .heads(try roomHeads(names))
    }
  }

  // MARK: Publishing

  private func publish(
    _ draft: PublicationDraft, in name: RoomName, _ memory: RoomMemory, keyAge: Timestamp
  ) throws(StoreError) -> RoomReply {
    noteRoomTime(draft.publication.time)
    var row = try rowMade(for: name)
    var publication = draft.publication
    // One order of times too, unless the clock was far ahead.
    if TimeOrder.isSetBack(from: row.time, to: publication.time) {
      try redate(room: row.number, now: publication.time)
    }
    publication.time = TimeOrder.following(row.time, publication.time)
    publication.offset = row.head + 1
    if let key = draft.key {
      if let earlier = try reply(to: publication, under: key, in: row) { return earlier }
      change(
        """
        INSERT INTO parley.publication_keys (room, key, "offset", time, digest, expires)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (room, key) DO UPDATE SET "offset" = excluded."offset", time = excluded.time,
          digest = excluded.digest, expires = excluded.expires
        """, row.number, key, publication.offset, publication.time,
        hasher.digest(of: publication, key: key), Self.expiry(publication.time, keyAge))
    }
    if memory.publicationsMax > 0 {
      change(
        """
        INSERT INTO parley.publications (room, "offset", time, expires, person, sender, data,
          checksum)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """, row.number, publication.offset, publication.time,
        Self.expiry(publication.time, memory.ageMax), publication.personID, publication.senderID,
        Blob(publication.data.utf8), hasher.checksum(of: publication, room: row.number))
    }
    row.head = publication.offset
    row.time = publication.time
    if let author = publication.personID { try noteRead(name, by: author, through: row.head) }
    change(
      #"DELETE FROM parley.publications WHERE room = $1 AND "offset" <= $2"#, row.number,
      row.head - max(memory.publicationsMax, 0))
    write(row)
    return .published(row.position, time: publication.time, isRepeated: false)
  }

  /// The reply to the earlier publication with this key.
  private func reply(
    to publication: Publication, under key: String, in row: RoomRow
  ) throws(StoreError) -> RoomReply? {
    let found = try query(
      """
      SELECT "offset", time, digest FROM parley.publication_keys
      WHERE room = $1 AND key = $2 AND expires > $3
      """, row.number, key, publication.time)
    guard let earlier = found.first else { return nil }
    let digest = hasher.digest(of: publication, key: key)
    guard earlier.withBytes(2, { RecordChecksum($0) }) == digest else { return .keyReused }
    return .published(
      RoomPosition(epoch: row.epoch, offset: earlier.integer(0)),
      time: Timestamp(earlier.integer(1)), isRepeated: true)
  }

  private static func expiry(_ time: Timestamp, _ age: Timestamp) -> Timestamp {
    let (sum, overflow) = time.addingReportingOverflow(age)
    return overflow ? .max : sum
  }

  // MARK: Reading

  private func page(
    of name: RoomName, _ range: RoomRange, limit: Int, bytesMax: Int, _ memory: RoomMemory,
    now: Timestamp
  ) throws(StoreError) -> RoomPage {
    guard let row = try row(of: name) else {
      return RoomPage(
        head: try standing(of: name), publications: [], hasGap: false, hasMore: false)
    }
    let limit = max(limit, 1)
    switch range {
    case .since(let offset):
      let offset = max(offset, 0)
      var found = try publications(
        of: row, after: offset, before: .max, limit: limit + 1, memory, now: now)
      let hasGap = offset < row.head && found.first?.offset != offset + 1
      let hasMore = Self.cut(&found, limit: limit, bytesMax: bytesMax)
      return RoomPage(head: row.position, publications: found, hasGap: hasGap, hasMore: hasMore)
    case .newest, .before:
      var end = Int.max
      if case .before(let offset) = range { end = offset }
      var found = try publications(
        of: row, after: 0, before: end, newestFirst: true, limit: limit + 1, memory, now: now)
      let hasMore = Self.cut(&found, limit: limit, bytesMax: bytesMax)
      return RoomPage(
        head: row.position, publications: found.reversed(), hasGap: false, hasMore: hasMore)
    }
  }

  /// Leaves as many as a page may have, and at least one; whether any were too many.
  private static func cut(_ found: inout [Publication], limit: Int, bytesMax: Int) -> Bool {
    var bytes = 0
    var count = 0
    for publication in found.prefix(limit) {
      bytes += publication.data.utf8.count
      if count > 0, bytes > bytesMax { break }
      count += 1
    }
    defer { found.removeLast(found.count - count) }
    return count < found.count
  }

  private func recover(
    _ name: RoomName, from position: RoomPosition?, limit: Int, bytesMax: Int,
    _ memory: RoomMemory, now: Timestamp
  ) throws(StoreError) -> RoomRecovery {
    let row = try row(of: name)
    let head: RoomPosition
    if let row { head = row.position } else { head = try standing(of: name) }
    guard let position, position.epoch.utf8.elementsEqual(head.epoch.utf8),
      (0...head.offset).contains(position.offset)
    else { return RoomRecovery(head: head, missed: nil) }
    let count = head.offset - position.offset
    guard let row, count > 0 else { return RoomRecovery(head: head, missed: []) }
    guard count <= limit, count <= memory.publicationsMax else {
      return RoomRecovery(head: head, missed: nil)
    }
    let found = try publications(
      of: row, after: position.offset, before: .max, limit: count, memory, now: now)
    // All or nothing: a part would look like the whole.
    let bytes = found.reduce(0) { $0 + $1.data.utf8.count }
    return RoomRecovery(
      head: head, missed: found.count == count && bytes <= bytesMax ? found : nil)
  }

  func publications(
    of row: RoomRow, after: Int, before: Int, newestFirst: Bool = false, limit: Int,
    _ memory: RoomMemory, now: Timestamp
  ) throws(StoreError) -> [Publication] {
    try query(
      newestFirst ? Self.selectNewest : Self.selectOldest, row.number,
      max(after, row.head - max(memory.publicationsMax, 0)), before,
      now.subtractingReportingOverflow(memory.ageMax).partialValue, limit
    ).rows { found throws(StoreError) in try publication(found, in: row) }
  }

  // Put together once: rooms are read often.
  private static let selectOldest = selectPublications + #" ORDER BY "offset" LIMIT $5"#
  private static let selectNewest = selectPublications + #" ORDER BY "offset" DESC LIMIT $5"#
  private static let selectPublications = """
    SELECT "offset", time, person, sender, data, checksum FROM parley.publications
    WHERE room = $1 AND "offset" > $2 AND "offset" < $3 AND time > $4
    """

  private func publication(
    _ found: PostgresRow, in row: RoomRow
  ) throws(StoreError) -> Publication {
    let publication = Publication(
      offset: found.integer(0), time: Timestamp(found.integer(1)),
      personID: found.optionalText(2), senderID: found.optionalText(3),
      data: JSONValue(trusted: found.bytes(4)))
    guard
      found.withBytes(5, { RecordChecksum($0) })
        == hasher.checksum(of: publication, room: row.number)
    else {
      throw .damaged(
        "the publication at offset \(publication.offset) differs from its checksum; "
          + damageAdvice)
    }
    return publication
  }

  /// The heads of many rooms, in one statement.
  private func roomHeads(_ names: [RoomName]) throws(StoreError) -> [RoomHead] {
    let found = try query(Self.selectRooms + " WHERE name = ANY ($1)", names)
      .rows { row throws(StoreError) in
        let room = try readRoom(row)
        return (Array(room.name.utf8), RoomHead(position: room.position, time: room.time))
      }
    let heads = Dictionary(found) { $1 }
    let none = RoomHead(position: RoomPosition(epoch: try firstEpoch(), offset: 0), time: 0)
    return names.map { heads[Array($0.utf8)] ?? none }
  }

  // MARK: Rows

  /// The position of a room that has no row.
  private func standing(of name: RoomName) throws(StoreError) -> RoomPosition {
    RoomPosition(epoch: try firstEpoch(), offset: 0)
  }

  func firstEpoch() throws(StoreError) -> String {
    guard let row = try query("SELECT epoch FROM parley.room_epoch").first else {
      throw .damaged("the rooms' epoch is missing; \(damageAdvice)")
    }
    return row.text(0)
  }

  static let selectRooms = "SELECT number, name, epoch, head, time, checksum FROM parley.rooms"

  package func row(of name: RoomName) throws(StoreError) -> RoomRow? {
    if let known = rooms[ExactName(name)] { return known }
    let row = try query(Self.selectRooms + " WHERE name = $1", name).first.map(readRoom)
    rooms[ExactName(name)] = .some(row)
    return row
  }

  /// A room's row, which was made with the locks if there was none.
  package func rowMade(for name: RoomName) throws(StoreError) -> RoomRow {
    guard let row = try row(of: name) else {
      throw .unavailable("another node removed the room's record meanwhile; send again")
    }
    return row
  }

  func readRoom(_ found: PostgresRow) throws(StoreError) -> RoomRow {
    let row = RoomRow(
      number: found.integer(0), name: found.text(1), epoch: found.text(2),
      head: found.integer(3), time: Timestamp(found.integer(4)))
    let isNew = found.withBytes(5) { $0.isEmpty } && row.head == 0
    guard isNew || found.withBytes(5, { RecordChecksum($0) }) == hasher.checksum(of: row) else {
      throw .damaged("a room's record differs from its checksum; \(damageAdvice)")
    }
    return row
  }

  private func write(_ row: RoomRow) {
    change(
      "UPDATE parley.rooms SET epoch = $2, head = $3, time = $4, checksum = $5 WHERE number = $1",
      row.number, row.epoch, row.head, row.time, hasher.checksum(of: row))
    rooms[ExactName(row.name)] = row
  }

  // MARK: Housekeeping

  /// Removes the records of rooms that hold nothing and in which nothing was published for long;
  /// never while others work with the database, for somebody may be connected there.
  ///
  /// - Returns: How many were removed.
  @discardableResult
  public func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int {
    guard sharing != .reading else { return 0 }
    return try transaction { () throws(StoreError) in
      // Each node holds this lock shared, this one too: it is had alone by the first to come. Who
      // comes meanwhile waits for it.
      let isFirst = try query(
        """
        SELECT pg_try_advisory_xact_lock(\(PostgresSchema.lockSpace),
          \(PostgresSchema.Lock.store.rawValue))
        """)
      guard isFirst.first?.bool(0) == true else { return 0 }
      let removed = try query(
        """
        DELETE FROM parley.rooms r WHERE r.time < $1
          AND NOT EXISTS (SELECT 1 FROM parley.publications WHERE room = r.number)
          AND NOT EXISTS (SELECT 1 FROM parley.publication_keys WHERE room = r.number)
          AND NOT EXISTS (SELECT 1 FROM parley.room_members WHERE room = r.number)
          AND NOT EXISTS (SELECT 1 FROM parley.receipts WHERE room = r.number)
          AND NOT EXISTS (SELECT 1 FROM parley.flags WHERE room = r.number)
          AND NOT EXISTS (SELECT 1 FROM parley.likes WHERE room = r.number)
          AND NOT EXISTS (SELECT 1 FROM parley.chat_groups WHERE room = r.number)
          AND NOT EXISTS (SELECT 1 FROM parley.read_marks WHERE room = r.number)
        """, time
      ).changedRows
      if removed > 0 { change("UPDATE parley.room_epoch SET epoch = $1", freshName()) }
      return removed
    }
  }
}
