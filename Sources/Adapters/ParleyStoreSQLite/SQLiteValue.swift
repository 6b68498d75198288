import CParleySQLite
import Glibc
import ParleyStoreRecords

extension StoredForm {
  /// Binds a copy of the value, which SQLite owns.
  ///
  /// - Parameters:
  ///   - statement: A statement that is not running.
  ///   - parameter: The parameter's number, counted from 1.
  /// - Returns: SQLite's result code.
  func bind(to statement: OpaquePointer, _ parameter: Int32) -> Int32 {
    switch self {
    case .integer(let value?): return sqlite3_bind_int64(statement, parameter, value)
    case .text(var text?):
      return text.withUTF8 { utf8 in
        let (copy, count) = copyForSQLite(UnsafeRawBufferPointer(utf8))
        return sqlite3_bind_text64(
          statement, parameter, copy.assumingMemoryBound(to: CChar.self), count, free,
          UInt8(SQLITE_UTF8))
      }
    case .bytes(let bytes?):
      return bytes.withUnsafeBytes { bytes in
        let (copy, count) = copyForSQLite(bytes)
        return sqlite3_bind_blob64(statement, parameter, copy, count, free)
      }
    case .integer(nil), .text(nil), .bytes(nil): return sqlite3_bind_null(statement, parameter)
    case .list: preconditionFailure("SQLite has no lists")
    }
  }
}

/// Returns a copy that SQLite frees. It is never null, since a null pointer would bind NULL.
private func copyForSQLite(
  _ bytes: UnsafeRawBufferPointer
) -> (UnsafeMutableRawPointer, UInt64) {
  guard let copy = malloc(Swift.max(bytes.count, 1)) else {
    fatalError("no memory for a parameter of \(bytes.count) bytes")
  }
  if let start = bytes.baseAddress { copy.copyMemory(from: start, byteCount: bytes.count) }
  return (copy, UInt64(bytes.count))
}
