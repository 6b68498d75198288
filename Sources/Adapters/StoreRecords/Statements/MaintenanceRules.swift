package import GatewayPorts

/// Housekeeping, piece by piece, while no request waits.
extension SQLStore {
  /// Whether anything is due.
  package var hasChores: Bool {
    (!foldsBeside && (!upkeep.unsnapped.isEmpty || (retention != nil && !upkeep.overlong.isEmpty)))
      || upkeep.hasGarbage || hasCompacted || wantsDating || upkeep.roomClock.wantsRedating
      || upkeep.roomClock.wantsSweep
  }

  /// Does one piece of what is due: a snapshot, part of a deleted note's log, or what has expired.
  ///
  /// What is known of deleted notes, of times and of rooms changes after the commit: if that fails, all of
  /// it stays to be done. A snapshot or a log is set aside then, for the logs of other notes may be sound.
  ///
  /// - Returns: Whether there was anything.
  /// - Throws: Why it failed. It is to be tried again after ``Upkeep/retry()``.
  package func doChore() throws(StoreError) -> Bool {
    if !foldsBeside, let id = upkeep.unsnapped.popFirst()?.text {
      return doFold(.snapshot(id)) { () throws(StoreError) in
        if let row = try row(id), row.needsSnapshot { try takeSnapshot(of: row) }
      }
    }
    if !foldsBeside, let retention, let id = upkeep.overlong.popFirst()?.text {
      return doFold(.retention(id, retention)) { () throws(StoreError) in
        guard let row = try row(id),
          let base = try base(of: row, keeping: retention, now: row.updatedAt)
        else { return }
        try compact(id, through: base)
      }
    }
    do throws(StoreError) {
      return try doOtherChore()
    } catch {
      upkeep.hasFailed = true
      throw error
    }
  }

  /// Does a snapshot or the compaction of a log in a transaction of its own, or sets it aside if that fails.
  ///
  /// - Returns: `true`: others may be due.
  private func doFold(_ order: FoldOrder, _ body: () throws(StoreError) -> Void) -> Bool {
    do throws(StoreError) {
      try transaction(body)
    } catch {
      upkeep.postpone(order)
    }
    return true
  }

  private func doOtherChore() throws(StoreError) -> Bool {
    if upkeep.hasGarbage {
      upkeep.hasGarbage = try alone { () throws(StoreError) in try removeGarbage() } ?? false
    } else if hasCompacted {
      try removeSomeCompacted()
    } else if wantsDating {
      try transaction { () throws(StoreError) in try dateDeletions() }
      upkeep.hasUndatedDeletions = false
    } else if upkeep.roomClock.wantsRedating {
      _ = try alone { () throws(StoreError) in try redatePublicationsAhead() }
      upkeep.roomClock.redated()
    } else if upkeep.roomClock.wantsSweep {
      let sweep = try alone { () throws(StoreError) in try removeExpired() }
      if let sweep { upkeep.orphanPlace = sweep.place }
      if sweep?.isDone ?? true { upkeep.roomClock.haveSwept() }
    } else {
      return false
    }
    return true
  }

  /// Compacts the logs of all documents by a rule, and returns how many there were.
  package func compactAll(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int {
    var count = 0
    for summary in try reading({ () throws(StoreError) in try list() }) {
      count += try transaction { () throws(StoreError) in
        guard let row = try row(summary.id),
          let base = try base(of: row, keeping: retention, now: now)
        else { return 0 }
        try compact(row.id, through: base)
        return 1
      }
    }
    return count
  }

  /// Takes a snapshot at a document's head, whether it is due or not.
  package func takeSnapshotNow(_ id: DocumentID) throws(StoreError) {
    try transaction { () throws(StoreError) in try takeSnapshot(of: existingRow(id)) }
  }

  private func takeSnapshot(of row: DocumentRow) throws(StoreError) {
    var row = row
    try keep(try fold(of: row, at: row.revision).snapshot, of: &row)
    let comments = comments(of: row)
    try comments.keepAnchors(of: comments.moved(through: row.revision))
  }

  /// Removes some rows of deleted documents.
  ///
  /// - Returns: Whether there may be more.
  private func removeGarbage() throws(StoreError) -> Bool {
    let found = try first("SELECT document FROM garbage ORDER BY document LIMIT 1") {
      $0.integer(0)
    }
    guard let document = found else { return false }
    // A thousand entries or one text at a time: a batch that comes meanwhile waits no longer.
    for delete in [
      """
      DELETE FROM log WHERE document = $1
        AND revision < (SELECT min(revision) FROM log WHERE document = $1) + 1000
      """,
      """
      DELETE FROM snapshots WHERE document = $1
        AND revision = (SELECT min(revision) FROM snapshots WHERE document = $1)
      """,
      "DELETE FROM versions WHERE document = $1",
      "DELETE FROM marks WHERE document = $1",
      "DELETE FROM epochs WHERE document = $1",
      "DELETE FROM comments WHERE document = $1",
    ] {
      if try changedRows(delete, document) > 0 { return true }
    }
    if try removeOneFile(ofDocument: document) { return true }
    try forgetSetBacks(ofDocument: document)
    try change("DELETE FROM garbage WHERE document = $1", document)
    return true
  }

  // MARK: What has expired

  /// Takes note of the time of work with rooms, and with answers.
  func noteRoomTime(_ now: Timestamp) {
    noteTime(now)
    var clock = upkeep.roomClock
    clock.note(now) {
      // At first, what the last run knew; nothing if that cannot be read.
      let newest = try? first("SELECT coalesce(max(time), 0) FROM rooms") { $0.integer(0) }
      return Timestamp((newest ?? nil) ?? 0)
    }
    upkeep.roomClock = clock
  }

  /// Has what was published while the clock was ahead expire as if it had been published now.
  ///
  /// - Complexity: O(*n*) rooms; once for each opening, and each time the clock is set back.
  private func redatePublicationsAhead() throws(StoreError) {
    let now = upkeep.roomClock.time
    for room in try rows(
      "SELECT number FROM rooms WHERE time > $1 ORDER BY number", now + TimeOrder.pullMax,
      read: { $0.integer(0) })
    {
      try redate(room: room, now: now)
    }
  }

  func redate(room: Int, now: Timestamp) throws(StoreError) {
    // Rows that expire before their own time were redated before. The time itself stays, since
    // clients know it.
    // and remains.
    for table in ["publications", "publication_keys"] {
      try change(
        """
        UPDATE \(table) SET expires = $2 + (expires - time)
        WHERE room = $1 AND time > $3 AND expires > time
        """, room, now, now + TimeOrder.pullMax)
    }
  }

  /// Removes some of what has expired; whether that was all, and the place up to which rows of
  /// publications that are gone were looked for.
  private func removeExpired() throws(StoreError) -> (isDone: Bool, place: OrphanPlace) {
    var isDone = true
    for (table, key) in [
      ("publications", #"room, "offset""#), ("publication_keys", "room, key"),
      ("answers", "number"),
    ] {
      isDone =
        try changedRows(
          """
          DELETE FROM \(table) WHERE (\(key)) IN
            (SELECT \(key) FROM \(table) WHERE expires <= $1 ORDER BY expires LIMIT 500)
          """, upkeep.roomClock.believed) == 0 && isDone
    }
    isDone =
      try changedRows(
        """
        DELETE FROM note_origins WHERE id IN
          (SELECT id FROM note_origins WHERE deleted = 1 AND expires <= $1 LIMIT 500)
        """, upkeep.roomClock.believed) == 0 && isDone
    // Last, and one table after the other, so that each row is looked at once.
    guard isDone else { return (false, upkeep.orphanPlace) }
    let place = try removeOrphans(after: upkeep.orphanPlace)
    return (place == nil, place ?? OrphanPlace())
  }

  /// Removes what was said of publications that are gone, of some rows: a batch that comes meanwhile
  /// waits for no more.
  ///
  /// - Returns: The place up to which rows were looked at; `nil` for all of them.
  private func removeOrphans(after place: OrphanPlace) throws(StoreError) -> OrphanPlace? {
    let (table, key) = (OrphanPlace.tables[place.table], #"(room, "offset", person)"#)
    let last = try first(
      """
      SELECT room, "offset", person FROM \(table) WHERE \(key) > ($1, $2, $3)
      ORDER BY room, "offset", person LIMIT 1 OFFSET $4
      """, place.room, place.offset, place.person, OrphanPlace.sliceCount - 1
    ) {
      OrphanPlace(
        table: place.table, room: $0.integer(0), offset: $0.integer(1), person: $0.text(2))
    }
    let end = last ?? OrphanPlace(room: .max)
    // Each is looked up by itself: from `NOT EXISTS` PostgreSQL makes one pass over all publications.
    try change(
      """
      DELETE FROM \(table) WHERE \(key) > ($1, $2, $3) AND \(key) <= ($4, $5, $6) AND
        (SELECT p.room FROM publications p
          WHERE p.room = \(table).room AND p."offset" = \(table)."offset") IS NULL
      """, place.room, place.offset, place.person, end.room, end.offset, end.person)
    let next = place.table + 1
    return last ?? (next < OrphanPlace.tables.count ? OrphanPlace(table: next) : nil)
  }
}
