package import ParleyGatewayPorts

/// Housekeeping in small steps, while no request waits.
package struct HousekeepingRules<Store: SQLStore> {
  let store: Store
  private var notes: NoteRules<Store> { NoteRules(store: store) }
  private var times: LogTimes<Store> { LogTimes(store: store) }
  private var folding: SnapshotBuilder<Store> { SnapshotBuilder(store: store) }
  private var compaction: CompactionRules<Store> { CompactionRules(store: store) }
  private var files: FileRules<Store> { FileRules(store: store) }
  private var once: OnceRules<Store> { OnceRules(store: store) }
  private var roomTimes: RoomTimes<Store> { RoomTimes(store: store) }

  package init(store: Store) { self.store = store }

  /// Whether any housekeeping is due.
  package var hasChores: Bool {
    (!store.context.foldsOnSecondConnection
      && (!store.context.upkeep.unsnapped.isEmpty
        || (store.context.retention != nil && !store.context.upkeep.overlong.isEmpty)))
      || store.context.upkeep.hasGarbage || store.hasCompacted || once.wantsDating
      || store.context.upkeep.roomClock.wantsRedating
      || store.context.upkeep.roomClock.wantsSweep
  }

  /// Does one step: a snapshot, a compaction, part of a deleted note's rows, or some expired rows.
  ///
  /// The record of due work changes only after the commit; if the commit fails, the work remains
  /// due. A failed snapshot or compaction is postponed, since the logs of other notes may be sound.
  ///
  /// - Returns: Whether any step was due.
  /// - Throws: The error of the step. It is retried after ``MaintenanceSchedule/retry()``.
  package func doChore() throws(StoreError) -> Bool {
    if !store.context.foldsOnSecondConnection, let id = store.context.upkeep.unsnapped.popFirst() {
      doFold(.snapshot(id))
      return true
    }
    if !store.context.foldsOnSecondConnection, let retention = store.context.retention,
      let id = store.context.upkeep.overlong.popFirst()
    {
      doFold(.retention(id, retention))
      return true
    }
    do throws(StoreError) {
      return try doOtherChore()
    } catch {
      store.context.upkeep.hasFailed = true
      throw error
    }
  }

  /// Stores a snapshot or compacts a log; postpones the work if that fails.
  private func doFold(_ order: FoldOrder) {
    do throws(StoreError) {
      if let folded = try folding.fold(order) { try folding.keep(folded) }
    } catch {
      store.context.upkeep.postpone(order)
    }
  }

  private func doOtherChore() throws(StoreError) -> Bool {
    if store.context.upkeep.hasGarbage {
      store.context.upkeep.hasGarbage =
        try store.alone { () throws(StoreError) in try removeGarbage() } ?? false
    } else if store.hasCompacted {
      try store.removeSomeCompacted()
    } else if once.wantsDating {
      try store.transaction { () throws(StoreError) in try once.dateDeletions() }
      store.context.upkeep.hasUndatedDeletions = false
    } else if store.context.upkeep.roomClock.wantsRedating {
      _ = try store.alone { () throws(StoreError) in try roomTimes.redatePublicationsAhead() }
      store.context.upkeep.roomClock.redated()
    } else if store.context.upkeep.roomClock.wantsSweep {
      let sweep = try store.alone { () throws(StoreError) in try removeExpired() }
      if let sweep { store.context.upkeep.orphanPlace = sweep.place }
      if sweep?.isDone ?? true { store.context.upkeep.roomClock.haveSwept() }
    } else {
      return false
    }
    return true
  }

  /// Compacts the logs of all documents, and returns the number of compacted logs.
  package func compactAll(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int {
    var count = 0
    for summary in try store.reading({ () throws(StoreError) in try notes.list() }) {
      count += try store.transaction { () throws(StoreError) in
        guard let row = try store.row(summary.id),
          let base = try times.base(of: row, keeping: retention, now: now)
        else { return 0 }
        try compaction.compact(row.id, through: base)
        return 1
      }
    }
    return count
  }

  /// Stores a snapshot at a document's head, even if none is due.
  package func takeSnapshotNow(_ id: DocumentID) throws(StoreError) {
    try store.transaction { () throws(StoreError) in
      try compaction.takeSnapshot(of: store.existingRow(id))
    }
  }

  /// Deletes some rows of one deleted document.
  ///
  /// - Returns: Whether more rows may remain.
  private func removeGarbage() throws(StoreError) -> Bool {
    let found = try store.first("SELECT document FROM garbage ORDER BY document LIMIT 1") {
      $0.integer(0)
    }
    guard let document = found else { return false }
    // At most 1000 entries or one text per step, to limit the delay of the next batch.
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
      """
      DELETE FROM notices WHERE number IN
        (SELECT number FROM notices WHERE document = $1 LIMIT 1000)
      """,
    ] {
      if try store.changedRows(delete, document) > 0 { return true }
    }
    if try files.removeOne(ofDocument: document) { return true }
    try store.forgetSetBacks(ofDocument: document)
    try store.change("DELETE FROM garbage WHERE document = $1", document)
    return true
  }

  // MARK: Expired rows

  /// Deletes some expired rows. Returns whether all are deleted, and the orphan scan's position.
  private func removeExpired() throws(StoreError) -> (isDone: Bool, place: OrphanPlace) {
    var isDone = true
    for (table, key) in [
      ("publications", #"room, "offset""#), ("publication_keys", "room, key"),
      ("answers", "number"),
    ] {
      isDone =
        try store.changedRows(
          """
          DELETE FROM \(table) WHERE (\(key)) IN
            (SELECT \(key) FROM \(table) WHERE expires <= $1 ORDER BY expires LIMIT 500)
          """, store.context.upkeep.roomClock.believed) == 0 && isDone
    }
    isDone =
      try store.changedRows(
        """
        DELETE FROM note_origins WHERE id IN
          (SELECT id FROM note_origins WHERE deleted = 1 AND expires <= $1 LIMIT 500)
        """, store.context.upkeep.roomClock.believed) == 0 && isDone
    // Scan for orphans last, one table after the other, so that each row is examined once.
    guard isDone else { return (false, store.context.upkeep.orphanPlace) }
    let place = try removeOrphans(after: store.context.upkeep.orphanPlace)
    return (place == nil, place ?? OrphanPlace())
  }

  /// Deletes receipts and likes of publications that no longer exist, from one slice of rows: this
  /// limits the delay of the next batch.
  ///
  /// - Returns: The position after the slice; `nil` when both tables are complete.
  private func removeOrphans(after place: OrphanPlace) throws(StoreError) -> OrphanPlace? {
    let (table, key) = (OrphanPlace.tables[place.table], #"(room, "offset", person)"#)
    let last = try store.first(
      """
      SELECT room, "offset", person FROM \(table) WHERE \(key) > ($1, $2, $3)
      ORDER BY room, "offset", person LIMIT 1 OFFSET $4
      """, place.room, place.offset, place.person, OrphanPlace.sliceCount - 1
    ) {
      OrphanPlace(
        table: place.table, room: $0.integer(0), offset: $0.integer(1), person: $0.text(2))
    }
    let end = last ?? OrphanPlace(room: .max)
    // A subquery looks up each row; for `NOT EXISTS`, PostgreSQL would scan all publications.
    try store.change(
      """
      DELETE FROM \(table) WHERE \(key) > ($1, $2, $3) AND \(key) <= ($4, $5, $6) AND
        (SELECT p.room FROM publications p
          WHERE p.room = \(table).room AND p."offset" = \(table)."offset") IS NULL
      """, place.room, place.offset, place.person, end.room, end.offset, end.person)
    let next = place.table + 1
    return last ?? (next < OrphanPlace.tables.count ? OrphanPlace(table: next) : nil)
  }
}
