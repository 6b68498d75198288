import CParleySQLite
import Glibc
import ParleyStoreRecords

/// The reason why a store could not be opened, with the remedy.
public enum StoreOpenError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The folder of the database file does not exist.
  case noFolder(path: String)
  /// The user of the process has no permission to read and write the file or its folder.
  case notPermitted(path: String)
  /// The store's file system is mounted read-only.
  case readOnly(path: String)
  /// Another process has the store open; its number, if known.
  case inUse(path: String, process: Int?)
  /// The file is not a Parley store.
  case notAStore(path: String)
  /// A newer version of Parley created the store.
  case newer(path: String, version: Int, supported: Int)
  /// An older version of Parley created the store, which was to be opened read-only.
  case older(path: String, version: Int, supported: Int)
  /// A version before 0.1.0, the first release, created the store.
  case unreleased(path: String)
  /// A move into the store was interrupted.
  case unfinished(path: String)
  /// A store already exists at the path of a new store.
  case notEmpty(path: String)
  /// The database file does not exist.
  case noStore(path: String)
  /// The path is a folder.
  case folder(path: String)
  /// The write-ahead log contains changes, but its database is missing.
  case logAlone(path: String, database: DatabaseState)
  /// The file is a damaged database.
  case damaged(path: String, detail: String)
  /// The disk is full or has failed.
  case unavailable(path: String, detail: String)

  /// The state of a database whose log exists.
  public enum DatabaseState: String, Sendable {
    /// The database file does not exist.
    case missing
    /// The database file is empty.
    case empty
    /// The path is a folder.
    case folder = "a folder"
  }

  /// The problem and the remedy.
  public var description: String {
    switch self {
    case .noFolder(let path):
      "cannot open the store \(path): its folder does not exist; make the folder, or name another"
    case .notPermitted(let path):
      "cannot open the store \(path): this user may not read and write it and its folder; "
        + "check owner and mode of both"
    case .readOnly(let path):
      "cannot open the store \(path): its file system is mounted read-only; mount it for writing, or name "
        + "a folder on another, in a container one on a volume"
    case .inUse(let path, let process):
      "cannot open the store \(path): "
        + (process.map { "process \($0)" } ?? "another process")
        + " has it open; end that process, or name another store"
    case .notAStore(let path):
      "cannot open the store \(path): the file is not a Parley store; name another file"
    case .newer(let path, let version, let supported):
      "cannot open the store \(path): it has format \(version), but this program reads formats "
        + "up to \(supported); use a newer Parley"
    case .older(let path, let version, let supported):
      "cannot read the store \(path): it has format \(version), and this program reads format "
        + "\(supported); start parley serve with it once, which brings it up to date"
    case .unreleased(let path):
      "cannot open the store \(path): a Parley from before 0.1.0 made it; export its notes with that program, "
        + "and import them here"
    case .unfinished(let path):
      "cannot open the store \(path): \(UnfinishedFormat.advice)"
    case .notEmpty(let path):
      "cannot make the store \(path): there is a store already; name a file that is not there yet"
    case .noStore(let path):
      "cannot read the store \(path): the file does not exist; name the store of a server"
    case .folder(let path):
      "cannot open the store \(path): it is a folder; name the file in it, or another file"
    case .logAlone(let path, let database):
      "cannot open the store \(path): its log \(path)-wal holds changes, but the database itself is "
        + "\(database.rawValue); put the database that belongs to the log back beside it, or restore "
        + "a backup with parley restore --replace, which moves the log aside"
    case .damaged(let path, let detail):
      "cannot open the store \(path): it is damaged (\(detail)); restore the newest backup"
    case .unavailable(let path, let detail):
      "cannot open the store \(path): \(detail); check the disk and its free space"
    }
  }
}

extension StoreOpenError {
  init(errno code: Int32, path: String) {
    self =
      switch code {
      case ENOENT, ENOTDIR: .noFolder(path: path)
      case EROFS: .readOnly(path: path)
      case EACCES, EPERM: .notPermitted(path: path)
      case EISDIR: .notAStore(path: path)
      default: .unavailable(path: path, detail: String(cString: strerror(code)))
      }
  }

  init(_ failure: SQLiteFailure, path: String) {
    self =
      switch failure.primaryCode {
      case _ where failure.isOfReadOnlySystem: .readOnly(path: path)
      case SQLITE_NOTADB: .notAStore(path: path)
      case SQLITE_CORRUPT: .damaged(path: path, detail: failure.name)
      case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .notPermitted(path: path)
      case SQLITE_BUSY, SQLITE_LOCKED: .inUse(path: path, process: nil)
      default: .unavailable(path: path, detail: failure.name)
      }
  }
}
