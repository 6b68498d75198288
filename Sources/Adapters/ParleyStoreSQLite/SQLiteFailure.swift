import CParleySQLite
import ParleyGatewayPorts
import Glibc

/// An error code of SQLite.
struct SQLiteFailure: Error, Equatable {
  /// The extended result code.
  let code: Int32
  /// The system's cause, if it is more precise than SQLite's code.
  private let cause: Cause?

  private enum Cause {
    /// The file system is mounted read-only.
    case readOnly
    /// The user's disk quota is used up.
    case quota
  }

  /// - Parameter connection: The failed connection, which provides the file's path and `errno`.
  init(code: Int32, of connection: OpaquePointer? = nil) {
    self.code = code
    cause = connection.flatMap { Self.cause(of: code, $0) }
  }

  private static func cause(of code: Int32, _ connection: OpaquePointer) -> Cause? {
    switch code & 0xff {
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY: break
    default: return nil
    }
    if sqlite3_system_errno(connection) == EDQUOT { return .quota }
    guard let file = sqlite3_db_filename(connection, "main") else { return nil }
    return StoreFile.isOnReadOnlySystem(String(cString: file)) ? .readOnly : nil
  }

  /// Whether the error occurred because the file system is mounted read-only.
  var isOfReadOnlySystem: Bool { cause == .readOnly }

  /// The code without its extension.
  var primaryCode: Int32 { code & 0xff }

  /// The error for callers of the store, without SQL and without bound values.
  var storeError: StoreError {
    switch primaryCode {
    case _ where cause != nil: .unavailable(diskWords)
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_FORMAT:
      .damaged(
        "the database file is damaged (\(name)); run parley check, then restore the newest backup")
    case SQLITE_FULL:
      .unavailable("the disk is full (\(name)); free space on it, then send again")
    case SQLITE_BUSY, SQLITE_LOCKED:
      .unavailable("another program holds the database (\(name)); end it, then send again")
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
      .unavailable("the database may not be written (\(name)); check its owner and mode")
    case SQLITE_TOOBIG:
      .unavailable("a value exceeds SQLite's maximum (\(name)); send less at a time")
    default: .unavailable(diskWords)
    }
  }

  /// The text for a disk failure, with the remedy for its cause.
  private var diskWords: String {
    switch cause {
    case .readOnly?:
      "the file system of the database is read-only (\(name)); the kernel remounts it so after an error of the "
        + "disk: check that, and mount it for writing"
    case .quota?:
      "the disk quota of this user is used up (\(name)); free space or raise it, then send again"
    case nil: "the disk could not be read or written (\(name)); check it, then send again"
    }
  }

  /// SQLite's text for the code, and the code.
  var name: String { "\(String(cString: sqlite3_errstr(code))), code \(code)" }
}
