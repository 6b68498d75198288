import CParleySQLite
import Glibc

/// A store's files as the system sees them.
enum StoreFile {
  /// Endings of the files that belong to a store, except for the lock; the database comes last.
  static let endings = ["-wal", "-shm", "-journal", ""]

  /// Whether there is a file.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Whether there is a file that is no folder.
  static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Whether a file is on a file system that is mounted read-only.
  static func isOnReadOnlySystem(_ path: String) -> Bool {
    var system = statvfs()
    return statvfs(path, &system) == 0 && system.f_flag & UInt(ST_RDONLY) != 0
  }

  /// Whether there is any file of a store.
  static func hasAny(_ path: String) -> Bool { endings.contains { exists(path + $0) } }

  /// Looks for a store without opening it.
  ///
  /// The first start of a store writes and syncs the database's first page before it makes a log,
  /// so a log with frames has had a database: without it, the next opening would throw the log
  /// away.
  ///
  /// - Returns: Whether there is a database.
  /// - Throws: `folder` or `logAlone`.
  static func inspect(_ path: String) throws(StoreOpenError) -> Bool {
    var status = stat()
    let isThere = stat(path, &status) == 0
    let isFolder = isThere && status.st_mode & S_IFMT == S_IFDIR
    if !isThere || isFolder || status.st_size == 0, hasLoggedChanges(path) {
      let state: StoreOpenError.DatabaseState =
        isFolder ? .folder : isThere ? .empty : .missing
      throw .logAlone(path: path, database: state)
    }
    if isFolder { throw .folder(path: path) }
    return isThere
  }

  /// Whether a store's log is beside it. A connection that only reads may leave an empty one.
  static func hasLog(_ path: String) -> Bool {
    var status = stat()
    return stat(path + "-wal", &status) == 0 && status.st_size > 0
  }

  /// Whether a store's log holds anything beyond its header.
  static func hasLoggedChanges(_ path: String) -> Bool {
    var status = stat()
    return stat(path + "-wal", &status) == 0 && status.st_size > logHeaderBytes
  }

  /// Bytes of a write-ahead log before its first frame.
  private static let logHeaderBytes = 32

  /// Makes an empty file that only its owner may read, and makes its name durable.
  ///
  /// - Returns: Whether it was made; `false` if it was there.
  @discardableResult
  static func make(_ path: String) throws(StoreOpenError) -> Bool {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      guard errno == EEXIST else { throw StoreOpenError(errno: errno, path: path) }
      return false
    }
    close(descriptor)
    try syncFolder(of: path)
    return true
  }

  /// Renames a file, replacing the file of that name.
  static func rename(_ path: String, to name: String) throws(StoreOpenError) {
    guard Glibc.rename(path, name) == 0 else { throw StoreOpenError(errno: errno, path: name) }
  }

  /// Removes a store's files, except for the lock.
  static func remove(_ path: String) {
    for ending in endings { unlink(path + ending) }
  }

  /// The folder that a file is in.
  private static func folder(of path: String) -> String {
    path.utf8.lastIndex(of: 0x2f).map { slash in
      slash == path.startIndex ? "/" : String(path[..<slash])
    } ?? "."
  }

  /// Makes names in a file's folder durable.
  static func syncFolder(of path: String) throws(StoreOpenError) {
    let folder = folder(of: path)
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreOpenError(errno: errno, path: path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StoreOpenError(errno: errno, path: path) }
  }

  static func connect(_ path: String, vfs: String? = nil) throws(StoreOpenError)
    -> SQLiteConnection
  {
    do throws(SQLiteFailure) {
      return try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE, vfs: vfs)
    } catch {
      throw StoreOpenError(error, path: path)
    }
  }
}
