package import GatewayPorts
import StoreRecords

/// Folders of notes: each note's row names its own.
extension SQLiteStore {
  /// Notes that are looked at one by one for a list of folders, about.
  private static let scanMax = 100_000

  package func reply(to request: FolderRequest) throws(StoreError) -> FolderReply {
    switch request {
    case .move(let id, let folder, let title, let time):
      var row = try existingRow(id)
      if let title {
        noteTime(time)
        row.title = title
        try note(time, before: row.revision + 1, in: &row)
      }
      return .note(try put(row, into: folder).summary)
    case .notes(let folder, let place, let limit):
      return .notes(try notes(in: folder, after: place, limit: limit))
    case .list(let last, let limit, let counting):
      return try folders(after: last, limit: limit, counting)
    case .of(let ids):
      var folders: [FolderPath?] = []
      for id in ids {
        folders.append(
          try sql("SELECT folder FROM documents WHERE id = ?").first(id) {
            FolderPath(stored: $0.text(0))
          })
      }
      return .of(folders)
    case .moveAll(let old, let new, let limit):
      return try moveAll(FolderMove(from: old, to: new), limit: max(limit, 0))
    }
  }

  /// Whether a note is in one of the folders that a condition names.
  package func holds(_ condition: FolderCondition) throws(StoreError) -> Bool {
    let row = condition.isOfDeleted ? try newestDeleted(condition.id) : try row(condition.id)
    return row.map { condition.rights.cover($0.folder, madeAt: $0.createdAt) } ?? false
  }

  private func put(_ row: DocumentRow, into folder: FolderPath) throws(StoreError) -> DocumentRow {
    var row = row
    if row.folder != folder {
      row.folder = folder
      try sql("UPDATE documents SET folder = ? WHERE number = ?").run(folder.text, row.number)
    }
    try write(row)
    return row
  }

  /// Goes from folder to folder along the index. Where all notes count, the index counts them.
  private func folders(
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
          try sql("SELECT count(*) FROM documents WHERE folder = ?").first(folder.text) {
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
    try sql("SELECT folder FROM documents \(condition) ORDER BY folder LIMIT 1").first(text) {
      FolderPath(stored: $0.text(0))
    }
  }

  private func folderBefore(_ folder: FolderPath) throws(StoreError) -> FolderPath? {
    try sql("SELECT folder FROM documents WHERE folder < ? ORDER BY folder DESC LIMIT 1").first(
      folder.text
    ) { FolderPath(stored: $0.text(0)) }
  }

  private func moveAll(_ move: FolderMove, limit: Int) throws(StoreError) -> FolderReply {
    var within = 0
    if let successor = move.successor {
      within = try rows(within: successor, limit: limit + 1).count
      guard within <= limit else { return .tooManyWithin }
    }
    let (rows, hasMore) = move.portion(
      of: try rows(within: move.old, limit: within + limit + 1), limit: limit
    ) { $0?.folder }
    // All paths first: nothing is moved if one of them would be none.
    var moves: [(row: DocumentRow, folder: FolderPath)] = []
    for case let row? in rows where row.folder.isWithin(move.old) {
      do throws(FolderPathError) {
        moves.append((row, try row.folder.moved(from: move.old, to: move.new)))
      } catch {
        return .unfit(error)
      }
    }
    var moved: [NoteSummary] = []
    for (row, folder) in moves { moved.append(try put(row, into: folder).summary) }
    return .moved(moved, hasMore: !moved.isEmpty && hasMore)
  }

  /// Notes of a folder and below it in the index's order, `nil` for those that cannot be read: what has moved lies
  /// elsewhere in it, so that the next portion begins where one ends.
  private func rows(within folder: FolderPath, limit: Int) throws(StoreError) -> [DocumentRow?] {
    let rows = try sql(
      """
      SELECT \(Self.documentColumns) FROM documents WHERE folder = ? ORDER BY created, id LIMIT ?
      """
    ).rows(folder.text, limit) { readRow($0) }
    return try rows
      + sql(
        """
        SELECT \(Self.documentColumns) FROM documents
        WHERE folder >= ?1 || '/' AND folder < ?1 || '0' ORDER BY folder, created, id LIMIT ?2
        """
      ).rows(folder.text, limit - rows.count) { readRow($0) }
  }
}
