package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Rows of notes.
extension PostgresDatabase: NoteTable {
  package func insert(_ row: inout DocumentRow) throws(StoreError) {
    let number = try first(
      """
      INSERT INTO documents (id, title, created, updated, epoch, revision, length, chain,
        base, base_chain, unsnapped, folder, kind)
      VALUES ($1, $2, $3, $3, $4, 0, 0, $5, 0, $5, 0, $6, $7)
      ON CONFLICT (id) DO NOTHING RETURNING number
      """, row.id, row.title, row.createdAt, row.epoch, row.chain, row.folder.text,
      row.kind.number
    ) { $0.integer(0) }
    // Another node has created a note with this id.
    guard let number else { throw .exists }
    row.number = number
    known.documents[row.id] = row
  }

  package func noteMoved(_ id: DocumentID, _ row: DocumentRow?) {
    known.documents[id] = .some(row)
    heads[id] = nil
  }

  package func summaries(
    _ condition: String, _ values: any StoredValue..., limit: Int
  ) throws(StoreError) -> [NoteSummary] {
    try link.query(
      PostgresCommand(
        Self.selectSummaries + condition + " LIMIT $\(values.count + 1)",
        values + [max(limit, 0)])
    ).rows(readSummary)
  }

  /// Returns a document's row. A transaction that writes locks it at the first read.
  package func row(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    if let known = known.documents[id] { return known }
    let row = try first(Self.selectDocuments + " WHERE id = $1" + locking, id, read: readRow)
    known.documents[id] = .some(row)
    return row
  }

  static let selectDocuments = """
    SELECT number, id, title, created, updated, epoch, revision, length, chain, base, base_chain,
      unsnapped, folder, session_floor, kind FROM parley.documents
    """

  static let selectSummaries =
    "SELECT id, title, revision, created, updated, folder, kind FROM parley.documents"

  func readSummary(_ row: PostgresRow) -> NoteSummary {
    NoteSummary(
      id: row.name(0), title: row.text(1), revision: row.integer(2),
      createdAt: Timestamp(row.integer(3)), updatedAt: Timestamp(row.integer(4)),
      folder: FolderPath(stored: row.text(5)), kind: NoteKind(stored: row.integer(6)))
  }

  func readRow(_ row: PostgresRow) throws(StoreError) -> DocumentRow {
    guard let chain = row.withBytes(8, { RecordChecksum($0) }),
      let baseChain = row.withBytes(10, { RecordChecksum($0) })
    else { throw .damaged("a note's own record has no checksum; \(damageAdvice)") }
    var document = DocumentRow(
      number: row.integer(0), id: row.name(1), title: row.text(2),
      createdAt: Timestamp(row.integer(3)), updatedAt: Timestamp(row.integer(4)),
      epoch: row.name(5), revision: row.integer(6), length: row.integer(7), chain: chain,
      base: row.integer(9), baseChain: baseChain, marks: 0, unsnapped: row.integer(11),
      folder: FolderPath(stored: row.text(12)), kind: NoteKind(stored: row.integer(14)))
    document.sessionFloor = row.integer(13)
    return document
  }

  /// Writes a row that this transaction has locked.
  package func write(_ row: DocumentRow) {
    change(
      """
      UPDATE parley.documents SET title = $2, updated = $3, epoch = $4, revision = $5, length = $6,
        chain = $7, base = $8, base_chain = $9, unsnapped = $10, kind = $11
      WHERE number = $1
      """, row.number, row.title, row.updatedAt, row.epoch, row.revision, row.length, row.chain,
      row.base, row.baseChain, row.unsnapped, row.kind.number)
    known.documents[row.id] = row
    heads[row.id] = nil
    context.noteDue(row)
  }

  /// The maximum clock set-backs stored for one document. Beyond it, the oldest are removed.
  private static let setBacksMax = 1_000

  /// Sets the update time of a document's row, and records clock set-backs.
  ///
  /// - Parameter revision: The first revision that may have the new time.
  package func note(_ time: Timestamp, before revision: Int, in row: inout DocumentRow) {
    if TimeOrder.isSetBack(from: row.updatedAt, to: time) {
      change(
        """
        UPDATE parley.documents SET set_backs =
          (set_backs || $2::bigint)[greatest(cardinality(set_backs) + 2 - $3, 1):]
        WHERE number = $1
        """, row.number, revision, Self.setBacksMax)
    }
    row.updatedAt = TimeOrder.following(row.updatedAt, time)
  }
}
