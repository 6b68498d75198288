package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Files of notes, identified by hashes.
extension PostgresDatabase: FileTable {
  package static var fileKey: String { "hash" }
  package static var noteFileKey: String { "hash" }

  package var freeBytes: Int? { nil }

  /// Takes the lock for files: later statements see all changes that others have committed.
  package func lockFiles() {
    change(
      """
      SELECT pg_advisory_xact_lock(\(PostgresSchema.lockSpace),
        \(PostgresSchema.Lock.files.rawValue))::text
      """)
  }
}

/// Stored answers, and the requests that each store implements itself.
extension PostgresDatabase: AnswerTable, SQLStore {
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

  package func ownReply(to request: StoreRequest) throws(StoreError) -> StoreReply {
    switch request {
    case .append(let id, let epoch, let entries, let condition):
      return try LogAppends(database: self).append(LogAppend(id, epoch, entries, condition))
    case .news(let id, let epoch, let after, let chain, let clients):
      return .news(
        try SharedLogs(database: self).news(id, epoch: epoch, after: after, chain: chain, clients))
    case .heads(let ids): return .heads(try SharedLogs(database: self).heads(of: ids))
    case .fence(let id, let clients):
      return .sessions(
        try SessionFences(database: self).fence(SessionFence(id: id, clients: clients)))
    // A lost commit's outcome is determined before the next transaction begins, and each
    // transaction writes this store's own row.
    default: return .done
    }
  }
}
