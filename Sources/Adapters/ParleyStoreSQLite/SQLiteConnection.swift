import CParleySQLite

/// An open database connection, closed when its owner is destroyed.
///
/// Must be used by one thread at a time: SQLite's own locking is disabled.
@safe struct SQLiteConnection: ~Copyable {
  private let handle: OpaquePointer
  /// Pages in the write-ahead log after the newest commit, as reported by SQLite's callback.
  private let walPagesBox: UnsafeMutablePointer<Int>
  private let prepared = PreparedStatements()

  /// Milliseconds to wait for another program's lock.
  private static let busyMilliseconds: Int32 = 5_000
  /// Milliseconds to wait for other programs' reads when the log is truncated.
  private static let emptyingMilliseconds: Int32 = 1_000

  /// Opens the file, and creates it if `flags` contain `SQLITE_OPEN_CREATE`.
  ///
  /// - Parameters:
  ///   - flags: SQLite's `SQLITE_OPEN_…` flags.
  ///   - vfs: The name of SQLite's file system layer; `nil` for the default.
  init(path: String, flags: Int32, vfs: String? = nil) throws(SQLiteFailure) {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, vfs)
    guard code == SQLITE_OK, let opened else {
      let extendedCode = opened.map { sqlite3_extended_errcode($0) } ?? code
      let failure = SQLiteFailure(code: extendedCode, of: opened)
      sqlite3_close_v2(opened)
      throw failure
    }
    handle = opened
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, Self.busyMilliseconds)
    walPagesBox = .allocate(capacity: 1)
    walPagesBox.initialize(to: 0)
    // Replaces SQLite's automatic checkpoints, which would delay the commit that triggers them.
    sqlite3_wal_hook(
      handle,
      { box, _, _, pages in
        box?.assumingMemoryBound(to: Int.self).pointee = Int(pages)
        return SQLITE_OK
      }, walPagesBox)
  }

  deinit {
    prepared.byText.removeAll()
    sqlite3_close_v2(handle)
    walPagesBox.deallocate()
  }

  /// Pages in the write-ahead log that are not copied into the database yet.
  var walPages: Int { walPagesBox.pointee }

  /// Runs statements without parameters and without results.
  func execute(_ sql: String) throws(SQLiteFailure) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: handle) }
  }

  /// Returns the cached statement for an SQL text, which is prepared at its first use.
  ///
  /// Use constant texts and bind all values that vary, so that the cache stays small. A statement
  /// can be used only once at a time: while its rows are read, its text must not be requested
  /// again.
  ///
  /// - Complexity: O(*n*) in the bytes of the text, except for the first use.
  func statement(_ sql: String) throws(SQLiteFailure) -> SQLiteStatement {
    if let known = prepared.byText[sql] { return known }
    let statement = try SQLiteStatement(self, sql)
    prepared.byText[sql] = statement
    return statement
  }

  /// The number of virtual machine instructions that all cached statements have executed: a measure
  /// of work that is reproducible.
  var instructionCount: Int {
    prepared.byText.values.reduce(0) { $0 + $1.instructionCount }
  }

  /// Returns the first column of the first row of a query; 0 if there is no row.
  func integer(_ sql: String) throws(SQLiteFailure) -> Int {
    var statement: OpaquePointer?
    var code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    defer { sqlite3_finalize(statement) }
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: handle) }
    code = sqlite3_step(statement)
    switch code {
    case SQLITE_ROW: return Int(sqlite3_column_int64(statement, 0))
    case SQLITE_DONE: return 0
    default: throw SQLiteFailure(code: code, of: handle)
    }
  }

  /// Whether a transaction is open. SQLite may roll one back itself after a serious error.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The number of rows changed by the most recent statement.
  var changedRows: Int { Int(sqlite3_changes64(handle)) }

  /// The key of the most recently inserted row.
  var lastInsertedKey: Int { Int(sqlite3_last_insert_rowid(handle)) }

  /// Copies pages of the write-ahead log into the database, up to the oldest snapshot in use.
  func checkpoint() throws(SQLiteFailure) {
    var logPages: Int32 = 0
    var copiedPages: Int32 = 0
    let code = sqlite3_wal_checkpoint_v2(
      handle, nil, SQLITE_CHECKPOINT_PASSIVE, &logPages, &copiedPages)
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: handle) }
    walPagesBox.pointee = Int(logPages - copiedPages)
  }

  /// Copies the whole write-ahead log into the database, and truncates the log to 0 bytes.
  ///
  /// Throws `SQLITE_BUSY` if another connection is still reading from the log after a second, or
  /// immediately if `waits` is false.
  func emptyLog(waits: Bool = true) throws(SQLiteFailure) {
    sqlite3_busy_timeout(handle, waits ? Self.emptyingMilliseconds : 0)
    defer { sqlite3_busy_timeout(handle, Self.busyMilliseconds) }
    let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: handle) }
    walPagesBox.pointee = 0
  }

  /// Retains the write-ahead log when this connection is closed as the last one. A read-only
  /// connection changes no file: an existing log shows that the database may be incomplete.
  func keepLogAtClose() { CSQLite_keepLogAtClose(handle) }

  /// Replaces this database with a copy of another, on one snapshot.
  ///
  /// The copy is made in steps, within one read transaction on the source: otherwise it would
  /// restart whenever another process writes.
  ///
  /// - Parameter progress: Called after each step with the number of copied pages, and the total.
  func copyAll(
    from source: borrowing SQLiteConnection, progress: (Int, Int) -> Void = { _, _ in }
  ) throws(SQLiteFailure) {
    try source.execute("BEGIN; SELECT count(*) FROM sqlite_schema")
    let code = source.withHandle { source in
      guard let backup = sqlite3_backup_init(handle, "main", source, "main") else {
        return sqlite3_extended_errcode(handle)
      }
      var stepCode = SQLITE_OK
      while stepCode == SQLITE_OK {
        stepCode = sqlite3_backup_step(backup, Self.pagesPerStep)
        let total = Int(sqlite3_backup_pagecount(backup))
        progress(total - Int(sqlite3_backup_remaining(backup)), total)
      }
      let finishCode = sqlite3_backup_finish(backup)
      return stepCode == SQLITE_DONE ? finishCode : stepCode
    }
    try source.execute("COMMIT")
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: handle) }
  }

  /// Pages that are copied between two progress reports: 16 MB if a page has 4 kB.
  private static let pagesPerStep: Int32 = 4_096

  /// Ensures that a failed commit is not replayed after a crash.
  ///
  /// A commit whose sync failed has left frames in the write-ahead log. This connection ignores
  /// them, but a connection that opens the file after a crash would replay them. So this zeroes the
  /// header of the first frame after the last successful commit, and syncs the log.
  ///
  /// ```
  /// log file:  header | frame … frame | frame of the failed commit …
  ///                      mxFrame ↑       ↑ wiped
  /// ```
  func wipeFailedCommit() throws(SQLiteFailure) {
    guard
      let database = file(SQLITE_FCNTL_FILE_POINTER),
      let map = database.pointee.pMethods?.pointee.xShmMap,
      let log = file(SQLITE_FCNTL_JOURNAL_POINTER),
      let write = log.pointee.pMethods?.pointee.xWrite,
      let sync = log.pointee.pMethods?.pointee.xSync
    else { return }
    // The header of the shared-memory index, as documented for SQLite's WAL format.
    var mapped: UnsafeMutableRawPointer?
    var code = map(database, 0, 32_768, 0, &mapped)
    guard code == SQLITE_OK, let mapped else { throw SQLiteFailure(code: code, of: handle) }
    let pageSize = Int64(mapped.load(fromByteOffset: 14, as: UInt16.self))
    let goodFrames = Int64(mapped.load(fromByteOffset: 16, as: UInt32.self))
    let wiped = [UInt8](repeating: 0, count: 24)
    code = write(log, wiped, Int32(wiped.count), 32 + goodFrames * (24 + pageSize))
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: handle) }
    code = sync(log, SQLITE_SYNC_NORMAL)
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: handle) }
  }

  /// Returns SQLite's file object of the database or of its log; `nil` if it is not open.
  private func file(_ which: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", which, &file) == SQLITE_OK else { return nil }
    return file
  }

  /// Calls `body` with the C handle, for calls that need a statement or two connections.
  borrowing func withHandle<Result: ~Copyable, Failure>(
    _ body: (OpaquePointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(handle)
  }
}

/// A connection's cached statements. A class, since borrowed connections add to it.
private final class PreparedStatements {
  var byText: [String: SQLiteStatement] = [:]
}
