import CParleySQLite

/// An open database, closed with the end of its owner.
///
/// One thread at a time: SQLite's own locking is switched off.
@safe struct SQLiteConnection: ~Copyable {
  private let handle: OpaquePointer
  /// Pages in the write-ahead log after the newest commit; SQLite tells through a callback.
  private let walPagesBox: UnsafeMutablePointer<Int>
  private let prepared = PreparedStatements()

  /// Milliseconds to wait for another program's lock.
  private static let busyMilliseconds: Int32 = 5_000
  /// Milliseconds to wait for other programs' reads when the log is emptied.
  private static let emptyingMilliseconds: Int32 = 1_000

  /// Opens the file, making it if `flags` say so.
  ///
  /// - Parameters:
  ///   - flags: SQLite's `SQLITE_OPEN_…`.
  ///   - vfs: The name of the layer that does the file's input and output, `nil` for SQLite's own.
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
    // Replaces SQLite's automatic checkpoints, which would run within a commit that a client waits
    // for.
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

  /// Pages in the write-ahead log that no checkpoint has copied yet.
  var walPages: Int { walPagesBox.pointee }

  /// Runs statements that take and return nothing.
  func execute(_ sql: String) throws(SQLiteFailure) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: handle) }
  }

  /// A statement, prepared when its text comes for the first time, and kept as long as the connection.
  ///
  /// The text is written where the statement is used. Values that differ from call to call are
  /// bound, so a program has few texts. One statement is in one use at a time: code that reads its
  /// rows does not ask for its text again.
  ///
  /// - Complexity: O(*bytes of the text*), but for the first time.
  func statement(_ sql: String) throws(SQLiteFailure) -> SQLiteStatement {
    if let known = prepared.byText[sql] { return known }
    let statement = try SQLiteStatement(self, sql)
    prepared.byText[sql] = statement
    return statement
  }

  /// Instructions that all kept statements have run since they were prepared: a measure of work that is the same
  /// in every run.
  var instructionCount: Int {
    prepared.byText.values.reduce(0) { $0 + $1.instructionCount }
  }

  /// Returns the first column of the first row of a query.
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

  /// Whether a transaction is open. SQLite may end one by itself after a serious error.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Rows changed by the statement that ran last.
  var changedRows: Int { Int(sqlite3_changes64(handle)) }

  /// The key of the row inserted last.
  var lastInsertedKey: Int { Int(sqlite3_last_insert_rowid(handle)) }

  /// Copies the write-ahead log's pages into the database, up to the oldest page that is being
  /// read.
  func checkpoint() throws(SQLiteFailure) {
    var logPages: Int32 = 0
    var copiedPages: Int32 = 0
    let code = sqlite3_wal_checkpoint_v2(
      handle, nil, SQLITE_CHECKPOINT_PASSIVE, &logPages, &copiedPages)
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: handle) }
    walPagesBox.pointee = Int(logPages - copiedPages)
  }

  /// Copies all of the write-ahead log into the database and truncates the log to no bytes.
  ///
  /// Fails with `SQLITE_BUSY` if another connection still reads from the log after a second, or, unless it
  /// `waits`, at once.
  func emptyLog(waits: Bool = true) throws(SQLiteFailure) {
    sqlite3_busy_timeout(handle, waits ? Self.emptyingMilliseconds : 0)
    defer { sqlite3_busy_timeout(handle, Self.busyMilliseconds) }
    let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code, of: handle) }
    walPagesBox.pointee = 0
  }

  /// Leaves the write-ahead log beside the database when this connection closes as the last one. A connection that
  /// reads changes nothing: whether there was a log tells whether the database is whole.
  func keepLogAtClose() { CSQLite_keepLogAtClose(handle) }

  /// Makes this database a copy of another, as it is at one moment.
  ///
  /// It goes in steps, within one read of the source: without that, a copy would start again
  /// whenever another process writes.
  ///
  /// - Parameter progress: Called after each step with the pages copied so far, and the number of all.
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

  /// Pages that a copy takes between two reports: of 4 kB each, 16 MB.
  private static let pagesPerStep: Int32 = 4_096

  /// Makes sure that a commit that failed does not turn up after a crash.
  ///
  /// A commit whose sync failed has left its frames in the write-ahead log. This connection knows
  /// not to read them, but one that opens the file after a crash would find them whole. So the
  /// header of the first frame after the last good commit is wiped, and the log is synced.
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
    // The head of the shared index, as SQLite's page on its WAL format describes it.
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

  /// SQLite's own file behind this connection, the database's or its log's, if it is open.
  private func file(_ which: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", which, &file) == SQLITE_OK else { return nil }
    return file
  }

  /// Calls `body` with the C handle, for the few calls that take a statement or two connections.
  borrowing func withHandle<Result: ~Copyable, Failure>(
    _ body: (OpaquePointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(handle)
  }
}

/// A connection's statements, shared by the calls that borrow it.
private final class PreparedStatements {
  var byText: [String: SQLiteStatement] = [:]
}
