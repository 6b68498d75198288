import CParleyPostgres
import ParleyStoreRecords

/// The result of a statement, freed when its owner is destroyed.
final class PostgresResult {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { PQclear(handle) }

  /// The number of rows.
  var count: Int { Int(PQntuples(handle)) }

  /// The number of rows that the statement changed.
  var changedRows: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

  /// The first row; `nil` if there is no row.
  var first: PostgresRow? { count > 0 ? PostgresRow(result: self, row: 0) : nil }

  /// Reads all rows.
  func rows<Row, Failure>(
    _ read: (PostgresRow) throws(Failure) -> Row
  ) throws(Failure) -> [Row] {
    var rows: [Row] = []
    rows.reserveCapacity(count)
    for row in 0..<count { rows.append(try read(PostgresRow(result: self, row: Int32(row)))) }
    return rows
  }

  fileprivate func isNull(_ row: Int32, _ column: Int32) -> Bool {
    PQgetisnull(handle, row, column) == 1
  }

  fileprivate func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
  }
}

/// A row of a result. Columns count from 0.
package struct PostgresRow: StoredRow {
  fileprivate let result: PostgresResult
  fileprivate let row: Int32

  /// Whether a column is NULL.
  package func isNull(_ column: Int32) -> Bool { result.isNull(row, column) }

  /// Returns the 64 bits in a column.
  package func bits(_ column: Int32) -> UInt64 {
    let bytes = result.bytes(row, column)
    guard bytes.count == 8 else { return 0 }
    return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
  }

  /// Returns the Boolean in a column; `false` for NULL.
  func bool(_ column: Int32) -> Bool { result.bytes(row, column).first == 1 }

  /// Calls `body` with the bytes in a column, valid during the call.
  package func withBytes<Result, Failure>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(result.bytes(row, column))
  }
}
