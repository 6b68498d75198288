import GatewayPorts
import StoreRecords

/// Deleted notes that may come back: their rows, while all else of them stays where it is.
extension SQLiteStore {
  func reply(to request: DeletedRequest) throws(StoreError) -> StoreReply {
    switch request {
    case .list(let place, let limit):
      return .deletedNotes(try deletedNotes(after: place, limit: limit))
    case .bringBack(let id):
      return .note(try bringBack(id).summary)
    case .remove(let id):
      try remove(try deletedRow(id))
      return .done
    case .removeOlder(let time, let limit):
      // A deletion whose time is not what was written shows in `check`, and is left alone.
      let older = try sql(
        """
        \(Self.selectDeleted) WHERE deleted < ? ORDER BY deleted, id LIMIT ?
        """
      ).rows(time, max(limit, 0)) { readDeleted($0) }
      for case let deleted? in older { try remove(deleted.row) }
      return .done
    }
  }

  /// Keeps the row of a note that is being deleted.
  func keep(_ row: DocumentRow, as deletion: Deletion) throws(StoreError) {
    try sql(
      """
      INSERT INTO deleted_documents (\(Self.documentColumns), deleted, author, deletion_checksum)
      SELECT \(Self.documentColumns), ?2, ?3, ?4 FROM documents WHERE number = ?1
      """
    ).run(
      row.number, deletion.time, deletion.author,
      hasher.checksum(of: deletion, document: row.id, number: row.number))
  }

  /// The rows of all deleted notes, one after the other; `nil` for one that is not what was written.
  func deletedRows() throws(StoreError) -> [DocumentRow?] {
    try sql("\(Self.selectDeleted) ORDER BY number").rows { readDeleted($0)?.row }
  }

  /// The row of the note of this name that was deleted last.
  private func deletedRow(_ id: DocumentID) throws(StoreError) -> DocumentRow {
    guard let row = try newestDeleted(id) else { throw .unknownDocument }
    return row
  }

  func newestDeleted(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    try sql("\(Self.selectDeleted) WHERE id = ? ORDER BY deleted DESC LIMIT 1")
      .first(id) { found throws(StoreError) in
        guard let deleted = readDeleted(found) else { throw Self.damagedDeletion }
        return deleted.row
      }
  }

  /// A deleted note whose record is not what was written.
  static var damagedDeletion: StoreError {
    .damaged("a deleted note's record differs from its checksum; \(damageAdvice)")
  }

  private func bringBack(_ id: DocumentID) throws(StoreError) -> DocumentRow {
    let row = try deletedRow(id)
    guard try self.row(id) == nil else { throw .exists }
    try sql(
      """
      INSERT INTO documents (\(Self.documentColumns))
      SELECT \(Self.documentColumns) FROM deleted_documents WHERE number = ?
      """
    ).run(row.number)
    try sql("DELETE FROM deleted_documents WHERE number = ?").run(row.number)
    try sql("UPDATE note_origins SET deleted = 0, expires = NULL WHERE id = ?").run(id)
    // Work on its log may have been due when it was deleted.
    if row.needsSnapshot { unsnapped.insert(ExactName(id)) }
    if let retention, retention.isOverlong(row) { overlong.insert(ExactName(id)) }
    if row.base > 0 { compacted.insert(row.number) }
    return row
  }

  /// Gives every deleted note another epoch, as ``renewAllEpochs(_:)`` does with the others.
  func renewDeletedEpochs(_ names: some NameSource) throws(StoreError) {
    for case var row? in try deletedRows() {
      row.epoch = names.next()
      try beginEpoch(row.epoch, after: row.revision, document: row.number)
      try sql("UPDATE deleted_documents SET epoch = ?, checksum = ? WHERE number = ?").run(
        row.epoch, hasher.checksum(of: row), row.number)
    }
  }

  private func remove(_ row: DocumentRow) throws(StoreError) {
    try sql("INSERT INTO garbage (document) VALUES (?)").run(row.number)
    try sql("DELETE FROM deleted_documents WHERE number = ?").run(row.number)
    hasGarbage = true
  }

  private func deletedNotes(
    after place: NotePlace?, limit: Int
  ) throws(StoreError) -> [DeletedNote] {
    let statement = try sql(
      "\(Self.selectDeleted) WHERE (deleted, id) < (?, ?) ORDER BY deleted DESC, id DESC")
    statement.bind(place?.time ?? .max, place?.id ?? "")
    defer { statement.reset() }
    var notes: [DeletedNote] = []
    while notes.count < limit, try statement.step() {
      guard let found = readDeleted(statement) else { continue }
      notes.append(DeletedNote(note: found.row.summary, deletion: found.deletion))
    }
    return notes
  }

  private static let selectDeleted =
    "SELECT \(documentColumns), deleted, author, deletion_checksum FROM deleted_documents"

  /// The row that a statement stands on, or `nil` if it is not what was written.
  private func readDeleted(
    _ statement: SQLiteStatement
  ) -> (row: DocumentRow, deletion: Deletion)? {
    let deletion = Deletion(time: Timestamp(statement.integer(15)), author: statement.text(16))
    guard let row = readRow(statement),
      statement.withBytes(17, { RecordChecksum($0) })
        == hasher.checksum(of: deletion, document: row.id, number: row.number)
    else { return nil }
    return (row, deletion)
  }
}
