import GatewayPorts
import StoreRecords

/// Files of notes: each content once, and each note's list of those that are its.
extension PostgresStore {
  func reply(to request: FileRequest) throws(StoreError) -> FileReply {
    switch request {
    case .put(let id, let draft, let room): return try put(draft, in: id, room)
    case .list(let id): return .files(try files(of: existingRow(id)))
    case .read(let id, let hash, let withBytes):
      return try file(hash, of: existingRow(id), withBytes: withBytes)
    case .unsettled(let time, let id, let limit):
      return .notes(
        try query(
          """
          SELECT DISTINCT d.id FROM parley.note_files n JOIN parley.documents d ON d.number = n.document
          WHERE n.time < $1 AND n.seen < d.base AND d.id > $2 ORDER BY d.id LIMIT $3
          """, time, id ?? "", max(limit, 0)
        ).rows { $0.text(0) })
    case .search(let id, let time): return .uses(try uses(of: existingRow(id), before: time))
    case .settle(let id, let uses, let time):
      return try settle(uses, of: existingRow(id), before: time)
    }
  }

  /// Has this transaction be the only one in which files come or go. What others have committed before is
  /// seen by the statements that follow.
  private func lockFiles() throws(StoreError) {
    _ = try query(
      """
      SELECT pg_advisory_xact_lock(\(PostgresSchema.lockSpace),
        \(PostgresSchema.Lock.files.rawValue))::text
      """)
  }

  private func put(
    _ draft: FileDraft, in id: DocumentID, _ room: FileRoom
  ) throws(StoreError) -> FileReply {
    let row = try existingRow(id)
    noteTime(draft.time)
    let hash = hasher.hash(ofFile: draft.bytes)
    if var file = try files(of: row, hash: hash).first {
      file.time = TimeOrder.following(file.time, draft.time)
      change(
        "UPDATE parley.note_files SET time = $3 WHERE document = $1 AND hash = $2", row.number,
        Blob(hash.bytes), file.time)
      return .kept(file, isNew: false)
    }
    let found = try query(
      """
      SELECT count(*), coalesce(sum(f.size), 0)::bigint
      FROM parley.note_files n JOIN parley.files f ON f.hash = n.hash WHERE n.document = $1
      """, row.number
    ).first
    let taken = found.map { (count: $0.integer(0), bytes: $0.integer(1)) } ?? (count: 0, bytes: 0)
    guard taken.count < room.noteFilesMax else { return .tooManyFiles(count: taken.count) }
    guard draft.bytes.count <= room.noteBytesMax - taken.bytes else {
      return .noteFull(byteCount: taken.bytes)
    }
    try lockFiles()
    let isThere = try query("SELECT 1::bigint FROM parley.files WHERE hash = $1", Blob(hash.bytes))
    if isThere.count == 0 {
      change(
        "INSERT INTO parley.files (hash, size, bytes) VALUES ($1, $2, $3)", Blob(hash.bytes),
        draft.bytes.count, Blob(draft.bytes))
    }
    change(
      "INSERT INTO parley.note_files (document, hash, name, time, seen) VALUES ($1, $2, $3, $4, -1)",
      row.number, Blob(hash.bytes), draft.name, draft.time)
    return .kept(
      NoteFile(hash: hash, name: draft.name, byteCount: draft.bytes.count, time: draft.time),
      isNew: true)
  }

  private func readFile(_ found: PostgresRow) throws(StoreError) -> NoteFile {
    guard let hash = FileHash(found.bytes(0)) else { throw Self.damagedFile }
    return NoteFile(
      hash: hash, name: found.text(1), byteCount: found.integer(2),
      time: Timestamp(found.integer(3)))
  }

  /// A file whose content is not what was kept.
  private static var damagedFile: StoreError {
    .damaged("a file of a note differs from its checksum; \(damageAdvice)")
  }

  private static let selectFiles = """
    SELECT n.hash, n.name, f.size, n.time
    FROM parley.note_files n JOIN parley.files f ON f.hash = n.hash WHERE n.document = $1
    """

  private func files(of row: DocumentRow) throws(StoreError) -> [NoteFile] {
    try query(Self.selectFiles + " ORDER BY n.time DESC, n.hash", row.number).rows {
      found throws(StoreError) in try readFile(found)
    }
  }

  private func files(of row: DocumentRow, hash: FileHash) throws(StoreError) -> [NoteFile] {
    try query(Self.selectFiles + " AND n.hash = $2", row.number, Blob(hash.bytes)).rows {
      found throws(StoreError) in try readFile(found)
    }
  }

  private func file(
    _ hash: FileHash, of row: DocumentRow, withBytes: Bool
  ) throws(StoreError) -> FileReply {
    guard let file = try files(of: row, hash: hash).first else { return .unknownFile }
    guard withBytes else { return .file(file, nil) }
    let found = try query("SELECT bytes FROM parley.files WHERE hash = $1", Blob(hash.bytes))
    guard let bytes = found.first?.bytes(0), hasher.hash(ofFile: bytes) == hash else {
      throw Self.damagedFile
    }
    return .file(file, bytes)
  }

  // MARK: Uses

  private func uses(of row: DocumentRow, before time: Timestamp) throws(StoreError) -> FileUses {
    let hashes = try query(
      "SELECT hash FROM parley.note_files WHERE document = $1 AND time < $2 AND seen < $3",
      row.number, time, row.base
    ).rows { FileHash($0.bytes(0)) }.compactMap(\.self)
    var search = FileSearch(for: hashes)
    guard !hashes.isEmpty else { return search.uses(head: row.revision) }
    search.look(in: try fold(of: row, at: row.revision).document, at: row.revision)
    guard !search.isDone else { return search.uses(head: row.revision) }
    // Every revision since the oldest that is kept, and the named ones before it.
    var fold = try Fold(snapshot(of: row, through: row.base))
    search.look(in: fold.document, at: row.base)
    try walk(row, after: row.base, through: row.revision, chain: row.baseChain) {
      entry, checksum throws(StoreError) in
      try fold.apply(entry, checksum)
      search.look(after: entry.operation, in: fold.document, at: entry.revision)
    }
    for version in try versions(of: row) where version.revision < row.base {
      search.look(in: try self.fold(of: row, at: version.revision).document, at: row.base)
    }
    return search.uses(head: row.revision)
  }

  private func settle(
    _ uses: FileUses, of row: DocumentRow, before time: Timestamp
  ) throws(StoreError) -> FileReply {
    try lockFiles()
    var removed = 0
    for (hash, newest) in uses.newest {
      if let newest {
        change(
          """
          UPDATE parley.note_files SET seen = greatest(seen, $3) WHERE document = $1 AND hash = $2
          """, row.number, Blob(hash.bytes), newest)
      } else if uses.head == row.revision {
        removed += try query(
          "DELETE FROM parley.note_files WHERE document = $1 AND hash = $2 AND time < $3",
          row.number, Blob(hash.bytes), time
        ).changedRows
        removeIfUnused(hash.bytes)
      }
    }
    return .settled(removed: removed)
  }

  private func removeIfUnused(_ hash: [UInt8]) {
    change(
      """
      DELETE FROM parley.files WHERE hash = $1 AND NOT EXISTS
        (SELECT 1 FROM parley.note_files WHERE hash = $1)
      """, Blob(hash))
  }

  /// Removes a file of a note that is gone; whether there may be more.
  func removeOneFile(ofDocument document: Int) throws(StoreError) -> Bool {
    try lockFiles()
    let removed = try query(
      """
      DELETE FROM parley.note_files WHERE document = $1 AND hash =
        (SELECT hash FROM parley.note_files WHERE document = $1 LIMIT 1) RETURNING hash
      """, document)
    guard let hash = removed.first?.bytes(0) else { return false }
    removeIfUnused(hash)
    return true
  }

  // MARK: Checking

  /// Whether each content is what its hash says, and there for every note that has it.
  func checkFiles(_ findings: inout StoreFindings) throws(StoreError) {
    for hash in try query("SELECT hash FROM parley.files ORDER BY hash").rows({ $0.bytes(0) }) {
      let found = try query("SELECT bytes FROM parley.files WHERE hash = $1", Blob(hash))
      guard let bytes = found.first?.bytes(0) else { continue }
      if FileHash(hash) != hasher.hash(ofFile: bytes) { findings.add(nil, Self.damagedFile) }
      findings.files += 1
    }
    let missing = try query(
      """
      SELECT count(*) FROM parley.note_files n
      WHERE NOT EXISTS (SELECT 1 FROM parley.files f WHERE f.hash = n.hash)
      """)
    if let count = missing.first?.integer(0), count > 0 {
      findings.add(nil, "\(count) files of notes have no content; \(damageAdvice)")
    }
  }
}
