import ParleyGatewayPorts

/// Named versions of notes.
struct VersionRules<Store: LogTable> {
  let store: Store
  private var texts: TextRules<Store> { TextRules(store: store) }

  func versions(_ id: DocumentID) throws(StoreError) -> [NamedVersion] {
    try versions(of: store.existingRow(id))
  }

  func versions(of row: DocumentRow) throws(StoreError) -> [NamedVersion] {
    try store.rows(
      """
      SELECT revision, name, author, time, checksum FROM versions WHERE document = $1
      ORDER BY revision DESC
      """, row.number
    ) { found throws(StoreError) in
      let version = NamedVersion(
        revision: found.integer(0), name: found.text(1), author: found.text(2),
        time: Timestamp(found.integer(3)))
      let checksum = found.withBytes(4) { RecordChecksum($0) }
      guard checksum == store.context.hasher.checksum(of: version, document: row.id) else {
        throw .damaged(
          "the version at revision \(version.revision) differs from its checksum; \(damageAdvice)")
      }
      return version
    }
  }

  func save(
    _ version: NamedVersion, of id: DocumentID, epoch: Epoch
  ) throws(StoreError) {
    let row = try store.existingRow(id)
    guard epoch == row.epoch, (0...row.revision).contains(version.revision)
    else { throw .notNext(headRevision: row.revision) }
    if version.revision < row.base {
      // A named version is retained, so its text must still be stored.
      guard try texts.snapshot(of: row, through: version.revision).revision == version.revision
      else {
        throw .compacted(oldestRevision: row.base)
      }
    }
    try store.change(
      """
      INSERT INTO versions (document, revision, name, author, time, checksum)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (document, revision) DO UPDATE SET name = excluded.name,
        author = excluded.author, time = excluded.time, checksum = excluded.checksum
      """, row.number, version.revision, version.name, version.author, version.time,
      store.context.hasher.checksum(of: version, document: row.id))
  }

  func deleteVersion(_ id: DocumentID, revision: Int) throws(StoreError) {
    let row = try store.existingRow(id)
    try store.change(
      "DELETE FROM versions WHERE document = $1 AND revision = $2", row.number, revision)
  }
}
