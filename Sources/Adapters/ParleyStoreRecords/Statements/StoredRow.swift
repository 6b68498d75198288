package import ParleyGatewayPorts

/// A row that a statement gave. Columns count from 0.
package protocol StoredRow {
  /// Whether a column is NULL.
  func isNull(_ column: Int32) -> Bool

  /// Returns the 64 bits in a column; 0 for NULL.
  func bits(_ column: Int32) -> UInt64

  /// Calls `body` with the bytes in a column, empty for NULL. The bytes are valid during the call.
  func withBytes<Result, Failure>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result
}

extension StoredRow {
  /// Returns the integer in a column; 0 for NULL.
  @inlinable package func integer(_ column: Int32) -> Int { Int(truncatingIfNeeded: bits(column)) }

  /// Returns the text in a column; empty for NULL.
  @inlinable package func text(_ column: Int32) -> String {
    withBytes(column) { String(decoding: $0, as: UTF8.self) }
  }

  /// The name in a column, empty for NULL.
  @inlinable package func name<Name: ByteName>(_ column: Int32) -> Name { Name(text(column)) }

  /// The name in a column, or `nil` for NULL.
  @inlinable package func optionalName<Name: ByteName>(_ column: Int32) -> Name? {
    isNull(column) ? nil : name(column)
  }

  /// The text in a column, or `nil` for NULL.
  @inlinable package func optionalText(_ column: Int32) -> String? {
    isNull(column) ? nil : text(column)
  }

  /// Returns a copy of the bytes in a column.
  @inlinable package func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }
}
