package import GatewayPorts
package import StoreRecords

/// Folders of notes: each note's row names its own.
extension SQLiteStore {
  /// Notes that are looked at one by one for a list of folders, about.
  private static let scanMax = 100_000

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

  /// Goes from folder to folder along the index. Where all notes count, the index counts them.
  package func folders(
    after last: FolderPath?, limit: Int, _ counting: FolderCounting
  ) throws(StoreError) -> FolderReply {
    if let names = counting.names {
      var notes: [NoteSummary] = []
      for name in names { if let row = try row(name) { notes.append(row.summary) } }
      return counting.page(of: notes, after: last, limit: limit)
    }
    var found: [FolderCount] = []
    var scanned = 0
    var next = try firstFolder("WHERE folder >= ?", "")
    if let last { next = try firstFolder("WHERE folder > ?", last.text) }
    while let folder = next {
      guard found.count < limit, scanned < Self.scanMax else {
        // The one before it: the next page begins with it.
        return .folders(found, next: try folderBefore(folder))
      }
      var count = 0
      if counting.includesAll(of: folder) {
        count =
          try first("SELECT count(*) FROM documents WHERE folder = $1", folder.text) {
            $0.integer(0)
          } ?? 0
      } else if !counting.notes.isEmpty {
        let statement = try sql("SELECT id, created FROM documents WHERE folder = ?")
        statement.bind(folder.text)
        defer { statement.reset() }
        while try statement.step() {
          scanned += 1
          if counting.includes(statement.text(0), madeAt: Timestamp(statement.integer(1))) {
            count += 1
          }
        }
      }
      if count > 0 { found.append(FolderCount(folder: folder, notes: count)) }
      scanned += 1
      next = try firstFolder("WHERE folder > ?", folder.text)
    }
    return .folders(found, next: nil)
  }

  private func firstFolder(
    _ condition: String, _ text: String
  ) throws(StoreError) -> FolderPath? {
    try first("SELECT folder FROM documents \(condition) ORDER BY folder LIMIT 1", text) {
      FolderPath(stored: $0.text(0))
    }
  }

  private func folderBefore(_ folder: FolderPath) throws(StoreError) -> FolderPath? {
    try first(
      "SELECT folder FROM documents WHERE folder < $1 ORDER BY folder DESC LIMIT 1", folder.text
    ) { FolderPath(stored: $0.text(0)) }
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
