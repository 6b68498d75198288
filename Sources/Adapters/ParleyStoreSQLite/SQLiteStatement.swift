import CParleySQLite
import ParleyGatewayPorts
import Glibc
import ParleyStoreRecords

/// A prepared statement, kept for as long as its connection.
///
/// `run`, `first` and `rows` do all of it; or bind, step, read, and `reset`. Columns count from 0.
package final class SQLiteStatement: StoredRow {
  private let handle: OpaquePointer

  init(_ connection: borrowing SQLiteConnection, _ sql: String) throws(SQLiteFailure) {
    // PostgreSQL's numbered parameters have a question mark in SQLite.
    let sql = sql.replacing(/\$(?=[0-9])/, with: "?")
    handle = try connection.withHandle { connection throws(SQLiteFailure) in
      var prepared: OpaquePointer?
      let code = sqlite3_prepare_v3(
        connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
      guard code == SQLITE_OK, let prepared else {
        throw SQLiteFailure(code: code, of: connection)
      }
      return prepared
    }
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Binds all parameters, in their order, without making a list of them: appends do this.
  func bind<each Value: StoredValue>(_ values: repeat each Value) {
    var parameter: Int32 = 0
    for value in repeat each values {
      parameter += 1
      check(value.form.bind(to: handle, parameter))
    }
    checkCount(Int(parameter))
  }

  /// Binds all parameters, in their order.
  func bind(all values: [any StoredValue]) {
    for (place, value) in values.enumerated() {
      check(value.form.bind(to: handle, Int32(place + 1)))
    }
    checkCount(values.count)
  }

  /// Goes to the next row.
  ///
  /// - Returns: Whether there is one.
  func step() throws(StoreError) -> Bool {
    let code = sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      reset()
      throw SQLiteFailure(code: code, of: sqlite3_db_handle(handle)).storeError
    }
  }

  /// Runs a statement that returns no rows, and makes it ready for the next time.
  func run<each Value: StoredValue>(_ values: repeat each Value) throws(StoreError) {
    bind(repeat each values)
    defer { reset() }
    while try step() {}
  }

  /// Runs a statement that returns no rows, and makes it ready for the next time.
  func run(all values: [any StoredValue]) throws(StoreError) {
    bind(all: values)
    defer { reset() }
    while try step() {}
  }

  /// Reads the first row, if there is one, and makes the statement ready for the next time.
  func first<Row>(
    all values: [any StoredValue] = [], read: (SQLiteStatement) throws(StoreError) -> Row
  ) throws(StoreError) -> Row? {
    bind(all: values)
    defer { reset() }
    return try step() ? try read(self) : nil
  }

  /// Reads all rows, and makes the statement ready for the next time.
  func rows<Row>(
    all values: [any StoredValue] = [], read: (SQLiteStatement) throws(StoreError) -> Row
  ) throws(StoreError) -> [Row] {
    bind(all: values)
    defer { reset() }
    var rows: [Row] = []
    while try step() { rows.append(try read(self)) }
    return rows
  }

  /// Instructions of SQLite's virtual machine that the statement has run since it was prepared.
  var instructionCount: Int {
    Int(UInt32(bitPattern: sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 0)))
  }

  /// Makes the statement ready for the next use, and drops the bound values.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// The 64 bits in a column of this row.
  package func bits(_ column: Int32) -> UInt64 {
    UInt64(bitPattern: sqlite3_column_int64(handle, column))
  }

  /// Whether a column of this row is NULL.
  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// Calls `body` with the bytes in a column of this row, valid during the call.
  package func withBytes<Result, Failure>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = sqlite3_column_blob(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  /// Binding fails for a wrong parameter number, a running statement, or want of memory: mistakes
  /// of this module, or the machine's end.
  private func check(_ code: Int32) {
    precondition(code == SQLITE_OK, "SQLite refused a parameter with code \(code)")
  }

  private func checkCount(_ count: Int) {
    precondition(
      count == sqlite3_bind_parameter_count(handle),
      "a statement was given \(count) values and wants others")
  }
}
