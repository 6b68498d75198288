import CParleySQLite
public import ParleyGatewayPorts
import OTCore
public import ParleyStoreRecords

/// Housekeeping that keeps a store small and fast. Runs while no request waits.
extension SQLiteStore {
  private var housekeeping: HousekeepingRules<SQLiteDatabase> { HousekeepingRules(store: database) }

  /// Does one step of housekeeping: a snapshot, part of a deleted note's rows, or a checkpoint.
  ///
  /// Errors are not reported: failed work is retried after ``retryChores()``, and an error that
  /// affects requests also occurs in the reply to a client.
  ///
  /// - Returns: Whether more housekeeping is due now.
  public func maintain() -> Bool {
    do throws(StoreError) {
      try database.wipeFailedCommit()
      if try !housekeeping.doChore(), database.connection.walPages >= walPagesToCheckpoint {
        try database.checkpoint()
        shrinkLog()
        return false
      }
    } catch {
      database.context.upkeep.hasFailed = true
      return false
    }
    return housekeeping.hasChores || database.connection.walPages >= walPagesToCheckpoint
  }

  /// Compacts the logs of all documents, and returns free pages to the file system.
  ///
  /// - Parameters:
  ///   - retention: The entries to retain.
  ///   - now: The time from which ages are calculated.
  /// - Returns: The number of compacted notes.
  @discardableResult
  public func compact(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int {
    let count = try housekeeping.compactAll(keeping: retention, now: now)
    while maintain() {}
    do throws(SQLiteFailure) {
      try database.connection.execute("PRAGMA incremental_vacuum")
    } catch {
      throw error.storeError
    }
    try database.checkpoint()
    return count
  }

  /// See ``ServerStore``.
  public func look() {
    database.watch?.look()
    shrinkLog()
  }

  /// Truncates a log that a long read has let grow. Does nothing if the log is being read now.
  ///
  /// SQLite reuses a log from its beginning, and never shortens the file itself.
  private func shrinkLog() {
    guard let watch = database.watch, watch.problem == nil, watch.logBytes > logBytesMax else {
      return
    }
    // The log is truncated later if another program is reading from it now.
    guard (try? database.wipeFailedCommit()) != nil,
      (try? database.connection.emptyLog(waits: false)) != nil
    else {
      return
    }
    if isMarked { try? logMark() }
    database.watch?.look()
  }

  /// The maximum bytes of a log that is not truncated: twice the size that causes a checkpoint.
  private var logBytesMax: Int { 2 * walPagesToCheckpoint * 4_096 }

  /// Copies the whole write-ahead log into the database and truncates the log, so that the database
  /// file is complete. To be called before closing the store.
  ///
  /// - Throws: `unavailable` if another program is reading from the store, or the disk fails. No
  ///   data is lost: the database and the log together are complete.
  public func emptyLog() throws(StoreError) {
    try database.wipeFailedCommit()
    do throws(SQLiteFailure) {
      try database.connection.emptyLog()
    } catch {
      throw error.primaryCode == SQLITE_BUSY
        ? .unavailable("another program is reading the store") : error.storeError
    }
  }

  /// Stores a snapshot at a document's head, even if none is due.
  package func takeSnapshotNow(_ id: DocumentID) throws(StoreError) {
    try housekeeping.takeSnapshotNow(id)
  }

  /// Deletes the rows of rooms that contain no data and whose last publication is old. Must not be
  /// called while a client is connected.
  ///
  /// - Parameter time: The last publication of a deleted room is older than this.
  /// - Returns: The number of deleted rows.
  /// - Complexity: O(*n*) rooms.
  @discardableResult
  public func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int {
    try database.transaction { () throws(StoreError) in
      try RoomRules(store: database).removeEmptyRows(idleSince: time)
    }
  }

  /// Limits the file to a maximum number of pages, but not below its current size.
  ///
  /// Simulates a full disk in tests, and enforces a quota for operators.
  package func limitPages(to count: Int) throws(StoreError) {
    do throws(SQLiteFailure) {
      try database.connection.execute("PRAGMA max_page_count = \(max(count, 1))")
    } catch {
      throw error.storeError
    }
  }
}
