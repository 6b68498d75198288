public import ParleyGatewayPorts
import Glibc
public import ParleyStoreRecords

/// The reason why a backup was not created or restored.
public enum StoreBackupError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The store or the backup could not be opened, or a file could not be created.
  case file(StoreOpenError)
  /// A file already exists at the destination.
  case exists(path: String)
  /// The copy is damaged; no file was replaced.
  case unsound(StoreFindings)
  /// The copy could not be written.
  case store(StoreError)

  /// The problem, and the remedy where there is one.
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

/// The result of restoring a backup.
public struct StoreRestoration: Sendable, Equatable {
  /// The findings of the backup's check.
  public var findings: StoreFindings
  /// The path to which the replaced store was moved; `nil` if there was no store.
  public var replaced: String?
}

/// Backups of stores.
public enum StoreBackup {
  /// The progress of a backup.
  public enum Step: Sendable, Equatable {
    /// Database pages are being copied.
    case copying(pages: Int, of: Int)
    /// Notes of the copy are being verified.
    case checking(notes: Int, of: Int)
  }

  /// Copies a snapshot of a store to a new file, while a server may be writing to the store.
  ///
  /// The copy is renamed to `destination` after it is complete and durable, so a file of this name
  /// is complete. The copy does not block writers, but the server's log may grow meanwhile.
  ///
  /// - Parameters:
  ///   - path: The path of the store.
  ///   - destination: The new file. It needs no other file.
  ///   - isVerified: Whether to read the whole copy and verify its checksums.
  ///   - progress: Called after each copied portion and each verified note.
  /// - Returns: The findings of the verification; `nil` if the copy was not verified.
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

  /// Restores a store from a backup, which is verified first.
  ///
  /// Clients may know changes that the backup lacks. So each document gets a new epoch, by which a
  /// resuming client detects that the history is different.
  ///
  /// - Parameters:
  ///   - backup: A file created by `make`. It is not changed.
  ///   - path: The path of the restored store. No server may have it open.
  ///   - isReplacing: Whether an existing store may be moved aside, to `path` with `.replaced`
  ///     appended, and a number if that name exists. No store is ever deleted.
  ///   - names: The source of new epochs.
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

  /// Renames all existing files of a store, even if some are missing.
  ///
  /// - Returns: The new path; `nil` if no file exists.
  private static func moveAside(_ path: String) throws(StoreOpenError) -> String? {
    guard StoreFile.hasAny(path) else { return nil }
    var aside = path + ".replaced"
    var number = 1
    while StoreFile.hasAny(aside) {
      number += 1
      aside = path + ".replaced-\(number)"
    }
    // Rename the database first: if this is interrupted, the next start rejects a log without its
    // database, while a database without its log would look complete.
    for ending in StoreFile.endings.reversed() where StoreFile.exists(path + ending) {
      try StoreFile.rename(path + ending, to: aside + ending)
    }
    return aside
  }

  /// Verifies a copy and gives its documents new epochs. When this returns, the copy is closed, and
  /// so in one file.
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

  /// Copies a database through SQLite, which includes the valid part of its log.
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
        // The copy contains the log's changes, and no server uses the copy.
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
  /// Gives every document and every room a new epoch, in one commit.
  func renewAllEpochs(_ names: some NameSource) throws(StoreError) {
    let notes = NoteRules(store: database)
    let summaries = try notes.list()
    try database.transaction { () throws(StoreError) in
      try database.renewDeletedEpochs(names)
      for summary in summaries {
        let epoch = try database.existingRow(summary.id).epoch
        try notes.renewEpoch(summary.id, from: epoch, to: Epoch(names.next()))
      }
      try database.renewRoomEpochs(names)
    }
  }
}
