import ParleyGatewayPorts

/// Folders of notes. A note's row contains the path of its folder.
struct FolderRules<Store: FolderTable> {
  let store: Store
  private var notes: NoteRules<Store> { NoteRules(store: store) }
  private var deletions: DeletionRules<Store> { DeletionRules(store: store) }
  private var lists: FolderListRules<Store> { FolderListRules(store: store) }

  func reply(to request: FolderRequest) throws(StoreError) -> FolderReply {
    switch request {
    case .move(let id, let folder, let title, let time):
      var row = try store.existingRow(id)
      if let title {
        store.context.noteTime(time)
        row.title = title
        try store.note(time, before: row.revision + 1, in: &row)
      }
      if row.folder != folder {
        row.folder = folder
        try store.change(
          "UPDATE documents SET folder = $2 WHERE number = $1", row.number, folder.text)
      }
      try store.write(row)
      return .note(row.summary)
    case .notes(let folder, let place, let limit):
      return .notes(try notes.notes(in: folder, after: place, limit: limit))
    case .list(let place, let limit, let counting, let work):
      return try lists.folders(after: place, limit: max(limit, 0), counting, work: work)
    case .of(let ids): return .of(try store.folders(of: ids))
    case .moveAll(let old, let new, let limit):
      return try moveAll(FolderMove(from: old, to: new), limit: max(limit, 0))
    }
  }

  /// Whether a note is in a folder that a condition covers. Locks the note if the transaction
  /// writes.
  func holds(_ condition: FolderCondition) throws(StoreError) -> Bool {
    let row =
      condition.isOfDeleted
      ? try deletions.newestDeleted(condition.id) : try store.row(condition.id)
    return row.map { condition.rights.cover($0.folder, madeAt: $0.createdAt) } ?? false
  }

  private func moveAll(_ move: FolderMove, limit: Int) throws(StoreError) -> FolderReply {
    var within = 0
    if let successor = move.successor {
      within = try notes(within: successor, limit: limit + 1).count
    }
    guard within <= limit else { return try moveOthers(move, limit: limit) }
    let (notes, hasMore) = move.portion(
      of: try notes(within: move.old, limit: within + limit + 1), limit: limit
    ) { $0.folder }
    return try self.move(notes.map(\.number), by: move, hasMore: hasMore, rest: nil)
  }

  /// Moves a portion of the notes that leave the old folder. Notes already in the successor, which
  /// is within the old folder, are excluded: they are too many for one portion.
  private func moveOthers(_ move: FolderMove, limit: Int) throws(StoreError) -> FolderReply {
    let others = try notes(within: move.old, outside: move.successor ?? move.old, limit: limit + 1)
    let hasMore = others.count > limit
    return try self.move(
      others.prefix(limit).map(\.number), by: move, hasMore: hasMore,
      rest: hasMore ? nil : move.rest)
  }

  private func move(
    _ numbers: [Int], by move: FolderMove, hasMore: Bool, rest: FolderMove?
  ) throws(StoreError) -> FolderReply {
    let rows = try store.rows(toMove: numbers)
    // Compute all paths first: nothing is moved if one of them is invalid.
    var moves: [(row: DocumentRow, folder: FolderPath)] = []
    for row in rows where row.folder.isWithin(move.old) {
      do throws(FolderPathError) {
        moves.append((row, try row.folder.moved(from: move.old, to: move.new)))
      } catch {
        return .unfit(error)
      }
    }
    // Other nodes may have moved or deleted some or all of these notes meanwhile, so more may
    // remain even if none was moved. In a store that is not shared, such notes are unreadable and
    // are not retried.
    let continues = hasMore && (!moves.isEmpty || store.isShared)
    return .moved(try store.move(moves), hasMore: continues, rest: rest)
  }

  /// Reads notes in a folder and its subfolders, in index order. Moved notes have left this range,
  /// so the next portion starts from the beginning again.
  private func notes(
    within folder: FolderPath, limit: Int
  ) throws(StoreError) -> [(number: Int, folder: FolderPath)] {
    let notes = try store.rows(
      "SELECT number, folder FROM documents WHERE folder = $1 ORDER BY created, id LIMIT $2",
      folder.text, limit
    ) { ($0.integer(0), FolderPath(stored: $0.text(1))) }
    return try notes
      + store.rows(
        """
        SELECT number, folder FROM documents WHERE folder >= $1 AND folder < $2
        ORDER BY folder, created, id LIMIT $3
        """, folder.text + "/", folder.text + "0", limit - notes.count
      ) { ($0.integer(0), FolderPath(stored: $0.text(1))) }
  }

  /// Reads the same notes, excluding those in the folder `below` and its subfolders.
  private func notes(
    within folder: FolderPath, outside below: FolderPath, limit: Int
  ) throws(StoreError) -> [(number: Int, folder: FolderPath)] {
    var notes = try store.rows(
      "SELECT number, folder FROM documents WHERE folder = $1 ORDER BY created, id LIMIT $2",
      folder.text, limit
    ) { ($0.integer(0), FolderPath(stored: $0.text(1))) }
    // Siblings such as "below-2" sort between `below` and "below/". No name has control characters.
    let ranges = [
      (folder.text + "/", below.text), (below.text + " ", below.text + "/"),
      (below.text + "0", folder.text + "0"),
    ]
    for (first, end) in ranges where notes.count < limit {
      notes += try store.rows(
        """
        SELECT number, folder FROM documents WHERE folder >= $1 AND folder < $2
        ORDER BY folder, created, id LIMIT $3
        """, first, end, limit - notes.count
      ) { ($0.integer(0), FolderPath(stored: $0.text(1))) }
    }
    return notes
  }
}
