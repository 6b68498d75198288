import GatewayPorts
import Glibc
import StoreRecords

/// Files of notes: each content once, and each note's list of those that are its.
extension SQLiteStore {
  func reply(to request: FileRequest) throws(StoreError) -> FileReply {
    switch request {
    case .put(let id, let draft, let room): return try put(draft, in: id, room)
    case .list(let id): return .files(try files(of: existingRow(id)))
    case .read(let id, let hash, let withBytes):
      return try file(hash, of: existingRow(id), withBytes: withBytes)
    case .unsettled(let time, let id, let limit):
      return .notes(
        try sql(
          """
          SELECT DISTINCT id FROM note_files JOIN documents ON number = document
          WHERE time < ? AND seen < base AND id > ? ORDER BY id LIMIT ?
          """
        ).rows(time, id ?? "", max(limit, 0)) { $0.text(0) })
    case .search(let id, let time): return .uses(try uses(of: existingRow(id), before: time))
    case .settle(let id, let uses, let time):
      return try settle(uses, of: existingRow(id), before: time)
    }
  }

  private func put(
    _ draft: FileDraft, in id: DocumentID, _ room: FileRoom
  ) throws(StoreError) -> FileReply {
    let row = try existingRow(id)
    noteTime(draft.time)
    let hash = hasher.hash(ofFile: draft.bytes)
    if var file = try files(of: row, hash: hash).first {
      file.time = TimeOrder.following(file.time, draft.time)
      try sql(
        """
        UPDATE note_files SET time = ?3
        WHERE document = ?1 AND file = (SELECT number FROM files WHERE hash = ?2)
        """
      ).run(row.number, hash.bytes, file.time)
      return .kept(file, isNew: false)
    }
    let taken =
      try sql(
        """
        SELECT count(*), ifnull(sum(size), 0) FROM note_files JOIN files ON number = file
        WHERE document = ?
        """
      ).first(row.number) { (count: $0.integer(0), bytes: $0.integer(1)) } ?? (count: 0, bytes: 0)
    guard taken.count < room.noteFilesMax else { return .tooManyFiles(count: taken.count) }
    guard draft.bytes.count <= room.noteBytesMax - taken.bytes else {
      return .noteFull(byteCount: taken.bytes)
    }
    var number = try sql("SELECT number FROM files WHERE hash = ?").first(hash.bytes) {
      $0.integer(0)
    }
    if number == nil {
      if let free = freeBytes, free - draft.bytes.count < room.diskReserveBytes {
        return .diskFull(byteCount: free)
      }
      try sql("INSERT INTO files (hash, size, bytes) VALUES (?, ?, ?)").run(
        hash.bytes, draft.bytes.count, draft.bytes)
      number = connection.lastInsertedKey
    }
    try sql("INSERT INTO note_files (document, file, name, time, seen) VALUES (?, ?, ?, ?, -1)")
      .run(row.number, number, draft.name, draft.time)
    return .kept(
      NoteFile(hash: hash, name: draft.name, byteCount: draft.bytes.count, time: draft.time),
      isNew: true)
  }

  /// Bytes that are left on the store's disk; `nil` where the system does not say.
  private var freeBytes: Int? {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return nil }
    return Int(clamping: UInt64(disk.f_bavail) * UInt64(disk.f_frsize))
  }

  private static let fileColumns = "hash, name, size, time"

  private func readFile(_ found: SQLiteStatement) throws(StoreError) -> NoteFile {
    guard let hash = FileHash(found.bytes(0)) else { throw Self.damagedFile }
    return NoteFile(
      hash: hash, name: found.text(1), byteCount: found.integer(2),
      time: Timestamp(found.integer(3)))
  }

  /// A file whose content is not what was kept.
  static var damagedFile: StoreError {
    .damaged("a file of a note differs from its checksum; \(damageAdvice)")
  }

  private func files(of row: DocumentRow) throws(StoreError) -> [NoteFile] {
    try sql(
      """
      SELECT \(Self.fileColumns) FROM note_files JOIN files ON number = file WHERE document = ?
      ORDER BY time DESC, hash
      """
    ).rows(row.number) { found throws(StoreError) in try readFile(found) }
  }

  private func files(of row: DocumentRow, hash: FileHash) throws(StoreError) -> [NoteFile] {
    try sql(
      """
      SELECT \(Self.fileColumns) FROM files JOIN note_files ON number = file
      WHERE hash = ? AND document = ?
      """
    ).rows(hash.bytes, row.number) { found throws(StoreError) in try readFile(found) }
  }

  private func file(
    _ hash: FileHash, of row: DocumentRow, withBytes: Bool
  ) throws(StoreError) -> FileReply {
    guard let file = try files(of: row, hash: hash).first else { return .unknownFile }
    guard withBytes else { return .file(file, nil) }
    let bytes = try sql("SELECT bytes FROM files WHERE hash = ?").first(hash.bytes) { $0.bytes(0) }
    guard let bytes, hasher.hash(ofFile: bytes) == hash else { throw Self.damagedFile }
    return .file(file, bytes)
  }

  // MARK: Uses

  private func uses(of row: DocumentRow, before time: Timestamp) throws(StoreError) -> FileUses {
    let hashes = try sql(
      """
      SELECT hash FROM note_files JOIN files ON number = file
      WHERE document = ? AND time < ? AND seen < ?
      """
    ).rows(row.number, time, row.base) { FileHash($0.bytes(0)) }.compactMap(\.self)
    var search = FileSearch(for: hashes)
    guard !hashes.isEmpty else { return search.uses(head: row.revision) }
    search.look(in: try fold(of: row, at: row.revision).document, at: row.revision)
    guard !search.isDone else { return search.uses(head: row.revision) }
    // Every revision since the oldest that is kept, and the named ones before it.
    var fold = try Fold(snapshot(of: row, through: row.base))
    search.look(in: fold.document, at: row.base)
    try walk(row, after: row.base, through: row.revision, chain: row.baseChain) {
      entry throws(StoreError) in
      try entry.apply(to: &fold)
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
    var removed = 0
    for (hash, newest) in uses.newest {
      let number = try sql("SELECT number FROM files WHERE hash = ?").first(hash.bytes) {
        $0.integer(0)
      }
      guard let number else { continue }
      if let newest {
        try sql("UPDATE note_files SET seen = max(seen, ?3) WHERE document = ?1 AND file = ?2").run(
          row.number, number, newest)
      } else if uses.head == row.revision {
        try sql("DELETE FROM note_files WHERE document = ? AND file = ? AND time < ?").run(
          row.number, number, time)
        removed += connection.changedRows
        try removeIfUnused(file: number)
      }
    }
    return .settled(removed: removed)
  }

  private func removeIfUnused(file: Int) throws(StoreError) {
    try sql(
      """
      DELETE FROM files WHERE number = ?1 AND NOT EXISTS
        (SELECT 1 FROM note_files WHERE note_files.file = ?1)
      """
    ).run(file)
  }

  /// Removes a file of a note that is gone.
  ///
  /// - Returns: Whether there may be more.
  func removeOneFile(ofDocument document: Int) throws(StoreError) -> Bool {
    let file = try sql("SELECT file FROM note_files WHERE document = ? LIMIT 1").first(document) {
      $0.integer(0)
    }
    guard let file else { return false }
    try sql("DELETE FROM note_files WHERE document = ? AND file = ?").run(document, file)
    try removeIfUnused(file: file)
    return true
  }

  // MARK: Checking

  /// Whether each content is what its hash says, and there for every note that has it.
  func checkFiles(_ findings: inout StoreFindings) throws(StoreError) {
    for number in try sql("SELECT number FROM files ORDER BY number").rows(read: { $0.integer(0) })
    {
      let isSound = try sql("SELECT hash, bytes FROM files WHERE number = ?").first(number) {
        FileHash($0.bytes(0)) == hasher.hash(ofFile: $0.bytes(1))
      }
      if isSound == false { findings.add(nil, Self.damagedFile) }
      findings.files += 1
    }
    let missing = try sql(
      "SELECT count(*) FROM note_files WHERE file NOT IN (SELECT number FROM files)"
    ).first(read: { $0.integer(0) })
    if let missing, missing > 0 {
      findings.add(nil, "\(missing) files of notes have no content; \(damageAdvice)")
    }
  }
}
