public import GatewayPorts
public import StoreRecords

/// Maintenance that keeps a store small and fast, run while no request waits.
extension PostgresStore {
  /// Does one piece of housekeeping: a snapshot, part of a deleted note's log, or what has expired.
  ///
  /// Failures are kept quiet: the work stays to be done, and what matters fails again where somebody
  /// is told. Several nodes may do it at once; one does it at a time, the others leave it to that one.
  ///
  /// - Returns: Whether there is more to do.
  public func maintain() -> Bool {
    guard sharing != .reading else { return false }
    do throws(StoreError) {
      if !foldsBeside, let id = unsnapped.popFirst()?.text {
        try transaction { () throws(StoreError) in
          guard var row = try row(id), row.needsSnapshot else { return }
          keep(try fold(of: row, at: row.revision).snapshot, of: &row)
          let comments = comments(of: row)
          try comments.keepAnchors(of: comments.moved(through: row.revision))
        }
      } else if !foldsBeside, let retention, let id = overlong.popFirst()?.text {
        try transaction { () throws(StoreError) in
          guard let row = try row(id),
            let base = try base(of: row, keeping: retention, now: row.updatedAt)
          else { return }
          try compact(id, through: base)
        }
      } else if hasGarbage {
        hasGarbage = try alone { () throws(StoreError) in try removeGarbage() } ?? false
      } else if hasCompacted {
        hasCompacted = try alone { () throws(StoreError) in try removeCompacted() } ?? false
      } else if wantsDating {
        try transaction { () throws(StoreError) in dateDeletions() }
        hasUndatedDeletions = false
      } else if roomClock.wantsRedating {
        _ = try alone { () throws(StoreError) in try redatePublicationsAhead() }
        roomClock.redated()
      } else if roomClock.wantsSweep {
        let isDone = try alone { () throws(StoreError) in try removeExpired() }
        if isDone ?? true { roomClock.haveSwept() }
      }
    } catch {
      return false
    }
    return (!foldsBeside && (!unsnapped.isEmpty || (retention != nil && !overlong.isEmpty)))
      || hasGarbage || hasCompacted || wantsDating || roomClock.wantsRedating
      || roomClock.wantsSweep
  }

  /// Runs `body` in a transaction, unless another node is at such work; then returns `nil`.
  private func alone<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try transaction { () throws(StoreError) -> Result? in
      let held = try query(
        """
        SELECT pg_try_advisory_xact_lock(\(PostgresSchema.lockSpace),
          \(PostgresSchema.Lock.maintenance.rawValue))
        """)
      guard held.first?.bool(0) == true else { return nil }
      return try body()
    }
  }

  /// Compacts the logs of all documents as a rule has it.
  ///
  /// - Parameters:
  ///   - retention: What is kept.
  ///   - now: The time that ages are counted from.
  /// - Returns: How many notes were compacted.
  @discardableResult
  public func compact(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int {
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
    while maintain() {}
    return count
  }

  /// Takes a snapshot at a document's head, whether it is due or not.
  package func takeSnapshotNow(_ id: DocumentID) throws(StoreError) {
    try transaction { () throws(StoreError) in
      var row = try existingRow(id)
      keep(try fold(of: row, at: row.revision).snapshot, of: &row)
    }
  }

  /// Removes some rows of deleted documents; whether there may be more.
  private func removeGarbage() throws(StoreError) -> Bool {
    let found = try query("SELECT document FROM parley.garbage ORDER BY document LIMIT 1")
    guard let document = found.first?.integer(0) else { return false }
    // A thousand entries or one text at a time: a batch that comes meanwhile waits no longer.
    for delete in [
      """
      DELETE FROM parley.log WHERE document = $1
        AND revision < (SELECT min(revision) FROM parley.log WHERE document = $1) + 1000
      """,
      """
      DELETE FROM parley.snapshots WHERE document = $1
        AND revision = (SELECT min(revision) FROM parley.snapshots WHERE document = $1)
      """,
      "DELETE FROM parley.versions WHERE document = $1",
      "DELETE FROM parley.marks WHERE document = $1",
      "DELETE FROM parley.epochs WHERE document = $1",
      "DELETE FROM parley.comments WHERE document = $1",
    ] {
      if try query(delete, document).changedRows > 0 { return true }
    }
    if try removeOneFile(ofDocument: document) { return true }
    change("DELETE FROM parley.garbage WHERE document = $1", document)
    return true
  }

  /// Removes some entries that lie before their log's base; whether there may be more.
  ///
  /// - Complexity: O(1): some documents are looked at, in the order of their numbers.
  private func removeCompacted() throws(StoreError) -> Bool {
    let found = try query(
      """
      WITH slice AS (
        SELECT number, base FROM parley.documents WHERE number > $1 ORDER BY number LIMIT 5000)
      SELECT f.number, f.base, (SELECT max(number) FROM slice) FROM (SELECT 1) AS one LEFT JOIN LATERAL
        (SELECT number, base FROM slice s WHERE base > 0 AND EXISTS
          (SELECT 1 FROM parley.log l WHERE l.document = s.number AND l.revision <= s.base)
        ORDER BY number LIMIT 1) AS f ON true
      """, compactedPlace)
    guard let row = found.first, !row.isNull(2) else {
      compactedPlace = 0
      return false
    }
    guard !row.isNull(0) else {
      compactedPlace = row.integer(2)
      return true
    }
    compactedPlace = row.integer(0) - 1
    change(
      """
      DELETE FROM parley.log WHERE document = $1 AND revision <= $2
        AND revision < (SELECT min(revision) FROM parley.log WHERE document = $1) + 1000
      """, row.integer(0), row.integer(1))
    return true
  }
}
