import GatewayPorts

/// Rooms' histories: publishing, and reading back with every record verified.
extension SQLiteStore {
  func reply(to request: RoomRequest) throws(StoreError) -> RoomReply {
    switch request {
    case .publish(let name, let draft, let memory, let keyAge):
      return try publish(draft, in: name, memory, keyAge: keyAge)
    case .page(let name, let range, let limit, let bytesMax, let memory, let now):
      roomTime = max(roomTime, now)
      return .page(
        try page(of: name, range, limit: limit, bytesMax: bytesMax, memory, now: now))
    case .recover(let name, let position, let limit, let bytesMax, let memory, let now):
      roomTime = max(roomTime, now)
      return .recovery(
        try recover(name, from: position, limit: limit, bytesMax: bytesMax, memory, now: now))
    case .renewEpoch(let name, let from, let to):
      var row = try rowMade(for: name)
      if from.utf8.elementsEqual(row.epoch.utf8) {
        row.epoch = to
        try write(row)
      }
      return .recovery(RoomRecovery(head: row.position, missed: nil))
    }
  }

  // MARK: Publishing

  private func publish(
    _ draft: PublicationDraft, in name: RoomName, _ memory: RoomMemory, keyAge: Timestamp
  ) throws(StoreError) -> RoomReply {
    roomTime = max(roomTime, draft.publication.time)
    var row = try rowMade(for: name)
    var publication = draft.publication
    // One order of times too, whatever is done to the machine's clock.
    publication.time = max(publication.time, row.time)
    publication.offset = row.head + 1
    if let key = draft.key {
      if let earlier = try reply(to: publication, under: key, in: row) { return earlier }
      let digest = hasher.digest(of: publication, key: key)
      roomStatements.upsertKey.bind(1, row.number)
      roomStatements.upsertKey.bind(2, key)
      roomStatements.upsertKey.bind(3, publication.offset)
      roomStatements.upsertKey.bind(4, Int(publication.time))
      roomStatements.upsertKey.bind(5, digest.bytes)
      roomStatements.upsertKey.bind(6, Int(Self.expiry(publication.time, keyAge)))
      try roomStatements.upsertKey.run()
    }
    if memory.publicationsMax > 0 {
      roomStatements.insertPublication.bind(1, row.number)
      roomStatements.insertPublication.bind(2, publication.offset)
      roomStatements.insertPublication.bind(3, Int(publication.time))
      roomStatements.insertPublication.bind(4, Int(Self.expiry(publication.time, memory.ageMax)))
      roomStatements.insertPublication.bind(5, optional: publication.person)
      roomStatements.insertPublication.bind(6, optional: publication.senderID)
      roomStatements.insertPublication.bind(7, publication.data)
      roomStatements.insertPublication.bind(
        8, hasher.checksum(of: publication, room: row.number).bytes)
      try roomStatements.insertPublication.run()
    }
    row.head = publication.offset
    row.time = publication.time
    roomStatements.deleteThrough.bind(1, row.number)
    roomStatements.deleteThrough.bind(2, row.head - max(memory.publicationsMax, 0))
    try roomStatements.deleteThrough.run()
    try write(row)
    return .published(row.position, time: publication.time, isRepeated: false)
  }

  /// What became of the publication that had this key before.
  private func reply(
    to publication: Publication, under key: String, in row: RoomRow
  ) throws(StoreError) -> RoomReply? {
    defer { roomStatements.selectKey.reset() }
    roomStatements.selectKey.bind(1, row.number)
    roomStatements.selectKey.bind(2, key)
    roomStatements.selectKey.bind(3, Int(publication.time))
    guard try roomStatements.selectKey.step() else { return nil }
    let digest = hasher.digest(of: publication, key: key)
    guard roomStatements.selectKey.withBytes(2, { RecordChecksum($0) }) == digest else {
      return .keyReused
    }
    return .published(
      RoomPosition(epoch: row.epoch, offset: roomStatements.selectKey.integer(0)),
      time: Timestamp(roomStatements.selectKey.integer(1)), isRepeated: true)
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
        of: row, roomStatements.selectAfter, after: offset, before: .max, limit: limit + 1,
        memory, now: now)
      let hasGap = offset < row.head && found.first?.offset != offset + 1
      let hasMore = Self.cut(&found, limit: limit, bytesMax: bytesMax)
      return RoomPage(head: row.position, publications: found, hasGap: hasGap, hasMore: hasMore)
    case .newest, .before:
      var end = Int.max
      if case .before(let offset) = range { end = offset }
      var found = try publications(
        of: row, roomStatements.selectBefore, after: 0, before: end, limit: limit + 1, memory,
        now: now)
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
      bytes += publication.data.count
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
      of: row, roomStatements.selectAfter, after: position.offset, before: .max, limit: count,
      memory, now: now)
    // All or nothing: a part would look like the whole.
    let bytes = found.reduce(0) { $0 + $1.data.count }
    return RoomRecovery(
      head: head, missed: found.count == count && bytes <= bytesMax ? found : nil)
  }

  private func publications(
    of row: RoomRow, _ statement: SQLiteStatement, after: Int, before: Int, limit: Int,
    _ memory: RoomMemory, now: Timestamp
  ) throws(StoreError) -> [Publication] {
    defer { statement.reset() }
    statement.bind(1, row.number)
    statement.bind(2, max(after, row.head - max(memory.publicationsMax, 0)))
    statement.bind(3, before)
    statement.bind(4, Int(now.subtractingReportingOverflow(memory.ageMax).partialValue))
    statement.bind(5, limit)
    var publications: [Publication] = []
    while try statement.step() { publications.append(try publication(statement, in: row)) }
    return publications
  }

  private func publication(
    _ statement: SQLiteStatement, in row: RoomRow
  ) throws(StoreError) -> Publication {
    let publication = Publication(
      offset: statement.integer(0), time: Timestamp(statement.integer(1)),
      person: statement.optionalText(2), senderID: statement.optionalText(3),
      data: statement.bytes(4))
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

  /// Where a room without a row stands.
  private func standing(of name: RoomName) throws(StoreError) -> RoomPosition {
    RoomPosition(epoch: try firstEpoch(), offset: 0)
  }

  private func firstEpoch() throws(StoreError) -> String {
    defer { roomStatements.selectEpoch.reset() }
    guard try roomStatements.selectEpoch.step() else {
      throw .damaged("the rooms' epoch is missing; \(damageAdvice)")
    }
    return roomStatements.selectEpoch.text(0)
  }

  func row(of name: RoomName) throws(StoreError) -> RoomRow? {
    defer { roomStatements.selectRoom.reset() }
    roomStatements.selectRoom.bind(1, name)
    guard try roomStatements.selectRoom.step() else { return nil }
    return try row(roomStatements.selectRoom)
  }

  /// A room's row, made if there is none.
  func rowMade(for name: RoomName) throws(StoreError) -> RoomRow {
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
    roomStatements.insertRoom.bind(1, name)
    roomStatements.insertRoom.bind(2, epoch)
    try roomStatements.insertRoom.run()
    let row = RoomRow(
      number: connection.lastInsertedKey, name: name, epoch: epoch, head: 0, time: 0)
    try write(row)
    return row
  }

  private func write(_ row: RoomRow) throws(StoreError) {
    roomStatements.updateRoom.bind(1, row.number)
    roomStatements.updateRoom.bind(2, row.epoch)
    roomStatements.updateRoom.bind(3, row.head)
    roomStatements.updateRoom.bind(4, Int(row.time))
    roomStatements.updateRoom.bind(5, hasher.checksum(of: row).bytes)
    try roomStatements.updateRoom.run()
  }

  private func rooms() throws(StoreError) -> [RoomRow] {
    defer { roomStatements.selectRooms.reset() }
    var rows: [RoomRow] = []
    while try roomStatements.selectRooms.step() { rows.append(try row(roomStatements.selectRooms)) }
    return rows
  }

  // MARK: Housekeeping

  /// Whether it is time to look for what has expired; reading hides it in any case.
  var hasExpiredPublications: Bool { roomTime - roomSweepTime >= 60_000 }

  /// Removes some of what has expired.
  func removeExpiredPublications() throws(StoreError) {
    roomStatements.deleteExpired.bind(1, Int(roomTime))
    try roomStatements.deleteExpired.run()
    var isDone = connection.changedRows == 0
    roomStatements.deleteExpiredKeys.bind(1, Int(roomTime))
    try roomStatements.deleteExpiredKeys.run()
    isDone = isDone && connection.changedRows == 0
    try peopleStatements.deleteOldReceipts.run()
    isDone = isDone && connection.changedRows == 0
    if isDone { roomSweepTime = roomTime }
  }

  /// Gives every room another epoch.
  func renewRoomEpochs(_ names: some NameSource) throws(StoreError) {
    roomStatements.updateEpoch.bind(1, names.next())
    try roomStatements.updateEpoch.run()
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
            of: row, roomStatements.selectAfter, after: offset, before: .max, limit: 500,
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
