package import ParleyGatewayPorts
package import OTCore

/// A verified log entry, valid as long as the row from which it is read.
package struct StoredEntry<Row: StoredRow>: ~Copyable {
  private let row: Row
  package let revision: Int
  package let operation: TextOperation
  package let format: ChangeFormat?
  package let checksum: RecordChecksum

  /// Creates an entry from a row with the columns `revision`, `client`, `sequence`, `digest`,
  /// `operation`, `author` and `time`.
  package init(
    _ row: Row, revision: Int, operation: TextOperation, format: ChangeFormat?,
    checksum: RecordChecksum
  ) {
    self.row = row
    self.revision = revision
    self.operation = operation
    self.format = format
    self.checksum = checksum
  }

  /// The author's display name.
  package var author: String { row.text(5) }

  /// The time at which the server accepted the entry.
  package var time: Timestamp { Timestamp(row.integer(6)) }

  /// The stored size of the operation, in bytes.
  var byteCount: Int { row.withBytes(4) { $0.count } }

  /// Applies the entry to a fold.
  package func apply(to fold: inout Fold) throws(StoreError) {
    try fold.apply(
      operation, format, by: author, at: time, revision: revision, checksum: checksum)
  }

  /// Returns a copy that outlives the row.
  package func logEntry() -> LogEntry {
    LogEntry(
      revision: revision, client: row.text(1), sequence: row.integer(2), digest: row.bits(3),
      operation: operation, format: format, author: author, time: time)
  }
}
