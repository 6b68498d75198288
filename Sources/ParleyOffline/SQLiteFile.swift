#if canImport(SQLite3)
  import SQLite3
#else
  import CParleyClientSQLite
#endif

/// A result code of SQLite that is not success.
package struct SQLiteFailure {
  let code: Int32

  /// The error for callers, without SQL and values.
  var storeError: OfflineStoreError {
    switch code & 0xff {
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_MISMATCH: .damaged(name)
    case SQLITE_FULL: .full
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .readOnly
    case SQLITE_BUSY, SQLITE_LOCKED: .inUse
    case SQLITE_CANTOPEN: .folder(name)
    default: .disk(name)
    }
  }

  private var name: String { "\(String(cString: sqlite3_errstr(code))), code \(code)" }
}

/// An open database. Only one thread at a time may use it and its statements.
package final class SQLiteFile {
  private let handle: OpaquePointer
  private var prepared: [String: SQLiteQuery] = [:]

  /// Opens a file, and creates it if necessary.
  package init(path: String, vfs: String?) throws(OfflineStoreError) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(path, &opened, flags, vfs)
    guard code == SQLITE_OK, let opened else {
      let extended = opened.map { sqlite3_extended_errcode($0) } ?? code
      sqlite3_close_v2(opened)
      throw SQLiteFailure(code: extended).storeError
    }
    handle = opened
    sqlite3_extended_result_codes(handle, 1)
  }

  deinit {
    prepared = [:]
    sqlite3_close_v2(handle)
  }

  /// Runs statements without parameters and results.
  package func execute(_ sql: String) throws(OfflineStoreError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteFailure(code: code).storeError }
  }

  /// Returns a statement, prepared once and cached. It must not be used again while it runs.
  package func query(_ sql: String) throws(OfflineStoreError) -> SQLiteQuery {
    if let known = prepared[sql] { return known }
    var statement: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let code = sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil)
    guard code == SQLITE_OK, let statement else { throw SQLiteFailure(code: code).storeError }
    let query = SQLiteQuery(statement)
    prepared[sql] = query
    return query
  }

  /// Whether a transaction is open; SQLite may end it by itself after a serious error.
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Runs work in one transaction: either all of it is on disk when this returns, or nothing.
  package func transaction<Value>(
    _ work: () throws(OfflineStoreError) -> Value
  ) throws(OfflineStoreError) -> Value {
    try execute("BEGIN IMMEDIATE")
    do throws(OfflineStoreError) {
      let value = try work()
      try execute("COMMIT")
      return value
    } catch {
      if isInTransaction { try? execute("ROLLBACK") }
      throw error
    }
  }
}

/// A parameter of a statement.
package enum SQLiteParameter: Sendable {
  case integer(Int64)
  case text(String)
  case bytes([UInt8])
  case null

  package static func optional(_ text: String?) -> SQLiteParameter {
    text.map { .text($0) } ?? .null
  }
  package static func optional(_ bytes: [UInt8]?) -> SQLiteParameter {
    bytes.map { .bytes($0) } ?? .null
  }
}

/// A prepared statement. Columns count from 0.
package final class SQLiteQuery {
  private let handle: OpaquePointer

  package init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  /// Runs the statement with parameters, and reads all rows.
  @discardableResult
  package func rows<Row>(
    _ parameters: [SQLiteParameter] = [], _ read: (SQLiteQuery) -> Row
  ) throws(OfflineStoreError) -> [Row] {
    defer {
      sqlite3_reset(handle)
      sqlite3_clear_bindings(handle)
    }
    for (index, parameter) in parameters.enumerated() {
      let code = bind(parameter, Int32(index + 1))
      guard code == SQLITE_OK else { throw SQLiteFailure(code: code).storeError }
    }
    var rows: [Row] = []
    while true {
      let code = sqlite3_step(handle)
      switch code {
      case SQLITE_ROW: rows.append(read(self))
      case SQLITE_DONE: return rows
      default: throw SQLiteFailure(code: code).storeError
      }
    }
  }

  /// Runs a statement that returns no rows.
  package func run(_ parameters: SQLiteParameter...) throws(OfflineStoreError) {
    try rows(parameters) { _ in }
  }

  private func bind(_ parameter: SQLiteParameter, _ index: Int32) -> Int32 {
    switch parameter {
    case .integer(let number): return sqlite3_bind_int64(handle, index, number)
    case .null: return sqlite3_bind_null(handle, index)
    case .text(var text):
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { bytes in
          // A null pointer would bind NULL instead of an empty text.
          guard let start = bytes.baseAddress else {
            return sqlite3_bind_text(handle, index, "", 0, Self.copied)
          }
          return sqlite3_bind_text64(
            handle, index, start, UInt64(bytes.count), Self.copied, UInt8(SQLITE_UTF8))
        }
      }
    case .bytes(let bytes):
      guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
      return bytes.withUnsafeBytes {
        sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), Self.copied)
      }
    }
  }

  /// `SQLITE_TRANSIENT`, a macro that Swift cannot import: SQLite copies the bound value.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  package func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  package func bytes(_ column: Int32) -> [UInt8] {
    let start = sqlite3_column_blob(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
  package func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }
}
