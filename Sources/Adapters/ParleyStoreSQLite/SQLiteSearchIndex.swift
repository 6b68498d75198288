import CParleySQLite
public import ParleyGatewayPorts
import Glibc
import ParleyStoreRecords

/// The search index of words, in a separate SQLite file beside the store.
///
/// The file contains only data derived from the store. It is rebuilt if it is missing, damaged or
/// of another version. Its commits are not synced; after a power failure it may be in an earlier
/// state, and is updated in the same way as an outdated index.
///
/// Words are folded before SQLite receives them (``SearchWords``), so its tokeniser only splits at
/// spaces. The table of words stores no text: to delete a note's words, they are computed from its
/// previous text.
public final class SQLiteSearchIndex: SearchIndex {
  /// The version of tables and folding. A file of another version is rebuilt.
  private static let version = 2
  /// The pages in the write-ahead log from which a checkpoint is made: 4 MiB.
  private static let walPagesToCheckpoint = 1_024

  private let path: String
  private var connection: SQLiteConnection

  /// Opens the index of a store, and creates it if it is missing.
  ///
  /// - Parameter store: The store's path.
  public init(beside store: String) throws(StoreOpenError) {
    path = Self.path(beside: store)
    connection = try Self.open(path)
  }

  /// Opens an index for reading, while a server may be writing to it.
  ///
  /// - Returns: `nil` if there is no index, or if its version differs.
  public init?(reading store: String) throws(StoreOpenError) {
    path = Self.path(beside: store)
    guard StoreFile.isFile(path) else { return nil }
    connection = try StoreFile.connect(path)
    guard (try? connection.integer("PRAGMA user_version")) == Self.version else { return nil }
    do throws(SQLiteFailure) {
      try connection.execute("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY")
    } catch {
      throw StoreOpenError(error, path: path)
    }
  }

  /// Returns the path of the index of a store.
  ///
  /// - Parameter store: The store's path.
  public static func path(beside store: String) -> String { store + "-search" }

  private static func open(_ path: String) throws(StoreOpenError) -> SQLiteConnection {
    try StoreFile.make(path)
    do throws(SQLiteFailure) {
      return try prepared(path)
    } catch {
      // The file is damaged or of another kind. Replace it: an index contains only derived data.
      let codes = [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT, SQLITE_ERROR]
      guard codes.contains(error.primaryCode) else { throw StoreOpenError(error, path: path) }
    }
    StoreFile.remove(path)
    try StoreFile.make(path)
    do throws(SQLiteFailure) {
      return try prepared(path)
    } catch {
      throw StoreOpenError(error, path: path)
    }
  }

  private static func prepared(_ path: String) throws(SQLiteFailure) -> SQLiteConnection {
    let connection = try SQLiteConnection(path: path, flags: SQLITE_OPEN_READWRITE)
    let found = try connection.integer("PRAGMA user_version")
    let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
    if found != version, tables > 0 { throw SQLiteFailure(code: SQLITE_NOTADB) }
    try connection.execute(
      """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;
      PRAGMA temp_store = MEMORY;
      """)
    guard tables == 0 else { return connection }
    try connection.execute(
      """
      BEGIN IMMEDIATE;
      CREATE TABLE notes (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        revision INTEGER NOT NULL,
        updated INTEGER NOT NULL,
        created INTEGER NOT NULL,
        title TEXT NOT NULL,
        text TEXT NOT NULL
      );
      CREATE TABLE tags (
        tag TEXT NOT NULL,
        note INTEGER NOT NULL,
        PRIMARY KEY (tag, note)
      ) WITHOUT ROWID;
      CREATE INDEX tags_by_note ON tags (note);
      CREATE VIRTUAL TABLE words USING fts5(
        title, text, content='', prefix='2 3', tokenize='ascii');
      PRAGMA user_version = \(version);
      COMMIT;
      """)
    return connection
  }

  /// The bytes of free disk space that are reserved for the store.
  private static let reserve: UInt64 = 64 << 20

  /// See ``SearchIndex``.
  public func checkRoom() throws(StoreError) {
    var disk = statvfs()
    guard statvfs(path, &disk) == 0 else { return }
    let free = UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
    guard free < Self.reserve else { return }
    throw .unavailable(
      "its disk has \(free >> 20) MiB free, and \(Self.reserve >> 20) are left to the store")
  }

  // MARK: States

  /// See ``SearchIndex``.
  public func states(of ids: [DocumentID]) throws(StoreError) -> [IndexedState?] {
    var states: [IndexedState?] = []
    for id in ids {
      let state = try sql("SELECT revision, updated, created FROM notes WHERE id = ?").first(all: [
        id
      ]) {
        IndexedState(
          revision: $0.integer(0), updatedAt: Timestamp($0.integer(1)),
          createdAt: Timestamp($0.integer(2)))
      }
      states.append(state)
    }
    return states
  }

  /// See ``SearchIndex``.
  public func ids(after id: DocumentID?, limit: Int) throws(StoreError) -> [DocumentID] {
    // An empty id sorts before all ids.
    try sql("SELECT id FROM notes WHERE id > ? ORDER BY id LIMIT ?").rows(all: [id ?? "", limit]) {
      $0.name(0)
    }
  }

  // MARK: Changing

  /// See ``SearchIndex``.
  @discardableResult
  public func put(_ note: IndexedNote) throws(StoreError) -> Bool {
    let tags = NoteTags.all(in: note.text)
    var hasOtherTags = false
    try transaction { () throws(StoreError) in
      let former = try self.tags(of: note.id)
      hasOtherTags = Set(former.map { ExactName($0) }) != Set(tags.map { ExactName($0) })
      let number = try removeWords(of: note.id)
      try sql(
        """
        INSERT OR REPLACE INTO notes (number, id, revision, updated, created, title, text)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """
      ).run(
        number, note.id, note.state.revision, note.state.updatedAt, note.state.createdAt,
        note.title, note.text)
      let key = number ?? connection.lastInsertedKey
      try sql("INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)").run(
        key, SearchWords.joined(note.title), SearchWords.joined(note.text))
      for tag in tags {
        try sql("INSERT INTO tags (tag, note) VALUES (?, ?)").run(tag, key)
      }
    }
    return hasOtherTags
  }

  /// See ``SearchIndex``.
  public func remove(_ ids: [DocumentID]) throws(StoreError) {
    try transaction { () throws(StoreError) in
      for id in ids {
        guard let number = try removeWords(of: id) else { continue }
        try sql("DELETE FROM notes WHERE number = ?").run(number)
      }
    }
  }

  /// Deletes a note's words and tags.
  ///
  /// - Returns: The note's number; `nil` if it is not indexed.
  private func removeWords(of id: DocumentID) throws(StoreError) -> Int? {
    let found = try sql("SELECT number, title, text FROM notes WHERE id = ?").first(all: [id]) {
      (number: $0.integer(0), title: $0.text(1), text: $0.text(2))
    }
    guard let found else { return nil }
    try sql("INSERT INTO words (words, rowid, title, text) VALUES ('delete', ?, ?, ?)").run(
      found.number, SearchWords.joined(found.title), SearchWords.joined(found.text))
    try sql("DELETE FROM tags WHERE note = ?").run(found.number)
    return found.number
  }

  /// See ``SearchIndex``.
  public func clear() throws(StoreError) {
    StoreFile.remove(path)
    do throws(StoreOpenError) {
      connection = try Self.open(path)
    } catch {
      throw .unavailable(
        "the index of words cannot be rebuilt; check the folder's owner and space")
    }
  }

  /// See ``SearchIndex``.
  public func upkeep() {
    guard connection.walPages >= Self.walPagesToCheckpoint else { return }
    // A failed checkpoint is retried at the next call.
    try? connection.checkpoint()
  }

  // MARK: Searching

  /// See ``SearchIndex``.
  public func find(
    _ query: SearchQuery, skipping count: Int, limit: Int
  ) throws(StoreError) -> [DocumentID] {
    guard !query.terms.isEmpty else { return [] }
    // Rank by the note's own content: FTS5's rank depends on all notes, and would reveal words of
    // notes that the user may not read.
    return try sql(
      """
      SELECT notes.id FROM words JOIN notes ON notes.number = words.rowid WHERE words MATCH ?
      ORDER BY words.rowid IN (SELECT rowid FROM words WHERE words MATCH ?) DESC,
        notes.updated DESC, notes.id
      LIMIT ? OFFSET ?
      """
    ).rows(all: [
      Self.expression(query, joinedBy: "AND"),
      "{title} : (\(Self.expression(query, joinedBy: "OR")))", limit, count,
    ]) { $0.name(0) }
  }

  /// Returns a query in FTS5 syntax. Folded words contain no special character of the syntax.
  private static func expression(_ query: SearchQuery, joinedBy word: String) -> String {
    query.terms.map { term in
      "\"\(term.words.joined(separator: " "))\"\(term.isPrefix ? " *" : "")"
    }.joined(separator: " \(word) ")
  }

  /// See ``SearchIndex``.
  public func find(
    tag: String, skipping count: Int, limit: Int
  ) throws(StoreError) -> [DocumentID] {
    try sql(
      """
      SELECT notes.id FROM tags JOIN notes ON notes.number = tags.note WHERE tags.tag = ?
      ORDER BY notes.updated DESC, notes.id LIMIT ? OFFSET ?
      """
    ).rows(all: [tag, limit, count]) { $0.name(0) }
  }

  /// See ``SearchIndex``.
  public func tags(after place: TaggedNote?, limit: Int) throws(StoreError) -> [TaggedNote] {
    // Read along the index; the notes of one tag are in the order of their numbers.
    let number = try place.flatMap { place throws(StoreError) in
      try sql("SELECT number FROM notes WHERE id = ?").first(all: [place.id]) { $0.integer(0) }
    }
    return try sql(
      """
      SELECT tags.tag, notes.id FROM tags JOIN notes ON notes.number = tags.note
      WHERE (tags.tag, tags.note) > (?, ?) ORDER BY tags.tag, tags.note LIMIT ?
      """
    ).rows(all: [place?.tag ?? "", number ?? -1, limit]) {
      TaggedNote(tag: $0.text(0), id: $0.name(1))
    }
  }

  /// See ``SearchIndex``.
  public func tags(of id: DocumentID) throws(StoreError) -> [String] {
    try sql(
      "SELECT tag FROM tags WHERE note = (SELECT number FROM notes WHERE id = ?) ORDER BY tag"
    ).rows(all: [id]) { $0.text(0) }
  }

  /// See ``SearchIndex``.
  public func text(of id: DocumentID) throws(StoreError) -> String? {
    try sql("SELECT text FROM notes WHERE id = ?").first(all: [id]) { $0.text(0) }
  }

  // MARK: Statements

  private func sql(_ text: String) throws(StoreError) -> SQLiteStatement {
    do throws(SQLiteFailure) {
      return try connection.statement(text)
    } catch {
      throw error.storeError
    }
  }

  private func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    try sql("BEGIN IMMEDIATE").run()
    do throws(StoreError) {
      try body()
      try sql("COMMIT").run()
    } catch {
      if connection.isInTransaction { try? sql("ROLLBACK").run() }
      throw error
    }
  }
}
