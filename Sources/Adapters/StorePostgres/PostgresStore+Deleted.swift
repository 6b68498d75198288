import GatewayPorts
import StoreRecords

/// Deleted notes that may come back: their rows, while all else of them stays where it is.
extension PostgresStore {
  func reply(to request: DeletedRequest) throws(StoreError) -> StoreReply {
    switch request {
    case .list(let place, let limit):
      return .deletedNotes(try deletedNotes(after: place, limit: limit))
    case .bringBack(let id):
      return .note(try bringBack(id).summary)
    case .remove(let id):
      let removed = try query(
        """
        WITH removed AS (
          DELETE FROM parley.deleted_documents WHERE number = (
            SELECT number FROM parley.deleted_documents WHERE id = $1
            ORDER BY deleted DESC LIMIT 1 FOR UPDATE)
          RETURNING number)
        INSERT INTO parley.garbage (document) SELECT number FROM removed
        """, id)
      guard removed.changedRows > 0 else { throw .unknownDocument }
      hasGarbage = true
      return .done
    case .removeOlder(let time, let limit):
      let removed = try query(
        """
        WITH older AS (
          SELECT number FROM parley.deleted_documents WHERE deleted < $1
          ORDER BY deleted, id LIMIT $2 FOR UPDATE SKIP LOCKED),
        removed AS (
          DELETE FROM parley.deleted_documents d USING older WHERE d.number = older.number
          RETURNING d.number)
        INSERT INTO parley.garbage (document) SELECT number FROM removed
        """, time, max(limit, 0))
      if removed.changedRows > 0 { hasGarbage = true }
      return .done
    }
  }

  /// Keeps the row of a note that is being deleted.
  func keep(_ row: DocumentRow, as deletion: Deletion) {
    change(
      """
      INSERT INTO parley.deleted_documents (\(Self.keptColumns), deleted, author)
      SELECT \(Self.keptColumns), $2, $3 FROM parley.documents WHERE number = $1
      """, row.number, deletion.time, deletion.author)
  }

  /// A deleted note's row.
  func deletedRow(number: Int) throws(StoreError) -> DocumentRow? {
    try query(Self.selectDeleted + " WHERE number = $1", number).first.map(readRow)
  }

  /// The row of the note of this name that was deleted last; a transaction that writes locks it.
  func newestDeleted(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    let end = isWriting ? " LIMIT 1 FOR UPDATE" : " LIMIT 1"
    return try query(Self.selectDeleted + " WHERE id = $1 ORDER BY deleted DESC" + end, id).first
      .map(readRow)
  }

  private func bringBack(_ id: DocumentID) throws(StoreError) -> DocumentRow {
    // Whoever comes second waits here, and finds nothing.
    let found = try query(
      Self.selectDeleted + " WHERE id = $1 ORDER BY deleted DESC LIMIT 1 FOR UPDATE", id
    ).first
    guard let found else { throw .unknownDocument }
    let row = try readRow(found)
    let moved = try query(
      """
      INSERT INTO parley.documents (\(Self.keptColumns)) OVERRIDING SYSTEM VALUE
      SELECT \(Self.keptColumns) FROM parley.deleted_documents WHERE number = $1
      ON CONFLICT (id) DO NOTHING
      """, row.number)
    guard moved.changedRows > 0 else { throw .exists }
    change("DELETE FROM parley.deleted_documents WHERE number = $1", row.number)
    change("UPDATE parley.note_origins SET deleted = 0, expires = NULL WHERE id = $1", id)
    documents[ExactName(id)] = row
    heads[ExactName(id)] = nil
    // Work on its log may have been due when it was deleted.
    if row.needsSnapshot { unsnapped.insert(ExactName(id)) }
    if let retention, retention.isOverlong(row) { overlong.insert(ExactName(id)) }
    if row.base > 0 {
      hasCompacted = true
      compactedPlace = min(compactedPlace, row.number - 1)
    }
    return row
  }

  private func deletedNotes(
    after place: NotePlace?, limit: Int
  ) throws(StoreError) -> [DeletedNote] {
    try query(
      Self.selectDeleted
        + " WHERE (deleted, id) < ($1, $2) ORDER BY deleted DESC, id DESC LIMIT $3",
      place?.time ?? .max, place?.id ?? "", max(limit, 0)
    ).rows { row throws(StoreError) in
      DeletedNote(
        note: try readRow(row).summary,
        deletion: Deletion(time: Timestamp(row.integer(13)), author: row.text(14)))
    }
  }

  private static let keptColumns = """
    number, id, title, created, updated, epoch, revision, length, chain, base, base_chain,
    unsnapped, set_backs, folder
    """

  private static let selectDeleted = """
    SELECT number, id, title, created, updated, epoch, revision, length, chain, base, base_chain,
      unsnapped, folder, deleted, author FROM parley.deleted_documents
    """
}
