import ParleyGatewayPorts
import ParleyStoreRecords

/// Requests about logs that nodes share.
struct SharedLogs {
  let database: PostgresDatabase
  private var logs: LogRules<PostgresDatabase> { LogRules(store: database) }

  /// The maximum entries in one reply. A caller that has missed more sends another request.
  static let newsMax = 1_000

  /// Returns the entries of a log after a revision, if the log has this chain at that revision.
  /// Everything is read in one round trip, since acknowledgements wait for it.
  func news(
    _ id: DocumentID, epoch: Epoch, after: Int, chain: LogChain, _ clients: [String]
  ) throws(StoreError) -> LogChanges {
    let found = try database.queries(Self.newsCommands(id, after: after, clients))
    guard let row = try found[0].first.map(database.readRow) else { throw .unknownDocument }
    guard chain.life == database.link.life, epoch == row.epoch,
      (0...row.revision).contains(after)
    else { return .otherHistory }
    guard after >= row.base else { throw .compacted(oldestRevision: row.base + 1) }
    var place = LogPlace(
      revision: after, chain: RecordChecksum(chain),
      epochs: try logs.verified(
        found[2].rows { (after: $0.integer(0), epoch: $0.name(1) as Epoch) }, of: row))
    let known =
      after == row.base ? row.baseChain : found[1].first?.withBytes(0) { RecordChecksum($0) }
    guard let known else { throw logs.damaged(after, "is missing") }
    guard known == place.chain else { return .otherHistory }
    var entries: [LogEntry] = []
    for next in found[3].rows({ $0 }) {
      try logs.pass(next, of: row, from: &place) { entry throws(StoreError) in
        entries.append(entry.logEntry())
      }
    }
    guard after == row.revision || !entries.isEmpty else {
      throw logs.damaged(after + 1, "is missing")
    }
    guard place.revision < row.revision || place.chain == row.chain else {
      throw logs.damaged(place.revision, "is not the one that the note ends with")
    }
    let newest = Dictionary(found[4].rows { ($0.text(0), $0.integer(1)) }) { $1 }
    return .entries(
      LogRange(
        title: row.title, entries: entries, chain: LogChain(place.chain, life: database.link.life),
        headRevision: row.revision,
        sessions: Dictionary(clients.map { ($0, newest[$0] ?? row.sessionFloor) }) { $1 },
        sessionFloor: row.sessionFloor, folder: row.folder))
  }

  /// Returns the queries for a note's row, the checksum, epochs, later entries and sessions.
  private static func newsCommands(
    _ id: DocumentID, after: Int, _ clients: [String]
  ) -> [PostgresCommand] {
    [
      PostgresCommand(PostgresDatabase.selectDocuments + " WHERE id = $1", [id]),
      PostgresCommand(
        """
        SELECT l.checksum FROM parley.documents d
        JOIN parley.log l ON l.document = d.number AND l.revision = $2 WHERE d.id = $1
        """, [id, after]),
      PostgresCommand(
        """
        SELECT e.after, e.epoch FROM parley.documents d
        JOIN parley.epochs e ON e.document = d.number WHERE d.id = $1 ORDER BY e.after
        """, [id]),
      PostgresCommand(
        """
        SELECT revision, client, sequence, digest, operation, author, time, checksum FROM
          (SELECT *, sum(octet_length(operation)) OVER (ORDER BY revision
              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
            FROM (SELECT l.* FROM parley.documents d
              JOIN parley.log l ON l.document = d.number AND l.revision > $2 WHERE d.id = $1
              ORDER BY l.revision LIMIT $3) AS next)
          AS summed
        WHERE before IS NULL OR before <= $4 ORDER BY revision
        """, [id, after, Self.newsMax, StoreReply.lostRaceBytesMax]),
      PostgresCommand(
        """
        SELECT m.client, m.session FROM parley.documents d
        JOIN parley.marks m ON m.document = d.number AND m.client = ANY ($2) WHERE d.id = $1
        """, [id, clients]),
    ]
  }

  /// Returns the heads of many logs, in one statement.
  func heads(of ids: [DocumentID]) throws(StoreError) -> [LogHead?] {
    let found = try database.rows(
      """
      SELECT id, title, epoch, revision, chain, folder FROM parley.documents WHERE id = ANY ($1)
      """, ids
    ) { row throws(StoreError) in
      guard let chain = row.withBytes(4, { RecordChecksum($0) }) else {
        throw .damaged("a note's own record has no checksum; \(damageAdvice)")
      }
      return (
        DocumentID(row.text(0)),
        LogHead(
          title: row.text(1), epoch: row.name(2), revision: row.integer(3),
          chain: LogChain(chain, life: database.link.life), folder: FolderPath(stored: row.text(5)))
      )
    }
    let heads = Dictionary(found) { $1 }
    return ids.map { heads[$0] }
  }

  /// Returns the newest sessions of the clients of which the note has a mark.
  func sessions(of row: DocumentRow, _ clients: [String]) throws(StoreError) -> [String: Int] {
    let found = try database.rows(
      """
      SELECT client, session FROM parley.marks WHERE document = $1 AND client = ANY ($2)
      """, row.number, clients
    ) { ($0.text(0), $0.integer(1)) }
    return Dictionary(found) { $1 }
  }
}
