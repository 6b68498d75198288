package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Deleted notes that can be restored. Only the document row moves to another table.
extension SQLiteDatabase: DeletedNoteTable {
  /// Copies the row of a note that is being deleted.
  package func keep(_ row: DocumentRow, as deletion: Deletion) throws(StoreError) {
    try change(
      """
      INSERT INTO deleted_documents (\(Self.documentColumns), deleted, author, deletion_checksum)
      SELECT \(Self.documentColumns), $2, $3, $4 FROM documents WHERE number = $1
      """, row.number, deletion.time, deletion.author,
      context.hasher.checksum(of: deletion, document: row.id, number: row.number))
  }

  package func putBack(_ row: DocumentRow) throws(StoreError) {
    try change(
      """
      INSERT INTO documents (\(Self.documentColumns))
      SELECT \(Self.documentColumns) FROM deleted_documents WHERE number = $1
      """, row.number)
  }

  package func deleted(
    _ condition: String, _ values: any StoredValue..., limit: Int, end: String
  ) throws(StoreError) -> [(row: DocumentRow, deletion: Deletion)] {
    try sound(Self.selectDeleted + condition, values, limit: limit) { try? readDeleted($0) }
  }

  /// Gives every deleted note a new epoch, as ``renewAllEpochs(_:)`` does for the other notes.
  func renewDeletedEpochs(_ names: some NameSource) throws(StoreError) {
    for case var row? in try rows(
      Self.selectDeleted + " ORDER BY number", read: { try? readDeleted($0).row })
    {
      row.epoch = Epoch(names.next())
      try LogRules(store: self).beginEpoch(row.epoch, after: row.revision, document: row.number)
      try change(
        "UPDATE deleted_documents SET epoch = $1, checksum = $2 WHERE number = $3", row.epoch,
        context.hasher.checksum(of: row), row.number)
    }
  }

  package static let selectDeleted =
    "SELECT \(documentColumns), deleted, author, deletion_checksum FROM deleted_documents"

  package func readDeleted(
    _ found: SQLiteStatement
  ) throws(StoreError) -> (row: DocumentRow, deletion: Deletion) {
    let deletion = Deletion(time: Timestamp(found.integer(16)), author: found.text(17))
    guard let row = readRow(found),
      found.withBytes(18, { RecordChecksum($0) })
        == context.hasher.checksum(of: deletion, document: row.id, number: row.number)
    else {
      throw .damaged("a deleted note's record differs from its checksum; \(damageAdvice)")
    }
    return (row, deletion)
  }
}
