import CParleySQLite
import ParleyGatewayPorts
import Glibc
import ParleyStoreRecords

/// A prepared statement, cached as long as its connection is open.
///
/// `run`, `first` and `rows` bind, step and reset; or call these one by one. Columns count from 0.
package final class SQLiteStatement: StoredRow {
  private let handle: OpaquePointer

  init(_ connection: borrowing SQLiteConnection, _ sql: String) throws(SQLiteFailure) {
    // SQLite's numbered parameters begin with a question mark, PostgreSQL's with a dollar sign.
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

  /// Binds all parameters in order. Allocates no array, since each appended entry calls this.
  func bind<each Value: StoredValue>(_ values: repeat each Value) {
    var parameter: Int32 = 0
    for value in repeat each values {
      parameter += 1
      check(value.form.bind(to: handle, parameter))
    }
    checkCount(Int(parameter))
  }

  /// Binds all parameters in order.
  func bind(all values: [any StoredValue]) {
    for (place, value) in values.enumerated() {
      check(value.form.bind(to: handle, Int32(place + 1)))
    }
    checkCount(values.count)
  }

  /// Advances to the next row.
  ///
  /// - Returns: Whether there is a next row.
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

  /// Runs a statement that returns no rows, then resets it.
  func run<each Value: StoredValue>(_ values: repeat each Value) throws(StoreError) {
    bind(repeat each values)
    defer { reset() }
    while try step() {}
  }

  /// Runs a statement that returns no rows, then resets it.
  func run(all values: [any StoredValue]) throws(StoreError) {
    bind(all: values)
    defer { reset() }
    while try step() {}
  }

  /// Returns the first row or `nil`, then resets the statement.
  func first<Row>(
    all values: [any StoredValue] = [], read: (SQLiteStatement) throws(StoreError) -> Row
  ) throws(StoreError) -> Row? {
    bind(all: values)
    defer { reset() }
    return try step() ? try read(self) : nil
  }

  /// Returns all rows, then resets the statement.
  func rows<Row>(
    all values: [any StoredValue] = [], read: (SQLiteStatement) throws(StoreError) -> Row
  ) throws(StoreError) -> [Row] {
    bind(all: values)
    defer { reset() }
    var rows: [Row] = []
    while try step() { rows.append(try read(self)) }
    return rows
  }

  /// The number of virtual machine instructions executed since the statement was prepared.
  var instructionCount: Int {
    Int(UInt32(bitPattern: sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 0)))
  }

  /// Resets the statement for its next use, and clears the bound values.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Returns the 64 bits in a column of the current row.
  package func bits(_ column: Int32) -> UInt64 {
    UInt64(bitPattern: sqlite3_column_int64(handle, column))
  }

  /// Whether a column of the current row is NULL.
  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// Calls `body` with the bytes in a column of the current row, valid during the call.
  package func withBytes<Result, Failure>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = sqlite3_column_blob(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  /// Binding fails only for a wrong parameter number or a running statement, which are errors in
  /// this module, or if memory is exhausted.
  private func check(_ code: Int32) {
    precondition(code == SQLITE_OK, "SQLite refused a parameter with code \(code)")
  }

  private func checkCount(_ count: Int) {
    precondition(
      count == sqlite3_bind_parameter_count(handle),
      "a statement received \(count) values, but has another number of parameters")
  }
}
