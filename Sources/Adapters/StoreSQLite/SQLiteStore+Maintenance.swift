import CSQLite
public import GatewayPorts
import OTCore
public import StoreRecords

/// Maintenance that keeps a store small and fast, run while no request waits.
extension SQLiteStore {
  /// Does one piece of housekeeping: a snapshot, part of a deleted note's log, or a checkpoint.
  ///
  /// Failures are kept quiet: the work stays to be done, and what matters fails again where
  /// somebody is told.
  ///
  /// - Returns: Whether there is more to do.
  public func maintain() -> Bool {
    do throws(StoreError) {
      try wipeFailedCommit()
      if !foldsBeside, let id = unsnapped.popFirst()?.text {
        try transaction { () throws(StoreError) in try takeSnapshot(id) }
      } else if !foldsBeside, let retention, let id = overlong.popFirst()?.text {
        try retain(id, retention)
      } else if hasGarbage {
        hasGarbage = try transaction { () throws(StoreError) in try removeGarbage() }
      } else if let document = compacted.first {
        let hasMore = try transaction { () throws(StoreError) in
          try removeCompacted(of: document)
        }
        if !hasMore { compacted.remove(document) }
      } else if wantsDating {
        try transaction { () throws(StoreError) in try dateDeletions() }
      } else if wantsRedating {
        try transaction { () throws(StoreError) in try redatePublicationsAhead() }
      } else if hasExpiredPublications {
        try transaction { () throws(StoreError) in try removeExpiredPublications() }
      } else if connection.walPages >= walPagesToCheckpoint {
        try checkpoint()
        return false
      }
    } catch {
      return false
    }
    return (!foldsBeside && (!unsnapped.isEmpty || (retention != nil && !overlong.isEmpty)))
      || hasGarbage || !compacted.isEmpty || wantsDating || wantsRedating
      || hasExpiredPublications
      || connection.walPages >= walPagesToCheckpoint
  }

  /// Compacts the logs of all documents as a rule has it, and gives free space back to the disk.
  ///
  /// - Parameters:
  ///   - retention: What is kept.
  ///   - now: The time that ages are counted from.
  /// - Returns: How many notes were compacted.
  @discardableResult
  public func compact(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int {
    var count = 0
    for summary in try list() {
      count += try transaction { () throws(StoreError) in
        let row = try existingRow(summary.id)
        guard let base = try base(of: row, keeping: retention, now: now) else { return 0 }
        try compact(row.id, through: base)
        return 1
      }
    }
    while maintain() {}
    do throws(SQLiteFailure) {
      try connection.execute("PRAGMA incremental_vacuum")
    } catch {
      throw error.storeError
    }
    try checkpoint()
    return count
  }

  /// Compacts one document that has come over what the rule keeps.
  private func retain(_ id: DocumentID, _ retention: Retention) throws(StoreError) {
    try transaction { () throws(StoreError) in
      guard let row = try row(id),
        let base = try base(of: row, keeping: retention, now: row.updatedAt)
      else { return }
      try compact(id, through: base)
    }
  }

  func checkpoint() throws(StoreError) {
    do throws(SQLiteFailure) {
      try connection.checkpoint()
    } catch {
      throw error.storeError
    }
  }

  /// Copies all of the write-ahead log into the database and empties the log, so that the one file
  /// holds everything. For the end of work with the store.
  ///
  /// - Throws: `unavailable` if another program reads the store meanwhile, or the disk fails. Nothing
  ///   is lost then: database and log together hold everything.
  public func emptyLog() throws(StoreError) {
    try wipeFailedCommit()
    do throws(SQLiteFailure) {
      try connection.emptyLog()
    } catch {
      throw error.primaryCode == SQLITE_BUSY
        ? .unavailable("another program is reading the store") : error.storeError
    }
  }

  private func takeSnapshot(_ id: DocumentID) throws(StoreError) {
    guard let row = try row(id), row.needsSnapshot else { return }
    try takeSnapshot(of: row)
  }

  private func takeSnapshot(of row: DocumentRow) throws(StoreError) {
    var row = row
    try keep(try fold(of: row, at: row.revision).snapshot, of: &row)
    let comments = comments(of: row)
    try comments.keepAnchors(of: comments.moved(through: row.revision))
  }

  /// Takes a snapshot at a document's head, whether it is due or not.
  package func takeSnapshotNow(_ id: DocumentID) throws(StoreError) {
    try transaction { () throws(StoreError) in try takeSnapshot(of: existingRow(id)) }
  }

  /// Removes some rows of deleted documents.
  ///
  /// - Returns: Whether there may be more.
  private func removeGarbage() throws(StoreError) -> Bool {
    guard
      let document = try sql("SELECT document FROM garbage LIMIT 1").first(read: { $0.integer(0) })
    else {
      return false
    }
    // A thousand entries or one text at a time: a batch that comes meanwhile waits no longer.
    if try removed(
      """
      DELETE FROM log WHERE document = ?1
        AND revision < (SELECT min(revision) FROM log WHERE document = ?1) + 1000
      """, document)
    {
      return true
    }
    if try removed(
      """
      DELETE FROM snapshots WHERE document = ?1
        AND revision = (SELECT min(revision) FROM snapshots WHERE document = ?1)
      """, document)
    {
      return true
    }
    if try removed("DELETE FROM versions WHERE document = ?", document) { return true }
    if try removed("DELETE FROM marks WHERE document = ?", document) { return true }
    if try removed("DELETE FROM epochs WHERE document = ?", document) { return true }
    if try removed("DELETE FROM comments WHERE document = ?", document) { return true }
    if try removeOneFile(ofDocument: document) { return true }
    try forgetSetBacks(ofDocument: document)
    try sql("DELETE FROM garbage WHERE document = ?").run(document)
    return true
  }

  /// The documents whose logs have been compacted.
  func numbersOfCompacted() throws(StoreError) -> Set<Int> {
    Set(try sql("SELECT number FROM documents WHERE base > 0").rows { $0.integer(0) })
  }

  /// Removes some entries of a document that lie before its log's base.
  ///
  /// - Returns: Whether there may be more.
  private func removeCompacted(of document: Int) throws(StoreError) -> Bool {
    try removed(
      """
      DELETE FROM log WHERE document = ?1
        AND revision <= (SELECT base FROM documents WHERE number = ?1)
        AND revision < (SELECT min(revision) FROM log WHERE document = ?1) + 1000
      """, document)
  }

  private func removed(
    _ delete: String, _ document: Int
  ) throws(StoreError) -> Bool {
    try sql(delete).run(document)
    return connection.changedRows > 0
  }

  /// Lets the file grow to this many pages at most; as large as it is, if it is larger.
  ///
  /// A full disk for tests, and for operators who want a bound.
  package func limitPages(to count: Int) throws(StoreError) {
    do throws(SQLiteFailure) {
      try connection.execute("PRAGMA max_page_count = \(max(count, 1))")
    } catch {
      throw error.storeError
    }
  }
}
