package import GatewayPorts
import StoreRecords

/// Folders of notes: each note's row names its own.
extension PostgresStore {
  /// Notes that are looked at one by one for a list of folders, about.
  private static let scanMax = 100_000

  package func reply(to request: FolderRequest) throws(StoreError) -> FolderReply {
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
      return .notes(try notes(in: folder, after: place, limit: limit))
    case .list(let last, let limit, let counting):
      return try folders(after: last, limit: max(limit, 0), counting)
    case .of(let ids):
      let found = try query("SELECT id, folder FROM parley.documents WHERE id = ANY ($1)", ids)
        .rows { (ExactName($0.text(0)), FolderPath(stored: $0.text(1))) }
      let folders = Dictionary(found) { $1 }
      return .of(ids.map { folders[ExactName($0)] })
    case .moveAll(let old, let new, let limit):
      return try moveAll(FolderMove(from: old, to: new), limit: max(limit, 0))
    }
  }

  /// Whether a note is in one of the folders that a condition names; a transaction that writes locks its row.
  package func holds(_ condition: FolderCondition) throws(StoreError) -> Bool {
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
    // From folder to folder along the index, however many notes are in each.
    let all = try query(
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
    ).rows { FolderPath(stored: $0.text(0)) }
    var page = all.prefix(limit)
    let asked = counting.notes.isEmpty ? page.filter(counting.includesAll) : Array(page)
    var counts = Dictionary(
      try query(
        """
        SELECT folder, count(*) FROM parley.documents WHERE folder = ANY ($1) GROUP BY folder
        """, asked.map(\.text)
      ).rows { (FolderPath(stored: $0.text(0)), $0.integer(1)) }
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
      let notes = try query(
        "SELECT folder, id, created FROM parley.documents WHERE folder = ANY ($1)",
        partly.map(\.text))
      for folder in partly { counts[folder] = 0 }
      for note in notes.rows({ $0 })
      where counting.includes(note.text(1), madeAt: Timestamp(note.integer(2))) {
        counts[FolderPath(stored: note.text(0)), default: 0] += 1
      }
    }
    let found = page.compactMap { folder in
      counts[folder].map { FolderCount(folder: folder, notes: $0) }
    }
    return .folders(
      found.filter { $0.notes > 0 }, next: all.count > page.count ? page.last : nil)
  }

  private func moveAll(_ move: FolderMove, limit: Int) throws(StoreError) -> FolderReply {
    var within = 0
    if let successor = move.successor {
      within = try notes(within: successor, limit: limit + 1).count
      guard within <= limit else { return .tooManyWithin }
    }
    let (notes, hasMore) = move.portion(
      of: try notes(within: move.old, limit: within + limit + 1), limit: limit
    ) { $0.folder }
    // Others may have moved or deleted some since, even all of them: there may be more nevertheless.
    let rows = try query(
      Self.selectDocuments + " WHERE number = ANY ($1) ORDER BY number FOR UPDATE",
      notes.map(\.number)
    ).rows(readRow)
    // All paths first: nothing is moved if one of them would be none.
    var moves: [(row: DocumentRow, folder: FolderPath)] = []
    for row in rows where row.folder.isWithin(move.old) {
      do throws(FolderPathError) {
        moves.append((row, try row.folder.moved(from: move.old, to: move.new)))
      } catch {
        return .unfit(error)
      }
    }
    var moved: [NoteSummary] = []
    for (old, folder) in moves {
      var row = old
      row.folder = folder
      documents[ExactName(row.id)] = row
      moved.append(row.summary)
    }
    change(
      """
      UPDATE parley.documents d SET folder = m.folder
      FROM unnest($1, $2) AS m (number, folder) WHERE d.number = m.number
      """, moves.map(\.row.number), moves.map(\.folder.text))
    return .moved(moved, hasMore: hasMore)
  }

  /// Notes of a folder and below it in the index's order: what has moved lies elsewhere in it, so that the next
  /// portion begins where one ends.
  private func notes(
    within folder: FolderPath, limit: Int
  ) throws(StoreError) -> [(number: Int, folder: FolderPath)] {
    try query(
      """
      (SELECT number, folder FROM parley.documents WHERE folder = $1 ORDER BY created, id LIMIT $2)
      UNION ALL
      (SELECT number, folder FROM parley.documents
        WHERE folder >= $1 || '/'::bytea AND folder < $1 || '0'::bytea
        ORDER BY folder, created, id LIMIT $2)
      LIMIT $2
      """, folder.text, limit
    ).rows { ($0.integer(0), FolderPath(stored: $0.text(1))) }
  }
}
