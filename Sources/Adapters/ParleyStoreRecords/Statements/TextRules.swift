package import ParleyGatewayPorts
import OTCore

/// Texts: each is the fold of a log from the nearest snapshot on.
package struct TextRules<Store: LogTable> {
  let store: Store
  private var logs: LogRules<Store> { LogRules(store: store) }
  private var times: LogTimes<Store> { LogTimes(store: store) }

  package init(store: Store) { self.store = store }

  func load(_ id: DocumentID, recentMax: Int) throws(StoreError) -> StoredDocument {
    let row = try store.existingRow(id)
    let marks = try store.marks(of: row)
    let snapshot = try snapshot(of: row, through: row.revision)
    var content = try snapshot.content()
    let recentStart = max(row.base, row.revision - max(recentMax, 0))
    let start = min(snapshot.revision, recentStart)
    var recent: [LogEntry] = []
    recent.reserveCapacity(row.revision - recentStart)
    try logs.walk(
      row, after: start, through: row.revision, chain: try logs.chain(at: start, of: row)
    ) { entry throws(StoreError) in
      if entry.revision == snapshot.revision, entry.checksum != snapshot.chain {
        throw .damaged("the text at revision \(entry.revision) is another log's; \(damageAdvice)")
      }
      if entry.revision > snapshot.revision {
        do throws(OperationError) {
          try content.apply(entry.operation, entry.format)
        } catch {
          throw logs.damaged(entry.revision, "does not apply to the text before it")
        }
      }
      if entry.revision > recentStart { recent.append(entry.logEntry()) }
    }
    guard content.text.scalarCount == row.length else {
      throw .damaged("the text differs from the note's record of its length; \(damageAdvice)")
    }
    return StoredDocument(
      summary: row.summary, epoch: row.epoch, content: content, recent: recent, marks: marks,
      chain: store.shared(row.chain), sessionFloor: row.sessionFloor)
  }

  /// Returns the log's fold at a revision, which is at most the head.
  ///
  /// Throws `compacted` if the revision is before the base and has no snapshot.
  func fold(of row: DocumentRow, at revision: Int) throws(StoreError) -> Fold {
    let snapshot = try snapshot(of: row, through: revision)
    guard snapshot.revision == revision || revision >= row.base else {
      throw .compacted(oldestRevision: row.base)
    }
    var fold = try Fold(snapshot)
    if snapshot.revision < revision {
      try logs.walk(row, after: snapshot.revision, through: revision, chain: snapshot.chain) {
        entry throws(StoreError) in
        try entry.apply(to: &fold)
      }
    }
    return fold
  }

  func text(_ id: DocumentID, at point: HistoryPoint) throws(StoreError) -> HistoricText {
    let row = try store.existingRow(id)
    let revision =
      switch point {
      case .revision(let revision): max(0, min(revision, row.revision))
      case .time(let time): try self.revision(at: time, of: row)
      }
    return try fold(of: row, at: revision).text
  }

  private func revision(at time: Timestamp, of row: DocumentRow) throws(StoreError) -> Int {
    let revision = try times.lastRevision(at: time, of: row)
    // No entry after the base is that old: check the time of the base itself.
    guard revision == row.base, row.base > 0 else { return revision }
    guard try snapshot(of: row, through: row.base).time <= time else {
      throw .compacted(oldestRevision: row.base)
    }
    return revision
  }

  /// Checks the arguments and ignores the text: the store takes its own snapshots as the log grows.
  func offerSnapshot(
    _ id: DocumentID, epoch: Epoch, revision: Int, text: String
  ) throws(StoreError) {
    let row = try store.existingRow(id)
    guard
      epoch == row.epoch, revision >= 0, revision <= row.revision,
      revision != row.revision || text.unicodeScalars.count == row.length
    else { throw .notNext(headRevision: row.revision) }
  }

  // MARK: Snapshots

  /// Returns the newest snapshot at a revision or before, or the empty text before the log.
  func snapshot(of row: DocumentRow, through revision: Int) throws(StoreError) -> Snapshot {
    let kept = try store.first(
      """
      SELECT revision, chain, text, checksum, time, authors, format FROM snapshots
      WHERE document = $1 AND revision <= $2 ORDER BY revision DESC LIMIT 1
      """, row.number, revision
    ) { found throws(StoreError) in try readSnapshot(found, of: row) }
    if let kept { return kept }
    guard row.base == 0 || revision == 0 else {
      // Texts before the base are compacted away; the text at the base must exist.
      guard revision >= row.base else { throw .compacted(oldestRevision: row.base) }
      throw .damaged("the text at revision \(row.base) is missing; \(damageAdvice)")
    }
    return Snapshot(
      revision: 0, chain: store.context.hasher.origin(of: row.id), time: row.createdAt, text: [],
      authors: [0], format: [])
  }

  private func readSnapshot(
    _ found: Store.Row, of row: DocumentRow
  ) throws(StoreError) -> Snapshot {
    let revision = found.integer(0)
    guard let chain = found.withBytes(1, { RecordChecksum($0) }) else {
      throw .damaged("the text at revision \(revision) has no checksum; \(damageAdvice)")
    }
    let snapshot = Snapshot(
      revision: revision, chain: chain, time: Timestamp(found.integer(4)), text: found.bytes(2),
      authors: found.bytes(5), format: found.bytes(6))
    let checksum = found.withBytes(3) { RecordChecksum($0) }
    guard checksum == store.context.hasher.checksum(of: snapshot, document: row.id) else {
      throw .damaged("the text at revision \(revision) differs from its checksum; \(damageAdvice)")
    }
    guard revision != row.base || chain == row.baseChain else {
      throw .damaged("the text at revision \(revision) is another log's; \(damageAdvice)")
    }
    return snapshot
  }

  /// Stores a snapshot. A snapshot at the head also restarts the count towards the next one.
  func keep(_ snapshot: Snapshot, of row: inout DocumentRow) throws(StoreError) {
    try keep(
      snapshot, checksum: store.context.hasher.checksum(of: snapshot, document: row.id), of: row)
    if snapshot.revision == row.revision {
      // The snapshot's size beyond the text's length delays the next snapshot.
      row.unsnapped = min(0, row.length - snapshot.byteCount)
      try store.write(row)
    }
  }

  func keep(_ snapshot: Snapshot, checksum: RecordChecksum, of row: DocumentRow)
    throws(StoreError)
  {
    try store.change(
      """
      INSERT INTO snapshots (document, revision, chain, time, text, authors, checksum, format)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT (document, revision) DO UPDATE SET chain = excluded.chain, time = excluded.time,
        text = excluded.text, authors = excluded.authors, checksum = excluded.checksum,
        format = excluded.format
      """, row.number, snapshot.revision, snapshot.chain, snapshot.time, Blob(snapshot.text),
      Blob(snapshot.authors), checksum, Blob(snapshot.format))
  }

  /// Returns the documents whose newest snapshot is far behind their head.
  package func idsToSnapshot() throws(StoreError) -> Set<DocumentID> {
    Set(
      try store.rows("SELECT id FROM documents WHERE unsnapped >= length AND unsnapped >= 65536") {
        $0.name(0)
      })
  }
}
