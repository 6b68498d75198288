package import GatewayPorts

/// Texts to be folded from their logs, by the connection that reads, while the other one commits.
package enum FoldOrder: Sendable {
  /// A document whose newest snapshot lies far behind its head.
  case snapshot(DocumentID)
  /// A document whose log has grown beyond what a rule keeps.
  case retention(DocumentID, Retention)

  /// The document.
  package var id: DocumentID {
    switch self {
    case .snapshot(let id), .retention(let id, _): id
    }
  }
}

/// Snapshots of one document that were folded beside the commits, to be kept.
package struct FoldedSnapshots: Sendable {
  /// The document.
  package let id: DocumentID
  /// The document's number, which no other document ever has.
  fileprivate let number: Int
  fileprivate var snapshots: [(snapshot: Snapshot, checksum: RecordChecksum)] = []
  /// Comments with their ranges at the newest of the snapshots.
  fileprivate var comments: [Comment] = []
  /// The count of the log, and the text's length, when it was folded; `nil` unless the count is to
  /// start again.
  fileprivate var counted: (unsnapped: Int, length: Int)?
  /// The revision to compact the log to.
  fileprivate var base: Int?

  fileprivate init(of row: DocumentRow) {
    id = row.id
    number = row.number
  }
}

/// Folding beside the commits.
///
///     committing   batch … takeFoldOrders        batch … keep: one row, checked against its log
///     reading                      └▶ fold ──────────────┘
extension SQLStore {
  /// The texts that are due to be folded. A document that is still due is named again by its next
  /// change, or after ``Upkeep/retry()`` if it was postponed.
  package func takeFoldOrders() -> [FoldOrder] {
    guard foldsBeside, !upkeep.unsnapped.isEmpty || !upkeep.overlong.isEmpty else { return [] }
    var orders = upkeep.unsnapped.map { FoldOrder.snapshot($0.text) }
    if let retention { orders += upkeep.overlong.map { .retention($0.text, retention) } }
    upkeep.unsnapped = []
    upkeep.overlong = []
    return orders
  }

  /// Folds what was ordered; `nil` if there is nothing left to fold.
  ///
  /// - Throws: Why the log cannot be read.
  /// - Complexity: O(*n*) of the text, of its authors' runs, and of the log since its newest snapshot.
  package func fold(_ order: FoldOrder) throws(StoreError) -> FoldedSnapshots? {
    try reading { () throws(StoreError) -> FoldedSnapshots? in
      guard let row = try row(order.id) else { return nil }
      var folded = FoldedSnapshots(of: row)
      switch order {
      case .snapshot:
        guard row.needsSnapshot else { return nil }
        try add(row.revision, of: row, to: &folded)
        folded.counted = (row.unsnapped, row.length)
        folded.comments = try comments(of: row).moved(through: row.revision)
      case .retention(_, let retention):
        guard let base = try base(of: row, keeping: retention, now: row.updatedAt) else {
          return nil
        }
        let kept = Set(try snapshotRevisions(of: row))
        for revision in try revisionsToKeep(of: row, compactedTo: base)
        where !kept.contains(revision) {
          try add(revision, of: row, to: &folded)
        }
        folded.base = base
        folded.comments = try comments(of: row).moved(through: base)
      }
      return folded
    }
  }

  private func add(
    _ revision: Int, of row: DocumentRow, to folded: inout FoldedSnapshots
  ) throws(StoreError) {
    let snapshot = try fold(of: row, at: revision).snapshot
    folded.snapshots.append((snapshot, hasher.checksum(of: snapshot, document: row.id)))
  }

  /// Keeps what was folded, unless the document is another by now.
  ///
  /// - Throws: The disk's error. Nothing is lost: the log contains all of it.
  package func keep(_ folded: FoldedSnapshots) throws(StoreError) {
    for (snapshot, checksum) in folded.snapshots {
      try transaction { () throws(StoreError) in
        guard var row = try row(folded.id), row.number == folded.number,
          (row.base...row.revision).contains(snapshot.revision),
          try chain(at: snapshot.revision, of: row) == snapshot.chain
        else { return }
        try keep(snapshot, checksum: checksum, of: row)
        try comments(of: row).keepAnchors(of: folded.comments)
        if let counted = folded.counted {
          // Entries logged while it was folded count towards the next one.
          row.unsnapped -= counted.unsnapped
          row.unsnapped += min(0, counted.length - snapshot.text.count - snapshot.authors.count)
          try write(row)
          // A change that came meanwhile may have asked for it once more.
          if !row.needsSnapshot { upkeep.unsnapped.remove(ExactName(row.id)) }
        }
      }
    }
    guard let base = folded.base else { return }
    try transaction { () throws(StoreError) in
      guard let row = try row(folded.id), row.number == folded.number else { return }
      try compact(row.id, through: base)
    }
  }
}
