package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Deleted notes that can be restored. Only the document row moves to another table.
extension PostgresDatabase: DeletedNoteTable {
  /// Copies the row of a note that is being deleted.
  package func keep(_ row: DocumentRow, as deletion: Deletion) {
    change(
      """
      INSERT INTO parley.deleted_documents (\(Self.keptColumns), deleted, author)
      SELECT \(Self.keptColumns), $2, $3 FROM parley.documents WHERE number = $1
      """, row.number, deletion.time, deletion.author)
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

  package func deleted(
    _ condition: String, _ values: any StoredValue..., limit: Int, end: String
  ) throws(StoreError) -> [(row: DocumentRow, deletion: Deletion)] {
    let end = " LIMIT $\(values.count + 1) OFFSET $\(values.count + 2)" + end
    var found: [(row: DocumentRow, deletion: Deletion)] = []
    // Offsets shift if another node unlocks a row meanwhile, so a row may be read twice.
    var numbers: Set<Int> = []
    var place = 0
    while found.count < limit {
      let asked = limit - found.count
      let rows = try link.query(
        PostgresCommand(Self.selectDeleted + condition + end, values + [asked, place]))
      for case let deleted? in rows.rows({ try? readDeleted($0) })
      where numbers.insert(deleted.row.number).inserted { found.append(deleted) }
      place += rows.count
      if rows.count < asked { break }
    }
    return found
  }

  package func readDeleted(
    _ row: PostgresRow
  ) throws(StoreError) -> (row: DocumentRow, deletion: Deletion) {
    (try readRow(row), Deletion(time: Timestamp(row.integer(15)), author: row.text(16)))
  }

  private static let keptColumns = """
    number, id, title, created, updated, epoch, revision, length, chain, base, base_chain,
    unsnapped, set_backs, folder, session_floor, kind
    """

  package static let selectDeleted = """
    SELECT number, id, title, created, updated, epoch, revision, length, chain, base, base_chain,
      unsnapped, folder, session_floor, kind, deleted, author FROM parley.deleted_documents
    """
}
