package import ParleyGatewayPorts
import ParleyJSON

// Static, since rooms are read often.
private let selectOldest = selectPublications + #" ORDER BY "offset" LIMIT $5"#
private let selectNewest = selectPublications + #" ORDER BY "offset" DESC LIMIT $5"#
private let selectPublications = """
  SELECT "offset", time, person, sender, data, checksum, changes FROM publications
  WHERE room = $1 AND "offset" > $2 AND "offset" < $3 AND time > $4
  """

/// Histories of rooms: publishing, and reading with every record verified.
package struct RoomRules<Store: RoomTable> {
  let store: Store
  private var times: RoomTimes<Store> { RoomTimes(store: store) }
  private var records: RoomRecords<Store> { RoomRecords(store: store) }
  private var groups: GroupRules<Store> { GroupRules(store: store) }
  private var values: ValueRules<Store> { ValueRules(store: store) }

  package init(store: Store) { self.store = store }

  func reply(to request: RoomRequest) throws(StoreError) -> RoomReply {
    switch request {
    case .publish(let name, let draft, let retention, let keyAge):
      return try publish(draft, in: name, retention, keyAge: keyAge)
    case .page(let name, let range, let limit, let bytesMax, let retention, let now):
      times.note(now)
      return .page(
        try page(of: name, range, limit: limit, bytesMax: bytesMax, retention, now: now))
    case .recover(
      let name, let position, let limit, let bytesMax, let retention, let now, let query):
      times.note(now)
      var recovery = try recover(
        name, from: position, limit: limit, bytesMax: bytesMax, retention, now: now)
      if let query, recovery.missed == nil { recovery.values = try page(of: name, query) }
      return .recovery(recovery)
    case .values(let name, let query): return .values(try page(of: name, query))
    case .ending(let which, let limit): return try values.ending(which, limit: limit)
    case .renewEpoch(let name, let from, let to):
      let head: RoomPosition
      if let row = try store.row(of: name) {
        head = row.position
      } else {
        head = try records.emptyPosition()
      }
      guard from == head.epoch else {
        return .recovery(RoomRecovery(head: head, missed: nil))
      }
      var row = try store.rowMade(for: name)
      row.epoch = to
      try store.write(row)
      return .recovery(RoomRecovery(head: row.position, missed: nil))
    case .heads(let names):
      return .heads(try store.heads(of: names))
    }
  }

  // MARK: Publishing

  private func publish(
    _ draft: PublicationDraft, in name: RoomName, _ retention: RoomRetention, keyAge: Timestamp
  ) throws(StoreError) -> RoomReply {
    times.note(draft.publication.time)
    let earlier = try store.row(of: name)
    var publication = draft.publication
    // Times within a room ascend, unless the clock was far ahead.
    if let earlier, TimeOrder.isSetBack(from: earlier.time, to: publication.time) {
      try times.redate(room: earlier.number, now: publication.time)
    }
    publication.time = TimeOrder.following(earlier?.time ?? 0, publication.time)
    publication.offset = (earlier?.head ?? 0) + 1
    if let earlier, let key = draft.key,
      let reply = try reply(to: publication, under: key, in: earlier)
    {
      return reply
    }
    if let required = draft.ifPosition {
      let head = if let earlier { earlier.position } else { try records.emptyPosition() }
      guard required == head else { return .outdated(head) }
    }
    // A room gets a row only for what is not refused.
    let outcome = try values.outcome(of: draft, as: publication, in: earlier)
    if case .failure(let refusal) = outcome { return .valuesRefused(refusal) }
    var row = try store.rowMade(for: name)
    if case .success(let changed) = outcome {
      try values.write(changed, room: row.number)
      row.values = changed.totals
    }
    try store(publication, under: draft.key, in: row, retention, keyAge: keyAge)
    row.head = publication.offset
    row.time = publication.time
    if let author = publication.personID {
      try groups.noteRead(name, by: author, through: row.head)
    }
    try store.change(
      #"DELETE FROM publications WHERE room = $1 AND "offset" <= $2"#, row.number,
      row.head - max(retention.publicationsMax, 0))
    try store.write(row)
    return .published(row.position, time: publication.time, isRepeated: false)
  }

  /// Stores a publication and its key.
  private func store(
    _ publication: Publication, under key: String?, in row: RoomRow, _ retention: RoomRetention,
    keyAge: Timestamp
  ) throws(StoreError) {
    if let key {
      try store.change(
        """
        INSERT INTO publication_keys (room, key, "offset", time, digest, expires)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (room, key) DO UPDATE SET "offset" = excluded."offset", time = excluded.time,
          digest = excluded.digest, expires = excluded.expires
        """, row.number, key, publication.offset, publication.time,
        store.context.hasher.digest(of: publication, key: key),
        Self.expiry(publication.time, keyAge))
    }
    if retention.publicationsMax > 0 {
      try store.change(
        """
        INSERT INTO publications (room, "offset", time, expires, person, sender, data,
          checksum, changes)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """, row.number, publication.offset, publication.time,
        Self.expiry(publication.time, retention.ageMax), publication.personID, publication.senderID,
        Blob(publication.data?.utf8 ?? []),
        store.context.hasher.checksum(of: publication, room: row.number),
        publication.values.map { Blob($0.utf8) })
    }
  }

  /// Returns the reply to an earlier publication with this key; `nil` for a new or expired key.
  private func reply(
    to publication: Publication, under key: String, in row: RoomRow
  ) throws(StoreError) -> RoomReply? {
    try store.first(
      """
      SELECT "offset", time, digest FROM publication_keys
      WHERE room = $1 AND key = $2 AND expires > $3
      """, row.number, key, publication.time
    ) { earlier in
      let digest = store.context.hasher.digest(of: publication, key: key)
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
    of name: RoomName, _ range: RoomRange, limit: Int, bytesMax: Int, _ retention: RoomRetention,
    now: Timestamp
  ) throws(StoreError) -> RoomPage {
    guard let row = try store.row(of: name) else {
      return RoomPage(
        head: try records.emptyPosition(), publications: [], hasGap: false, hasMore: false)
    }
    let limit = max(limit, 1)
    switch range {
    case .since(let offset):
      let offset = max(offset, 0)
      var found = try publications(
        of: row, after: offset, before: .max, limit: limit + 1, retention, now: now)
      let hasGap = offset < row.head && found.first?.offset != offset + 1
      let hasMore = Self.cut(&found, limit: limit, bytesMax: bytesMax)
      return RoomPage(head: row.position, publications: found, hasGap: hasGap, hasMore: hasMore)
    case .newest, .before:
      var end = Int.max
      if case .before(let offset) = range { end = offset }
      var found = try publications(
        of: row, after: 0, before: end, newestFirst: true, limit: limit + 1, retention, now: now)
      let hasMore = Self.cut(&found, limit: limit, bytesMax: bytesMax)
      return RoomPage(
        head: row.position, publications: found.reversed(), hasGap: false, hasMore: hasMore)
    }
  }

  /// Truncates publications to a page, which has at least one; returns whether any was removed.
  private static func cut(_ found: inout [Publication], limit: Int, bytesMax: Int) -> Bool {
    var bytes = 0
    var count = 0
    for publication in found.prefix(limit) {
      bytes += publication.byteCount
      if count > 0, bytes > bytesMax { break }
      count += 1
    }
    defer { found.removeLast(found.count - count) }
    return count < found.count
  }

  private func recover(
    _ name: RoomName, from position: RoomPosition?, limit: Int, bytesMax: Int,
    _ retention: RoomRetention, now: Timestamp
  ) throws(StoreError) -> RoomRecovery {
    let row = try store.row(of: name)
    let head: RoomPosition
    if let row { head = row.position } else { head = try records.emptyPosition() }
    guard let position, position.epoch == head.epoch,
      (0...head.offset).contains(position.offset)
    else { return RoomRecovery(head: head, missed: nil) }
    let count = head.offset - position.offset
    guard let row, count > 0 else { return RoomRecovery(head: head, missed: []) }
    guard count <= limit, count <= retention.publicationsMax else {
      return RoomRecovery(head: head, missed: nil)
    }
    let found = try publications(
      of: row, after: position.offset, before: .max, limit: count, retention, now: now)
    // Recover all missed publications or none: the client could not detect a gap.
    let bytes = found.reduce(0) { $0 + $1.byteCount }
    return RoomRecovery(
      head: head, missed: found.count == count && bytes <= bytesMax ? found : nil)
  }

  private func page(
    of name: RoomName, _ query: ValueQuery
  ) throws(StoreError) -> RoomValuesPage {
    guard let row = try store.row(of: name) else {
      return RoomValuesPage(head: try records.emptyPosition(), values: [], hasMore: false)
    }
    return try values.page(of: row, query)
  }

  private func publications(
    of row: RoomRow, after: Int, before: Int, newestFirst: Bool = false, limit: Int,
    _ retention: RoomRetention, now: Timestamp
  ) throws(StoreError) -> [Publication] {
    try store.rows(
      newestFirst ? selectNewest : selectOldest, row.number,
      max(after, row.head - max(retention.publicationsMax, 0)), before,
      now.subtractingReportingOverflow(retention.ageMax).partialValue, limit
    ) { found throws(StoreError) in try publication(found, in: row) }
  }

  private func publication(
    _ found: Store.Row, in row: RoomRow
  ) throws(StoreError) -> Publication {
    let values = found.isNull(6) ? nil : JSONValue(trusted: found.bytes(6))
    let data = found.bytes(4)
    let publication = Publication(
      offset: found.integer(0), time: Timestamp(found.integer(1)),
      personID: found.optionalName(2), senderID: found.optionalText(3),
      data: data.isEmpty && values != nil ? nil : JSONValue(trusted: data), values: values)
    guard
      found.withBytes(5, { RecordChecksum($0) })
        == store.context.hasher.checksum(of: publication, room: row.number)
    else {
      throw .damaged(
        "the publication at offset \(publication.offset) differs from its checksum; "
          + damageAdvice)
    }
    return publication
  }

  /// Deletes rooms that contain no data and whose last publication is older than `time`. Returns
  /// the number of deleted rooms.
  ///
  /// A deleted room starts again at offset 0 when it is used. Its positions must not repeat, so the
  /// epoch of rooms without a row is replaced. A client that resumes from an earlier position
  /// receives an unknown-position reply.
  package func removeEmptyRows(idleSince time: Timestamp) throws(StoreError) -> Int {
    let holding = [
      "publications", "publication_keys", "room_members", "receipts", "flags", "likes",
      "chat_groups", "read_marks", "room_values",
    ]
    let holdsNothing = holding.map {
      "NOT EXISTS (SELECT 1 FROM \($0) t WHERE t.room = rooms.number)"
    }
    let removed = try store.changedRows(
      "DELETE FROM rooms WHERE time < $1 AND " + holdsNothing.joined(separator: " AND "), time)
    if removed > 0 { try store.change("UPDATE room_epoch SET epoch = $1", store.freshName()) }
    return removed
  }

  /// Verifies every room and every publication.
  func check(_ findings: inout StoreFindings) throws(StoreError) {
    _ = try records.firstEpoch()
    var last = 0
    while true {
      let rooms = try store.rows(
        RoomRecords<Store>.select + " WHERE number > $1 ORDER BY number LIMIT 500", last,
        read: records.read)
      guard let end = rooms.last else { break }
      last = end.number
      for row in rooms {
        do throws(StoreError) {
          try check(row, &findings)
        } catch {
          try store.throwConnectionFailure()
          findings.add(nil, error)
        }
      }
    }
    for (table, what) in [("publications", "publications"), ("room_values", "values")] {
      let orphans = try store.first(
        """
        SELECT count(DISTINCT p.room) FROM \(table) p
        WHERE NOT EXISTS (SELECT 1 FROM rooms r WHERE r.number = p.room)
        """
      ) { $0.integer(0) }
      if let orphans, orphans > 0 {
        findings.add(nil, "\(what) of \(orphans) rooms without a record; \(damageAdvice)")
      }
    }
  }

  private func check(_ row: RoomRow, _ findings: inout StoreFindings) throws(StoreError) {
    let everything = RoomRetention(publicationsMax: .max, ageMax: 0)
    var offset = 0
    while true {
      let some = try publications(
        of: row, after: offset, before: .max, limit: 500, everything, now: .min)
      guard let last = some.last else { break }
      findings.publications += some.count
      offset = last.offset
    }
    if offset > row.head {
      findings.add(nil, "a room has publications beyond its head; \(damageAdvice)")
    }
    try values.check(row, &findings)
  }
}
