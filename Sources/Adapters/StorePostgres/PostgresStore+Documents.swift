import GatewayPorts
import StoreRecords

/// Notes: their rows, titles and list.
extension PostgresStore {
  /// Locks the rows that a batch will change, each kind in the order of its numbers: of two batches
  /// one waits for the other, and never both.
  func lock(_ locks: RowLocks) throws(StoreError) {
    if !locks.newRooms.isEmpty {
      // In the order of their names, for they have no numbers yet.
      change(
        """
        INSERT INTO parley.rooms (name, epoch, head, time, checksum)
        SELECT n.name, e.epoch, 0, 0, '' FROM unnest($1) AS n(name), parley.room_epoch e
        WHERE NOT EXISTS (SELECT 1 FROM parley.rooms r WHERE r.name = n.name)
        ORDER BY n.name ON CONFLICT (name) DO NOTHING
        """, locks.newRooms.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }
    if !locks.documents.isEmpty {
      let found = try query(
        Self.selectDocuments + " WHERE id = ANY ($1) ORDER BY number FOR UPDATE",
        locks.documents.map(\.text))
      for id in locks.documents { documents[id] = .some(nil) }
      for row in try found.rows(readRow) { documents[ExactName(row.id)] = row }
    }
    if !locks.users.isEmpty {
      change(
        """
        SELECT 1::bigint FROM parley.sessions WHERE "user" = ANY ($1) ORDER BY id FOR UPDATE
        """, locks.users.map(\.text))
    }
    let names = locks.rooms.union(locks.newRooms)
    if !names.isEmpty {
      let found = try query(
        Self.selectRooms + " WHERE name = ANY ($1) ORDER BY number FOR UPDATE", names.map(\.text))
      for name in names { rooms[name] = .some(nil) }
      for row in try found.rows(readRoom) { rooms[ExactName(row.name)] = row }
    }
  }

  func create(
    _ id: DocumentID, epoch: String, title: String, time: Timestamp, folder: FolderPath
  ) throws(StoreError) -> NoteSummary {
    guard try row(id) == nil else { throw .exists }
    // Of an earlier note of this id.
    change("DELETE FROM parley.note_origins WHERE id = $1", id)
    change("DELETE FROM parley.note_links WHERE note = $1", id)
    let origin = hasher.origin(of: id)
    let made = try query(
      """
      INSERT INTO parley.documents (id, title, created, updated, epoch, revision, length, chain,
        base, base_chain, unsnapped, folder)
      VALUES ($1, $2, $3, $3, $4, 0, 0, $5, 0, $5, 0, $6)
      ON CONFLICT (id) DO NOTHING RETURNING number
      """, id, title, time, epoch, origin, folder.text)
    // Another node was faster.
    guard let number = made.first?.integer(0) else { throw .exists }
    let row = DocumentRow(
      number: number, id: id, title: title, createdAt: time, updatedAt: time, epoch: epoch,
      revision: 0, length: 0, chain: origin, base: 0, baseChain: origin, marks: 0, unsnapped: 0,
      folder: folder)
    documents[ExactName(id)] = row
    beginEpoch(epoch, after: 0, document: number)
    return row.summary
  }

  func rename(
    _ id: DocumentID, title: String, time: Timestamp
  ) throws(StoreError) -> NoteSummary {
    var row = try existingRow(id)
    row.title = title
    note(time, before: row.revision + 1, in: &row)
    write(row)
    return row.summary
  }

  /// Takes the note out of sight at once. If it is not to be kept, its log is removed piece by piece by
  /// `maintain`, so that nobody waits for a long one.
  func delete(_ id: DocumentID, keeping deletion: Deletion?) throws(StoreError) {
    let row = try existingRow(id)
    if let deletion {
      keep(row, as: deletion)
    } else {
      change("INSERT INTO parley.garbage (document) VALUES ($1)", row.number)
    }
    change("DELETE FROM parley.documents WHERE number = $1", row.number)
    change("UPDATE parley.note_origins SET deleted = 1 WHERE id = $1", id)
    documents[ExactName(id)] = .some(nil)
    heads[ExactName(id)] = nil
    hasUndatedDeletions = true
    isTimeKnown = false
    hasGarbage = true
  }

  func list() throws(StoreError) -> [NoteSummary] {
    try query(Self.selectSummaries + " ORDER BY updated DESC, id").rows(readSummary)
  }

  /// Some notes in the order of their places.
  func notes(after place: NotePlace?, limit: Int) throws(StoreError) -> [NoteSummary] {
    try query(
      Self.selectSummaries
        + " WHERE (created, id) < ($1, $2) ORDER BY created DESC, id DESC LIMIT $3",
      place?.time ?? .max, place?.id ?? "", max(limit, 0)
    ).rows(readSummary)
  }

  // MARK: Rows

  func existingRow(_ id: DocumentID) throws(StoreError) -> DocumentRow {
    guard let row = try row(id) else { throw .unknownDocument }
    return row
  }

  /// A document's row. A transaction that writes locks it, unless it has done so already.
  func row(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    if let known = documents[ExactName(id)] { return known }
    let end = isWriting ? " WHERE id = $1 FOR UPDATE" : " WHERE id = $1"
    let row = try query(Self.selectDocuments + end, id).first.map(readRow)
    documents[ExactName(id)] = .some(row)
    return row
  }

  static let selectDocuments = """
    SELECT number, id, title, created, updated, epoch, revision, length, chain, base, base_chain,
      unsnapped, folder FROM parley.documents
    """

  static let selectSummaries =
    "SELECT id, title, revision, created, updated, folder FROM parley.documents"

  func readSummary(_ row: PostgresRow) -> NoteSummary {
    NoteSummary(
      id: row.text(0), title: row.text(1), revision: row.integer(2),
      createdAt: Timestamp(row.integer(3)), updatedAt: Timestamp(row.integer(4)),
      folder: FolderPath(stored: row.text(5)))
  }

  func readRow(_ row: PostgresRow) throws(StoreError) -> DocumentRow {
    guard let chain = row.withBytes(8, { RecordChecksum($0) }),
      let baseChain = row.withBytes(10, { RecordChecksum($0) })
    else { throw .damaged("a note's own record has no checksum; \(damageAdvice)") }
    return DocumentRow(
      number: row.integer(0), id: row.text(1), title: row.text(2),
      createdAt: Timestamp(row.integer(3)), updatedAt: Timestamp(row.integer(4)),
      epoch: row.text(5), revision: row.integer(6), length: row.integer(7), chain: chain,
      base: row.integer(9), baseChain: baseChain, marks: 0, unsnapped: row.integer(11),
      folder: FolderPath(stored: row.text(12)))
  }

  /// Writes a row that this transaction has locked.
  func write(_ row: DocumentRow) {
    change(
      """
      UPDATE parley.documents SET title = $2, updated = $3, epoch = $4, revision = $5, length = $6,
        chain = $7, base = $8, base_chain = $9, unsnapped = $10
      WHERE number = $1
      """, row.number, row.title, row.updatedAt, row.epoch, row.revision, row.length, row.chain,
      row.base, row.baseChain, row.unsnapped)
    documents[ExactName(row.id)] = row
    heads[ExactName(row.id)] = nil
    if row.needsSnapshot { unsnapped.insert(ExactName(row.id)) }
    if let retention, retention.isOverlong(row) { overlong.insert(ExactName(row.id)) }
  }

  // MARK: Epochs

  func beginEpoch(_ epoch: String, after revision: Int, document: Int) {
    change(
      """
      INSERT INTO parley.epochs (document, after, epoch) VALUES ($1, $2, $3)
      ON CONFLICT (document, after) DO UPDATE SET epoch = excluded.epoch
      """, document, revision, epoch)
  }

  /// The epochs of a document's log, each with the revision after which it began; never empty.
  func epochs(of row: DocumentRow) throws(StoreError) -> [(after: Int, epoch: String)] {
    try epochs(
      query(
        "SELECT after, epoch FROM parley.epochs WHERE document = $1 ORDER BY after", row.number),
      of: row)
  }

  func epochs(
    _ found: PostgresResult, of row: DocumentRow
  ) throws(StoreError) -> [(after: Int, epoch: String)] {
    let epochs = found.rows { (after: $0.integer(0), epoch: $0.text(1)) }
    guard let last = epochs.last, last.epoch.utf8.elementsEqual(row.epoch.utf8) else {
      throw .damaged("the note's epochs do not end in its newest; \(damageAdvice)")
    }
    return epochs
  }
}
