import GatewayPorts
import StoreRecords

/// Notes: their rows, titles and list.
extension SQLiteStore {
  func create(
    _ id: DocumentID, epoch: String, title: String, time: Timestamp, folder: FolderPath
  ) throws(StoreError) -> NoteSummary {
    guard try row(id) == nil else { throw .exists }
    // Of an earlier note of this id.
    try sql("DELETE FROM note_origins WHERE id = ?").run(id)
    try sql("DELETE FROM note_links WHERE note = ?").run(id)
    try sql(
      """
      INSERT INTO documents (id, title, created, updated, epoch, revision, length, chain, base,
        base_chain, marks, unsnapped, checksum, folder)
      VALUES (?, '', ?, 0, '', 0, 0, x'', 0, x'', 0, 0, x'', ?)
      """
    ).run(id, time, folder.text)
    let origin = hasher.origin(of: id)
    let row = DocumentRow(
      number: connection.lastInsertedKey, id: id, title: title, createdAt: time, updatedAt: time,
      epoch: epoch, revision: 0, length: 0, chain: origin, base: 0, baseChain: origin, marks: 0,
      unsnapped: 0, folder: folder)
    try write(row)
    try beginEpoch(epoch, after: 0, document: row.number)
    return row.summary
  }

  func rename(
    _ id: DocumentID, title: String, time: Timestamp
  ) throws(StoreError) -> NoteSummary {
    var row = try existingRow(id)
    row.title = title
    try note(time, before: row.revision + 1, in: &row)
    try write(row)
    return row.summary
  }

  /// Takes the note out of sight at once. If it is not to be kept, its log is removed piece by piece by
  /// `maintain`, so that nobody waits for a long one.
  func delete(_ id: DocumentID, keeping deletion: Deletion?) throws(StoreError) {
    let row = try existingRow(id)
    if let deletion {
      try keep(row, as: deletion)
    } else {
      try sql("INSERT INTO garbage (document) VALUES (?)").run(row.number)
    }
    try sql("DELETE FROM documents WHERE number = ?").run(row.number)
    try sql("UPDATE note_origins SET deleted = 1 WHERE id = ?").run(id)
    hasUndatedDeletions = true
    isTimeKnown = false
    hasGarbage = true
  }

  /// All notes whose rows are whole. A damaged one shows in `check`, and when it is loaded: it must
  /// not take the others out of sight.
  func list() throws(StoreError) -> [NoteSummary] {
    try sql("SELECT \(Self.documentColumns) FROM documents ORDER BY updated DESC, id").rows {
      readRow($0)?.summary
    }.compactMap(\.self)
  }

  /// Some notes in the order of their places; damaged ones are passed over.
  func notes(after place: NotePlace?, limit: Int) throws(StoreError) -> [NoteSummary] {
    let statement = try sql(
      """
      SELECT \(Self.documentColumns) FROM documents WHERE (created, id) < (?, ?)
      ORDER BY created DESC, id DESC
      """)
    statement.bind(place?.time ?? .max, place?.id ?? "")
    defer { statement.reset() }
    var notes: [NoteSummary] = []
    while notes.count < limit, try statement.step() {
      if let row = readRow(statement) { notes.append(row.summary) }
    }
    return notes
  }

  // MARK: Rows

  func existingRow(_ id: DocumentID) throws(StoreError) -> DocumentRow {
    guard let row = try row(id) else { throw .unknownDocument }
    return row
  }

  func row(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    try sql(Self.selectDocument).first(id) { found throws(StoreError) in
      guard let row = readRow(found) else {
        throw .damaged("the note's own record differs from its checksum; \(damageAdvice)")
      }
      return row
    }
  }

  /// The columns that ``readRow(_:)`` reads.
  static let documentColumns = """
    number, id, title, created, updated, epoch, revision, length, chain, base, base_chain, marks,
    unsnapped, checksum, folder
    """
  // Put together once: every change of a note reads its row.
  private static let selectDocument = "SELECT \(documentColumns) FROM documents WHERE id = ?"

  /// The row that a statement stands on, or `nil` if it is not what was written.
  func readRow(_ statement: SQLiteStatement) -> DocumentRow? {
    guard
      let chain = statement.withBytes(8, { RecordChecksum($0) }),
      let baseChain = statement.withBytes(10, { RecordChecksum($0) }),
      let checksum = statement.withBytes(13, { RecordChecksum($0) })
    else { return nil }
    let row = DocumentRow(
      number: statement.integer(0), id: statement.text(1), title: statement.text(2),
      createdAt: Timestamp(statement.integer(3)), updatedAt: Timestamp(statement.integer(4)),
      epoch: statement.text(5), revision: statement.integer(6), length: statement.integer(7),
      chain: chain, base: statement.integer(9), baseChain: baseChain, marks: statement.bits(11),
      unsnapped: statement.integer(12), folder: FolderPath(stored: statement.text(14)))
    return hasher.checksum(of: row) == checksum ? row : nil
  }

  /// Writes what changes of a row with its log. When it was made and its folder stay: indices stand on them.
  func write(_ row: DocumentRow) throws(StoreError) {
    try sql(
      """
      UPDATE documents SET title = ?2, updated = ?3, epoch = ?4, revision = ?5,
        length = ?6, chain = ?7, base = ?8, base_chain = ?9, marks = ?10, unsnapped = ?11,
        checksum = ?12
      WHERE number = ?1
      """
    ).run(
      row.number, row.title, row.updatedAt, row.epoch, row.revision, row.length, row.chain,
      row.base, row.baseChain, row.marks, row.unsnapped, hasher.checksum(of: row))
    if row.needsSnapshot { unsnapped.insert(ExactName(row.id)) }
    if let retention, retention.isOverlong(row) { overlong.insert(ExactName(row.id)) }
  }

  // MARK: Epochs

  func beginEpoch(_ epoch: String, after revision: Int, document: Int) throws(StoreError) {
    try sql("INSERT OR REPLACE INTO epochs (document, after, epoch) VALUES (?, ?, ?)").run(
      document, revision, epoch)
  }

  /// The epochs of a document's log, each with the revision after which it began; never empty.
  func epochs(of row: DocumentRow) throws(StoreError) -> [(after: Int, epoch: String)] {
    let epochs = try sql("SELECT after, epoch FROM epochs WHERE document = ? ORDER BY after").rows(
      row.number
    ) {
      (after: $0.integer(0), epoch: $0.text(1))
    }
    guard epochs.last?.epoch == row.epoch else {
      throw .damaged("the note's epochs do not end in its newest; \(damageAdvice)")
    }
    return epochs
  }
}
