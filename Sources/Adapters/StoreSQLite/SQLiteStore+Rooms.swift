public import GatewayPorts
import JSON
package import StoreRecords

/// Rooms' histories: publishing, and reading back with every record verified.
extension SQLiteStore {
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
        try write(row)
      }
      return .recovery(RoomRecovery(head: row.position, missed: nil))
    case .heads(let names):
      var heads: [RoomHead] = []
      for name in names {
        if let row = try row(of: name) {
          heads.append(RoomHead(position: row.position, time: row.time))
        } else {
          heads.append(RoomHead(position: try standing(of: name), time: 0))
        }
      }
      return .heads(heads)
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
      let digest = hasher.digest(of: publication, key: key)
      try sql(
        """
        INSERT OR REPLACE INTO publication_keys (room, key, offset, time, digest, expires)
        VALUES (?, ?, ?, ?, ?, ?)
        """
      ).run(
        row.number, key, publication.offset, publication.time, digest,
        Self.expiry(publication.time, keyAge))
    }
    if memory.publicationsMax > 0 {
      try sql(
        """
        INSERT INTO publications (room, offset, time, expires, person, sender, data, checksum)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
      ).run(
        row.number, publication.offset, publication.time,
        Self.expiry(publication.time, memory.ageMax), publication.personID, publication.senderID,
        Blob(publication.data.utf8), hasher.checksum(of: publication, room: row.number))
    }
    row.head = publication.offset
    row.time = publication.time
    try sql("DELETE FROM publications WHERE room = ? AND offset <= ?").run(
      row.number, row.head - max(memory.publicationsMax, 0))
    try write(row)
    if let author = publication.personID {
      try noteRead(name, by: author, through: row.head)
    }
    return .published(row.position, time: publication.time, isRepeated: false)
  }

  /// The reply to the earlier publication with this key.
  private func reply(
    to publication: Publication, under key: String, in row: RoomRow
  ) throws(StoreError) -> RoomReply? {
    try sql(
      """
      SELECT offset, time, digest FROM publication_keys
      WHERE room = ? AND key = ? AND expires > ?
      """
    ).first(row.number, key, publication.time) { earlier in
      let digest = hasher.digest(of: publication, key: key)
      guard earlier.withBytes(2, { RecordChecksum($0) }) == digest else { return .keyReused }
      return .published(
        RoomPosition(epoch: row.epoch, offset: earlier.integer(0)),
        time: Timestamp(earlier.integer(1)), isRepeated: true)
    }
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
        of: row, after: offset, before: .max, limit: limit + 1,
        memory, now: now)
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
      of: row, after: position.offset, before: .max, limit: count,
      memory, now: now)
    // All or nothing: a part would look like the whole.
    let bytes = found.reduce(0) { $0 + $1.data.utf8.count }
    return RoomRecovery(
      head: head, missed: found.count == count && bytes <= bytesMax ? found : nil)
  }

  private func publications(
    of row: RoomRow, after: Int, before: Int, newestFirst: Bool = false, limit: Int,
    _ memory: RoomMemory, now: Timestamp
  ) throws(StoreError) -> [Publication] {
    try sql(newestFirst ? Self.selectNewest : Self.selectOldest).rows(
      row.number, max(after, row.head - max(memory.publicationsMax, 0)), before,
      now.subtractingReportingOverflow(memory.ageMax).partialValue, limit
    ) { statement throws(StoreError) in try publication(statement, in: row) }
  }

  // Put together once: rooms are read often.
  private static let selectOldest = selectPublications + " ORDER BY offset LIMIT ?5"
  private static let selectNewest = selectPublications + " ORDER BY offset DESC LIMIT ?5"
  private static let selectPublications = """
    SELECT offset, time, person, sender, data, checksum FROM publications
    WHERE room = ?1 AND offset > ?2 AND offset < ?3 AND time > ?4
    """

  private func publication(
    _ statement: SQLiteStatement, in row: RoomRow
  ) throws(StoreError) -> Publication {
    let publication = Publication(
      offset: statement.integer(0), time: Timestamp(statement.integer(1)),
      personID: statement.optionalText(2), senderID: statement.optionalText(3),
      data: JSONValue(trusted: statement.bytes(4)))
    guard
      statement.withBytes(5, { RecordChecksum($0) })
        == hasher.checksum(of: publication, room: row.number)
    else {
      throw .damaged(
        "the publication at offset \(publication.offset) differs from its checksum; "
          + damageAdvice)
    }
    return publication
  }

  // MARK: Rows

  /// The position of a room that has no row.
  private func standing(of name: RoomName) throws(StoreError) -> RoomPosition {
    RoomPosition(epoch: try firstEpoch(), offset: 0)
  }

  private func firstEpoch() throws(StoreError) -> String {
    guard let epoch = try sql("SELECT epoch FROM room_epoch").first(read: { $0.text(0) }) else {
      throw .damaged("the rooms' epoch is missing; \(damageAdvice)")
    }
    return epoch
  }

  package func row(of name: RoomName) throws(StoreError) -> RoomRow? {
    try sql("SELECT number, name, epoch, head, time, checksum FROM rooms WHERE name = ?")
      .first(name) { found throws(StoreError) in try row(found) }
  }

  /// A room's row, made if there is none.
  package func rowMade(for name: RoomName) throws(StoreError) -> RoomRow {
    if let row = try row(of: name) { return row }
    return try makeRoom(name)
  }

  private func row(_ statement: SQLiteStatement) throws(StoreError) -> RoomRow {
    let row = RoomRow(
      number: statement.integer(0), name: statement.text(1), epoch: statement.text(2),
      head: statement.integer(3), time: Timestamp(statement.integer(4)))
    guard statement.withBytes(5, { RecordChecksum($0) }) == hasher.checksum(of: row) else {
      throw .damaged("a room's record differs from its checksum; \(damageAdvice)")
    }
    return row
  }

  private func makeRoom(_ name: RoomName) throws(StoreError) -> RoomRow {
    let epoch = try firstEpoch()
    try sql("INSERT INTO rooms (name, epoch, head, time, checksum) VALUES (?, ?, 0, 0, x'')").run(
      name, epoch)
    let row = RoomRow(
      number: connection.lastInsertedKey, name: name, epoch: epoch, head: 0, time: 0)
    try write(row)
    return row
  }

  private func write(_ row: RoomRow) throws(StoreError) {
    try sql("UPDATE rooms SET epoch = ?2, head = ?3, time = ?4, checksum = ?5 WHERE number = ?1")
      .run(
        row.number, row.epoch, row.head, row.time, hasher.checksum(of: row))
  }

  private func rooms() throws(StoreError) -> [RoomRow] {
    try sql("SELECT number, name, epoch, head, time, checksum FROM rooms ORDER BY number")
      .rows { found throws(StoreError) in try row(found) }
  }

  // MARK: Housekeeping

  /// Removes the records of rooms that hold nothing and in which nothing was published for long.
  ///
  /// Such a room begins anew if it is used again. No position of it may come twice, so rooms without
  /// a record get another epoch then; whoever comes back to one with a position of before is told
  /// that it is not known any more. That is why it is done before anybody is connected.
  ///
  /// - Parameter time: The last publication is to be older than this.
  /// - Returns: How many were removed.
  /// - Complexity: O(*n*) rooms.
  @discardableResult
  public func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int {
    let rooms = try sql(
      """
      SELECT number FROM rooms WHERE time < ?
        AND NOT EXISTS (SELECT 1 FROM publications WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM publication_keys WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM room_members WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM receipts WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM flags WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM likes WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM chat_groups WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM read_marks WHERE room = number)
      """
    ).rows(time) { $0.integer(0) }
    guard !rooms.isEmpty else { return 0 }
    try transaction { () throws(StoreError) in
      for room in rooms { try sql("DELETE FROM rooms WHERE number = ?").run(room) }
      try sql("UPDATE room_epoch SET epoch = ?").run(freshName())
    }
    return rooms.count
  }

  /// Gives every room another epoch.
  func renewRoomEpochs(_ names: some NameSource) throws(StoreError) {
    try sql("UPDATE room_epoch SET epoch = ?").run(names.next())
    for row in try rooms() {
      var row = row
      row.epoch = names.next()
      try write(row)
    }
  }

  /// Reads every room and every publication.
  func checkRooms(_ findings: inout StoreFindings) throws(StoreError) {
    _ = try firstEpoch()
    let rows: [RoomRow]
    do throws(StoreError) {
      rows = try rooms()
    } catch {
      findings.add(nil, error)
      return
    }
    let everything = RoomMemory(publicationsMax: .max, ageMax: 0)
    for row in rows {
      do throws(StoreError) {
        var offset = 0
        while true {
          let some = try publications(
            of: row, after: offset, before: .max, limit: 500,
            everything, now: .min)
          guard let last = some.last else { break }
          findings.publications += some.count
          offset = last.offset
        }
        if offset > row.head {
          findings.add(nil, "a room has publications beyond its head; \(damageAdvice)")
        }
      } catch {
        findings.add(nil, error)
      }
    }
    let orphans = try texts(
      """
      SELECT DISTINCT room FROM publications WHERE room NOT IN (SELECT number FROM rooms)
      """)
    if !orphans.isEmpty {
      findings.add(
        nil, "publications of \(orphans.count) rooms without a record; \(damageAdvice)")
    }
  }
}
