package import GatewayPorts

/// Entries that are read at once for a page of history.
private let stride = 128
/// Bytes of operations that are read at once, about.
private let strideBytes = 1 << 20

/// History for people, and its limits.
extension SQLStore {
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
      let through = min(revision + stride, row.revision)
      chain = try walk(row, after: revision, through: through, chain: chain) {
        entry throws(StoreError) in
        builder.take(entry.logEntry())
      }
      revision = through
    }
    return builder.page(head: row.revision)
  }

  /// - Complexity: O(``EditingSessionPage/changesMax``) entries and ``EditingSessionPage/bytesMax`` of their
  ///   operations at most, however long the log is.
  func editingSessions(
    _ id: DocumentID, before: Int, limit: Int, pause: Timestamp
  ) throws(StoreError) -> EditingSessionPage {
    let row = try existingRow(id)
    var builder = EditingSessionPage.Builder(limit: limit, pause: pause)
    var end = min(max(before, 1) - 1, row.revision)
    var bytes = 0
    while end > row.base, !builder.isFull, bytes < EditingSessionPage.bytesMax {
      let start = try start(of: row, through: end, &bytes)
      var changes: [ChangeAmount] = []
      try walk(row, after: start, through: end, chain: try chain(at: start, of: row)) {
        entry throws(StoreError) in
        changes.append(
          ChangeAmount(
            revision: entry.revision, author: entry.author, time: entry.time, entry.operation))
      }
      for change in changes.reversed() { builder.take(change) }
      end = start
    }
    let isAtStart = builder.isFull || end <= row.base
    return builder.page(
      head: row.revision, oldest: row.base, nextTime: isAtStart ? nil : try time(at: end, of: row))
  }

  /// Returns the revision before a stride that ends at `end`. A stride is limited by its entries and its bytes.
  ///
  /// - Parameter bytes: The bytes of the stride's operations are added to it.
  private func start(
    of row: DocumentRow, through end: Int, _ bytes: inout Int
  ) throws(StoreError) -> Int {
    let sizes = try rows(
      """
      SELECT CAST(length(operation) AS bigint) FROM log
      WHERE document = $1 AND revision > $2 AND revision <= $3 ORDER BY revision DESC LIMIT $4
      """, row.number, row.base, end, stride
    ) { $0.integer(0) }
    var start = end
    var taken = 0
    for size in sizes where taken <= strideBytes {
      start -= 1
      taken += size
    }
    guard start < end else { throw damaged(end, "is missing") }
    bytes += taken
    return start
  }

  /// Compares the texts of two revisions.
  func difference(
    _ id: DocumentID, from: Int, to: Int
  ) throws(StoreError) -> DifferenceReply {
    let row = try existingRow(id)
    guard to <= row.revision else { throw .notNext(headRevision: row.revision) }
    let old = try fold(of: row, at: max(from, 0)).text
    let new = from == to ? old : try fold(of: row, at: to).text
    return TextDifference(from: old, to: new).map { .difference($0) } ?? .tooLong
  }

  // MARK: Versions

  func versions(_ id: DocumentID) throws(StoreError) -> [NamedVersion] {
    try versions(of: existingRow(id))
  }

  package func versions(of row: DocumentRow) throws(StoreError) -> [NamedVersion] {
    try rows(
      """
      SELECT revision, name, author, time, checksum FROM versions WHERE document = $1
      ORDER BY revision DESC
      """, row.number
    ) { found throws(StoreError) in
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

  func save(_ version: NamedVersion, of id: DocumentID, epoch: String) throws(StoreError) {
    let row = try existingRow(id)
    guard epoch.utf8.elementsEqual(row.epoch.utf8), (0...row.revision).contains(version.revision)
    else { throw .notNext(headRevision: row.revision) }
    if version.revision < row.base {
      // Only a revision whose text is still there can be promised to stay.
      guard try snapshot(of: row, through: version.revision).revision == version.revision else {
        throw .compacted(oldestRevision: row.base)
      }
    }
    try change(
      """
      INSERT INTO versions (document, revision, name, author, time, checksum)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (document, revision) DO UPDATE SET name = excluded.name,
        author = excluded.author, time = excluded.time, checksum = excluded.checksum
      """, row.number, version.revision, version.name, version.author, version.time,
      hasher.checksum(of: version, document: row.id))
  }

  func deleteVersion(_ id: DocumentID, revision: Int) throws(StoreError) {
    let row = try existingRow(id)
    try change(
      "DELETE FROM versions WHERE document = $1 AND revision = $2", row.number, revision)
  }

  // MARK: Another history

  package func renewEpoch(_ id: DocumentID, from: String, to: String) throws(StoreError) {
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
  package func compact(_ id: DocumentID, through: Int) throws(StoreError) {
    var row = try existingRow(id)
    let through = min(through, row.revision)
    guard through > row.base else { return }
    let kept = Set(try snapshotRevisions(of: row))
    for revision in try revisionsToKeep(of: row, compactedTo: through)
    where !kept.contains(revision) {
      try keep(fold(of: row, at: revision).snapshot, of: &row)
    }
    let comments = comments(of: row)
    try comments.keepAnchors(of: comments.moved(through: through))
    // Read, and so verified, before what it stands for goes.
    let base = try snapshot(of: row, through: through)
    row.base = through
    row.baseChain = base.chain
    try write(row)
    try change(
      """
      DELETE FROM snapshots WHERE document = $1 AND revision < $2
        AND revision NOT IN (SELECT revision FROM versions WHERE document = $1)
      """, row.number, through)
    noteCompacted(row)
  }

  /// The revisions whose texts stay when a log is compacted: those that have a name, and the base.
  func revisionsToKeep(
    of row: DocumentRow, compactedTo base: Int
  ) throws(StoreError) -> [Int] {
    try versions(of: row).map(\.revision).filter { $0 > row.base && $0 < base } + [base]
  }

  package func snapshotRevisions(of row: DocumentRow) throws(StoreError) -> [Int] {
    try rows(
      "SELECT revision FROM snapshots WHERE document = $1 ORDER BY revision", row.number
    ) { $0.integer(0) }
  }
}
