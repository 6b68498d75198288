public import GatewayPorts
import Hashing
public import StoreRecords

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

  let connection: SQLiteConnection
  package var hasher = RecordHasher()
  package var upkeep = Upkeep()

  /// The numbers of documents that may have entries left before their log's base.
  var compacted: Set<Int> = []

  /// Rules for outside events; with `nil` none is recorded. Events that wait already are kept.
  public var outboxRules: OutboxRules?
  /// Queues whose state may have changed since it was last reported.
  package var changedTargets = Set(OutboxTarget.allCases)
  /// The number of dead letters of each target, as far as it is known.
  var deadLetterCounts: [OutboxTarget: Int] = [:]
  /// Events that queues were too long for, since the store was opened; those of commits that failed
  /// are counted too.
  var crowdedOut: [OutboxTarget: Int] = [:]

  /// The part of a long log that `maintain` keeps; all of it if `nil`.
  ///
  /// Ages are counted from the document's last change, so that a run can be repeated.
  public var retention: Retention?

  /// Pages of write-ahead log that make a checkpoint worth its while: 4 MiB, as SQLite's own.
  package var walPagesToCheckpoint = 1_024

  /// Measures the free bytes of the disk that holds the store; tests replace it.
  package var measureFreeBytes: (_ path: String) -> Int? = SQLiteStore.freeBytes(ofDiskWith:)

  /// Whether texts are folded on another connection, see ``takeFoldOrders()``; if not, `maintain`
  /// does it.
  package var foldsBeside = false

  /// The files that the store was opened with; `nil` if it was opened to be read.
  var watch: StoreWatch?

  /// Whether a server has marked the database as its own.
  var isMarked = false

  /// Whether a server's log was missing when the store was opened.
  private(set) var lacksLog = false

  /// Whether a failed commit may have left something in the file that a restart would find.
  private var hasFailedCommit = false

  // Last: the lock is to be released after the connection is closed.
  private let lock: StoreLock?

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
    watch = lock.databaseFile.map { StoreWatch(path: path, database: $0) }
    self.lock = consume lock
    let hadLog = StoreFile.hasLog(path)
    connection = try StoreFile.connect(path, vfs: vfs)
    try StoreSchema.prepare(connection, path: path)
    if (try? isMarkedRunning()) == true {
      lacksLog = !hadLog
      // The killed server's log is merged when this program ends.
      if hadLog { try? unmarkRunning() }
    }
    // A mistake here costs snapshots that are taken later.
    upkeep.unsnapped = (try? idsToSnapshot()) ?? []
    compacted = (try? numbersOfCompacted()) ?? []
    watch?.look()
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
    lock = nil
    guard try StoreFile.inspect(path) else { throw .noStore(path: path) }
    let hadLog = StoreFile.hasLog(path)
    connection = try StoreFile.connect(path)
    if hadLog { connection.keepLogAtClose() }
    try StoreSchema.verify(connection, path: path, isUnfinished: isUnfinished)
    do throws(SQLiteFailure) {
      // Sorts use memory, too: a container may have no folder for temporary files.
      try connection.execute("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY")
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
      try prepareToWrite()
      try sql("BEGIN IMMEDIATE").run()
    } catch {
      return replies(to: batch, failing: .failed(error))
    }
    do throws(StoreError) {
      let replies = try write(batch)
      try sql("COMMIT").run()
      // An owner that never finds time for `maintain` must not grow the file for ever.
      if connection.walPages >= 8 * walPagesToCheckpoint { try? checkpoint() }
      return replies
    } catch {
      abandonTransaction()
      return replies(
        to: batch, failing: hasFailedCommit ? .undecided(error) : .failed(error))
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
    for request in batch {
      guard request.isWriting else {
        replies.append(reply(to: request))
        continue
      }
      try sql("SAVEPOINT request").run()
      let reply = recorded(reply(to: request), to: request)
      if case .failed(let error) = reply {
        // After a serious error SQLite has ended the whole transaction by itself.
        guard connection.isInTransaction else { throw error }
        try sql("ROLLBACK TO request").run()
      }
      try sql("RELEASE request").run()
      replies.append(reply)
    }
    return replies
  }

  private func read(_ batch: [StoreRequest]) -> [StoreReply] {
    // One transaction, so that a document's row and its log are of one moment.
    do throws(StoreError) {
      return try reading { () throws(StoreError) in batch.map { reply(to: $0) } }
    } catch {
      return batch.map { _ in .failed(error) }
    }
  }

  func endReading() {
    if connection.isInTransaction { try? sql("ROLLBACK").run() }
  }

  /// A statement, prepared when its text comes for the first time, and kept; see
  /// ``SQLiteConnection/statement(_:)``.
  func sql(_ text: String) throws(StoreError) -> SQLiteStatement {
    do throws(SQLiteFailure) {
      return try connection.statement(text)
    } catch {
      throw error.storeError
    }
  }

  /// Instructions that SQLite has run for this store's requests so far.
  package var instructionCount: Int { connection.instructionCount }

  package func ownReply(to request: StoreRequest) throws(StoreError) -> StoreReply {
    switch request {
    case .append(let id, let epoch, let entries, _):
      return try append(id, epoch: epoch, entries: entries)
    case .news, .heads, .fence:
      throw .unavailable("files have one owner: there are no other nodes to hear of")
    case .probe:
      // Other bytes each time, so that there is something to write.
      try keepMeta("probe", value: randomBytes(count: 8))
      return .done
    // Failed commits were wiped before the transaction began.
    default: return .done
    }
  }

  // MARK: Transactions of the store's own

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
    defer { endReading() }
    return try body()
  }

  /// Runs `body` as any transaction: there are no other nodes.
  package func alone<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try transaction(body)
  }

  private func abandonTransaction() {
    if connection.isInTransaction { try? sql("ROLLBACK").run() }
    hasFailedCommit = true
    try? wipeFailedCommit()
  }

  /// Refuses to write into a file that is no longer at the store's path, and removes what a failed
  /// commit left.
  private func prepareToWrite() throws(StoreError) {
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
}
