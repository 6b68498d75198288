import Glibc

/// The identity of a file, independent of its name.
struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  /// Returns the identity of the file of an open descriptor; `nil` if the descriptor is closed.
  init?(ofOpen descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  init(_ status: stat) {
    device = status.st_dev
    number = status.st_ino
  }
}

/// A comparison of the files at a store's path with the open files.
///
/// A file that was moved, deleted or replaced, or whose volume was unmounted, can still be written
/// through its descriptor, but the changes are lost when the process ends. So no commit begins
/// while the files differ.
struct StoreWatch {
  private let path: String
  private let database: FileIdentity
  /// The write-ahead log, once seen. SQLite creates it, and retains it while the store is open.
  private var log: FileIdentity?
  /// The size of the log's file at the last update, in bytes.
  private(set) var logBytes = 0
  /// The difference found by the last update, with the remedy; `nil` if missing.
  private(set) var problem: String?

  /// Creates a watch of the files of an open store.
  init(path: String, database: FileIdentity) {
    self.path = path
    self.database = database
  }

  /// Compares both files again.
  mutating func look() { problem = databaseProblem() ?? logProblem() }

  private var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  private func databaseProblem() -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return switch errno {
      case ENOENT, ENOTDIR:
        "the database \(name) was moved or deleted, or its volume unmounted, while the server runs; changes "
          + "are refused: put the same file back, or restore a backup and restart"
      default:
        "the database \(name) cannot be found (\(String(cString: strerror(errno)))); changes are refused: "
          + "check its volume"
      }
    }
    guard FileIdentity(status) == database else {
      return
        "the database \(name) was replaced by another file while the server runs; changes are refused: "
        + "restart the server to use the new one, or put the former file back"
    }
    return nil
  }

  private mutating func logProblem() -> String? {
    var status = stat()
    let isThere = stat(path + "-wal", &status) == 0
    guard let log else {
      if isThere {
        log = FileIdentity(status)
        logBytes = Int(status.st_size)
      }
      return nil
    }
    logBytes = isThere ? Int(status.st_size) : 0
    guard isThere, FileIdentity(status) == log else {
      return
        "the log \(name)-wal was moved, deleted or replaced while the server runs; changes are refused: "
        + "put the same file back, or stop the server in an orderly way, which writes all of it into \(name)"
    }
    return nil
  }
}
