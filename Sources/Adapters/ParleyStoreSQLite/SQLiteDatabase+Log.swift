package import ParleyGatewayPorts
import OTCore
package import ParleyStoreRecords

/// Logs of documents: appending entries, and deleting compacted ones.
extension SQLiteDatabase: LogTable {
  /// Appends entries, or returns `lostRace` with the entries that the log has at their revisions.
  func append(
    _ id: DocumentID, epoch: Epoch, entries: [LogEntry]
  ) throws(StoreError) -> StoreReply {
    var row = try existingRow(id)
    guard epoch == row.epoch else {
      throw .notNext(headRevision: row.revision)
    }
    if let first = entries.first, 0 < first.revision, first.revision <= row.revision {
      return .lostRace(
        try LogRules(store: self).entries(
          of: row, after: first.revision - 1, through: row.revision,
          bytesMax: StoreReply.lostRaceBytesMax))
    }
    let headRevision = row.revision
    for entry in entries {
      // A stored entry must apply to the preceding revision; otherwise no later load would succeed.
      guard entry.revision == row.revision + 1, entry.operation.baseLength == row.length else {
        throw .notNext(headRevision: headRevision)
      }
      let operation = entry.operationColumn
      row.chain = operation.withUnsafeBytes { operation in
        context.hasher.beginEntry(
          row.chain, document: row.id, epoch: row.epoch, revision: entry.revision)
        context.hasher.add(entry.client)
        context.hasher.add(entry.sequence)
        context.hasher.add(bits: entry.digest)
        context.hasher.add(operation)
        context.hasher.add(entry.author)
        context.hasher.add(Int(entry.time))
        return context.hasher.checksum()
      }
      try sql(
        """
        INSERT INTO log (document, revision, client, sequence, digest, operation, author, time,
          checksum)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
      ).run(
        row.number, entry.revision, entry.client, entry.sequence, entry.digest, Blob(operation),
        entry.author, entry.time, row.chain)

      if entry.sequence > 0 { row.marks &+= try mark(entry, document: row) }
      row.revision = entry.revision
      row.length = entry.operation.targetLength
      row.note(entry.format)
      try note(entry.time, before: entry.revision, in: &row)
      row.unsnapped += operation.count + 64
    }
    if !entries.isEmpty { try write(row) }
    return .done
  }

  /// Stores a client's newest entry, and returns the difference that it makes to the sum of marks.
  private func mark(_ entry: LogEntry, document row: DocumentRow) throws(StoreError) -> UInt64 {
    let new = ClientMark(sequence: entry.sequence, revision: entry.revision, digest: entry.digest)
    var change = context.hasher.hash(of: new, client: entry.client, document: row.id)
    let old = try sql(
      "SELECT sequence, revision, digest FROM marks WHERE document = ? AND client = ?")
    defer { old.reset() }
    old.bind(row.number, entry.client)
    if try old.step() {
      change &-= context.hasher.hash(of: readMark(old), client: entry.client, document: row.id)
    }
    try sql(
      """
      INSERT OR REPLACE INTO marks (document, client, sequence, revision, digest)
      VALUES (?, ?, ?, ?, ?)
      """
    ).run(row.number, entry.client, new.sequence, new.revision, new.digest)
    return change
  }

  private func readMark(_ statement: SQLiteStatement) -> ClientMark {
    ClientMark(
      sequence: statement.integer(0), revision: statement.integer(1), digest: statement.bits(2))
  }

  /// Returns all marks of a document, verified against their sum.
  package func marks(of row: DocumentRow) throws(StoreError) -> [String: ClientMark] {
    let rows = try sql("SELECT sequence, revision, digest, client FROM marks WHERE document = ?")
    defer { rows.reset() }
    rows.bind(row.number)
    var marks: [String: ClientMark] = [:]
    var sum: UInt64 = 0
    while try rows.step() {
      let mark = readMark(rows)
      let client = rows.text(3)
      sum &+= context.hasher.hash(of: mark, client: client, document: row.id)
      marks[client] = mark
    }
    guard sum == row.marks else {
      throw .damaged("the clients' last sequences differ from their sum; \(damageAdvice)")
    }
    return marks
  }

  /// Returns `nil`: no other node uses the database.
  package func shared(_ chain: RecordChecksum) -> LogChain? { nil }

  // MARK: Compacted entries

  /// Returns the numbers of documents whose logs have been compacted.
  func numbersOfCompacted() throws(StoreError) -> Set<Int> {
    Set(try rows("SELECT number FROM documents WHERE base > 0") { $0.integer(0) })
  }

  package var hasCompacted: Bool { !compacted.isEmpty }

  package func removeSomeCompacted() throws(StoreError) {
    guard let document = compacted.first else { return }
    let removed = try transaction { () throws(StoreError) in
      try changedRows(
        """
        DELETE FROM log WHERE document = $1
          AND revision <= (SELECT base FROM documents WHERE number = $1)
          AND revision < (SELECT min(revision) FROM log WHERE document = $1) + 1000
        """, document)
    }
    if removed == 0 { compacted.remove(document) }
  }

  package func noteCompacted(_ row: DocumentRow) { compacted.insert(row.number) }
}
