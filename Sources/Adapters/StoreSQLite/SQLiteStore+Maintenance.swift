import CSQLite
public import GatewayPorts
import OTCore
public import StoreRecords

/// Maintenance that keeps a store small and fast, run while no request waits.
extension SQLiteStore {
  /// Does one piece of housekeeping: a snapshot, part of a deleted note's log, or a checkpoint.
  ///
  /// Failures are kept quiet: the work is tried again after ``retryChores()``, and what matters fails again where a
  /// client is answered.
  ///
  /// - Returns: Whether there is more to do now.
  public func maintain() -> Bool {
    do throws(StoreError) {
      try wipeFailedCommit()
      if try !doChore(), connection.walPages >= walPagesToCheckpoint {
        try checkpoint()
        shrinkLog()
        return false
      }
    } catch {
      upkeep.hasFailed = true
      return false
    }
    return hasChores || connection.walPages >= walPagesToCheckpoint
  }

  /// Compacts the logs of all documents by a rule, and gives free space back to the disk.
  ///
  /// - Parameters:
  ///   - retention: What is kept.
  ///   - now: The time that ages are counted from.
  /// - Returns: How many notes were compacted.
  @discardableResult
  public func compact(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int {
    let count = try compactAll(keeping: retention, now: now)
    while maintain() {}
    do throws(SQLiteFailure) {
      try connection.execute("PRAGMA incremental_vacuum")
    } catch {
      throw error.storeError
    }
    try checkpoint()
    return count
  }

  /// See ``ServerStore``.
  public func look() {
    watch?.look()
    shrinkLog()
  }

  /// Truncates a log that a long read has let grow, unless something reads from it now: nothing waits for that.
  ///
  /// SQLite uses a log again from its beginning, and never makes its file shorter by itself.
  private func shrinkLog() {
    guard let watch, watch.problem == nil, watch.logBytes > logBytesMax else { return }
    // Another program's read is over sooner or later.
    guard (try? wipeFailedCommit()) != nil, (try? connection.emptyLog(waits: false)) != nil else {
      return
    }
    if isMarked { try? logMark() }
    self.watch?.look()
  }

  /// Bytes of log that are left to be used again: twice those that make a checkpoint worth its while.
  private var logBytesMax: Int { 2 * walPagesToCheckpoint * 4_096 }

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

  /// The documents whose logs have been compacted.
  func numbersOfCompacted() throws(StoreError) -> Set<Int> {
    Set(try rows("SELECT number FROM documents WHERE base > 0") { $0.integer(0) })
  }

  package var hasCompacted: Bool { !compacted.isEmpty }

  package func removeSomeCompacted() throws(StoreError) {
    guard let document = compacted.first else { return }
    let removed = try transaction { () throws(StoreError) in
      try changedRows(
        """
        DELETE FROM log WHERE document = $1
          AND revision <= (SELECT base FROM documents WHERE number = $1)
          AND revision < (SELECT min(revision) FROM log WHERE document = $1) + 1000
        """, document)
    }
    if removed == 0 { compacted.remove(document) }
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
