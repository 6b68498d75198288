package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Folders of notes. A note's row contains the path of its folder.
extension SQLiteDatabase: FolderTable {
  /// False, since no other process writes.
  package var isShared: Bool { false }

  package func folders(of ids: [DocumentID]) throws(StoreError) -> [FolderPath?] {
    var folders: [FolderPath?] = []
    for id in ids {
      folders.append(
        try first("SELECT folder FROM documents WHERE id = $1", id) {
          FolderPath(stored: $0.text(0))
        })
    }
    return folders
  }

  /// Counts folder by folder: grouping costs several times as much as counting along the index.
  package func counts(
    of folders: [FolderPath], limit: Int
  ) throws(StoreError) -> [FolderCount] {
    var counts: [FolderCount] = []
    var left = limit
    for folder in folders where left > 0 {
      let count = try first(
        "SELECT count(*) FROM (SELECT 1 FROM documents WHERE folder = $1 LIMIT $2)", folder.text,
        left
      ) { $0.integer(0) }
      counts.append(FolderCount(folder: folder, notes: count ?? 0))
      left -= count ?? 0
    }
    return counts
  }

  package func summaries(of ids: [DocumentID]) throws(StoreError) -> [NoteSummary] {
    var notes: [NoteSummary] = []
    for id in ids { if let row = try row(id) { notes.append(row.summary) } }
    return notes
  }

  package func rows(toMove numbers: [Int]) throws(StoreError) -> [DocumentRow] {
    var rows: [DocumentRow] = []
    for number in numbers {
      let row = try first(
        "SELECT \(Self.documentColumns) FROM documents WHERE number = $1", number, read: readRow)
      if let row = row ?? nil { rows.append(row) }
    }
    return rows
  }

  package func move(
    _ moves: [(row: DocumentRow, folder: FolderPath)]
  ) throws(StoreError) -> [NoteSummary] {
    var moved: [NoteSummary] = []
    for (old, folder) in moves {
      var row = old
      row.folder = folder
      try change("UPDATE documents SET folder = $2 WHERE number = $1", row.number, folder.text)
      try write(row)
      moved.append(row.summary)
    }
    return moved
  }
}
