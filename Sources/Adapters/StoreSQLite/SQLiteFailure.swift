import CSQLite
import GatewayPorts

/// A result code of SQLite that is not success.
struct SQLiteFailure: Error, Equatable {
  /// The extended result code.
  let code: Int32

  /// The code without its extension.
  var primaryCode: Int32 { code & 0xff }

  /// The error for callers of the store, without SQL and without bound values.
  var storeError: StoreError {
    switch primaryCode {
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
      .unavailable("a value is larger than SQLite keeps (\(name)); send less at a time")
    default:
      .unavailable("the disk could not be read or written (\(name)); check it, then send again")
    }
  }

  /// SQLite's words for the code, and the code.
  var name: String { "\(String(cString: sqlite3_errstr(code))), code \(code)" }
}
