public import ParleyGatewayPorts
import Glibc
public import ParleyStoreRecords

/// Why a backup was not made or restored.
public enum StoreBackupError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The store or the backup could not be opened, or a file not be made.
  case file(StoreOpenError)
  /// There is a file already where one was to be made.
  case exists(path: String)
  /// The copy is damaged; nothing has been replaced.
  case unsound(StoreFindings)
  /// The copy could not be written.
  case store(StoreError)

  /// The expectation, what came instead, and what to do.
  public var description: String {
    switch self {
    case .file(let error): error.description
    case .exists(let path):
      "there is a file \(path) already; move it away, or name another"
    case .unsound(let findings):
      "the copy has \(findings.problems.count) problems; first: "
        + (findings.problems.first?.description ?? "") + "; use another backup"
    case .store(let error): "the copy could not be written: \(error)"
    }
  }
}

/// Result of restoring a backup.
public struct StoreRestoration: Sendable, Equatable {
  /// The findings of the backup's check.
  public var findings: StoreFindings
  /// The path to which the replaced store was moved; `nil` if there was none.
  public var replaced: String?
}

/// Copies of whole stores.
public enum StoreBackup {
  /// The progress of a copy.
  public enum Step: Sendable, Equatable {
    /// Pages of the database are copied.
    case copying(pages: Int, of: Int)
    /// Notes of the copy are read and compared with their checksums.
    case checking(notes: Int, of: Int)
  }

  /// Copies a store of one moment into a new file, while a server may be writing to it.
  ///
  /// The copy gets its name when it is complete and on the disk, so a backup that has its name is
  /// whole. Reading blocks no writer; the server's log may grow meanwhile.
  ///
  /// - Parameters:
  ///   - path: The store.
  ///   - destination: The new file, one by itself.
  ///   - isVerified: Whether to read all of the copy and compare it with its checksums.
  ///   - progress: Called now and then with how far the copy is.
  /// - Returns: What the check has shown, if there was one.
  @discardableResult
  public static func make(
    of path: String, at destination: String, isVerified: Bool = true,
    progress: (Step) -> Void = { _ in }
  ) throws(StoreBackupError) -> StoreFindings? {
    guard !StoreFile.exists(destination) else { throw .exists(path: destination) }
    let partial = destination + ".partial"
    do throws(StoreBackupError) {
      try copy(path, to: partial) { progress(.copying(pages: $0, of: $1)) }
      var findings: StoreFindings?
      if isVerified {
        findings = try opening { () throws(StoreOpenError) in
          try SQLiteStore(reading: partial)
        }.check { progress(.checking(notes: $0, of: $1)) }
        if let findings, !findings.problems.isEmpty { throw .unsound(findings) }
      }
      try opening { () throws(StoreOpenError) in
        try StoreFile.rename(partial, to: destination)
        try StoreFile.syncFolder(of: destination)
      }
      return findings
    } catch {
      StoreFile.remove(partial)
      throw error
    }
  }

  /// Puts a backup where a store is to be, after reading all of it.
  ///
  /// Clients may have seen more than the backup holds. So each document continues under a new
  /// epoch, by which a client that resumes sees that this is another history.
  ///
  /// - Parameters:
  ///   - backup: The file that `make` made. It stays as it is.
  /// - path: The store's new place. No server may have it open.
  ///   - isReplacing: Whether a store that is there may be moved aside, to `path` with `.replaced`
  ///     added, and a number if that name is taken: nothing is ever removed.
  ///   - names: Where new epochs come from.
  @discardableResult
  public static func restore(
    _ backup: String, to path: String, isReplacing: Bool = false,
    names: some NameSource
  ) throws(StoreBackupError) -> StoreRestoration {
    let lock = try opening { () throws(StoreOpenError) in
      var lock = try StoreLock(beside: path)
      if StoreFile.isFile(path) { try lock.hold(database: path) }
      return lock
    }
    defer { withExtendedLifetime(lock) {} }
    let isThere =
      isReplacing
      ? false
      : try opening { () throws(StoreOpenError) in
        try StoreFile.inspect(path)
      }
    guard !isThere else { throw .exists(path: path) }
    let partial = path + ".partial"
    do throws(StoreBackupError) {
      try copy(backup, to: partial)
      let findings = try prepare(partial, names)
      let replaced = try opening { () throws(StoreOpenError) in
        let replaced = try moveAside(path)
        try StoreFile.rename(partial, to: path)
        try StoreFile.syncFolder(of: path)
        return replaced
      }
      return StoreRestoration(findings: findings, replaced: replaced)
    } catch {
      StoreFile.remove(partial)
      throw error
    }
  }

  /// Gives all files of a store that is there, or of which parts are there, another name.
  ///
  /// - Returns: The name; `nil` if there are no such files.
  private static func moveAside(_ path: String) throws(StoreOpenError) -> String? {
    guard StoreFile.hasAny(path) else { return nil }
    var aside = path + ".replaced"
    var number = 1
    while StoreFile.hasAny(aside) {
      number += 1
      aside = path + ".replaced-\(number)"
    }
    // The database first: if this is interrupted, a log without its database is refused at the next
    // start, while a database without its log would look whole.
    for ending in StoreFile.endings.reversed() where StoreFile.exists(path + ending) {
      try StoreFile.rename(path + ending, to: aside + ending)
    }
    return aside
  }

  /// Checks a copy and gives its documents new epochs. The copy is closed, and so in one file, when
  /// this returns.
  private static func prepare(
    _ path: String, _ names: some NameSource
  ) throws(StoreBackupError) -> StoreFindings {
    defer { unlink(path + "-lock") }
    let store = try opening { () throws(StoreOpenError) in try SQLiteStore(path: path) }
    let findings = store.check()
    guard findings.problems.isEmpty else { throw .unsound(findings) }
    do throws(StoreError) {
      try store.renewAllEpochs(names)
      try store.emptyLog()
    } catch {
      throw .store(error)
    }
    return findings
  }

  /// Copies a database through SQLite, which knows what of its log belongs to it.
  private static func copy(
    _ path: String, to destination: String, progress: (Int, Int) -> Void = { _, _ in }
  ) throws(StoreBackupError) {
    try opening { () throws(StoreOpenError) in
      guard try StoreFile.inspect(path) else { throw .noStore(path: path) }
      let source = try StoreFile.connect(path)
      let version = try StoreSchema.version(of: source, path: path)
      StoreFile.remove(destination)
      try StoreFile.make(destination)
      let copy = try StoreFile.connect(destination)
      do throws(SQLiteFailure) {
        try copy.execute("PRAGMA synchronous = FULL")
        try copy.copyAll(from: source, progress: progress)
        // The copy has what is in the log, and no server uses it.
        if version > 0 {
          try copy.execute("DELETE FROM meta WHERE name = '\(SQLiteStore.runningMark)'")
        }
      } catch {
        throw StoreOpenError(error, path: destination)
      }
    }
  }

  private static func opening<Result: ~Copyable>(
    _ body: () throws(StoreOpenError) -> Result
  ) throws(StoreBackupError) -> Result {
    do throws(StoreOpenError) {
      return try body()
    } catch {
      throw .file(error)
    }
  }
}

extension SQLiteStore {
  /// Gives every document and every room another epoch, in one commit.
  func renewAllEpochs(_ names: some NameSource) throws(StoreError) {
    let notes = NoteRules(store: database)
    let summaries = try notes.list()
    try database.transaction { () throws(StoreError) in
      try database.renewDeletedEpochs(names)
      for summary in summaries {
        let epoch = try database.existingRow(summary.id).epoch
        try notes.renewEpoch(summary.id, from: epoch, to: names.next())
      }
      try database.renewRoomEpochs(names)
    }
  }
}
