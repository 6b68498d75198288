package import GatewayPorts
package import StoreRecords

/// Deleted notes that may come back: their rows, while all else of them stays where it is.
extension SQLiteStore {
  /// Keeps the row of a note that is being deleted.
  package func keep(_ row: DocumentRow, as deletion: Deletion) throws(StoreError) {
    try sql(
      """
      INSERT INTO deleted_documents (\(Self.documentColumns), deleted, author, deletion_checksum)
      SELECT \(Self.documentColumns), ?2, ?3, ?4 FROM documents WHERE number = ?1
      """
    ).run(
      row.number, deletion.time, deletion.author,
      hasher.checksum(of: deletion, document: row.id, number: row.number))
  }

  package func deletedRow(number: Int) throws(StoreError) -> DocumentRow? {
    try first("\(Self.selectDeleted) WHERE number = $1", number) { found throws(StoreError) in
      guard let deleted = readDeleted(found) else { throw Self.damagedDeletion }
      return deleted.row
    }
  }

  /// The rows of all deleted notes, one after the other; `nil` for one that is not what was written.
  func deletedRows() throws(StoreError) -> [DocumentRow?] {
    try sql("\(Self.selectDeleted) ORDER BY number").rows { readDeleted($0)?.row }
  }

  package func newestDeleted(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    try sql("\(Self.selectDeleted) WHERE id = ? ORDER BY deleted DESC LIMIT 1")
      .first(id) { found throws(StoreError) in
        guard let deleted = readDeleted(found) else { throw Self.damagedDeletion }
        return deleted.row
      }
  }

  /// A deleted note whose record is not what was written.
  static var damagedDeletion: StoreError {
    .damaged("a deleted note's record differs from its checksum; \(damageAdvice)")
  }

  package func putBack(_ row: DocumentRow) throws(StoreError) {
    try change(
      """
      INSERT INTO documents (\(Self.documentColumns))
      SELECT \(Self.documentColumns) FROM deleted_documents WHERE number = $1
      """, row.number)
  }

  package func deleted(
    _ condition: String, _ values: any StoredValue..., limit: Int
  ) throws(StoreError) -> [(row: DocumentRow, deletion: Deletion)] {
    try sound(Self.selectDeleted + condition, values, limit: limit) { readDeleted($0) }
  }

  /// Gives every deleted note another epoch, as ``renewAllEpochs(_:)`` does with the others.
  func renewDeletedEpochs(_ names: some NameSource) throws(StoreError) {
    for case var row? in try deletedRows() {
      row.epoch = names.next()
      try beginEpoch(row.epoch, after: row.revision, document: row.number)
      try sql("UPDATE deleted_documents SET epoch = ?, checksum = ? WHERE number = ?").run(
        row.epoch, hasher.checksum(of: row), row.number)
    }
  }

  private static let selectDeleted =
    "SELECT \(documentColumns), deleted, author, deletion_checksum FROM deleted_documents"

  /// The row that a statement stands on, or `nil` if it is not what was written.
  private func readDeleted(
    _ statement: SQLiteStatement
  ) -> (row: DocumentRow, deletion: Deletion)? {
    let deletion = Deletion(time: Timestamp(statement.integer(15)), author: statement.text(16))
    guard let row = readRow(statement),
      statement.withBytes(17, { RecordChecksum($0) })
        == hasher.checksum(of: deletion, document: row.id, number: row.number)
    else { return nil }
    return (row, deletion)
  }
}
