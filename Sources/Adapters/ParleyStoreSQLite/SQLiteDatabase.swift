package import ParleyGatewayPorts
package import ParleyStoreRecords

/// The database of a store: its connection, its transactions, and what is known between them.
///
/// Each kind of rows has an extension. An instance belongs to one thread at a time.
package final class SQLiteDatabase: SQLConnection {
  let connection: SQLiteConnection
  package let context = StoreContext()
  let path: String

  /// The files that the store was opened with; `nil` if it was opened to be read.
  var watch: StoreWatch?
  /// Whether a failed commit may have left something in the file that a restart would find.
  private(set) var hasFailedCommit = false

  /// The numbers of documents that may have entries left before their log's base.
  var compacted: Set<Int> = []
  /// The number of dead letters of each target, as far as it is known.
  var deadLetterCounts: [OutboxTarget: Int] = [:]
  /// Events that queues were too long for, since the store was opened; those of commits that failed
  /// are counted too.
  var crowdedOut: [OutboxTarget: Int] = [:]
  /// Measures the free bytes of the disk that holds the store; tests replace it.
  package var measureFreeBytes: (_ path: String) -> Int? = SQLiteDatabase.freeBytes(ofDiskWith:)

  // Last: the lock is to be released after the connection is closed.
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

  /// Queries lock nothing: no other process writes.
  package var locking: String { "" }
  package var lockingFree: String { "" }

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

  package func passOn() {}

  /// A statement, prepared when its text comes for the first time, and kept; see
  /// ``SQLiteConnection/statement(_:)``.
  func sql(_ text: String) throws(StoreError) -> SQLiteStatement {
    do throws(SQLiteFailure) {
      return try connection.statement(text)
    } catch {
      throw error.storeError
    }
  }

  // MARK: Transactions

  /// Runs `body` in a transaction of its own and commits it.
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

  /// Runs `body` in a transaction that only reads, as of one moment.
  package func reading<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    // A reader of the whole store sees one moment.
    guard !connection.isInTransaction else { return try body() }
    try sql("BEGIN").run()
    defer { if connection.isInTransaction { try? sql("ROLLBACK").run() } }
    return try body()
  }

  /// Runs `body` as any transaction: there are no other nodes.
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

  /// Refuses to write into a file that is no longer at the store's path, and removes what a failed
  /// commit left.
  func prepareToWrite() throws(StoreError) {
    watch?.look()
    if let problem = watch?.problem { throw .unavailable(problem) }
    try wipeFailedCommit()
  }

  /// Nothing is written before what a failed commit left is gone.
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
