package import ParleyGatewayPorts
import OTCore

/// The maximum entries that one query reads.
private let stride = 256

/// Reading of logs, which verifies the checksum chain of their entries.
package struct LogRules<Store: SQLConnection> {
  let store: Store

  package init(store: Store) { self.store = store }

  package func entries(
    of row: DocumentRow, after: Int, through: Int, bytesMax: Int
  ) throws(StoreError) -> [LogEntry] {
    let after = max(after, 0)
    var through = min(through, row.revision)
    guard after < through else { return [] }
    guard after >= row.base else { throw .compacted(oldestRevision: row.base + 1) }
    if bytesMax < .max {
      through = try end(of: row, after: after, through: through, bytesMax: bytesMax)
    }
    var entries: [LogEntry] = []
    entries.reserveCapacity(through - after)
    try walk(
      row, after: after, through: through, chain: try chain(at: after, of: row)
    ) { entry throws(StoreError) in
      entries.append(entry.logEntry())
    }
    return entries
  }

  /// Returns the last revision of about `bytesMax` bytes of operations. Reads only their lengths.
  private func end(
    of row: DocumentRow, after: Int, through: Int, bytesMax: Int
  ) throws(StoreError) -> Int {
    var bytes = 0
    // The first entry is returned regardless of its size, which is not counted.
    var revision = after + 1
    while revision < through {
      let sizes = try store.rows(
        """
        SELECT CAST(length(operation) AS bigint) FROM log
        WHERE document = $1 AND revision > $2 AND revision <= $3 ORDER BY revision LIMIT 1000
        """, row.number, revision, through
      ) { $0.integer(0) }
      guard !sizes.isEmpty else { return through }
      for size in sizes {
        revision += 1
        bytes += size
        if bytes > bytesMax { return revision }
      }
    }
    return through
  }

  /// Returns the time of a stored revision.
  package func time(at revision: Int, of row: DocumentRow) throws(StoreError) -> Timestamp {
    var time: Timestamp = 0
    try walk(
      row, after: revision - 1, through: revision, chain: try chain(at: revision - 1, of: row)
    ) { entry throws(StoreError) in
      time = entry.time
    }
    return time
  }

  /// Returns the stored checksum of an entry, which the next entry's checksum verifies.
  package func chain(at revision: Int, of row: DocumentRow) throws(StoreError) -> RecordChecksum {
    if revision == row.base { return row.baseChain }
    if revision == row.revision { return row.chain }
    let found = try store.first(
      "SELECT checksum FROM log WHERE document = $1 AND revision = $2", row.number, revision
    ) {
      $0.withBytes(0) { RecordChecksum($0) }
    }
    guard let checksum = found ?? nil else { throw damaged(revision, "is missing") }
    return checksum
  }

  /// Reads entries in order, and verifies each before passing it to `body`.
  ///
  /// - Parameters:
  ///   - after: The revision before the first entry; at least the document's base.
  ///   - through: The last revision; at most the head, whose entry is compared with the document's
  ///     row.
  ///   - chain: The checksum of the entry at `after`.
  /// - Returns: The checksum of the last entry.
  @discardableResult
  func walk(
    _ row: DocumentRow, after: Int, through: Int, chain: RecordChecksum,
    _ body: (borrowing StoredEntry<Store.Row>) throws(StoreError) -> Void
  ) throws(StoreError) -> RecordChecksum {
    guard after < through else {
      guard through < row.revision || chain == row.chain else {
        throw damaged(through, "is not the one that the note ends with")
      }
      return chain
    }
    var place = LogPlace(revision: after, chain: chain, epochs: try epochs(of: row))
    while place.revision < through {
      let start = place.revision
      _ = try store.rows(
        """
        SELECT revision, client, sequence, digest, operation, author, time, checksum FROM log
        WHERE document = $1 AND revision > $2 AND revision <= $3 ORDER BY revision LIMIT $4
        """, row.number, start, through, stride
      ) { found throws(StoreError) in try pass(found, of: row, from: &place, body) }
      guard place.revision > start else { throw damaged(start + 1, "is missing") }
    }
    return place.chain
  }

  /// Verifies the log row that follows a position, and advances the position.
  package func pass(
    _ found: Store.Row, of row: DocumentRow, from place: inout LogPlace,
    _ body: (borrowing StoredEntry<Store.Row>) throws(StoreError) -> Void
  ) throws(StoreError) {
    place.revision += 1
    guard found.integer(0) == place.revision else { throw damaged(place.revision, "is missing") }
    place.chain = store.context.hasher.checksum(
      ofEntry: found, after: place.chain, row.id, epoch: place.epoch)
    guard found.withBytes(7, { RecordChecksum($0) }) == place.chain else {
      throw damaged(place.revision, "differs from its checksum")
    }
    guard place.revision != row.revision || place.chain == row.chain else {
      throw damaged(place.revision, "is not the one that the note ends with")
    }
    let operation: TextOperation
    let format: ChangeFormat?
    do throws(OperationError) {
      (operation, format) = try found.withBytes(4) { bytes throws(OperationError) in
        try OperationColumn.read(bytes.bindMemory(to: UInt8.self))
      }
    } catch {
      throw damaged(place.revision, "is not an operation")
    }
    try body(
      StoredEntry(
        found, revision: place.revision, operation: operation, format: format,
        checksum: place.chain))
  }

  /// Returns the epochs of a log, each with the revision after which it began; never empty.
  func epochs(of row: DocumentRow) throws(StoreError) -> [(after: Int, epoch: Epoch)] {
    let epochs = try store.rows(
      "SELECT after, epoch FROM epochs WHERE document = $1 ORDER BY after", row.number
    ) { (after: $0.integer(0), epoch: $0.name(1) as Epoch) }
    return try verified(epochs, of: row)
  }

  /// Returns a document's epochs if the last one is the document's current epoch; otherwise throws.
  package func verified(
    _ epochs: [(after: Int, epoch: Epoch)], of row: DocumentRow
  ) throws(StoreError) -> [(after: Int, epoch: Epoch)] {
    guard let last = epochs.last, last.epoch == row.epoch else {
      throw .damaged("the note's epochs do not end in its newest; \(damageAdvice)")
    }
    return epochs
  }

  package func beginEpoch(
    _ epoch: Epoch, after revision: Int, document: Int
  ) throws(StoreError) {
    try store.change(
      """
      INSERT INTO epochs (document, after, epoch) VALUES ($1, $2, $3)
      ON CONFLICT (document, after) DO UPDATE SET epoch = excluded.epoch
      """, document, revision, epoch)
  }

  package func damaged(_ revision: Int, _ what: String) -> StoreError {
    .damaged("the entry of revision \(revision) \(what); \(damageAdvice)")
  }
}

/// A position in a log that is being read: the last verified entry.
package struct LogPlace {
  package var revision: Int
  /// The checksum of the entry at `revision`.
  package var chain: RecordChecksum
  /// The log's epochs, each with the revision after which it began.
  fileprivate let epochs: [(after: Int, epoch: Epoch)]
  private var epochIndex = 0

  package init(revision: Int, chain: RecordChecksum, epochs: [(after: Int, epoch: Epoch)]) {
    self.revision = revision
    self.chain = chain
    self.epochs = epochs
  }

  /// The epoch of the entry at `revision`.
  fileprivate var epoch: Epoch {
    mutating get {
      while epochIndex + 1 < epochs.count, epochs[epochIndex + 1].after < revision {
        epochIndex += 1
      }
      return epochs[epochIndex].epoch
    }
  }
}

extension RecordHasher {
  fileprivate mutating func checksum(
    ofEntry found: some StoredRow, after chain: RecordChecksum, _ document: DocumentID,
    epoch: Epoch
  ) -> RecordChecksum {
    beginEntry(chain, document: document, epoch: epoch, revision: found.integer(0))
    found.withBytes(1) { add($0) }
    add(found.integer(2))
    add(bits: found.bits(3))
    found.withBytes(4) { add($0) }
    found.withBytes(5) { add($0) }
    add(found.integer(6))
    return checksum()
  }
}
