import ParleyGatewayPorts

/// Files of notes. Each distinct content is stored once, and each note has a list of its files.
struct FileRules<Store: FileTable> {
  let store: Store
  private var logs: LogRules<Store> { LogRules(store: store) }
  private var texts: TextRules<Store> { TextRules(store: store) }
  private var versions: VersionRules<Store> { VersionRules(store: store) }

  func reply(to request: FileRequest) throws(StoreError) -> FileReply {
    switch request {
    case .put(let id, let draft, let limits): return try put(draft, in: id, limits)
    case .list(let id): return .files(try files(of: store.existingRow(id)))
    case .read(let id, let hash, let withBytes):
      return try file(hash, of: store.existingRow(id), withBytes: withBytes)
    case .unsettled(let time, let id, let limit):
      return .notes(
        try store.rows(
          """
          SELECT DISTINCT d.id FROM note_files n JOIN documents d ON d.number = n.document
          WHERE n.time < $1 AND n.seen < d.base AND d.id > $2 ORDER BY d.id LIMIT $3
          """, time, id?.text ?? "", max(limit, 0)
        ) { $0.name(0) })
    case .search(let id, let time): return .uses(try uses(of: store.existingRow(id), before: time))
    case .settle(let id, let uses, let time):
      return try settle(uses, of: store.existingRow(id), before: time)
    }
  }

  private func put(
    _ draft: FileDraft, in id: DocumentID, _ limits: FileLimits
  ) throws(StoreError) -> FileReply {
    let row = try store.existingRow(id)
    store.context.noteTime(draft.time)
    let hash = store.context.hasher.hash(ofFile: draft.bytes)
    if var file = try files(of: row, hash: hash).first {
      file.time = TimeOrder.following(file.time, draft.time)
      try store.change(
        "UPDATE note_files SET time = $3 WHERE document = $1 AND \(Self.isFile)", row.number,
        Blob(hash.bytes), file.time)
      return .kept(file, isNew: false)
    }
    let taken =
      try store.first(
        """
        SELECT count(*), CAST(coalesce(sum(f.size), 0) AS bigint)
        FROM note_files n JOIN files f ON f.\(Store.fileKey) = n.\(Store.noteFileKey)
        WHERE n.document = $1
        """, row.number
      ) { (count: $0.integer(0), bytes: $0.integer(1)) } ?? (count: 0, bytes: 0)
    guard taken.count < limits.noteFilesMax else { return .tooManyFiles(count: taken.count) }
    guard draft.bytes.count <= limits.noteBytesMax - taken.bytes else {
      return .noteFull(byteCount: taken.bytes)
    }
    try store.lockFiles()
    let isThere = try store.first("SELECT 1 FROM files WHERE hash = $1", Blob(hash.bytes)) { _ in
      true
    }
    if isThere == nil {
      if let free = store.freeBytes, free - draft.bytes.count < limits.diskReserveBytes {
        return .diskFull(byteCount: free)
      }
      try store.change(
        "INSERT INTO files (hash, size, bytes) VALUES ($1, $2, $3)", Blob(hash.bytes),
        draft.bytes.count, Blob(draft.bytes))
    }
    try store.change(
      """
      INSERT INTO note_files (document, \(Store.noteFileKey), name, time, seen)
      VALUES ($1, (SELECT \(Store.fileKey) FROM files WHERE hash = $2), $3, $4, -1)
      """, row.number, Blob(hash.bytes), draft.name, draft.time)
    return .kept(
      NoteFile(hash: hash, name: draft.name, byteCount: draft.bytes.count, time: draft.time),
      isNew: true)
  }

  private func readFile(_ found: Store.Row) throws(StoreError) -> NoteFile {
    guard let hash = FileHash(found.bytes(0)) else { throw Self.damagedFile }
    return NoteFile(
      hash: hash, name: found.text(1), byteCount: found.integer(2),
      time: Timestamp(found.integer(3)))
  }

  /// The error of a file whose content does not match its hash.
  private static var damagedFile: StoreError {
    .damaged("a file of a note differs from its checksum; \(damageAdvice)")
  }

  /// The condition that selects the rows of `note_files` by a file's hash, which is parameter 2.
  private static var isFile: String {
    "\(Store.noteFileKey) = (SELECT \(Store.fileKey) FROM files WHERE hash = $2)"
  }

  private static var selectFiles: String {
    """
    SELECT f.hash, n.name, f.size, n.time
    FROM note_files n JOIN files f ON f.\(Store.fileKey) = n.\(Store.noteFileKey) WHERE n.document = $1
    """
  }

  private func files(of row: DocumentRow) throws(StoreError) -> [NoteFile] {
    try store.rows(Self.selectFiles + " ORDER BY n.time DESC, f.hash", row.number) {
      found throws(StoreError) in try readFile(found)
    }
  }

  private func files(of row: DocumentRow, hash: FileHash) throws(StoreError) -> [NoteFile] {
    try store.rows(Self.selectFiles + " AND f.hash = $2", row.number, Blob(hash.bytes)) {
      found throws(StoreError) in try readFile(found)
    }
  }

  private func file(
    _ hash: FileHash, of row: DocumentRow, withBytes: Bool
  ) throws(StoreError) -> FileReply {
    guard let file = try files(of: row, hash: hash).first else { return .unknownFile }
    guard withBytes else { return .file(file, nil) }
    let bytes = try store.first("SELECT bytes FROM files WHERE hash = $1", Blob(hash.bytes)) {
      $0.bytes(0)
    }
    guard let bytes, store.context.hasher.hash(ofFile: bytes) == hash else {
      throw Self.damagedFile
    }
    return .file(file, bytes)
  }

  // MARK: Uses

  private func uses(of row: DocumentRow, before time: Timestamp) throws(StoreError) -> FileUses {
    let hashes = try store.rows(
      Self.selectFiles + " AND n.time < $2 AND n.seen < $3", row.number, time, row.base
    ) { FileHash($0.bytes(0)) }.compactMap(\.self)
    var search = FileSearch(for: hashes)
    guard !hashes.isEmpty else { return search.uses(head: row.revision) }
    search.look(in: try texts.fold(of: row, at: row.revision).content, at: row.revision)
    guard !search.isDone else { return search.uses(head: row.revision) }
    // Search every stored revision from the base on, then the named versions before it.
    var fold = try Fold(texts.snapshot(of: row, through: row.base))
    search.look(in: fold.content, at: row.base)
    try logs.walk(row, after: row.base, through: row.revision, chain: row.baseChain) {
      entry throws(StoreError) in
      try entry.apply(to: &fold)
      search.look(
        after: entry.operation, entry.format, in: fold.content, at: entry.revision)
    }
    for version in try versions.versions(of: row) where version.revision < row.base {
      search.look(in: try texts.fold(of: row, at: version.revision).content, at: row.base)
    }
    return search.uses(head: row.revision)
  }

  private func settle(
    _ uses: FileUses, of row: DocumentRow, before time: Timestamp
  ) throws(StoreError) -> FileReply {
    try store.lockFiles()
    var removed = 0
    for (hash, newest) in uses.newest {
      if let newest {
        try store.change(
          """
          UPDATE note_files SET seen = $3 WHERE document = $1 AND \(Self.isFile) AND seen < $3
          """, row.number, Blob(hash.bytes), newest)
      } else if uses.head == row.revision {
        removed += try store.changedRows(
          "DELETE FROM note_files WHERE document = $1 AND \(Self.isFile) AND time < $3",
          row.number, Blob(hash.bytes), time)
        try store.change(
          """
          DELETE FROM files WHERE hash = $1 AND NOT EXISTS
            (SELECT 1 FROM note_files n WHERE n.\(Store.noteFileKey) = files.\(Store.fileKey))
          """, Blob(hash.bytes))
      }
    }
    return .settled(removed: removed)
  }

  /// Removes one file of a deleted note.
  ///
  /// - Returns: Whether more files may remain.
  func removeOne(ofDocument document: Int) throws(StoreError) -> Bool {
    try store.lockFiles()
    let (key, file) = (Store.fileKey, Store.noteFileKey)
    let one = "(SELECT \(file) FROM note_files WHERE document = $1 ORDER BY \(file) LIMIT 1)"
    try store.change(
      """
      DELETE FROM files WHERE \(key) = \(one) AND NOT EXISTS
        (SELECT 1 FROM note_files n WHERE n.\(file) = files.\(key) AND n.document <> $1)
      """, document)
    return try store.changedRows(
      "DELETE FROM note_files WHERE document = $1 AND \(file) = \(one)", document) > 0
  }

  // MARK: Checking

  /// Verifies that each content matches its hash, and that each file of a note has a content.
  func check(_ findings: inout StoreFindings) throws(StoreError) {
    for hash in try store.rows("SELECT hash FROM files ORDER BY hash", read: { $0.bytes(0) }) {
      let isSound = try store.first("SELECT bytes FROM files WHERE hash = $1", Blob(hash)) {
        FileHash(hash) == store.context.hasher.hash(ofFile: $0.bytes(0))
      }
      guard let isSound else { continue }
      if !isSound { findings.add(nil, Self.damagedFile) }
      findings.files += 1
    }
    let missing = try store.first(
      """
      SELECT count(*) FROM note_files n WHERE NOT EXISTS
        (SELECT 1 FROM files f WHERE f.\(Store.fileKey) = n.\(Store.noteFileKey))
      """
    ) { $0.integer(0) }
    if let missing, missing > 0 {
      findings.add(nil, "\(missing) files of notes have no content; \(damageAdvice)")
    }
  }
}
