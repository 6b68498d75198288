package import ParleyGatewayPorts
package import ParleyStoreRecords

/// The database of a store: the connection, transactions, and values cached between transactions.
///
/// Each table has an extension. An instance must be used by one thread at a time.
package final class SQLiteDatabase: SQLConnection {
  let connection: SQLiteConnection
  package let context = StoreContext()
  let path: String

  /// Detects that the store's files were moved or replaced; `nil` for a store opened read-only.
  var watch: StoreWatch?
  /// Whether a failed commit may have left frames in the log that a restart would replay.
  private(set) var hasFailedCommit = false

  /// The numbers of compacted documents, whose entries up to the base may still have to be deleted.
  var compacted: Set<Int> = []
  /// The number of dead letters of each target, cached after it was first counted.
  var deadLetterCounts: [OutboxTarget: Int] = [:]
  /// Events that became dead letters because a queue was full, since the store was opened. Events
  /// of failed commits are included.
  var overflowed: [OutboxTarget: Int] = [:]
  /// Returns the free bytes of the disk that contains the store; tests replace it.
  package var measureFreeBytes: (_ path: String) -> Int? = SQLiteDatabase.freeBytes(ofDiskWith:)

  // Declared last, so that the lock is released after the connection is closed.
  private let lock: StoreLock?

  init(
    _ connection: consuming SQLiteConnection, path: String, watch: StoreWatch?,
    lock: consuming StoreLock?
  ) {
    self.connection = connection
    self.path = path
    self.watch = watch
    self.lock = lock
  }

  // MARK: Statements

  /// Empty, since no other process writes.
  package var locking: String { "" }
  package var skippingLocked: String { "" }

  package func change(_ sql: String, _ values: any StoredValue...) throws(StoreError) {
    try self.sql(sql).run(all: values)
  }

  package func changedRows(
    _ sql: String, _ values: any StoredValue...
  ) throws(StoreError) -> Int {
    try self.sql(sql).run(all: values)
    return connection.changedRows
  }

  package func first<Result>(
    _ sql: String, _ values: any StoredValue...,
    read: (SQLiteStatement) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try self.sql(sql).first(all: values, read: read)
  }

  package func rows<Result>(
    _ sql: String, _ values: any StoredValue...,
    read: (SQLiteStatement) throws(StoreError) -> Result
  ) throws(StoreError) -> [Result] {
    try self.sql(sql).rows(all: values, read: read)
  }

  package func throwConnectionFailure() {}

  /// Returns the cached statement for an SQL text, which is prepared at its first use; see
  /// ``SQLiteConnection/statement(_:)``.
  func sql(_ text: String) throws(StoreError) -> SQLiteStatement {
    do throws(SQLiteFailure) {
      return try connection.statement(text)
    } catch {
      throw error.storeError
    }
  }

  // MARK: Transactions

  /// Runs `body` in a separate transaction and commits it.
  package func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try prepareToWrite()
    try sql("BEGIN IMMEDIATE").run()
    do throws(StoreError) {
      let result = try body()
      try sql("COMMIT").run()
      return result
    } catch {
      abandonTransaction()
      throw error
    }
  }

  /// Runs `body` in a read-only transaction, on one snapshot.
  package func reading<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    // The caller reads in a transaction already: use its snapshot.
    guard !connection.isInTransaction else { return try body() }
    try sql("BEGIN").run()
    defer { if connection.isInTransaction { try? sql("ROLLBACK").run() } }
    return try body()
  }

  /// Runs `body` in a transaction, and never returns `nil`: no other node uses the database.
  package func alone<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try transaction(body)
  }

  func abandonTransaction() {
    if connection.isInTransaction { try? sql("ROLLBACK").run() }
    hasFailedCommit = true
    try? wipeFailedCommit()
  }

  /// Throws if the store's file was moved or replaced, and wipes what a failed commit has left.
  func prepareToWrite() throws(StoreError) {
    watch?.look()
    if let problem = watch?.problem { throw .unavailable(problem) }
    try wipeFailedCommit()
  }

  /// Wipes what a failed commit has left in the log. No transaction begins before this succeeds.
  func wipeFailedCommit() throws(StoreError) {
    guard hasFailedCommit else { return }
    do throws(SQLiteFailure) {
      try connection.wipeFailedCommit()
    } catch {
      throw error.storeError
    }
    hasFailedCommit = false
  }

  func checkpoint() throws(StoreError) {
    do throws(SQLiteFailure) {
      try connection.checkpoint()
    } catch {
      throw error.storeError
    }
  }
}
