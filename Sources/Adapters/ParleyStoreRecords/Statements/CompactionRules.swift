import ParleyGatewayPorts

/// Snapshots of texts, and compaction of logs up to a snapshot.
struct CompactionRules<Store: LogTable> {
  let store: Store
  private var texts: TextRules<Store> { TextRules(store: store) }
  private var versions: VersionRules<Store> { VersionRules(store: store) }
  private var comments: CommentRules<Store> { CommentRules(store: store) }

  /// Stores a snapshot at a document's head, even if none is due.
  func takeSnapshot(of row: DocumentRow) throws(StoreError) {
    var row = row
    try texts.keep(try texts.fold(of: row, at: row.revision).snapshot, of: &row)
    let comments = comments.rows(of: row)
    try comments.storeAnchors(of: comments.moved(through: row.revision))
  }

  /// Moves the log's base up to a revision. Entries up to the new base become unreadable at once;
  /// `maintain` deletes them in small portions.
  ///
  /// ```
  /// before:  base ─ e ─ e ─ v ─ e ─ e ─ through ─ e ─ e ─ head
  /// after:                  v           base ──── e ─ e ─ head      v: a named version's text
  /// ```
  func compact(_ id: DocumentID, through: Int) throws(StoreError) {
    var row = try store.existingRow(id)
    let through = min(through, row.revision)
    guard through > row.base else { return }
    let kept = Set(try snapshotRevisions(of: row))
    for revision in try revisionsToKeep(of: row, compactedTo: through)
    where !kept.contains(revision) {
      try texts.keep(texts.fold(of: row, at: revision).snapshot, of: &row)
    }
    let comments = comments.rows(of: row)
    try comments.storeAnchors(of: comments.moved(through: through))
    // Read and verify the snapshot before the entries that it replaces become unreadable.
    let base = try texts.snapshot(of: row, through: through)
    row.base = through
    row.baseChain = base.chain
    try store.write(row)
    try store.change(
      """
      DELETE FROM snapshots WHERE document = $1 AND revision < $2
        AND revision NOT IN (SELECT revision FROM versions WHERE document = $1)
      """, row.number, through)
    store.noteCompacted(row)
  }

  /// Returns the revisions whose texts compaction retains: named versions and the new base.
  func revisionsToKeep(
    of row: DocumentRow, compactedTo base: Int
  ) throws(StoreError) -> [Int] {
    try versions.versions(of: row).map(\.revision).filter { $0 > row.base && $0 < base } + [base]
  }

  func snapshotRevisions(of row: DocumentRow) throws(StoreError) -> [Int] {
    try store.rows(
      "SELECT revision FROM snapshots WHERE document = $1 ORDER BY revision", row.number
    ) { $0.integer(0) }
  }
}
