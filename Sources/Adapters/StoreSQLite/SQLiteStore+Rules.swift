package import GatewayPorts
import Glibc
package import StoreRecords

/// SQLite's own part of the rules that the stores have in common.
extension SQLiteStore: SQLStore {
  /// Queries lock nothing: no other process writes.
  package var locking: String { "" }
  package var lockingFree: String { "" }

  package func change(_ sql: String, _ values: any StoredValue...) throws(StoreError) {
    try self.sql(sql).run(all: values)
  }

  package func changedRows(
    _ sql: String, _ values: any StoredValue...
  ) throws(StoreError) -> Int {
    try self.sql(sql).run(all: values)
    return connection.changedRows
  }

  package func first<Result>(
    _ sql: String, _ values: any StoredValue...,
    read: (SQLiteStatement) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try self.sql(sql).first(all: values, read: read)
  }

  package func rows<Result>(
    _ sql: String, _ values: any StoredValue...,
    read: (SQLiteStatement) throws(StoreError) -> Result
  ) throws(StoreError) -> [Result] {
    try self.sql(sql).rows(all: values, read: read)
  }

  /// There are no other nodes.
  package func shared(_ chain: RecordChecksum) -> LogChain? { nil }

  package func passOn() {}

  /// Rows are read again each time.
  package func noteMoved(_ id: DocumentID, _ row: DocumentRow?) {}

  package func noteCompacted(_ row: DocumentRow) { compacted.insert(row.number) }

  package static var fileKey: String { "number" }
  package static var noteFileKey: String { "file" }

  package var freeBytes: Int? { measureFreeBytes(path) }

  /// Free bytes of the disk that holds a file; `nil` if they cannot be determined.
  static func freeBytes(ofDiskWith path: String) -> Int? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    return Int(clamping: UInt64(disk.f_bavail) * UInt64(disk.f_frsize))
  }

  package func lockFiles() {}

  package func note(online people: [PersonID], _ time: Timestamp) throws(StoreError) {
    for person in people {
      try change(
        """
        INSERT INTO last_online (person, time) VALUES ($1, $2)
        ON CONFLICT (person) DO UPDATE SET time =
          CASE WHEN time - excluded.time > \(TimeOrder.pullMax) THEN excluded.time
          ELSE max(time, excluded.time) END
        """, person, time)
    }
  }

  package func lastOnline(_ people: [PersonID]) throws(StoreError) -> [Timestamp?] {
    var times: [Timestamp?] = []
    for person in people {
      times.append(
        try first("SELECT time FROM last_online WHERE person = $1", person) {
          Timestamp($0.integer(0))
        })
    }
    return times
  }

  package func keep(
    _ answer: [UInt8], _ digest: RecordChecksum, _ checksum: RecordChecksum,
    to asked: KeyedRequest, until expires: Timestamp
  ) throws(StoreError) -> Bool {
    try change(
      """
      INSERT OR REPLACE INTO answers (owner, key, digest, answer, checksum, expires)
      VALUES ($1, $2, $3, $4, $5, $6)
      """, asked.owner, asked.key, digest, Blob(answer), checksum, expires)
    return true
  }
}
