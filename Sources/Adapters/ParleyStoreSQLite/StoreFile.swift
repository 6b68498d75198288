import CParleySQLite
import Glibc

/// The files of a store in the file system.
enum StoreFile {
  /// The suffixes of a store's files, except for the lock. The database is last.
  static let endings = ["-wal", "-shm", "-journal", ""]

  /// Whether a file or a folder exists.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Whether a regular file exists.
  static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Whether a file is on a file system that is mounted read-only.
  static func isOnReadOnlySystem(_ path: String) -> Bool {
    var system = statvfs()
    return statvfs(path, &system) == 0 && system.f_flag & UInt(ST_RDONLY) != 0
  }

  /// Whether any file of a store exists, except for the lock.
  static func hasAny(_ path: String) -> Bool { endings.contains { exists(path + $0) } }

  /// Looks for a store's database without opening it.
  ///
  /// At its first start, a store writes and syncs the database's first page before it creates a
  /// log. So a log with frames has had a database. If that is missing, opening the store would
  /// discard the log.
  ///
  /// - Returns: Whether the database exists.
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

  /// Whether a store's log exists and is not empty. Read-only connections may leave an empty one.
  static func hasLog(_ path: String) -> Bool {
    var status = stat()
    return stat(path + "-wal", &status) == 0 && status.st_size > 0
  }

  /// Whether a store's log contains frames.
  static func hasLoggedChanges(_ path: String) -> Bool {
    var status = stat()
    return stat(path + "-wal", &status) == 0 && status.st_size > logHeaderBytes
  }

  /// The size of a write-ahead log's header, in bytes.
  private static let logHeaderBytes = 32

  /// Creates an empty file with access for its owner only, and syncs its folder.
  ///
  /// - Returns: Whether the file was created; `false` if it exists already.
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

  /// Renames a file. An existing file of the new name is replaced.
  static func rename(_ path: String, to name: String) throws(StoreOpenError) {
    guard Glibc.rename(path, name) == 0 else { throw StoreOpenError(errno: errno, path: name) }
  }

  /// Removes a store's files, except for the lock.
  static func remove(_ path: String) {
    for ending in endings { unlink(path + ending) }
  }

  /// Returns the path of the folder that contains a file.
  private static func folder(of path: String) -> String {
    path.utf8.lastIndex(of: 0x2f).map { slash in
      slash == path.startIndex ? "/" : String(path[..<slash])
    } ?? "."
  }

  /// Syncs a file's folder, which makes the file's name durable.
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
