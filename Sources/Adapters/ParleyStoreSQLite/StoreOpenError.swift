import CParleySQLite
import Glibc
import ParleyStoreRecords

/// Why a store could not be opened, and what to do about it.
public enum StoreOpenError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The folder of the file does not exist.
  case noFolder(path: String)
  /// This user may not read and write the file or its folder.
  case notPermitted(path: String)
  /// The store's file system is mounted read-only.
  case readOnly(path: String)
  /// Another process has the store open; its number, if it could be read.
  case inUse(path: String, process: Int?)
  /// The file is something else than a store.
  case notAStore(path: String)
  /// A newer Parley made the store.
  case newer(path: String, version: Int, supported: Int)
  /// An older Parley made the store, and it was to be read only.
  case older(path: String, version: Int, supported: Int)
  /// A program from before 0.1.0, the first release, made the store.
  case unreleased(path: String)
  /// A move into the store was interrupted.
  case unfinished(path: String)
  /// There is something where a new store is to be.
  case notEmpty(path: String)
  /// There is no file to read.
  case noStore(path: String)
  /// There is a folder where the file is to be.
  case folder(path: String)
  /// The write-ahead log holds changes, but its database is not beside it.
  case logAlone(path: String, database: DatabaseState)
  /// The file was a store once, but cannot be read as one.
  case damaged(path: String, detail: String)
  /// The disk is full or failing.
  case unavailable(path: String, detail: String)

  /// State of a database file that should be beside a log.
  public enum DatabaseState: String, Sendable {
    /// No file has the database's name.
    case missing
    /// The file has no bytes.
    case empty
    /// The name belongs to a folder.
    case folder = "a folder"
  }

  /// The expectation, what came instead, and what to do.
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
      "cannot read the store \(path): there is no such file; name the store of a server"
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
