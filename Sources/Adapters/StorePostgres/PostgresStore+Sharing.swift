import GatewayPorts
import StoreRecords

/// Requests about logs that nodes share.
extension PostgresStore {
  /// Finds the entries of a log after a revision, if it is the log that has this chain there.
  func news(
    _ id: DocumentID, epoch: String, after: Int, chain: RecordChecksum, _ clients: [String]
  ) throws(StoreError) -> LogNews {
    let row = try existingRow(id)
    guard epoch.utf8.elementsEqual(row.epoch.utf8), (0...row.revision).contains(after) else {
      return .otherHistory
    }
    guard after >= row.base else { throw .compacted(oldestRevision: row.base + 1) }
    guard try self.chain(at: after, of: row) == chain else { return .otherHistory }
    let entries = try entries(
      of: row, after: after, through: row.revision, bytesMax: StoreReply.lostRaceBytesMax)
    let end = try entries.last.map { last throws(StoreError) in
      try self.chain(at: last.revision, of: row)
    }
    let newest = clients.isEmpty ? [:] : try sessions(of: row, clients)
    return .entries(
      LogStretch(
        title: row.title, entries: entries, chain: LogChain(end ?? chain),
        headRevision: row.revision,
        sessions: Dictionary(clients.map { ($0, newest[$0] ?? 0) }) { $1 }))
  }

  /// The heads of many logs, in one statement.
  func logHeads(_ ids: [DocumentID]) throws(StoreError) -> [LogHead?] {
    let found = try query(
      "SELECT id, title, epoch, revision, chain FROM parley.documents WHERE id = ANY ($1)", ids
    ).rows { row throws(StoreError) in
      guard let chain = row.withBytes(4, { RecordChecksum($0) }) else {
        throw .damaged("a note's own record has no checksum; \(damageAdvice)")
      }
      return (
        Array(row.text(0).utf8),
        LogHead(
          title: row.text(1), epoch: row.text(2), revision: row.integer(3), chain: LogChain(chain))
      )
    }
    let heads = Dictionary(found) { $1 }
    return ids.map { heads[Array($0.utf8)] }
  }

  /// Begins a new session of clients, whose row this transaction has locked: an append that is under
  /// way is over by now, and one that comes later sees it.
  func fence(_ id: DocumentID, _ clients: [String]) throws(StoreError) -> [String: Int] {
    let row = try existingRow(id)
    let begun = try query(
      """
      INSERT INTO parley.marks AS m (document, client, sequence, revision, digest, session)
      SELECT DISTINCT $1::bigint, c.client, 0::bigint, 0::bigint, 0::bigint, 1::bigint
      FROM unnest($2) AS c(client) ORDER BY 2
      ON CONFLICT (document, client) DO UPDATE SET session = m.session + 1
      RETURNING client, session
      """, row.number, clients
    ).rows { ($0.text(0), $0.integer(1)) }
    return Dictionary(begun) { $1 }
  }

  /// The newest sessions of clients; those that are missing have none.
  func sessions(of row: DocumentRow, _ clients: [String]) throws(StoreError) -> [String: Int] {
    let found = try query(
      """
      SELECT client, session FROM parley.marks WHERE document = $1 AND client = ANY ($2)
        AND session > 0
      """, row.number, clients
    ).rows { ($0.text(0), $0.integer(1)) }
    return Dictionary(found) { $1 }
  }
}
