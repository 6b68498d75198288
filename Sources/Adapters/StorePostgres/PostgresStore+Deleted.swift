package import GatewayPorts
package import StoreRecords

/// Deleted notes that may come back: their rows, while all else of them stays where it is.
extension PostgresStore {
  /// Keeps the row of a note that is being deleted.
  package func keep(_ row: DocumentRow, as deletion: Deletion) {
    change(
      """
      INSERT INTO parley.deleted_documents (\(Self.keptColumns), deleted, author)
      SELECT \(Self.keptColumns), $2, $3 FROM parley.documents WHERE number = $1
      """, row.number, deletion.time, deletion.author)
  }

  /// A deleted note's row.
  package func deletedRow(number: Int) throws(StoreError) -> DocumentRow? {
    try query(Self.selectDeleted + " WHERE number = $1", number).first.map(readRow)
  }

  /// The row of the note of this name that was deleted last; a transaction that writes locks it.
  package func newestDeleted(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    let end = isWriting ? " LIMIT 1 FOR UPDATE" : " LIMIT 1"
    return try query(Self.selectDeleted + " WHERE id = $1 ORDER BY deleted DESC" + end, id).first
      .map(readRow)
  }

  package func putBack(_ row: DocumentRow) throws(StoreError) {
    let moved = try changedRows(
      """
      INSERT INTO documents (\(Self.keptColumns)) OVERRIDING SYSTEM VALUE
      SELECT \(Self.keptColumns) FROM deleted_documents WHERE number = $1
      ON CONFLICT (id) DO NOTHING
      """, row.number)
    guard moved > 0 else { throw .exists }
  }

  /// A transaction that writes locks them, but for those that somebody else has locked.
  package func deleted(
    _ condition: String, _ values: any StoredValue..., limit: Int
  ) throws(StoreError) -> [(row: DocumentRow, deletion: Deletion)] {
    let end = " LIMIT $\(values.count + 1)" + (isWriting ? Self.lockingFree : "")
    return try link.query(
      PostgresCommand(Self.selectDeleted + condition + end, values + [max(limit, 0)])
    ).rows { row throws(StoreError) in
      (
        try readRow(row),
        Deletion(time: Timestamp(row.integer(13)), author: row.text(14))
      )
    }
  }

  private static let keptColumns = """
    number, id, title, created, updated, epoch, revision, length, chain, base, base_chain,
    unsnapped, set_backs, folder
    """

  private static let selectDeleted = """
    SELECT number, id, title, created, updated, epoch, revision, length, chain, base, base_chain,
      unsnapped, folder, deleted, author FROM parley.deleted_documents
    """
}
