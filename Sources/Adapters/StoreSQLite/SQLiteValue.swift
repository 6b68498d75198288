import CSQLite
import Glibc
import StoreRecords

/// A value that can be bound to a statement's parameter.
protocol SQLiteValue {
  /// Binds the value; SQLite has a copy of its own afterwards.
  ///
  /// - Parameters:
  ///   - statement: Not running.
  ///   - parameter: Counted from 1.
  /// - Returns: SQLite's result code.
  func bind(to statement: OpaquePointer, _ parameter: Int32) -> Int32
}

extension Int64: SQLiteValue {
  func bind(to statement: OpaquePointer, _ parameter: Int32) -> Int32 {
    sqlite3_bind_int64(statement, parameter, self)
  }
}

extension Int: SQLiteValue {
  func bind(to statement: OpaquePointer, _ parameter: Int32) -> Int32 {
    Int64(self).bind(to: statement, parameter)
  }
}

/// Kept as the signed integer with the same bits.
extension UInt64: SQLiteValue {
  func bind(to statement: OpaquePointer, _ parameter: Int32) -> Int32 {
    Int64(bitPattern: self).bind(to: statement, parameter)
  }
}

extension String: SQLiteValue {
  func bind(to statement: OpaquePointer, _ parameter: Int32) -> Int32 {
    var text = self
    return text.withUTF8 { utf8 in
      let (copy, count) = copyForSQLite(UnsafeRawBufferPointer(utf8))
      return sqlite3_bind_text64(
        statement, parameter, copy.assumingMemoryBound(to: CChar.self), count, free,
        UInt8(SQLITE_UTF8))
    }
  }
}

/// A blob.
extension [UInt8]: SQLiteValue {
  func bind(to statement: OpaquePointer, _ parameter: Int32) -> Int32 {
    withUnsafeBytes { bytes in
      let (copy, count) = copyForSQLite(bytes)
      return sqlite3_bind_blob64(statement, parameter, copy, count, free)
    }
  }
}

/// None is NULL.
extension Optional: SQLiteValue where Wrapped: SQLiteValue {
  func bind(to statement: OpaquePointer, _ parameter: Int32) -> Int32 {
    guard let self else { return sqlite3_bind_null(statement, parameter) }
    return self.bind(to: statement, parameter)
  }
}

extension RecordChecksum: SQLiteValue {
  func bind(to statement: OpaquePointer, _ parameter: Int32) -> Int32 {
    bytes.bind(to: statement, parameter)
  }
}

/// A copy that SQLite frees, never null: a null pointer would bind NULL.
private func copyForSQLite(
  _ bytes: UnsafeRawBufferPointer
) -> (UnsafeMutableRawPointer, UInt64) {
  guard let copy = malloc(Swift.max(bytes.count, 1)) else {
    fatalError("no memory for a parameter of \(bytes.count) bytes")
  }
  if let start = bytes.baseAddress { copy.copyMemory(from: start, byteCount: bytes.count) }
  return (copy, UInt64(bytes.count))
}
