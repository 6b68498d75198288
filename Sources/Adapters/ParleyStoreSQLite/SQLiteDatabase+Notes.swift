package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Rows of notes.
extension SQLiteDatabase: NoteTable {
  package func insert(_ row: inout DocumentRow) throws(StoreError) {
    try change(
      """
      INSERT INTO documents (id, title, created, updated, epoch, revision, length, chain, base,
        base_chain, marks, unsnapped, checksum, folder)
      VALUES ($1, '', $2, 0, '', 0, 0, x'', 0, x'', 0, 0, x'', $3)
      """, row.id, row.createdAt, row.folder.text)
    row.number = connection.lastInsertedKey
    try write(row)
  }

  /// Skips damaged rows, so that one does not hide the others. `check` reports them.
  package func summaries(
    _ condition: String, _ values: any StoredValue..., limit: Int
  ) throws(StoreError) -> [NoteSummary] {
    try sound("SELECT \(Self.documentColumns) FROM documents" + condition, values, limit: limit) {
      readRow($0)?.summary
    }
  }

  /// Returns the first `limit` rows of a query for which `read` succeeds.
  func sound<Result>(
    _ query: String, _ values: [any StoredValue], limit: Int,
    read: (SQLiteStatement) -> Result?
  ) throws(StoreError) -> [Result] {
    let statement = try sql(query)
    statement.bind(all: values)
    defer { statement.reset() }
    var found: [Result] = []
    while found.count < limit, try statement.step() {
      if let result = read(statement) { found.append(result) }
    }
    return found
  }

  package func row(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    let found = try sql(Self.selectDocument)
    defer { found.reset() }
    found.bind(id)
    guard try found.step() else { return nil }
    guard let row = readRow(found) else {
      throw .damaged("the note's own record differs from its checksum; \(damageAdvice)")
    }
    return row
  }

  /// The columns that ``readRow(_:)`` reads.
  static let documentColumns = """
    number, id, title, created, updated, epoch, revision, length, chain, base, base_chain, marks,
    unsnapped, checksum, folder, kind
    """
  // Static: every change of a note reads its row.
  private static let selectDocument = "SELECT \(documentColumns) FROM documents WHERE id = ?"

  /// Reads the current row of a statement; `nil` if it differs from its checksum.
  func readRow(_ statement: SQLiteStatement) -> DocumentRow? {
    guard
      let chain = statement.withBytes(8, { RecordChecksum($0) }),
      let baseChain = statement.withBytes(10, { RecordChecksum($0) }),
      let checksum = statement.withBytes(13, { RecordChecksum($0) })
    else { return nil }
    let row = DocumentRow(
      number: statement.integer(0), id: statement.name(1), title: statement.text(2),
      createdAt: Timestamp(statement.integer(3)), updatedAt: Timestamp(statement.integer(4)),
      epoch: statement.name(5), revision: statement.integer(6), length: statement.integer(7),
      chain: chain, base: statement.integer(9), baseChain: baseChain, marks: statement.bits(11),
      unsnapped: statement.integer(12), folder: FolderPath(stored: statement.text(14)),
      kind: NoteKind(stored: statement.integer(15)))
    return context.hasher.checksum(of: row) == checksum ? row : nil
  }

  /// Writes the columns of a row that change with its log. The creation time and the folder are not
  /// written, since they are indexed.
  package func write(_ row: DocumentRow) throws(StoreError) {
    try sql(
      """
      UPDATE documents SET title = ?2, updated = ?3, epoch = ?4, revision = ?5,
        length = ?6, chain = ?7, base = ?8, base_chain = ?9, marks = ?10, unsnapped = ?11,
        checksum = ?12, kind = ?13
      WHERE number = ?1
      """
    ).run(
      row.number, row.title, row.updatedAt, row.epoch, row.revision, row.length, row.chain,
      row.base, row.baseChain, row.marks, row.unsnapped, context.hasher.checksum(of: row),
      row.kind.number)
    context.noteDue(row)
  }

  /// Does nothing: rows are not cached.
  package func noteMoved(_ id: DocumentID, _ row: DocumentRow?) {}
}
