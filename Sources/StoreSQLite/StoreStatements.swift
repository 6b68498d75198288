/// The statements of a store, prepared when it is opened.
struct StoreStatements {
  let begin: SQLiteStatement
  let beginReading: SQLiteStatement
  let commit: SQLiteStatement
  let rollback: SQLiteStatement
  let savepoint: SQLiteStatement
  let release: SQLiteStatement
  let rollbackToSavepoint: SQLiteStatement

  let selectDocument: SQLiteStatement
  let selectDocuments: SQLiteStatement
  let selectDocumentsAfter: SQLiteStatement
  let selectUnsnapped: SQLiteStatement
  let insertDocument: SQLiteStatement
  let updateDocument: SQLiteStatement
  let deleteDocument: SQLiteStatement

  let selectEpochs: SQLiteStatement
  let insertEpoch: SQLiteStatement

  let selectEntries: SQLiteStatement
  let selectEntryChecksum: SQLiteStatement
  let insertEntry: SQLiteStatement

  let selectMark: SQLiteStatement
  let selectMarks: SQLiteStatement
  let upsertMark: SQLiteStatement

  let selectSnapshot: SQLiteStatement
  let selectSnapshotRevisions: SQLiteStatement
  let upsertSnapshot: SQLiteStatement
  let deleteCompactedSnapshots: SQLiteStatement

  let selectVersions: SQLiteStatement
  let upsertVersion: SQLiteStatement
  let deleteVersion: SQLiteStatement

  let insertGarbage: SQLiteStatement
  let selectGarbage: SQLiteStatement
  let deleteGarbage: SQLiteStatement
  let deleteSomeEntries: SQLiteStatement
  let deleteVersions: SQLiteStatement
  let selectCompacted: SQLiteStatement
  let deleteCompactedEntries: SQLiteStatement
  let deleteSomeSnapshots: SQLiteStatement
  let deleteMarks: SQLiteStatement
  let deleteEpochs: SQLiteStatement

  let selectMeta: SQLiteStatement
  let upsertMeta: SQLiteStatement
  let deleteMeta: SQLiteStatement

  init(_ connection: borrowing SQLiteConnection) throws(SQLiteFailure) {
    begin = try SQLiteStatement(connection, "BEGIN IMMEDIATE")
    beginReading = try SQLiteStatement(connection, "BEGIN")
    commit = try SQLiteStatement(connection, "COMMIT")
    rollback = try SQLiteStatement(connection, "ROLLBACK")
    savepoint = try SQLiteStatement(connection, "SAVEPOINT request")
    release = try SQLiteStatement(connection, "RELEASE request")
    rollbackToSavepoint = try SQLiteStatement(connection, "ROLLBACK TO request")

    let documentColumns = """
      number, id, title, created, updated, epoch, revision, length, chain, base, base_chain, marks,
      unsnapped, checksum
      """
    selectDocument = try SQLiteStatement(
      connection, "SELECT \(documentColumns) FROM documents WHERE id = ?")
    selectDocuments = try SQLiteStatement(
      connection, "SELECT \(documentColumns) FROM documents ORDER BY updated DESC, id")
    selectDocumentsAfter = try SQLiteStatement(
      connection,
      """
      SELECT \(documentColumns) FROM documents WHERE (created, id) < (?, ?)
      ORDER BY created DESC, id DESC
      """)
    selectUnsnapped = try SQLiteStatement(
      connection, "SELECT id FROM documents WHERE unsnapped >= max(length, 65536)")
    insertDocument = try SQLiteStatement(
      connection,
      """
      INSERT INTO documents (id, title, created, updated, epoch, revision, length, chain, base,
        base_chain, marks, unsnapped, checksum)
      VALUES (?, '', 0, 0, '', 0, 0, x'', 0, x'', 0, 0, x'')
      """)
    updateDocument = try SQLiteStatement(
      connection,
      """
      UPDATE documents SET title = ?2, created = ?3, updated = ?4, epoch = ?5, revision = ?6,
        length = ?7, chain = ?8, base = ?9, base_chain = ?10, marks = ?11, unsnapped = ?12,
        checksum = ?13
      WHERE number = ?1
      """)
    deleteDocument = try SQLiteStatement(connection, "DELETE FROM documents WHERE number = ?")

    selectEpochs = try SQLiteStatement(
      connection, "SELECT after, epoch FROM epochs WHERE document = ? ORDER BY after")
    insertEpoch = try SQLiteStatement(
      connection, "INSERT OR REPLACE INTO epochs (document, after, epoch) VALUES (?, ?, ?)")

    selectEntries = try SQLiteStatement(
      connection,
      """
      SELECT revision, client, sequence, digest, operation, author, time, checksum FROM log
      WHERE document = ? AND revision > ? AND revision <= ? ORDER BY revision
      """)
    selectEntryChecksum = try SQLiteStatement(
      connection, "SELECT checksum FROM log WHERE document = ? AND revision = ?")
    insertEntry = try SQLiteStatement(
      connection,
      """
      INSERT INTO log (document, revision, client, sequence, digest, operation, author, time,
        checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)

    selectMark = try SQLiteStatement(
      connection,
      "SELECT sequence, revision, digest FROM marks WHERE document = ? AND client = ?")
    selectMarks = try SQLiteStatement(
      connection, "SELECT sequence, revision, digest, client FROM marks WHERE document = ?")
    upsertMark = try SQLiteStatement(
      connection,
      """
      INSERT OR REPLACE INTO marks (document, client, sequence, revision, digest)
      VALUES (?, ?, ?, ?, ?)
      """)

    selectSnapshot = try SQLiteStatement(
      connection,
      """
      SELECT revision, chain, text, checksum, time, authors FROM snapshots
      WHERE document = ? AND revision <= ? ORDER BY revision DESC LIMIT 1
      """)
    upsertSnapshot = try SQLiteStatement(
      connection,
      """
      INSERT OR REPLACE INTO snapshots (document, revision, chain, time, text, authors, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """)
    selectSnapshotRevisions = try SQLiteStatement(
      connection, "SELECT revision FROM snapshots WHERE document = ? ORDER BY revision")
    deleteCompactedSnapshots = try SQLiteStatement(
      connection,
      """
      DELETE FROM snapshots WHERE document = ?1 AND revision < ?2
        AND revision NOT IN (SELECT revision FROM versions WHERE document = ?1)
      """)

    selectVersions = try SQLiteStatement(
      connection,
      """
      SELECT revision, name, author, time, checksum FROM versions WHERE document = ?
      ORDER BY revision DESC
      """)
    upsertVersion = try SQLiteStatement(
      connection,
      """
      INSERT OR REPLACE INTO versions (document, revision, name, author, time, checksum)
      VALUES (?, ?, ?, ?, ?, ?)
      """)
    deleteVersion = try SQLiteStatement(
      connection, "DELETE FROM versions WHERE document = ? AND revision = ?")

    insertGarbage = try SQLiteStatement(
      connection, "INSERT INTO garbage (document) VALUES (?)")
    selectGarbage = try SQLiteStatement(connection, "SELECT document FROM garbage LIMIT 1")
    deleteGarbage = try SQLiteStatement(connection, "DELETE FROM garbage WHERE document = ?")
    deleteSomeEntries = try SQLiteStatement(
      connection,
      """
      DELETE FROM log WHERE document = ?1
        AND revision < (SELECT min(revision) FROM log WHERE document = ?1) + 1000
      """)
    deleteVersions = try SQLiteStatement(connection, "DELETE FROM versions WHERE document = ?")
    selectCompacted = try SQLiteStatement(
      connection,
      """
      SELECT number, base FROM documents WHERE base > 0 AND EXISTS
        (SELECT 1 FROM log WHERE document = number AND revision <= base) LIMIT 1
      """)
    deleteCompactedEntries = try SQLiteStatement(
      connection,
      """
      DELETE FROM log WHERE document = ?1 AND revision <= ?2
        AND revision < (SELECT min(revision) FROM log WHERE document = ?1) + 1000
      """)
    deleteSomeSnapshots = try SQLiteStatement(
      connection,
      """
      DELETE FROM snapshots WHERE document = ?1
        AND revision = (SELECT min(revision) FROM snapshots WHERE document = ?1)
      """)
    deleteMarks = try SQLiteStatement(connection, "DELETE FROM marks WHERE document = ?")
    deleteEpochs = try SQLiteStatement(connection, "DELETE FROM epochs WHERE document = ?")

    selectMeta = try SQLiteStatement(
      connection, "SELECT value, checksum FROM meta WHERE name = ?")
    upsertMeta = try SQLiteStatement(
      connection, "INSERT OR REPLACE INTO meta (name, value, checksum) VALUES (?, ?, ?)")
    deleteMeta = try SQLiteStatement(connection, "DELETE FROM meta WHERE name = ?")
  }
}
