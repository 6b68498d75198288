public import ParleyGatewayPorts
public import ParleyStoreRecords

/// The source or target of a move: an SQLite file that no other process uses.
public final class SQLiteMove: UnfinishedStore {
  /// The path of the database file.
  public let path: String

  private let connection: SQLiteConnection
  private var hasher = RecordHasher()
  private let isTarget: Bool
  // Declared last, so that the lock is released after the connection is closed.
  private let lock: StoreLock

  /// Opens a store as the source of a move. The store is not changed.
  public init(from path: String) throws(StoreOpenError) {
    self.path = path
    isTarget = false
    guard try StoreFile.inspect(path) else { throw .noStore(path: path) }
    var lock = try StoreLock(beside: path)
    try lock.hold(database: path)
    self.lock = consume lock
    connection = try StoreFile.connect(path)
    try StoreSchema.verify(connection, path: path)
    try Self.run(connection, path) { connection throws(SQLiteFailure) in
      try connection.execute("PRAGMA query_only = ON")
    }
  }

  /// Creates a store that is marked as unfinished. Replaces an unfinished store or an empty
  /// database; throws `notEmpty` for any other.
  public init(to path: String) throws(StoreOpenError) {
    self.path = path
    isTarget = true
    var lock = try StoreLock(beside: path)
    if try StoreFile.inspect(path) {
      guard try Self.isDisposable(path) else { throw .notEmpty(path: path) }
      StoreFile.remove(path)
    }
    StoreFile.remove(SQLiteSearchIndex.path(beside: path))
    try StoreFile.make(path)
    try lock.hold(database: path)
    self.lock = consume lock
    connection = try StoreFile.connect(path)
    try Self.run(connection, path) { connection throws(SQLiteFailure) in
      try StoreSchema.makeUnfinished(connection)
    }
  }

  /// Whether a database is empty, or a store that was not finished.
  private static func isDisposable(_ path: String) throws(StoreOpenError) -> Bool {
    let connection = try StoreFile.connect(path)
    do throws(StoreOpenError) {
      return try StoreSchema.version(of: connection, path: path) == 0
    } catch {
      if case .unfinished = error { return true }
      throw error
    }
  }

  private static func run(
    _ connection: borrowing SQLiteConnection, _ path: String,
    _ body: (borrowing SQLiteConnection) throws(SQLiteFailure) -> Void
  ) throws(StoreOpenError) {
    do throws(SQLiteFailure) {
      try body(connection)
    } catch {
      throw StoreOpenError(error, path: path)
    }
  }

  /// See ``MovableStore``.
  public func check() throws -> StoreFindings {
    try SQLiteStore(reading: path, isUnfinished: isTarget).check()
  }

  // MARK: Reading

  /// See ``MovableStore``.
  public func count(of table: StoreTable) throws(StoreError) -> Int {
    guard table != .sequences else { return StoreTable.numbered.count }
    let statement = try sql("SELECT count(*) FROM \(Self.rows(of: table))")
    return try statement.first { $0.integer(0) } ?? 0
  }

  /// See ``MovableStore``.
  public func read(
    _ table: StoreTable, _ body: ([[StoreCell]]) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard table != .sequences else { return try body(sequences()) }
    let columns = table.columns.map { column in
      column.name == StoreTable.setBacks
        ? "(SELECT value FROM meta WHERE meta.name = 'clock:' || number)" : "\"\(column.name)\""
    }
    let order = table.columns.prefix(table.keyCount).map { "\"\($0.name)\"" }
    let statement = try sql(
      """
      SELECT \(columns.joined(separator: ", ")) FROM \(Self.rows(of: table))
      ORDER BY \(order.joined(separator: ", "))
      """)
    statement.bind()
    defer { statement.reset() }
    var rows: [[StoreCell]] = []
    var byteCount = 0
    while try statement.step() {
      let row = table.columns.indices.map { Self.cell(statement, Int32($0), table.columns[$0]) }
      rows.append(row)
      byteCount += row.reduce(0) { $0 + $1.byteCount }
      if rows.count >= MovedPortion.rowsMax || byteCount >= MovedPortion.bytesMax {
        try body(rows)
        rows.removeAll(keepingCapacity: true)
        byteCount = 0
      }
    }
    if !rows.isEmpty { try body(rows) }
  }

  /// Returns the table expression of a table in the common form of all stores.
  private static func rows(of table: StoreTable) -> String {
    switch table.name {
    // Clock set-backs of notes are part of a note's row in the common form.
    case "meta":
      "meta WHERE name NOT LIKE 'clock:%' AND name <> '\(SQLiteStore.runningMark)'"
    // Files have numbers in SQLite stores, and are identified by hashes in the common form.
    case "note_files":
      """
      (SELECT document, hash, name, time, seen FROM note_files JOIN files ON number = file)
      """
    default: table.name
    }
  }

  private func sequences() throws(StoreError) -> [[StoreCell]] {
    var rows: [[StoreCell]] = []
    for name in StoreTable.numbered {
      let newest = try sql("SELECT seq FROM sqlite_sequence WHERE name = ?").first(all: [name]) {
        $0.integer(0)
      }
      rows.append([.bytes(Array(name.utf8)), .integer(Int64(newest ?? 0))])
    }
    return rows
  }

  private static func cell(
    _ row: SQLiteStatement, _ place: Int32, _ column: StoreTable.Column
  ) -> StoreCell {
    if column.name == StoreTable.setBacks {
      let revisions = SQLiteDatabase.setBacks(row.bytes(place))
      return .bytes(Array(Set(revisions).sorted().map(String.init).joined(separator: ",").utf8))
    }
    guard !row.isNull(place) else { return .none }
    return column.kind == .integer
      ? .integer(Int64(bitPattern: row.bits(place))) : .bytes(row.bytes(place))
  }

  // MARK: Writing

  /// See ``UnfinishedStore``.
  public func write(_ rows: [[StoreCell]], to table: StoreTable) throws(StoreError) {
    precondition(isTarget, "a source is only read")
    try sql("BEGIN IMMEDIATE").run()
    do throws(StoreError) {
      for row in rows {
        switch table.name {
        case StoreTable.sequences.name: try writeSequence(row)
        case "documents", "deleted_documents": try writeNote(row, to: table)
        default:
          let statement = try sql(
            table.name == "note_files"
              ? Self.fileInsertion : Self.insertion(table.name, table.columns.map(\.name)))
          statement.bind(all: zip(table.columns, row).map { Self.value($1, $0.kind) })
          defer { statement.reset() }
          _ = try statement.step()
        }
      }
      try sql("COMMIT").run()
    } catch {
      if connection.isInTransaction { try? sql("ROLLBACK").run() }
      throw error
    }
    guard connection.walPages >= 4_096 else { return }
    do throws(SQLiteFailure) { try connection.checkpoint() } catch { throw error.storeError }
  }

  /// See ``UnfinishedStore``.
  public func finish() throws(StoreError) {
    do throws(SQLiteFailure) {
      // This commit syncs the log, including all earlier commits.
      try connection.execute(
        "PRAGMA synchronous = FULL; PRAGMA user_version = \(StoreSchema.version)")
      try connection.emptyLog()
    } catch {
      throw error.storeError
    }
  }

  private func writeSequence(_ row: [StoreCell]) throws(StoreError) {
    try sql("DELETE FROM sqlite_sequence WHERE name = ?").run(row[0].text)
    guard row[1].integer > 0 else { return }
    try sql("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)").run(
      row[0].text, row[1].integer)
  }

  /// Inserts a note's row, with the sum of marks and checksums, which the common form omits.
  private func writeNote(_ cells: [StoreCell], to table: StoreTable) throws(StoreError) {
    guard let chain = cells[8].bytes.withUnsafeBytes({ RecordChecksum($0) }),
      let baseChain = cells[10].bytes.withUnsafeBytes({ RecordChecksum($0) })
    else { throw .damaged("a note's record has no checksum of its log; \(damageAdvice)") }
    var row = DocumentRow(
      number: cells[0].integer, id: DocumentID(cells[1].text), title: cells[2].text,
      createdAt: Timestamp(cells[3].integer), updatedAt: Timestamp(cells[4].integer),
      epoch: Epoch(cells[5].text), revision: cells[6].integer, length: cells[7].integer,
      chain: chain,
      base: cells[9].integer, baseChain: baseChain, marks: 0, unsnapped: cells[11].integer,
      folder: FolderPath(stored: cells[13].text),
      kind: NoteKind(stored: cells[14].integer))
    let marks = try sql("SELECT sequence, revision, digest, client FROM marks WHERE document = ?")
    marks.bind(row.number)
    defer { marks.reset() }
    while try marks.step() {
      let mark = ClientMark(
        sequence: marks.integer(0), revision: marks.integer(1), digest: marks.bits(2))
      row.marks &+= hasher.hash(of: mark, client: marks.text(3), document: row.id)
    }
    let revisions = cells[12].text.split(separator: ",").compactMap { Int($0) }
    if !revisions.isEmpty {
      let (name, value) = SQLiteDatabase.setBacks(revisions, ofDocument: row.number)
      hasher.begin(.secret)
      hasher.add(name)
      hasher.add(value)
      try sql("INSERT INTO meta (name, value, checksum) VALUES (?, ?, ?)").run(
        name, Blob(value), hasher.checksum())
    }
    var names = table.columns.prefix(12).map(\.name) + ["folder", "kind", "marks", "checksum"]
    var values = zip(table.columns, cells).prefix(12).map { Self.value($1, $0.kind) }
    values += [row.folder.text, row.kind.number, row.marks, hasher.checksum(of: row)]
    if table.name == "deleted_documents" {
      let deletion = Deletion(time: Timestamp(cells[15].integer), author: cells[16].text)
      names += ["deleted", "author", "deletion_checksum"]
      values += [
        deletion.time, deletion.author,
        hasher.checksum(of: deletion, document: row.id, number: row.number),
      ]
    }
    let statement = try sql(Self.insertion(table.name, names))
    statement.bind(all: values)
    defer { statement.reset() }
    _ = try statement.step()
  }

  private static let fileInsertion = """
    INSERT INTO note_files (document, file, name, time, seen)
    VALUES (?1, (SELECT number FROM files WHERE hash = ?2), ?3, ?4, ?5)
    """

  private static func insertion(_ table: String, _ columns: [String]) -> String {
    let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    return "INSERT INTO \(table) (\(names)) VALUES (\(places))"
  }

  private static func value(_ cell: StoreCell, _ kind: StoreTable.Kind) -> any StoredValue {
    switch cell {
    case .none: String?.none
    case .integer(let value): value
    case .bytes(let bytes):
      switch kind {
      case .bytes: Blob(bytes)
      case .text, .integer: String(decoding: bytes, as: UTF8.self)
      }
    }
  }

  private func sql(_ text: String) throws(StoreError) -> SQLiteStatement {
    do throws(SQLiteFailure) {
      return try connection.statement(text)
    } catch {
      throw error.storeError
    }
  }
}
