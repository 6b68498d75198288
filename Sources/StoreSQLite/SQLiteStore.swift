import CSQLite
public import GatewayPorts
import Glibc

/// Documents in one SQLite file.
///
/// Each document has a log of its operations, each entry with a checksum over its fields and its
/// predecessor's checksum; the newest texts are kept beside it as snapshots. A batch is one
/// transaction: `perform` returns after SQLite has synced it to the disk.
///
/// One process opens a store at a time, which a lock on a file beside it ensures; others may read.
/// An instance belongs to one thread at a time.
public final class SQLiteStore: DocumentStore {
  /// Where the store is.
  public let path: String

  let connection: SQLiteConnection
  let statements: StoreStatements
  var hasher = RecordHasher()

  /// Documents whose newest snapshot lies far behind their head.
  var unsnapped: Set<DocumentID> = []
  /// Whether rows of deleted documents may be left.
  var hasGarbage = true
  /// Whether entries before their log's base may be left.
  var hasCompacted = true

  /// Pages of write-ahead log that make a checkpoint worth its while: 4 MiB, as SQLite's own.
  package var walPagesToCheckpoint = 1_024

  /// Whether a failed commit may have left something in the file that a restart would find.
  private var hasFailedCommit = false

  // Last: the lock is to be let go of after the connection is closed.
  private let lock: StoreLock

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
    lock = try StoreLock(beside: path)
    try Self.makeFile(path)
    do throws(SQLiteFailure) {
      connection = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE, vfs: vfs)
    } catch {
      throw StoreOpenError(error, path: path)
    }
    try StoreSchema.prepare(connection, path: path)
    do throws(SQLiteFailure) {
      statements = try StoreStatements(connection)
    } catch {
      throw StoreOpenError(error, path: path)
    }
    // A mistake here costs snapshots that are taken later.
    unsnapped = (try? idsToSnapshot()) ?? []
  }

  /// Does a batch of work in one transaction, and returns after it is on the disk.
  public func perform(_ batch: [StoreRequest]) -> [StoreReply] {
    guard batch.contains(where: \.isWriting) else { return read(batch) }
    do throws(StoreError) {
      try wipeFailedCommit()
      try statements.begin.run()
      do throws(StoreError) {
        let replies = try write(batch)
        try statements.commit.run()
        // An owner that never finds time for `maintain` must not grow the file for ever.
        if connection.walPages >= 8 * walPagesToCheckpoint { try? checkpoint() }
        return replies
      } catch {
        abandonTransaction()
        throw error
      }
    } catch {
      // Nothing of the batch has happened, and what its reads saw may have been part of it.
      var reads = read(batch.filter { !$0.isWriting })[...]
      return batch.map { request in
        request.isWriting ? .failed(error) : reads.popFirst() ?? .failed(error)
      }
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
      try statements.savepoint.run()
      let reply = reply(to: request)
      if case .failed(let error) = reply {
        // After a serious error SQLite has ended the whole transaction by itself.
        guard connection.isInTransaction else { throw error }
        try statements.rollbackToSavepoint.run()
      }
      try statements.release.run()
      replies.append(reply)
    }
    return replies
  }

  private func read(_ batch: [StoreRequest]) -> [StoreReply] {
    // One transaction, so that a document's row and its log are of one moment.
    do throws(StoreError) {
      try statements.beginReading.run()
    } catch {
      return batch.map { _ in .failed(error) }
    }
    let replies = batch.map { reply(to: $0) }
    endReading()
    return replies
  }

  private func endReading() {
    if connection.isInTransaction { try? statements.rollback.run() }
  }

  private func reply(to request: StoreRequest) -> StoreReply {
    do throws(StoreError) {
      switch request {
      case .create(let id, let epoch, let title, let time):
        return .note(try create(id, epoch: epoch, title: title, time: time))
      case .rename(let id, let title, let time):
        return .note(try rename(id, title: title, time: time))
      case .delete(let id):
        try delete(id)
        return .done
      case .list:
        return .notes(try list())
      case .load(let id, let recentMax):
        return .document(try load(id, recentMax: recentMax))
      case .entries(let id, let after, let through):
        return .entries(try entries(id, after: after, through: through))
      case .append(let id, let epoch, let entries):
        try append(id, epoch: epoch, entries: entries)
        return .done
      case .snapshot(let id, let epoch, let revision, let text):
        try offerSnapshot(id, epoch: epoch, revision: revision, text: text)
        return .done
      case .text(let id, let point):
        return .text(try text(id, at: point))
      case .history(let id, let after, let through, let pause):
        return .history(try history(id, after: after, through: through, pause: pause))
      case .versions(let id):
        return .versions(try versions(id))
      case .saveVersion(let id, let epoch, let version):
        try saveVersion(id, epoch: epoch, version: version)
        return .done
      case .deleteVersion(let id, let revision):
        try deleteVersion(id, revision: revision)
        return .done
      case .renewEpoch(let id, let from, let to):
        try renewEpoch(id, from: from, to: to)
        return .done
      case .compact(let id, let through):
        try compact(id, through: through)
        return .done
      }
    } catch {
      return .failed(error)
    }
  }

  // MARK: Transactions of the store's own

  /// Runs `body` in a transaction of its own and commits it.
  func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try wipeFailedCommit()
    try statements.begin.run()
    do throws(StoreError) {
      let result = try body()
      try statements.commit.run()
      return result
    } catch {
      abandonTransaction()
      throw error
    }
  }

  private func abandonTransaction() {
    if connection.isInTransaction { try? statements.rollback.run() }
    hasFailedCommit = true
    try? wipeFailedCommit()
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

  // MARK: The file

  /// Makes an empty file that nobody else may read, and makes its name durable.
  private static func makeFile(_ path: String) throws(StoreOpenError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      guard errno == EEXIST else { throw StoreOpenError(errno: errno, path: path) }
      return
    }
    close(descriptor)
    let folder =
      path.utf8.lastIndex(of: 0x2f).map { slash in
        slash == path.startIndex ? "/" : String(path[..<slash])
      } ?? "."
    let folderDescriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folderDescriptor >= 0 else { throw StoreOpenError(errno: errno, path: path) }
    defer { close(folderDescriptor) }
    guard fsync(folderDescriptor) == 0 else { throw StoreOpenError(errno: errno, path: path) }
  }
}
