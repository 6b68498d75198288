public import ParleyGatewayPorts
import ParleyHashing
public import ParleyStoreRecords

/// Documents in one SQLite file.
///
/// Each document has a log of its operations, each entry with a checksum over its fields and its
/// predecessor's checksum; the newest texts are kept beside it as snapshots. A batch is one
/// transaction: `perform` returns after SQLite has synced it to the disk.
///
/// One process has a store open at a time, which a lock on a file beside it ensures; others may
/// read from it with `init(reading:)`.
/// An instance belongs to one thread at a time.
public final class SQLiteStore: DocumentStore, Outbox {
  /// The path of the database file.
  public let path: String

  package let database: SQLiteDatabase

  /// Rules for outside events; with `nil` none is recorded. Events that wait already are kept.
  public var outboxRules: OutboxRules? {
    get { database.context.outboxRules }
    set { database.context.outboxRules = newValue }
  }

  /// The part of a long log that `maintain` keeps; all of it if `nil`.
  ///
  /// Ages are counted from the document's last change, so that a run can be repeated.
  public var retention: Retention? {
    get { database.context.retention }
    set { database.context.retention = newValue }
  }

  /// Pages of write-ahead log that make a checkpoint worth its while: 4 MiB, as SQLite's own.
  package var walPagesToCheckpoint = 1_024

  /// Whether a server has marked the database as its own.
  var isMarked = false

  /// Whether a server's log was missing when the store was opened.
  private(set) var lacksLog = false

  /// Opens the store, making it if there is none.
  ///
  /// - Parameter path: The file. `-wal`, `-shm` and `-lock` are added for the files beside it. Its
  ///   folder has to exist, on a local file system.
  public convenience init(path: String) throws(StoreOpenError) {
    try self.init(path: path, vfs: nil)
  }

  /// Opens the store over another layer of input and output.
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
      // The killed server's log is merged when this program ends.
      if hadLog { try? unmarkRunning() }
    }
    // A mistake here costs snapshots that are taken later.
    database.context.upkeep.unsnapped =
      (try? TextRules(store: database).idsToSnapshot()) ?? []
    database.compacted = (try? database.numbersOfCompacted()) ?? []
    database.watch?.look()
  }

  /// Opens a store that another process may have open, to read from it.
  ///
  /// Each batch reads one moment. All writing requests fail with `unavailable`.
  public convenience init(reading path: String) throws(StoreOpenError) {
    try self.init(reading: path, isUnfinished: false)
  }

  /// Opens a store to read from it, though it may still be filled.
  init(reading path: String, isUnfinished: Bool) throws(StoreOpenError) {
    self.path = path
    guard try StoreFile.inspect(path) else { throw .noStore(path: path) }
    let hadLog = StoreFile.hasLog(path)
    database = SQLiteDatabase(try StoreFile.connect(path), path: path, watch: nil, lock: nil)
    if hadLog { database.connection.keepLogAtClose() }
    try StoreSchema.verify(database.connection, path: path, isUnfinished: isUnfinished)
    do throws(SQLiteFailure) {
      // Sorts use memory, too: a container may have no folder for temporary files.
      try database.connection.execute("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY")
    } catch {
      throw StoreOpenError(error, path: path)
    }
    if !hadLog, !isUnfinished { lacksLog = (try? isMarkedRunning()) ?? false }
  }

  /// Whether there is a store at a path, without opening it.
  ///
  /// - Throws: `folder` or `logAlone` if there is something that is in a store's way.
  public static func exists(at path: String) throws(StoreOpenError) -> Bool {
    try StoreFile.inspect(path)
  }

  /// Does a batch of work in one transaction, and returns after it is on the disk.
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
      // An owner that never finds time for `maintain` must not grow the file for ever.
      if database.connection.walPages >= 8 * walPagesToCheckpoint { try? database.checkpoint() }
      return replies
    } catch {
      database.abandonTransaction()
      return replies(
        to: batch, failing: database.hasFailedCommit ? .undecided(error) : .failed(error))
    }
  }

  /// The replies to a batch whose writes have failed. What its reads saw may have been part of them.
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
        // After a serious error SQLite has ended the whole transaction by itself.
        guard database.connection.isInTransaction else { throw error }
        try database.sql("ROLLBACK TO request").run()
      }
      try database.sql("RELEASE request").run()
      replies.append(reply)
    }
    return replies
  }

  private func read(_ batch: [StoreRequest]) -> [StoreReply] {
    // One transaction, so that a document's row and its log are of one moment.
    do throws(StoreError) {
      return try database.reading { () throws(StoreError) in
        batch.map { RequestRules(store: database).reply(to: $0) }
      }
    } catch {
      return batch.map { _ in .failed(error) }
    }
  }

  /// Instructions that SQLite has run for this store's requests so far.
  package var instructionCount: Int { database.connection.instructionCount }

  /// Does a piece of work in a transaction of its own.
  public func perform(_ request: OutboxRequest) -> OutboxReply {
    QueueRules(store: database).reply(to: request)
  }

  /// Returns the state of each queue that may have changed since the last call, and of all at the
  /// first.
  public func takeOutboxChanges() -> [OutboxTarget: OutboxStanding] {
    QueueRules(store: database).changedStandings()
  }
}
