package import GatewayPorts

/// Reading of logs.
extension SQLStore {
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

  /// The last revision of entries whose operations have about so many bytes, without reading them.
  private func end(
    of row: DocumentRow, after: Int, through: Int, bytesMax: Int
  ) throws(StoreError) -> Int {
    var bytes = 0
    // The first does not count.
    var revision = after + 1
    while revision < through {
      let sizes = try rows(
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

  /// The time of a revision that the log still has.
  package func time(at revision: Int, of row: DocumentRow) throws(StoreError) -> Timestamp {
    var time: Timestamp = 0
    try walk(
      row, after: revision - 1, through: revision, chain: try chain(at: revision - 1, of: row)
    ) { entry throws(StoreError) in
      time = entry.time
    }
    return time
  }

  /// The checksum of the entry at a revision, which its successor is to prove.
  package func chain(at revision: Int, of row: DocumentRow) throws(StoreError) -> RecordChecksum {
    if revision == row.base { return row.baseChain }
    if revision == row.revision { return row.chain }
    let found = try first(
      "SELECT checksum FROM log WHERE document = $1 AND revision = $2", row.number, revision
    ) {
      $0.withBytes(0) { RecordChecksum($0) }
    }
    guard let checksum = found ?? nil else { throw damaged(revision, "is missing") }
    return checksum
  }

  /// The epochs of a document's log, each with the revision after which it began; never empty.
  package func epochs(of row: DocumentRow) throws(StoreError) -> [(after: Int, epoch: String)] {
    let epochs = try rows(
      "SELECT after, epoch FROM epochs WHERE document = $1 ORDER BY after", row.number
    ) { (after: $0.integer(0), epoch: $0.text(1)) }
    return try verified(epochs, of: row)
  }

  /// A document's epochs, which have to end in its newest.
  package func verified(
    _ epochs: [(after: Int, epoch: String)], of row: DocumentRow
  ) throws(StoreError) -> [(after: Int, epoch: String)] {
    guard let last = epochs.last, last.epoch.utf8.elementsEqual(row.epoch.utf8) else {
      throw .damaged("the note's epochs do not end in its newest; \(damageAdvice)")
    }
    return epochs
  }

  package func beginEpoch(
    _ epoch: String, after revision: Int, document: Int
  ) throws(StoreError) {
    try change(
      """
      INSERT INTO epochs (document, after, epoch) VALUES ($1, $2, $3)
      ON CONFLICT (document, after) DO UPDATE SET epoch = excluded.epoch
      """, document, revision, epoch)
  }

  package func damaged(_ revision: Int, _ what: String) -> StoreError {
    .damaged("the entry of revision \(revision) \(what); \(damageAdvice)")
  }
}
