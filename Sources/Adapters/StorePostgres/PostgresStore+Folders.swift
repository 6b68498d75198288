import GatewayPorts
import StoreRecords

/// Folders of notes: each note's row names its own.
extension PostgresStore {
  func reply(to request: FolderRequest) throws(StoreError) -> FolderReply {
    switch request {
    case .move(let id, let folder, let title, let time):
      var row = try existingRow(id)
      if let title {
        noteTime(time)
        row.title = title
        note(time, before: row.revision + 1, in: &row)
      }
      row.folder = folder
      write(row)
      change("UPDATE parley.documents SET folder = $2 WHERE number = $1", row.number, folder.text)
      return .note(row.summary)
    case .notes(let folder, let place, let limit):
      return .notes(
        try query(
          Self.selectSummaries
            + " WHERE folder = $1 AND (created, id) < ($2, $3) ORDER BY created DESC, id DESC LIMIT $4",
          folder.text, place?.createdAt ?? .max, place?.id ?? "", max(limit, 0)
        ).rows(readSummary))
    case .list(let last, let limit, let counting):
      return try folders(after: last, limit: max(limit, 0), counting)
    case .of(let ids):
      let found = try query("SELECT id, folder FROM parley.documents WHERE id = ANY ($1)", ids)
        .rows { (ExactName($0.text(0)), FolderPath(stored: $0.text(1))) }
      let folders = Dictionary(found) { $1 }
      return .of(ids.map { folders[ExactName($0)] })
    case .moveAll(let old, let new, let limit):
      return try moveAll(from: old, to: new, limit: max(limit, 0))
    }
  }

  /// Whether a note is in one of the folders that a condition names; a transaction that writes locks its row.
  func holds(_ condition: FolderCondition) throws(StoreError) -> Bool {
    let row = condition.isOfDeleted ? try newestDeleted(condition.id) : try row(condition.id)
    return row.map { condition.rights.cover($0.folder, madeAt: $0.createdAt) } ?? false
  }

  private func folders(
    after last: FolderPath?, limit: Int, _ counting: FolderCounting
  ) throws(StoreError) -> FolderReply {
    if let names = counting.names {
      let notes = try query(Self.selectSummaries + " WHERE id = ANY ($1)", names).rows(readSummary)
      return counting.page(of: notes, after: last, limit: limit)
    }
    let all = try query(
      """
      SELECT folder, count(*) FROM parley.documents WHERE folder \(last == nil ? ">=" : ">") $1
      GROUP BY folder ORDER BY folder LIMIT $2
      """, last?.text ?? "", limit + 1
    ).rows { FolderCount(folder: FolderPath(stored: $0.text(0)), notes: $0.integer(1)) }
    let page = all.prefix(limit)
    let partly = page.map(\.folder).filter { !counting.includesAll(of: $0) }
    var counts: [FolderPath: Int] = [:]
    if !partly.isEmpty, !counting.notes.isEmpty {
      let notes = try query(
        "SELECT folder, id, created FROM parley.documents WHERE folder = ANY ($1)",
        partly.map(\.text))
      for note in notes.rows({ $0 })
      where counting.includes(note.text(1), madeAt: Timestamp(note.integer(2))) {
        counts[FolderPath(stored: note.text(0)), default: 0] += 1
      }
    }
    for folder in partly where counts[folder] == nil { counts[folder] = 0 }
    let found = page.map { FolderCount(folder: $0.folder, notes: counts[$0.folder] ?? $0.notes) }
    return .folders(
      found.filter { $0.notes > 0 }, next: all.count > limit ? page.last?.folder : nil)
  }

  private func moveAll(
    from old: FolderPath, to new: FolderPath, limit: Int
  ) throws(StoreError) -> FolderReply {
    let rows = try query(
      Self.selectDocuments
        + """
         WHERE folder = $1 OR (folder >= $1 || '/'::bytea AND folder < $1 || '0'::bytea)
        ORDER BY number LIMIT $2 FOR UPDATE
        """, old.text, limit + 1
    ).rows(readRow)
    // All paths first: nothing is moved if one of them would be none.
    var moves: [(row: DocumentRow, folder: FolderPath)] = []
    for row in rows.prefix(limit) where row.folder.isWithin(old) {
      do throws(FolderPathError) {
        moves.append((row, try row.folder.moved(from: old, to: new)))
      } catch {
        return .unfit(error)
      }
    }
    var moved: [NoteSummary] = []
    for (old, folder) in moves {
      var row = old
      row.folder = folder
      documents[ExactName(row.id)] = row
      change("UPDATE parley.documents SET folder = $2 WHERE number = $1", row.number, folder.text)
      moved.append(row.summary)
    }
    return .moved(moved, hasMore: !moved.isEmpty && rows.count > limit)
  }
}
