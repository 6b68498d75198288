import CSQLite
import Glibc

/// A store's files as the system sees them.
enum StoreFile {
  /// Whether there is a file.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Makes an empty file that nobody else may read, and makes its name durable.
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

  /// Gives a file another name, taking the name from what had it.
  static func rename(_ path: String, to name: String) throws(StoreOpenError) {
    guard Glibc.rename(path, name) == 0 else { throw StoreOpenError(errno: errno, path: name) }
  }

  /// Removes a store's files, except for the lock.
  static func remove(_ path: String) {
    for ending in ["", "-wal", "-shm", "-journal"] { unlink(path + ending) }
  }

  /// Makes names in a file's folder durable.
  static func syncFolder(of path: String) throws(StoreOpenError) {
    let folder =
      path.utf8.lastIndex(of: 0x2f).map { slash in
        slash == path.startIndex ? "/" : String(path[..<slash])
      } ?? "."
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

  static func prepare(
    _ connection: borrowing SQLiteConnection, path: String
  ) throws(StoreOpenError) -> StoreStatements {
    do throws(SQLiteFailure) {
      return try StoreStatements(connection)
    } catch {
      throw StoreOpenError(error, path: path)
    }
  }

  static func prepareRooms(
    _ connection: borrowing SQLiteConnection, path: String
  ) throws(StoreOpenError) -> (RoomStatements, PeopleStatements) {
    do throws(SQLiteFailure) {
      return (try RoomStatements(connection), try PeopleStatements(connection))
    } catch {
      throw StoreOpenError(error, path: path)
    }
  }

  static func prepareOutbox(
    _ connection: borrowing SQLiteConnection, path: String
  ) throws(StoreOpenError) -> OutboxStatements {
    do throws(SQLiteFailure) {
      return try OutboxStatements(connection)
    } catch {
      throw StoreOpenError(error, path: path)
    }
  }
}
