import GatewayPorts
import StoreRecords

/// History for people, and its limits.
extension SQLiteStore {
  /// - Complexity: O(`limit`) entries and the bytes of their operations, however long the log is.
  func history(
    _ id: DocumentID, after: Int, limit: Int, pause: Timestamp
  ) throws(StoreError) -> HistoryPage {
    let row = try existingRow(id)
    var builder = HistoryPage.Builder(limit: limit, pause: pause)
    var revision = max(after, 0)
    guard revision < row.revision else { return builder.page(head: row.revision) }
    guard revision >= row.base else { throw .compacted(oldestRevision: row.base + 1) }
    var chain = try chain(at: revision, of: row)
    while revision < row.revision, !builder.isFull {
      // In strides, for only the entries tell how many of them fill a page.
      let through = min(revision + Self.historyStride, row.revision)
      chain = try walk(row, after: revision, through: through, chain: chain) {
        entry throws(StoreError) in
        builder.take(entry.logEntry())
      }
      revision = through
    }
    return builder.page(head: row.revision)
  }

  private static let historyStride = 128

  // MARK: Versions

  func versions(_ id: DocumentID) throws(StoreError) -> [NamedVersion] {
    try versions(of: existingRow(id))
  }

  func versions(of row: DocumentRow) throws(StoreError) -> [NamedVersion] {
    try sql(
      """
      SELECT revision, name, author, time, checksum FROM versions WHERE document = ?
      ORDER BY revision DESC
      """
    ).rows(row.number) { found throws(StoreError) in
      let version = NamedVersion(
        revision: found.integer(0), name: found.text(1), author: found.text(2),
        time: Timestamp(found.integer(3)))
      let checksum = found.withBytes(4) { RecordChecksum($0) }
      guard checksum == hasher.checksum(of: version, document: row.id) else {
        throw .damaged(
          "the version at revision \(version.revision) differs from its checksum; \(damageAdvice)")
      }
      return version
    }
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
    try sql(
      """
      INSERT OR REPLACE INTO versions (document, revision, name, author, time, checksum)
      VALUES (?, ?, ?, ?, ?, ?)
      """
    ).run(
      row.number, version.revision, version.name, version.author, version.time,
      hasher.checksum(of: version, document: row.id))
  }

  func deleteVersion(_ id: DocumentID, revision: Int) throws(StoreError) {
    let row = try existingRow(id)
    try sql("DELETE FROM versions WHERE document = ? AND revision = ?").run(row.number, revision)
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
    let kept = Set(try snapshotRevisions(of: row))
    for revision in try revisionsToKeep(of: row, compactedTo: through)
    where !kept.contains(revision) {
      try keep(try fold(of: row, at: revision).snapshot, of: &row)
    }
    let comments = comments(of: row)
    try comments.keepAnchors(of: comments.moved(through: through))
    // Read, and so verified, before what it stands for goes.
    let base = try snapshot(of: row, through: through)
    row.base = through
    row.baseChain = base.chain
    try write(row)
    try sql(
      """
      DELETE FROM snapshots WHERE document = ?1 AND revision < ?2
        AND revision NOT IN (SELECT revision FROM versions WHERE document = ?1)
      """
    ).run(row.number, through)
    compacted.insert(row.number)
  }

  /// The revisions whose texts stay when a log is compacted: those that have a name, and the base.
  func revisionsToKeep(
    of row: DocumentRow, compactedTo base: Int
  ) throws(StoreError) -> [Int] {
    try versions(of: row).map(\.revision).filter { $0 > row.base && $0 < base } + [base]
  }

  func snapshotRevisions(of row: DocumentRow) throws(StoreError) -> [Int] {
    try sql("SELECT revision FROM snapshots WHERE document = ? ORDER BY revision").rows(row.number)
    { $0.integer(0) }
  }
}
