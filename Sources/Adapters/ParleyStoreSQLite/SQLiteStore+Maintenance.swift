import CParleySQLite
public import ParleyGatewayPorts
import OTCore
public import ParleyStoreRecords

/// Maintenance that keeps a store small and fast, run while no request waits.
extension SQLiteStore {
  private var housekeeping: HousekeepingRules<SQLiteDatabase> { HousekeepingRules(store: database) }

  /// Does one piece of housekeeping: a snapshot, part of a deleted note's log, or a checkpoint.
  ///
  /// Failures are kept quiet: the work is tried again after ``retryChores()``, and what matters fails again where a
  /// client is answered.
  ///
  /// - Returns: Whether there is more to do now.
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

  /// Compacts the logs of all documents by a rule, and gives free space back to the disk.
  ///
  /// - Parameters:
  ///   - retention: What is kept.
  ///   - now: The time that ages are counted from.
  /// - Returns: How many notes were compacted.
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

  /// Truncates a log that a long read has let grow, unless something reads from it now: nothing waits for that.
  ///
  /// SQLite uses a log again from its beginning, and never makes its file shorter by itself.
  private func shrinkLog() {
    guard let watch = database.watch, watch.problem == nil, watch.logBytes > logBytesMax else {
      return
    }
    // Another program's read is over sooner or later.
    guard (try? database.wipeFailedCommit()) != nil,
      (try? database.connection.emptyLog(waits: false)) != nil
    else {
      return
    }
    if isMarked { try? logMark() }
    database.watch?.look()
  }

  /// Bytes of log that are left to be used again: twice those that make a checkpoint worth its while.
  private var logBytesMax: Int { 2 * walPagesToCheckpoint * 4_096 }

  /// Copies all of the write-ahead log into the database and empties the log, so that the one file
  /// holds everything. For the end of work with the store.
  ///
  /// - Throws: `unavailable` if another program reads the store meanwhile, or the disk fails. Nothing
  ///   is lost then: database and log together hold everything.
  public func emptyLog() throws(StoreError) {
    try database.wipeFailedCommit()
    do throws(SQLiteFailure) {
      try database.connection.emptyLog()
    } catch {
      throw error.primaryCode == SQLITE_BUSY
        ? .unavailable("another program is reading the store") : error.storeError
    }
  }

  /// Takes a snapshot at a document's head, whether it is due or not.
  package func takeSnapshotNow(_ id: DocumentID) throws(StoreError) {
    try housekeeping.takeSnapshotNow(id)
  }

  /// Removes the records of rooms that hold nothing and in which nothing was published for long;
  /// never while a client is connected.
  ///
  /// - Parameter time: The last publication is to be older than this.
  /// - Returns: How many were removed.
  /// - Complexity: O(*n*) rooms.
  @discardableResult
  public func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int {
    try database.transaction { () throws(StoreError) in
      try RoomRules(store: database).removeEmptyRows(idleSince: time)
    }
  }

  /// Lets the file grow to this many pages at most; as large as it is, if it is larger.
  ///
  /// A full disk for tests, and for operators who want a bound.
  package func limitPages(to count: Int) throws(StoreError) {
    do throws(SQLiteFailure) {
      try database.connection.execute("PRAGMA max_page_count = \(max(count, 1))")
    } catch {
      throw error.storeError
    }
  }
}
