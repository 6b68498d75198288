import GatewayPorts

/// History for people, and its limits.
extension SQLiteStore {
  func history(
    _ id: DocumentID, after: Int, through: Int, pause: Timestamp
  ) throws(StoreError) -> [HistoryGroup] {
    let row = try existingRow(id)
    let after = max(after, 0)
    let through = min(through, row.revision)
    guard after < through else { return [] }
    guard after >= row.base else { throw .compacted(oldestRevision: row.base + 1) }
    var groups: [HistoryGroup] = []
    try walk(row, after: after, through: through, chain: try chain(at: after, of: row)) {
      entry throws(StoreError) in
      let entry = entry.logEntry()
      let last = groups.count - 1
      if last < 0 || !groups[last].take(entry, pause: pause) {
        groups.append(HistoryGroup(entry))
      }
    }
    return groups
  }

  // MARK: Versions

  func versions(_ id: DocumentID) throws(StoreError) -> [NamedVersion] {
    try versions(of: existingRow(id))
  }

  func versions(of row: DocumentRow) throws(StoreError) -> [NamedVersion] {
    defer { statements.selectVersions.reset() }
    statements.selectVersions.bind(1, row.number)
    var versions: [NamedVersion] = []
    while try statements.selectVersions.step() {
      let version = NamedVersion(
        revision: statements.selectVersions.integer(0), name: statements.selectVersions.text(1),
        author: statements.selectVersions.text(2),
        time: Timestamp(statements.selectVersions.integer(3)))
      let checksum = statements.selectVersions.withBytes(4) { RecordChecksum($0) }
      guard checksum == hasher.checksum(of: version, document: row.id) else {
        throw .damaged(
          "the version at revision \(version.revision) differs from its checksum; \(damageAdvice)")
      }
      versions.append(version)
    }
    return versions
  }

  func saveVersion(
    _ id: DocumentID, epoch: String, version: NamedVersion
  ) throws(StoreError) {
    let row = try existingRow(id)
    guard epoch.utf8.elementsEqual(row.epoch.utf8), (0...row.revision).contains(version.revision)
    else { throw .notNext(headRevision: row.revision) }
    if version.revision < row.base {
      // Only a revision whose text is still there can be promised to stay.
      guard try snapshot(of: row, through: version.revision).revision == version.revision else {
        throw .compacted(oldestRevision: row.base)
      }
    }
    statements.upsertVersion.bind(1, row.number)
    statements.upsertVersion.bind(2, version.revision)
    statements.upsertVersion.bind(3, version.name)
    statements.upsertVersion.bind(4, version.author)
    statements.upsertVersion.bind(5, Int(version.time))
    statements.upsertVersion.bind(6, hasher.checksum(of: version, document: row.id).bytes)
    try statements.upsertVersion.run()
  }

  func deleteVersion(_ id: DocumentID, revision: Int) throws(StoreError) {
    let row = try existingRow(id)
    statements.deleteVersion.bind(1, row.number)
    statements.deleteVersion.bind(2, revision)
    try statements.deleteVersion.run()
  }

  // MARK: Another history

  func renewEpoch(_ id: DocumentID, from: String, to: String) throws(StoreError) {
    var row = try existingRow(id)
    guard from.utf8.elementsEqual(row.epoch.utf8) else {
      throw .notNext(headRevision: row.revision)
    }
    try beginEpoch(to, after: row.revision, document: row.number)
    row.epoch = to
    try write(row)
  }

  // MARK: Compaction

  /// Moves the log's base up to a revision. The entries before it are out of reach at once, and are
  /// removed piece by piece by `maintain`.
  ///
  /// ```
  /// before:  base ─ e ─ e ─ v ─ e ─ e ─ through ─ e ─ e ─ head
  /// after:                  v           base ──── e ─ e ─ head      v: a named version's text
  /// ```
  func compact(_ id: DocumentID, through: Int) throws(StoreError) {
    var row = try existingRow(id)
    let through = min(through, row.revision)
    guard through > row.base else { return }
    let named = try versions(of: row).map(\.revision).filter { $0 > row.base && $0 < through }
    let kept = Set(try snapshotRevisions(of: row))
    for revision in named where !kept.contains(revision) {
      try keep(try fold(of: row, at: revision).snapshot, of: &row)
    }
    let base = try fold(of: row, at: through).snapshot
    try keep(base, of: &row)
    row.base = through
    row.baseChain = base.chain
    try write(row)
    statements.deleteCompactedSnapshots.bind(1, row.number)
    statements.deleteCompactedSnapshots.bind(2, through)
    try statements.deleteCompactedSnapshots.run()
    hasCompacted = true
  }

  func snapshotRevisions(of row: DocumentRow) throws(StoreError) -> [Int] {
    defer { statements.selectSnapshotRevisions.reset() }
    statements.selectSnapshotRevisions.bind(1, row.number)
    var revisions: [Int] = []
    while try statements.selectSnapshotRevisions.step() {
      revisions.append(statements.selectSnapshotRevisions.integer(0))
    }
    return revisions
  }
}
