import CParleySQLite

/// Another program's connection to a store's file, for reading and writing.
final class SecondConnection {
  private let handle: OpaquePointer

  init(_ path: String) throws {
    var opened: OpaquePointer?
    guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else { throw SQLProblem() }
    handle = opened
  }

  deinit { sqlite3_close(handle) }

  /// Runs statements.
  func run(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw SQLProblem(message: String(cString: sqlite3_errmsg(handle)))
    }
  }

  /// Returns the first column of the first row.
  func integer(_ sql: String) throws -> Int {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard
      sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW
    else { throw SQLProblem(message: String(cString: sqlite3_errmsg(handle))) }
    return Int(sqlite3_column_int64(statement, 0))
  }
}

/// A statement that failed.
struct SQLProblem: Error {
  var message = "the file did not open"
}
