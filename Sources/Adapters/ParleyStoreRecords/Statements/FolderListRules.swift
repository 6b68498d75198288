import ParleyGatewayPorts

/// The list of folders, in steps of bounded work. A step follows the index of folders, and within a
/// folder counts the oldest notes first.
///
/// If all notes of a folder count, the database counts them; otherwise each note is examined.
/// Folders in which no note can count are skipped.
struct FolderListRules<Store: FolderTable> {
  let store: Store

  /// The work of finding one folder, in units of one examined note.
  private static var folderWork: Int { 2 }
  /// The number of notes that the database counts per unit of work.
  private static var countedPerWork: Int { 8 }
  /// The divisor of a step's work that limits finding: at most 1/8 is spent on finding folders.
  private static var findingShare: Int { 8 }

  func folders(
    after place: FolderListPosition?, limit: Int, _ counting: FolderCounting, work: Int
  ) throws(StoreError) -> FolderReply {
    if let names = counting.names {
      return counting.page(of: try store.summaries(of: names), after: place?.folder, limit: limit)
    }
    var found: [FolderCount] = []
    var left = max(1, work)
    if let place, let partial = place.partial {
      let counts = try count(.rest(of: place.folder, partial), counting, &left)
      if let cut = counts.cut { return .folders([], next: cut) }
      found = counts.whole
    }
    var last = place?.folder
    // Each step counts at least one run of folders, so that a list with little work advances.
    var isFirst = true
    repeat {
      let most = min(limit - found.count, max(1, left / Self.findingShare / Self.folderWork))
      // One extra row shows whether more folders follow.
      let folders = try folders(after: last, limit: most + 1)
      left -= folders.count * Self.folderWork
      for run in Self.runs(of: folders.prefix(most), counting) where left > 0 || isFirst {
        isFirst = false
        let counts = try count(run, counting, &left)
        found += counts.whole
        if let cut = counts.cut { return .folders(found, next: cut) }
        last = run.last
      }
      if folders.count <= most, last == folders.last ?? last {
        return .folders(found, next: nil)
      }
    } while left > 0 && found.count < limit
    return .folders(found, next: last.map { FolderListPosition($0) })
  }

  /// Finds the next folders that contain notes.
  ///
  /// - Complexity: O(`limit`) index searches, regardless of the number of notes in each folder.
  private func folders(
    after last: FolderPath?, limit: Int
  ) throws(StoreError) -> [FolderPath] {
    try store.rows(
      """
      WITH RECURSIVE folders (folder) AS (
        SELECT * FROM (SELECT folder FROM documents WHERE folder \(last == nil ? ">=" : ">") $1
          ORDER BY folder LIMIT 1) AS begun
        UNION ALL
        SELECT (SELECT d.folder FROM documents d WHERE d.folder > f.folder
          ORDER BY d.folder LIMIT 1)
        FROM folders f WHERE f.folder IS NOT NULL)
      SELECT folder FROM folders WHERE folder IS NOT NULL LIMIT $2
      """, last?.text ?? "", limit
    ) { FolderPath(stored: $0.text(0)) }
  }

  /// Divides folders into runs, so that all notes of a run are counted in the same way.
  private static func runs(
    of folders: ArraySlice<FolderPath>, _ counting: FolderCounting
  ) -> [FolderRun] {
    var runs: [FolderRun] = []
    for folder in folders {
      let way = FolderRun.Way(folder, counting)
      if case .folders(let run, way)? = runs.last {
        runs[runs.count - 1] = .folders(run + [folder], way)
      } else {
        runs.append(.folders([folder], way))
      }
    }
    return runs
  }

  /// Counts the notes of a run until the work is used up.
  ///
  /// - Returns: The completely counted folders, and the position at which the count stopped.
  private func count(
    _ run: FolderRun, _ counting: FolderCounting, _ left: inout Int
  ) throws(StoreError) -> (whole: [FolderCount], cut: FolderListPosition?) {
    var counts: [FolderCount] = []
    let limit: Int
    var seen = 0
    var place: NoteSortKey?
    switch run.way(counting) {
    case .none: return ([], nil)
    case .all:
      limit = max(1, left) * Self.countedPerWork
      counts = try countAll(of: run, limit: limit)
      seen = counts.reduce(0) { $0 + $1.notes }
      left -= (seen + Self.countedPerWork - 1) / Self.countedPerWork
      if seen >= limit, let last = counts.last {
        place = try self.place(last.notes, in: run, last.folder)
      }
    case .some:
      limit = max(1, left)
      var last: (folder: FolderPath, place: NoteSortKey)?
      for note in try notes(of: run, limit: limit) {
        if counts.last?.folder != note.folder {
          counts.append(FolderCount(folder: note.folder, notes: 0))
        }
        if counting.includes(note.place.id, madeAt: note.place.time) {
          counts[counts.count - 1].notes += 1
        }
        last = note
        seen += 1
      }
      left -= seen
      if seen >= limit { place = last?.place }
    }
    if case .rest(let folder, let partial) = run {
      if counts.isEmpty { counts = [FolderCount(folder: folder, notes: 0)] }
      counts[0].notes += partial.notes
    }
    guard seen >= limit, let place, let last = counts.popLast() else {
      return (counts.filter { $0.notes > 0 }, nil)
    }
    return (
      counts.filter { $0.notes > 0 },
      FolderListPosition(
        last.folder, partial: FolderListPosition.Partial(notes: last.notes, last: place))
    )
  }

  /// Counts at most `limit` notes of a run.
  private func countAll(of run: FolderRun, limit: Int) throws(StoreError) -> [FolderCount] {
    switch run {
    case .folders(let folders, _): try store.counts(of: folders, limit: limit)
    case .rest(let folder, let partial):
      try store.rows(
        """
        SELECT count(*) FROM (SELECT id FROM documents
          WHERE folder = $1 AND (created, id) > ($2, $3) ORDER BY created, id LIMIT $4) AS part
        """, folder.text, partial.last.time, partial.last.id, limit
      ) { FolderCount(folder: folder, notes: $0.integer(0)) }
    }
  }

  /// Returns the position of the `count`th note of a folder, the last folder of a run.
  private func place(
    _ count: Int, in run: FolderRun, _ folder: FolderPath
  ) throws(StoreError) -> NoteSortKey? {
    var after = NoteSortKey(time: .min, id: "")
    if case .rest(_, let partial) = run { after = partial.last }
    return try store.first(
      """
      SELECT created, id FROM documents WHERE folder = $1 AND (created, id) > ($2, $3)
      ORDER BY created, id LIMIT 1 OFFSET $4
      """, folder.text, after.time, after.id, count - 1
    ) { NoteSortKey(time: Timestamp($0.integer(0)), id: $0.name(1)) }
  }

  /// Returns at most `limit` notes of a run.
  private func notes(
    of run: FolderRun, limit: Int
  ) throws(StoreError) -> [(folder: FolderPath, place: NoteSortKey)] {
    switch run {
    case .folders(let folders, _):
      try store.rows(
        """
        SELECT folder, created, id FROM documents WHERE folder >= $1 AND folder <= $2
        ORDER BY folder, created, id LIMIT $3
        """, folders.first?.text ?? "", folders.last?.text ?? "", limit
      ) {
        (
          FolderPath(stored: $0.text(0)),
          NoteSortKey(time: Timestamp($0.integer(1)), id: $0.name(2))
        )
      }
    case .rest(let folder, let partial):
      try store.rows(
        """
        SELECT created, id FROM documents WHERE folder = $1 AND (created, id) > ($2, $3)
        ORDER BY created, id LIMIT $4
        """, folder.text, partial.last.time, partial.last.id, limit
      ) { (folder, NoteSortKey(time: Timestamp($0.integer(0)), id: $0.name(1))) }
    }
  }
}

/// Notes that one query counts.
private enum FolderRun {
  /// The way in which a folder's notes are counted.
  enum Way {
    /// All notes count.
    case all
    /// Only notes that `FolderCounting` includes by id count.
    case some
    /// No note counts.
    case none

    init(_ folder: FolderPath, _ counting: FolderCounting) {
      self = counting.includesAll(of: folder) ? .all : counting.notes.isEmpty ? .none : .some
    }
  }

  /// Consecutive folders, at least one.
  case folders([FolderPath], Way)
  /// The notes of a folder after those already counted.
  case rest(of: FolderPath, FolderListPosition.Partial)

  /// The last folder of the run.
  var last: FolderPath? {
    switch self {
    case .folders(let folders, _): folders.last
    case .rest(let folder, _): folder
    }
  }

  func way(_ counting: FolderCounting) -> Way {
    switch self {
    case .folders(_, let way): way
    case .rest(let folder, _): Way(folder, counting)
    }
  }
}
