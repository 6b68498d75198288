import GatewayPorts
import OTCore
import StoreRecords

/// Documents' logs: reading back with every link verified.
extension PostgresStore {
  /// All marks of a document.
  func marks(of row: DocumentRow) throws(StoreError) -> [String: ClientMark] {
    let marks = try query(
      """
      SELECT client, sequence, revision, digest FROM parley.marks WHERE document = $1 AND sequence > 0
      """, row.number
    ).rows { found in
      (
        found.text(0),
        ClientMark(
          sequence: found.integer(1), revision: found.integer(2), digest: found.bits(3))
      )
    }
    return Dictionary(marks) { $1 }
  }

  // MARK: Reading

  func entries(
    _ id: DocumentID, after: Int, through: Int, bytesMax: Int
  ) throws(StoreError) -> [LogEntry] {
    try entries(of: existingRow(id), after: after, through: through, bytesMax: bytesMax)
  }

  func entries(
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
    ) { entry, _ throws(StoreError) in
      entries.append(entry)
    }
    return entries
  }

  /// The last revision of entries whose operations have about so many bytes, without reading them.
  private func end(
    of row: DocumentRow, after: Int, through: Int, bytesMax: Int
  ) throws(StoreError) -> Int {
    var bytes = 0
    // The first does not count.
    var revision = after + 1
    while revision < through {
      let sizes = try query(
        """
        SELECT octet_length(operation)::bigint FROM parley.log
        WHERE document = $1 AND revision > $2 AND revision <= $3 ORDER BY revision LIMIT 1000
        """, row.number, revision, through
      ).rows { $0.integer(0) }
      guard !sizes.isEmpty else { return through }
      for size in sizes {
        revision += 1
        bytes += size
        if bytes > bytesMax { return revision }
      }
    }
    return through
  }

  /// The checksum of the entry at a revision, which its successor is to prove.
  func chain(at revision: Int, of row: DocumentRow) throws(StoreError) -> RecordChecksum {
    if revision == row.base { return row.baseChain }
    if revision == row.revision { return row.chain }
    let found = try query(
      "SELECT checksum FROM parley.log WHERE document = $1 AND revision = $2", row.number, revision)
    guard let checksum = found.first?.withBytes(0, { RecordChecksum($0) }) else {
      throw damaged(revision, "is missing")
    }
    return checksum
  }

  /// Entries that are read at once.
  private static let stride = 256

  /// Reads entries in order, each verified before `body` sees it.
  ///
  /// - Parameters:
  ///   - after: At least the document's base.
  ///   - through: At most its head; the head's entry is compared with the document's row.
  ///   - chain: The checksum of the entry at `after`.
  /// - Returns: The checksum of the last entry.
  @discardableResult
  func walk(
    _ row: DocumentRow, after: Int, through: Int, chain: RecordChecksum,
    _ body: (LogEntry, RecordChecksum) throws(StoreError) -> Void
  ) throws(StoreError) -> RecordChecksum {
    guard after < through else { return chain }
    var place = LogPlace(revision: after, chain: chain, epochs: try epochs(of: row))
    while place.revision < through {
      let rows = try query(
        """
        SELECT revision, client, sequence, digest, operation, author, time, checksum FROM parley.log
        WHERE document = $1 AND revision > $2 AND revision <= $3 ORDER BY revision LIMIT $4
        """, row.number, place.revision, through, Self.stride
      ).rows { $0 }
      guard !rows.isEmpty else { throw damaged(place.revision + 1, "is missing") }
      try pass(rows, of: row, from: &place, body)
    }
    return place.chain
  }

  /// Verifies rows of the log that follow a place, and moves the place behind them.
  func pass(
    _ rows: [PostgresRow], of row: DocumentRow, from place: inout LogPlace,
    _ body: (LogEntry, RecordChecksum) throws(StoreError) -> Void
  ) throws(StoreError) {
    for found in rows {
      place.revision += 1
      guard found.integer(0) == place.revision else { throw damaged(place.revision, "is missing") }
      place.chain = checksum(
        of: found, after: place.chain, document: row.id, epoch: place.epoch)
      guard found.withBytes(7, { RecordChecksum($0) }) == place.chain else {
        throw damaged(place.revision, "differs from its checksum")
      }
      try body(try entry(found), place.chain)
    }
    guard place.revision != row.revision || place.chain == row.chain else {
      throw damaged(place.revision, "is not the one that the note ends with")
    }
  }

  private func checksum(
    of found: PostgresRow, after chain: RecordChecksum, document: DocumentID, epoch: String
  ) -> RecordChecksum {
    hasher.beginEntry(chain, document: document, epoch: epoch, revision: found.integer(0))
    found.withBytes(1) { hasher.add($0) }
    hasher.add(found.integer(2))
    hasher.add(bits: found.bits(3))
    found.withBytes(4) { hasher.add($0) }
    found.withBytes(5) { hasher.add($0) }
    hasher.add(found.integer(6))
    return hasher.checksum()
  }

  private func entry(_ found: PostgresRow) throws(StoreError) -> LogEntry {
    let operation: TextOperation
    do throws(OperationError) {
      operation = try found.withBytes(4) { bytes throws(OperationError) in
        try TextOperation(json: bytes.bindMemory(to: UInt8.self))
      }
    } catch {
      throw damaged(found.integer(0), "is not an operation")
    }
    return LogEntry(
      revision: found.integer(0), client: found.text(1), sequence: found.integer(2),
      digest: found.bits(3), operation: operation, author: found.text(5),
      time: Timestamp(found.integer(6)))
  }

  func damaged(_ revision: Int, _ what: String) -> StoreError {
    .damaged("the entry of revision \(revision) \(what); \(damageAdvice)")
  }
}

/// A place in a log that is read: the entry there, which its successor has to follow.
struct LogPlace {
  var revision: Int
  /// The checksum of the entry there.
  var chain: RecordChecksum
  /// The log's epochs, each with the revision after which it began.
  let epochs: [(after: Int, epoch: String)]
  private var epochIndex = 0

  init(revision: Int, chain: RecordChecksum, epochs: [(after: Int, epoch: String)]) {
    self.revision = revision
    self.chain = chain
    self.epochs = epochs
  }

  /// The epoch of the entry there.
  var epoch: String {
    mutating get {
      while epochIndex + 1 < epochs.count, epochs[epochIndex + 1].after < revision {
        epochIndex += 1
      }
      return epochs[epochIndex].epoch
    }
  }
}
