package import ParleyGatewayPorts
import OTCore

/// Entries that are folded before checking again whether the next snapshot is due.
private let stride = 256

/// Snapshots of one document that were folded in parallel with commits, to be stored.
package struct FoldedSnapshots: Sendable {
  /// The document's id.
  package let id: DocumentID
  /// The document's number, which is never reused.
  fileprivate let number: Int
  fileprivate var snapshots: [(snapshot: Snapshot, checksum: RecordChecksum)] = []
  /// Comments whose anchors were moved to the newest of the snapshots.
  fileprivate var comments: [Comment] = []
  /// The bytes of the log up to the snapshot, and the text's length there; `nil` if `unsnapped`
  /// stays unchanged.
  fileprivate var counted: (unsnapped: Int, length: Int)?
  /// The revision to compact the log to; `nil` if the log is not to be compacted.
  fileprivate var base: Int?

  fileprivate init(of row: DocumentRow) {
    id = row.id
    number = row.number
  }
}

/// Folding of logs in parallel with commits.
///
///     committing   batch … takeFoldOrders        batch … keep: one row, checked against its log
///     reading                      └▶ fold ──────────────┘
package struct SnapshotBuilder<Store: LogTable> {
  let store: Store
  private var logs: LogRules<Store> { LogRules(store: store) }
  private var texts: TextRules<Store> { TextRules(store: store) }
  private var times: LogTimes<Store> { LogTimes(store: store) }
  private var comments: CommentRules<Store> { CommentRules(store: store) }
  private var compaction: CompactionRules<Store> { CompactionRules(store: store) }

  package init(store: Store) { self.store = store }

  /// Takes the documents that are due to be folded. A document that is still due is added again by
  /// its next change, or by ``MaintenanceSchedule/retry()`` if it was postponed.
  package func takeFoldOrders() -> [FoldOrder] {
    guard store.context.foldsOnSecondConnection,
      !store.context.upkeep.unsnapped.isEmpty || !store.context.upkeep.overlong.isEmpty
    else { return [] }
    var orders = store.context.upkeep.unsnapped.map { FoldOrder.snapshot($0) }
    if let retention = store.context.retention {
      orders += store.context.upkeep.overlong.map { .retention($0, retention) }
    }
    store.context.upkeep.unsnapped = []
    store.context.upkeep.overlong = []
    return orders
  }

  /// Folds the log of an order; `nil` if nothing is due.
  ///
  /// A fold ends at the revision where the next snapshot is due. So an imported log gets as many
  /// snapshots as a log of edits, and no reader waits for the whole log. ``keep(_:)`` makes the
  /// remaining entries due again.
  ///
  /// - Throws: The error of reading the log.
  /// - Complexity: O(*n*) in the text and its authors' runs, since a snapshot is due when the log
  ///   has grown by as much; for `retention` also in the log up to the new base.
  package func fold(_ order: FoldOrder) throws(StoreError) -> FoldedSnapshots? {
    try store.reading { () throws(StoreError) -> FoldedSnapshots? in
      guard let row = try store.row(order.id) else { return nil }
      var folded = FoldedSnapshots(of: row)
      switch order {
      case .snapshot:
        guard row.needsSnapshot else { return nil }
        let (fold, unsnapped) = try foldToNextSnapshot(row)
        add(fold.snapshot, of: row, to: &folded)
        folded.counted = (unsnapped, fold.content.text.scalarCount)
        folded.comments = try comments.rows(of: row).moved(through: fold.revision)
      case .retention(_, let retention):
        guard let base = try times.base(of: row, keeping: retention, now: row.updatedAt) else {
          return nil
        }
        let kept = Set(try compaction.snapshotRevisions(of: row))
        for revision in try compaction.revisionsToKeep(of: row, compactedTo: base)
        where !kept.contains(revision) {
          add(try texts.fold(of: row, at: revision).snapshot, of: row, to: &folded)
        }
        folded.base = base
        folded.comments = try comments.rows(of: row).moved(through: base)
      }
      return folded
    }
  }

  /// Folds a log from its newest snapshot to its head, or until the next snapshot is due.
  ///
  /// - Returns: The fold, and the bytes that the log has grown by up to its revision.
  private func foldToNextSnapshot(
    _ row: DocumentRow
  ) throws(StoreError) -> (fold: Fold, unsnapped: Int) {
    let snapshot = try texts.snapshot(of: row, through: row.revision)
    var fold = try Fold(snapshot)
    // As when a snapshot is stored: its size beyond the text's length delays the next snapshot.
    var unsnapped = min(
      0, fold.content.text.scalarCount - snapshot.byteCount)
    while fold.revision < row.revision,
      !DocumentRow.needsSnapshot(unsnapped: unsnapped, length: fold.content.text.scalarCount)
    {
      try logs.walk(
        row, after: fold.revision, through: min(fold.revision + stride, row.revision),
        chain: fold.chain
      ) { entry throws(StoreError) in
        try entry.apply(to: &fold)
        unsnapped += entry.byteCount + 64
      }
    }
    return (fold, fold.revision < row.revision ? unsnapped : row.unsnapped)
  }

  private func add(_ snapshot: Snapshot, of row: DocumentRow, to folded: inout FoldedSnapshots) {
    folded.snapshots.append(
      (snapshot, store.context.hasher.checksum(of: snapshot, document: row.id)))
  }

  /// Stores folded snapshots, then compacts the log if they were folded for a retention rule. Skips
  /// a snapshot that no longer matches the document's log.
  ///
  /// - Throws: The disk's error. No data is lost: the log contains all entries.
  package func keep(_ folded: FoldedSnapshots) throws(StoreError) {
    for (snapshot, checksum) in folded.snapshots {
      try store.transaction { () throws(StoreError) in
        guard var row = try store.row(folded.id), row.number == folded.number,
          (row.base...row.revision).contains(snapshot.revision),
          try logs.chain(at: snapshot.revision, of: row) == snapshot.chain
        else { return }
        try texts.keep(snapshot, checksum: checksum, of: row)
        try comments.rows(of: row).storeAnchors(of: folded.comments)
        if let counted = folded.counted {
          // Entries that were logged during the fold count towards the next snapshot.
          row.unsnapped -= counted.unsnapped
          row.unsnapped += min(0, counted.length - snapshot.byteCount)
          try store.write(row)
          if row.needsSnapshot {
            store.context.upkeep.unsnapped.insert(row.id)
          } else {
            // A concurrent change may have ordered the snapshot again.
            store.context.upkeep.unsnapped.remove(row.id)
          }
        }
      }
    }
    guard let base = folded.base else { return }
    try store.transaction { () throws(StoreError) in
      guard let row = try store.row(folded.id), row.number == folded.number else { return }
      try compaction.compact(row.id, through: base)
    }
  }
}
