package import GatewayPorts
package import StoreRecords

/// Notes: their rows, titles and list.
extension PostgresStore {
  /// Locks the rows that a batch will change, each kind in the order of its numbers: of two batches
  /// one waits for the other, and never both.
  func lock(_ locks: RowLocks) throws(StoreError) {
    let names = locks.rooms.union(locks.newRooms)
    var commands: [PostgresCommand] = []
    if !locks.newRooms.isEmpty {
      // In the order of their names, for they have no numbers yet.
      commands.append(
        PostgresCommand(
          """
          INSERT INTO parley.rooms (name, epoch, head, time, checksum)
          SELECT n.name, e.epoch, 0, 0, '' FROM unnest($1) AS n(name), parley.room_epoch e
          WHERE NOT EXISTS (SELECT 1 FROM parley.rooms r WHERE r.name = n.name)
          ORDER BY n.name ON CONFLICT (name) DO NOTHING RETURNING name
          """, [locks.newRooms.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }]))
    }
    if !locks.documents.isEmpty {
      commands.append(
        PostgresCommand(
          Self.selectDocuments + " WHERE id = ANY ($1) ORDER BY number FOR UPDATE",
          [locks.documents.map(\.text)]))
    }
    if !locks.users.isEmpty {
      commands.append(
        PostgresCommand(
          """
          SELECT 1::bigint FROM parley.sessions WHERE "user" = ANY ($1) ORDER BY id FOR UPDATE
          """, [locks.users.map(\.text)]))
    }
    if !names.isEmpty {
      commands.append(
        PostgresCommand(
          Self.selectRooms + " WHERE name = ANY ($1) ORDER BY number FOR UPDATE",
          [names.map(\.text)]))
    }
    guard !commands.isEmpty else { return }
    var results = try queries(commands)[...]
    if !locks.newRooms.isEmpty {
      let added = results.popFirst()?.rows { ExactName($0.text(0)) }
      unneededRooms = Set(added ?? [])
    }
    if !locks.documents.isEmpty {
      for id in locks.documents { documents[id] = .some(nil) }
      for row in try results.popFirst()?.rows(readRow) ?? [] { documents[ExactName(row.id)] = row }
    }
    if !locks.users.isEmpty { results.removeFirst() }
    for name in names { rooms[name] = .some(nil) }
    for row in try results.popFirst()?.rows(readRoom) ?? [] { rooms[ExactName(row.name)] = row }
  }

  package func insert(_ row: inout DocumentRow) throws(StoreError) {
    let number = try first(
      """
      INSERT INTO documents (id, title, created, updated, epoch, revision, length, chain,
        base, base_chain, unsnapped, folder)
      VALUES ($1, $2, $3, $3, $4, 0, 0, $5, 0, $5, 0, $6)
      ON CONFLICT (id) DO NOTHING RETURNING number
      """, row.id, row.title, row.createdAt, row.epoch, row.chain, row.folder.text
    ) { $0.integer(0) }
    // Another node was faster.
    guard let number else { throw .exists }
    row.number = number
    documents[ExactName(row.id)] = row
  }

  package func noteMoved(_ id: DocumentID, _ row: DocumentRow?) {
    documents[ExactName(id)] = .some(row)
    heads[ExactName(id)] = nil
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

  /// A document's row. A transaction that writes locks it, unless it has done so already.
  package func row(_ id: DocumentID) throws(StoreError) -> DocumentRow? {
    if let known = documents[ExactName(id)] { return known }
    let row = try first(Self.selectDocuments + " WHERE id = $1" + locking, id, read: readRow)
    documents[ExactName(id)] = .some(row)
    return row
  }

  static let selectDocuments = """
    SELECT number, id, title, created, updated, epoch, revision, length, chain, base, base_chain,
      unsnapped, folder, session_floor FROM parley.documents
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
    var document = DocumentRow(
      number: row.integer(0), id: row.text(1), title: row.text(2),
      createdAt: Timestamp(row.integer(3)), updatedAt: Timestamp(row.integer(4)),
      epoch: row.text(5), revision: row.integer(6), length: row.integer(7), chain: chain,
      base: row.integer(9), baseChain: baseChain, marks: 0, unsnapped: row.integer(11),
      folder: FolderPath(stored: row.text(12)))
    document.sessionFloor = row.integer(13)
    return document
  }

  /// Writes a row that this transaction has locked.
  package func write(_ row: DocumentRow) {
    change(
      """
      UPDATE parley.documents SET title = $2, updated = $3, epoch = $4, revision = $5, length = $6,
        chain = $7, base = $8, base_chain = $9, unsnapped = $10
      WHERE number = $1
      """, row.number, row.title, row.updatedAt, row.epoch, row.revision, row.length, row.chain,
      row.base, row.baseChain, row.unsnapped)
    documents[ExactName(row.id)] = row
    heads[ExactName(row.id)] = nil
    if row.needsSnapshot { upkeep.unsnapped.insert(ExactName(row.id)) }
    if let retention, retention.isOverlong(row) { upkeep.overlong.insert(ExactName(row.id)) }
  }
}
