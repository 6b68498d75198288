public import ParleyGatewayPorts
import ParleyHashing
public import ParleyStoreRecords

/// Documents in one SQLite file.
///
/// Each document has a log of operations. An entry's checksum covers its fields and the checksum of
/// its predecessor. Recent texts are stored as snapshots. A batch is one transaction: `perform`
/// returns after SQLite has synced it to the disk.
///
/// Only one process can open a store for writing; a lock on a file beside the database ensures
/// this. Others may read from it with `init(reading:)`. An instance must be used by one thread at a
/// time.
public final class SQLiteStore: DocumentStore, Outbox {
  /// The path of the database file.
  public let path: String

  package let database: SQLiteDatabase

  /// The rules for recording events. With `nil`, no events are recorded; queued events remain.
  public var outboxRules: OutboxRules? {
    get { database.context.outboxRules }
    set { database.context.outboxRules = newValue }
  }

  /// The rule by which `maintain` compacts long logs; `nil` disables compaction.
  ///
  /// Ages are calculated from the document's last change, so that compaction is reproducible.
  public var retention: Retention? {
    get { database.context.retention }
    set { database.context.retention = newValue }
  }

  /// The pages in the write-ahead log from which a checkpoint is made: 4 MiB, SQLite's default.
  package var walPagesToCheckpoint = 1_024

  /// Whether a server has set its mark in the database.
  var isMarked = false

  /// Whether a server's log was missing when the store was opened.
  private(set) var lacksLog = false

  /// Opens the store, and creates it if it is missing.
  ///
  /// - Parameter path: The database file. The names of other files add `-wal`, `-shm` and `-lock`.
  ///   The folder must exist, on a local file system.
  public convenience init(path: String) throws(StoreOpenError) {
    try self.init(path: path, vfs: nil)
  }

  /// Opens the store with another file system layer of SQLite.
  package init(path: String, vfs: String?) throws(StoreOpenError) {
    self.path = path
    var lock = try StoreLock(beside: path)
    if try !StoreFile.inspect(path) { try StoreFile.make(path) }
    try lock.hold(database: path)
    let watch = lock.databaseFile.map { StoreWatch(path: path, database: $0) }
    let hadLog = StoreFile.hasLog(path)
    database = SQLiteDatabase(
      try StoreFile.connect(path, vfs: vfs), path: path, watch: watch, lock: consume lock)
    try StoreSchema.prepare(database.connection, path: path)
    if (try? isMarkedRunning()) == true {
      lacksLog = !hadLog
      // The log of a killed server is merged when this store is closed.
      if hadLog { try? unmarkRunning() }
    }
    // An error here only delays snapshots and the removal of compacted entries.
    database.context.upkeep.unsnapped =
      (try? TextRules(store: database).idsToSnapshot()) ?? []
    database.compacted = (try? database.numbersOfCompacted()) ?? []
    database.watch?.look()
  }

  /// Opens a store read-only, even if another process has it open.
  ///
  /// Each batch reads one snapshot. All writing requests fail with `unavailable`.
  public convenience init(reading path: String) throws(StoreOpenError) {
    try self.init(reading: path, isUnfinished: false)
  }

  /// Opens a store read-only, even if it may be unfinished.
  init(reading path: String, isUnfinished: Bool) throws(StoreOpenError) {
    self.path = path
    guard try StoreFile.inspect(path) else { throw .noStore(path: path) }
    let hadLog = StoreFile.hasLog(path)
    database = SQLiteDatabase(try StoreFile.connect(path), path: path, watch: nil, lock: nil)
    if hadLog { database.connection.keepLogAtClose() }
    try StoreSchema.verify(database.connection, path: path, isUnfinished: isUnfinished)
    do throws(SQLiteFailure) {
      // Sorting also uses memory only: a container may have no folder for temporary files.
      try database.connection.execute("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY")
    } catch {
      throw StoreOpenError(error, path: path)
    }
    if !hadLog, !isUnfinished { lacksLog = (try? isMarkedRunning()) ?? false }
  }

  /// Whether a store exists at a path. Does not open it.
  ///
  /// - Throws: `folder` if the path is a folder, or `logAlone` if only the log exists.
  public static func exists(at path: String) throws(StoreOpenError) -> Bool {
    try StoreFile.inspect(path)
  }

  /// Performs a batch of requests in one transaction, and returns after it is durable.
  public func perform(_ batch: [StoreRequest]) -> [StoreReply] {
    guard batch.contains(where: \.isWriting) else { return read(batch) }
    do throws(StoreError) {
      try database.prepareToWrite()
      try database.sql("BEGIN IMMEDIATE").run()
    } catch {
      return replies(to: batch, failing: .failed(error))
    }
    do throws(StoreError) {
      let replies = try write(batch)
      try database.sql("COMMIT").run()
      // Limits the log if the owner never has time for `maintain`.
      if database.connection.walPages >= 8 * walPagesToCheckpoint { try? database.checkpoint() }
      return replies
    } catch {
      database.abandonTransaction()
      return replies(
        to: batch, failing: database.hasFailedCommit ? .undecided(error) : .failed(error))
    }
  }

  /// Returns the replies to a batch whose transaction failed. Reads run again on committed data.
  private func replies(to batch: [StoreRequest], failing failure: StoreReply) -> [StoreReply] {
    var reads = read(batch.filter { !$0.isWriting })[...]
    return batch.map { request in
      request.isWriting ? failure : reads.popFirst() ?? failure
    }
  }

  private func write(_ batch: [StoreRequest]) throws(StoreError) -> [StoreReply] {
    var replies: [StoreReply] = []
    replies.reserveCapacity(batch.count)
    let rules = RequestRules(store: database)
    for request in batch {
      guard request.isWriting else {
        replies.append(rules.reply(to: request))
        continue
      }
      try database.sql("SAVEPOINT request").run()
      let reply = QueueRules(store: database).recorded(rules.reply(to: request), to: request)
      if case .failed(let error) = reply {
        // SQLite may have rolled back the whole transaction after a serious error.
        guard database.connection.isInTransaction else { throw error }
        try database.sql("ROLLBACK TO request").run()
      }
      try database.sql("RELEASE request").run()
      replies.append(reply)
    }
    return replies
  }

  private func read(_ batch: [StoreRequest]) -> [StoreReply] {
    // Use one transaction, so that a document's row and its log are from one snapshot.
    do throws(StoreError) {
      return try database.reading { () throws(StoreError) in
        batch.map { RequestRules(store: database).reply(to: $0) }
      }
    } catch {
      return batch.map { _ in .failed(error) }
    }
  }

  /// The number of virtual machine instructions that SQLite has executed for this store's requests.
  package var instructionCount: Int { database.connection.instructionCount }

  /// Performs an outbox request in a separate transaction.
  public func perform(_ request: OutboxRequest) -> OutboxReply {
    QueueRules(store: database).reply(to: request)
  }

  /// Returns the state of each queue that may have changed since the last call; at the first call,
  /// of all queues.
  public func takeOutboxChanges() -> [OutboxTarget: OutboxQueueState] {
    QueueRules(store: database).changedStandings()
  }
}
