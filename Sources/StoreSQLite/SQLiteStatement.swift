import CSQLite
import GatewayPorts
import Glibc

/// A prepared statement, kept for as long as its connection.
///
/// Bind, step, read, `reset`: parameters count from 1, columns from 0, as in SQLite.
final class SQLiteStatement {
  private let handle: OpaquePointer

  init(_ connection: borrowing SQLiteConnection, _ sql: String) throws(SQLiteFailure) {
    handle = try connection.withHandle { connection throws(SQLiteFailure) in
      var prepared: OpaquePointer?
      let code = sqlite3_prepare_v3(
        connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
      guard code == SQLITE_OK, let prepared else { throw SQLiteFailure(code: code) }
      return prepared
    }
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Binds an integer.
  func bind(_ parameter: Int32, _ value: Int) {
    check(sqlite3_bind_int64(handle, parameter, Int64(value)))
  }

  /// Binds 64 bits, kept as the signed integer with the same bits.
  func bind(_ parameter: Int32, bits value: UInt64) {
    check(sqlite3_bind_int64(handle, parameter, Int64(bitPattern: value)))
  }

  /// Binds a text.
  func bind(_ parameter: Int32, _ value: String) {
    var value = value
    check(
      value.withUTF8 { utf8 in
        let (copy, count) = Self.copy(UnsafeRawBufferPointer(utf8))
        return sqlite3_bind_text64(
          handle, parameter, copy.assumingMemoryBound(to: CChar.self), count, free,
          UInt8(SQLITE_UTF8))
      })
  }

  /// Binds a text, or NULL.
  func bind(_ parameter: Int32, optional value: String?) {
    // What is not bound is NULL.
    if let value { bind(parameter, value) }
  }

  /// Binds bytes.
  func bind(_ parameter: Int32, _ value: [UInt8]) {
    check(
      value.withUnsafeBytes { bytes in
        let (copy, count) = Self.copy(bytes)
        return sqlite3_bind_blob64(handle, parameter, copy, count, free)
      })
  }

  /// A copy that SQLite frees, never null: a null pointer would bind NULL.
  private static func copy(
    _ bytes: UnsafeRawBufferPointer
  ) -> (UnsafeMutableRawPointer, UInt64) {
    guard let copy = malloc(max(bytes.count, 1)) else {
      fatalError("no memory for a parameter of \(bytes.count) bytes")
    }
    if let start = bytes.baseAddress { copy.copyMemory(from: start, byteCount: bytes.count) }
    return (copy, UInt64(bytes.count))
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
      throw SQLiteFailure(code: code).storeError
    }
  }

  /// Runs a statement that returns no rows, and makes it ready for the next time.
  func run() throws(StoreError) {
    defer { reset() }
    while try step() {}
  }

  /// Makes the statement ready for the next time. What was bound is let go.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// The integer in a column of this row.
  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  /// The 64 bits in a column of this row.
  func bits(_ column: Int32) -> UInt64 {
    UInt64(bitPattern: sqlite3_column_int64(handle, column))
  }

  /// The text in a column of this row.
  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// The text in a column of this row, or `nil` for NULL.
  func optionalText(_ column: Int32) -> String? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : text(column)
  }

  /// Calls `body` with the bytes in a column of this row, valid during the call.
  func withBytes<Result, Failure>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = sqlite3_column_blob(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  /// A copy of the bytes in a column of this row.
  func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

  /// Binding fails for a wrong parameter number, a running statement, or want of memory: mistakes
  /// of this module, or the machine's end.
  private func check(_ code: Int32) {
    precondition(code == SQLITE_OK, "SQLite refused a parameter with code \(code)")
  }
}
