package import GatewayPorts
package import StoreRecords

/// PostgreSQL's own part of the rules that the stores have in common.
extension PostgresStore: SQLStore {
  package var locking: String { isWriting ? " FOR UPDATE" : "" }
  package var lockingFree: String { isWriting ? " FOR UPDATE SKIP LOCKED" : "" }

  /// Has a statement run with the next one that is waited for, or with the commit.
  package func change(_ sql: String, _ values: any StoredValue...) {
    link.add(PostgresCommand(sql, values))
  }

  package func changedRows(
    _ sql: String, _ values: any StoredValue...
  ) throws(StoreError) -> Int {
    try link.query(PostgresCommand(sql, values)).changedRows
  }

  package func first<Result>(
    _ sql: String, _ values: any StoredValue...,
    read: (PostgresRow) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let row = try link.query(PostgresCommand(sql, values)).first else { return nil }
    return try read(row)
  }

  package func rows<Result>(
    _ sql: String, _ values: any StoredValue...,
    read: (PostgresRow) throws(StoreError) -> Result
  ) throws(StoreError) -> [Result] {
    try link.query(PostgresCommand(sql, values)).rows(read)
  }

  package func shared(_ chain: RecordChecksum) -> LogChain? {
    isShared ? LogChain(chain, life: link.life) : nil
  }

  package func noteCompacted(_ row: DocumentRow) {
    hasCompacted = true
    compactedPlace = min(compactedPlace, row.number - 1)
  }

  package static var fileKey: String { "hash" }
  package static var noteFileKey: String { "hash" }

  package var freeBytes: Int? { nil }

  /// Takes a lock for the files: the statements that follow see all that others have committed before.
  package func lockFiles() {
    change(
      """
      SELECT pg_advisory_xact_lock(\(PostgresSchema.lockSpace),
        \(PostgresSchema.Lock.files.rawValue))::text
      """)
  }

  /// In one order: two nodes may name the same people at once.
  package func note(online people: [PersonID], _ time: Timestamp) {
    change(
      """
      INSERT INTO last_online AS l (person, time)
      SELECT DISTINCT p.person, $2::bigint FROM unnest($1) AS p(person) ORDER BY 1
      ON CONFLICT (person) DO UPDATE SET time =
        CASE WHEN l.time::numeric - excluded.time > \(TimeOrder.pullMax) THEN excluded.time
        ELSE greatest(l.time, excluded.time) END
      """, people, time)
  }

  package func lastOnline(_ people: [PersonID]) throws(StoreError) -> [Timestamp?] {
    let found = try rows(
      "SELECT person, time FROM last_online WHERE person = ANY ($1)", people
    ) { (ExactName($0.text(0)), Timestamp($0.integer(1))) }
    let times = Dictionary(found) { $1 }
    return people.map { times[ExactName($0)] }
  }

  package func keep(
    _ answer: [UInt8], _ digest: RecordChecksum, _ checksum: RecordChecksum,
    to asked: KeyedRequest, until expires: Timestamp
  ) throws(StoreError) -> Bool {
    change(
      "DELETE FROM answers WHERE owner = $1 AND key = $2 AND expires <= $3", asked.owner,
      asked.key, asked.time)
    let kept = try changedRows(
      """
      INSERT INTO answers (owner, key, digest, answer, checksum, expires)
      VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (owner, key) DO NOTHING
      """, asked.owner, asked.key, digest, Blob(answer), checksum, expires)
    return kept > 0
  }
}
