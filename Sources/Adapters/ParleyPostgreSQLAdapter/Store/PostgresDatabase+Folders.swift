package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Folders of notes. A note's row contains the path of its folder.
extension PostgresDatabase: FolderTable {
  package func folders(of ids: [DocumentID]) throws(StoreError) -> [FolderPath?] {
    let found = try rows("SELECT id, folder FROM documents WHERE id = ANY ($1)", ids) {
      (DocumentID($0.text(0)), FolderPath(stored: $0.text(1)))
    }
    let folders = Dictionary(found) { $1 }
    return ids.map { folders[$0] }
  }

  /// Counts all folders in one statement.
  package func counts(
    of folders: [FolderPath], limit: Int
  ) throws(StoreError) -> [FolderCount] {
    try rows(
      """
      SELECT folder, count(*) FROM (SELECT folder FROM parley.documents
        WHERE folder >= $1 AND folder <= $2 ORDER BY folder, created, id LIMIT $3) AS part
      GROUP BY folder ORDER BY folder
      """, folders.first?.text ?? "", folders.last?.text ?? "", limit
    ) { FolderCount(folder: FolderPath(stored: $0.text(0)), notes: $0.integer(1)) }
  }

  package func summaries(of ids: [DocumentID]) throws(StoreError) -> [NoteSummary] {
    try rows(Self.selectSummaries + " WHERE id = ANY ($1)", ids, read: readSummary)
  }

  package func rows(toMove numbers: [Int]) throws(StoreError) -> [DocumentRow] {
    try rows(
      Self.selectDocuments + " WHERE number = ANY ($1) ORDER BY number FOR UPDATE", numbers,
      read: readRow)
  }

  /// Moves all notes in one statement.
  package func move(
    _ moves: [(row: DocumentRow, folder: FolderPath)]
  ) -> [NoteSummary] {
    change(
      """
      UPDATE documents d SET folder = m.folder
      FROM unnest($1, $2) AS m (number, folder) WHERE d.number = m.number
      """, moves.map(\.row.number), moves.map(\.folder.text))
    return moves.map { move in
      var row = move.row
      row.folder = move.folder
      known.documents[row.id] = row
      return row.summary
    }
  }
}
