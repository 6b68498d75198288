package import GatewayPorts
package import StoreRecords

/// Folders of notes: each note's row names its own.
extension PostgresStore {
  /// Notes that are looked at one by one for a list of folders, about.
  private static let scanMax = 100_000

  package func folders(of ids: [DocumentID]) throws(StoreError) -> [FolderPath?] {
    let found = try rows("SELECT id, folder FROM documents WHERE id = ANY ($1)", ids) {
      (ExactName($0.text(0)), FolderPath(stored: $0.text(1)))
    }
    let folders = Dictionary(found) { $1 }
    return ids.map { folders[ExactName($0)] }
  }

  package func folders(
    after last: FolderPath?, limit: Int, _ counting: FolderCounting
  ) throws(StoreError) -> FolderReply {
    if let names = counting.names {
      let notes = try rows(Self.selectSummaries + " WHERE id = ANY ($1)", names, read: readSummary)
      return counting.page(of: notes, after: last, limit: limit)
    }
    // From folder to folder along the index, however many notes are in each.
    let all = try rows(
      """
      WITH RECURSIVE folders (folder) AS (
        (SELECT folder FROM parley.documents WHERE folder \(last == nil ? ">=" : ">") $1
          ORDER BY folder LIMIT 1)
        UNION ALL
        SELECT (SELECT d.folder FROM parley.documents d WHERE d.folder > f.folder
          ORDER BY d.folder LIMIT 1)
        FROM folders f WHERE f.folder IS NOT NULL)
      SELECT folder FROM folders WHERE folder IS NOT NULL LIMIT $2
      """, last?.text ?? "", limit + 1
    ) { FolderPath(stored: $0.text(0)) }
    var page = all.prefix(limit)
    let asked = counting.notes.isEmpty ? page.filter(counting.includesAll) : Array(page)
    var counts = Dictionary(
      try rows(
        """
        SELECT folder, count(*) FROM parley.documents WHERE folder = ANY ($1) GROUP BY folder
        """, asked.map(\.text)
      ) { (FolderPath(stored: $0.text(0)), $0.integer(1)) }
    ) { $1 }
    var partly = asked.filter { !counting.includesAll(of: $0) }
    if !partly.isEmpty {
      // As many folders as have so many notes to be looked at: the next page begins behind them.
      var scanned = 0
      page = page.prefix { folder in
        defer { scanned += counting.includesAll(of: folder) ? 1 : counts[folder] ?? 1 }
        return scanned < Self.scanMax
      }
      partly = partly.filter { folder in page.last.map { folder <= $0 } ?? false }
      for folder in partly { counts[folder] = 0 }
      _ = try rows(
        "SELECT folder, id, created FROM parley.documents WHERE folder = ANY ($1)",
        partly.map(\.text)
      ) { note in
        if counting.includes(note.text(1), madeAt: Timestamp(note.integer(2))) {
          counts[FolderPath(stored: note.text(0)), default: 0] += 1
        }
      }
    }
    let found = page.compactMap { folder in
      counts[folder].map { FolderCount(folder: folder, notes: $0) }
    }
    return .folders(
      found.filter { $0.notes > 0 }, next: all.count > page.count ? page.last : nil)
  }

  package func rows(toMove numbers: [Int]) throws(StoreError) -> [DocumentRow] {
    try rows(
      Self.selectDocuments + " WHERE number = ANY ($1) ORDER BY number FOR UPDATE", numbers,
      read: readRow)
  }

  /// In one statement.
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
      documents[ExactName(row.id)] = row
      return row.summary
    }
  }
}
