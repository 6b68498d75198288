import ParleyStoreRecords

/// The tables of a store, and the migrations of older stores.
enum StoreSchema {
  /// `PRLY`, the application id in the file's header.
  static let applicationID = 0x5052_4c59

  /// The format of ``tables``, the first released format.
  static let firstVersion = 12

  /// The tables of 0.1.0. They must not change: ``migrations`` create later formats.
  static let tables = """
    CREATE TABLE documents (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      title TEXT NOT NULL,
      created INTEGER NOT NULL,
      updated INTEGER NOT NULL,
      epoch TEXT NOT NULL,
      revision INTEGER NOT NULL,
      length INTEGER NOT NULL,      -- of the text at the head, in Unicode scalars
      chain BLOB NOT NULL,          -- the head entry's checksum
      base INTEGER NOT NULL,        -- entries up to this revision have been compacted away
      base_chain BLOB NOT NULL,     -- the checksum of the entry at base
      marks INTEGER NOT NULL,       -- sum of the hashes of the document's marks
      unsnapped INTEGER NOT NULL,   -- bytes of entries since the newest snapshot, about
      checksum BLOB NOT NULL,       -- over all but unsnapped
      folder TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX documents_by_creation ON documents (created, id);
    CREATE INDEX documents_by_folder ON documents (folder, created, id);
    -- The entries after this revision, and before the next epoch's, were written in this epoch.
    CREATE TABLE epochs (
      document INTEGER NOT NULL,
      after INTEGER NOT NULL,
      epoch TEXT NOT NULL,
      PRIMARY KEY (document, after)
    ) WITHOUT ROWID;
    CREATE TABLE log (
      document INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      client TEXT NOT NULL,
      sequence INTEGER NOT NULL,
      digest INTEGER NOT NULL,
      operation BLOB NOT NULL,      -- JSON form
      author TEXT NOT NULL,
      time INTEGER NOT NULL,
      checksum BLOB NOT NULL,       -- over the fields, the epoch, the document, and the predecessor's
      PRIMARY KEY (document, revision)
    ) WITHOUT ROWID;
    CREATE TABLE marks (
      document INTEGER NOT NULL,
      client TEXT NOT NULL,
      sequence INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      digest INTEGER NOT NULL,
      PRIMARY KEY (document, client)
    ) WITHOUT ROWID;
    CREATE TABLE snapshots (
      number INTEGER PRIMARY KEY,
      document INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      chain BLOB NOT NULL,          -- the checksum of the entry at the revision
      time INTEGER NOT NULL,        -- of that entry
      text BLOB NOT NULL,           -- UTF-8
      authors BLOB NOT NULL,        -- runs of authors, see AuthorRunsCoding
      checksum BLOB NOT NULL,
      UNIQUE (document, revision)
    );
    -- Deleted documents whose rows in the tables above are still to be removed.
    CREATE TABLE garbage (document INTEGER PRIMARY KEY);
    CREATE TABLE meta (
      name TEXT PRIMARY KEY,
      value BLOB NOT NULL,
      checksum BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE versions (
      document INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      name TEXT NOT NULL,
      author TEXT NOT NULL,
      time INTEGER NOT NULL,
      checksum BLOB NOT NULL,
      PRIMARY KEY (document, revision)
    ) WITHOUT ROWID;

    -- Rooms with a history.

    -- The epoch of all rooms that have no row yet.
    CREATE TABLE room_epoch (epoch TEXT NOT NULL);
    INSERT INTO room_epoch VALUES (lower(hex(randomblob(12))));
    CREATE TABLE rooms (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE,
      epoch TEXT NOT NULL,
      head INTEGER NOT NULL,        -- offset of the newest publication
      time INTEGER NOT NULL,        -- of the newest publication
      checksum BLOB NOT NULL
    );
    CREATE TABLE publications (
      room INTEGER NOT NULL,
      offset INTEGER NOT NULL,
      time INTEGER NOT NULL,
      expires INTEGER NOT NULL,     -- when it may be forgotten
      person TEXT,
      sender TEXT,
      data BLOB NOT NULL,
      checksum BLOB NOT NULL,       -- over the fields and the room
      PRIMARY KEY (room, offset)
    ) WITHOUT ROWID;
    CREATE INDEX publications_by_expiry ON publications (expires);
    -- What publishers called their publications, so that none is published twice.
    CREATE TABLE publication_keys (
      room INTEGER NOT NULL,
      key TEXT NOT NULL,
      offset INTEGER NOT NULL,
      time INTEGER NOT NULL,
      digest BLOB NOT NULL,         -- of what was published under the key
      expires INTEGER NOT NULL,
      PRIMARY KEY (room, key)
    ) WITHOUT ROWID;
    CREATE INDEX publication_keys_by_expiry ON publication_keys (expires);
    -- Who is told of a room's publications while offline.
    CREATE TABLE room_members (
      room INTEGER NOT NULL,
      person TEXT NOT NULL,
      PRIMARY KEY (room, person)
    ) WITHOUT ROWID;
    -- How far a publication has come with a person: 1 is delivered, 2 is read.
    CREATE TABLE receipts (
      room INTEGER NOT NULL,
      offset INTEGER NOT NULL,
      person TEXT NOT NULL,
      state INTEGER NOT NULL,
      PRIMARY KEY (room, offset, person)
    ) WITHOUT ROWID;
    CREATE TABLE flags (
      room INTEGER NOT NULL,
      offset INTEGER NOT NULL,
      person TEXT NOT NULL,
      reason TEXT NOT NULL,
      time INTEGER NOT NULL,
      PRIMARY KEY (room, offset, person)
    ) WITHOUT ROWID;
    CREATE TABLE blocks (
      person TEXT NOT NULL,
      blocked TEXT NOT NULL,
      PRIMARY KEY (person, blocked)
    ) WITHOUT ROWID;
    CREATE TABLE last_online (
      person TEXT PRIMARY KEY,
      time INTEGER NOT NULL
    ) WITHOUT ROWID;

    -- Events for external services.

    CREATE TABLE outbox (
      target INTEGER NOT NULL,
      number INTEGER NOT NULL,      -- counts up while anything waits for the target
      id TEXT NOT NULL,
      type TEXT NOT NULL,
      subject TEXT NOT NULL,
      time INTEGER NOT NULL,
      data BLOB NOT NULL,
      PRIMARY KEY (target, number)
    ) WITHOUT ROWID;
    -- News that later news of the same may still replace.
    CREATE TABLE outbox_held (
      target INTEGER NOT NULL,
      subject TEXT NOT NULL,
      type TEXT NOT NULL,
      since INTEGER NOT NULL,
      due INTEGER NOT NULL,
      time INTEGER NOT NULL,
      data BLOB NOT NULL,
      PRIMARY KEY (target, subject, type)
    ) WITHOUT ROWID;
    CREATE INDEX outbox_held_by_due ON outbox_held (target, due);
    CREATE TABLE dead_letters (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      target INTEGER NOT NULL,
      place INTEGER NOT NULL,       -- the event's number in the outbox
      id TEXT NOT NULL,
      type TEXT NOT NULL,
      subject TEXT NOT NULL,
      time INTEGER NOT NULL,
      data BLOB NOT NULL,
      died INTEGER NOT NULL,
      reason INTEGER NOT NULL
    );

    -- Requests that are processed once.

    -- Answers to requests that name themselves by a key, so that none is done twice.
    CREATE TABLE answers (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      owner TEXT NOT NULL,
      key TEXT NOT NULL,            -- method, path, and the client's own key
      digest BLOB NOT NULL,         -- of what was asked for under the key
      answer BLOB NOT NULL,
      checksum BLOB NOT NULL,
      expires INTEGER NOT NULL,
      UNIQUE (owner, key)
    );
    CREATE INDEX answers_by_owner ON answers (owner, number);
    CREATE INDEX answers_by_expiry ON answers (expires);
    -- Notes under ids that their makers chose.
    CREATE TABLE note_origins (
      id TEXT PRIMARY KEY,
      owner TEXT NOT NULL,
      title TEXT NOT NULL,          -- the first one
      rest INTEGER NOT NULL,        -- milliseconds for which the id of a deleted note rests
      deleted INTEGER NOT NULL,
      expires INTEGER               -- when the id may be used again; NULL until it was looked up
    ) WITHOUT ROWID;
    CREATE INDEX note_origins_by_expiry ON note_origins (deleted, expires);

    -- Groups, likes, and the last publication that a person has read.

    CREATE TABLE chat_groups (
      room INTEGER PRIMARY KEY,
      name TEXT NOT NULL,           -- of the room
      title TEXT NOT NULL,
      purpose TEXT,
      picture TEXT,
      open INTEGER NOT NULL,        -- whether people may join by themselves
      creator TEXT,
      created INTEGER NOT NULL,
      updated INTEGER NOT NULL,
      members INTEGER NOT NULL      -- how many there are
    );
    CREATE TABLE group_members (
      room INTEGER NOT NULL,
      person TEXT NOT NULL,
      name TEXT NOT NULL,           -- of the room
      nickname TEXT NOT NULL,
      joined INTEGER NOT NULL,
      PRIMARY KEY (room, person)
    ) WITHOUT ROWID;
    CREATE INDEX group_members_by_person ON group_members (person, name);
    -- Likes, and other reactions: one of each person for each publication.
    CREATE TABLE likes (
      room INTEGER NOT NULL,
      offset INTEGER NOT NULL,
      person TEXT NOT NULL,
      reaction TEXT NOT NULL,
      PRIMARY KEY (room, offset, person)
    ) WITHOUT ROWID;
    -- The newest publication of a room that a person has read.
    CREATE TABLE read_marks (
      person TEXT NOT NULL,
      name TEXT NOT NULL,           -- of the room
      room INTEGER NOT NULL,
      offset INTEGER NOT NULL,
      PRIMARY KEY (person, name)
    ) WITHOUT ROWID;
    CREATE INDEX read_marks_by_room ON read_marks (room);

    -- Deleted notes that can be restored.

    CREATE TABLE deleted_documents (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL,             -- free for another note
      title TEXT NOT NULL,
      created INTEGER NOT NULL,
      updated INTEGER NOT NULL,
      epoch TEXT NOT NULL,
      revision INTEGER NOT NULL,
      length INTEGER NOT NULL,
      chain BLOB NOT NULL,
      base INTEGER NOT NULL,
      base_chain BLOB NOT NULL,
      marks INTEGER NOT NULL,
      unsnapped INTEGER NOT NULL,
      checksum BLOB NOT NULL,       -- as in documents
      deleted INTEGER NOT NULL,     -- when
      author TEXT NOT NULL,         -- who did it
      deletion_checksum BLOB NOT NULL,
      folder TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX deleted_documents_by_time ON deleted_documents (deleted, id);
    CREATE INDEX deleted_documents_by_id ON deleted_documents (id, deleted);

    -- Files of notes.

    CREATE TABLE files (
      number INTEGER PRIMARY KEY,
      hash BLOB NOT NULL UNIQUE,    -- SHA-256 of the bytes
      size INTEGER NOT NULL,
      bytes BLOB NOT NULL           -- last: the other columns are read without it
    );
    CREATE TABLE note_files (
      document INTEGER NOT NULL,
      file INTEGER NOT NULL,
      name TEXT NOT NULL,
      time INTEGER NOT NULL,        -- when it was last put there
      seen INTEGER NOT NULL,        -- a revision whose text names it; -1 while none is known
      PRIMARY KEY (document, file)
    ) WITHOUT ROWID;
    CREATE INDEX note_files_by_file ON note_files (file);

    -- Comments on notes.

    CREATE TABLE comments (
      document INTEGER NOT NULL,
      id TEXT NOT NULL,
      thread TEXT NOT NULL,         -- the comment that it answers; empty for the first of a thread
      data BLOB NOT NULL,           -- see CommentCoding
      checksum BLOB NOT NULL,
      PRIMARY KEY (document, id)
    ) WITHOUT ROWID;
    CREATE INDEX comments_by_thread ON comments (document, thread);

    -- Sessions of signed-in users, and links to notes.

    CREATE TABLE sessions (
      id TEXT PRIMARY KEY,
      user TEXT NOT NULL,
      turn INTEGER NOT NULL,        -- the refresh token that counts says this number
      begun INTEGER NOT NULL,
      renewed INTEGER NOT NULL,     -- when that token was made
      expires INTEGER NOT NULL,     -- when it ends if it is not used
      ends INTEGER NOT NULL,        -- when it ends in any case
      browser TEXT NOT NULL,
      system TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX sessions_by_user ON sessions (user, renewed);
    CREATE INDEX sessions_by_expiry ON sessions (expires);
    CREATE TABLE note_links (
      id TEXT PRIMARY KEY,
      note TEXT NOT NULL,
      hash BLOB NOT NULL UNIQUE,    -- SHA-256 of the key that opens it
      access INTEGER NOT NULL,      -- see NoteLink.Access
      maker TEXT NOT NULL,
      created INTEGER NOT NULL,
      expires INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX note_links_by_note ON note_links (note, created);
    CREATE INDEX note_links_by_expiry ON note_links (expires);

    -- Names of published notes.

    CREATE TABLE public_names (
      name TEXT PRIMARY KEY,        -- see ReadableName
      id TEXT NOT NULL,             -- of the publication, which its readers' tokens name
      document INTEGER NOT NULL,    -- the number of the note, which no other note gets
      maker TEXT NOT NULL,
      created INTEGER NOT NULL,
      rests INTEGER                 -- NULL while the note is published, else until when the name rests; 0: not dated
    ) WITHOUT ROWID;
    CREATE INDEX public_names_by_document ON public_names (document);
    CREATE INDEX public_names_by_maker ON public_names (maker);
    CREATE INDEX public_names_by_rest ON public_names (rests);
    """

  /// The migrations, one for each format after the first. A store of format 12 + *n* needs those
  /// from index *n* on.
  static let migrations = [
    // Rich notes, and values of rooms.
    """
    ALTER TABLE documents ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;  -- see NoteKind.number
    ALTER TABLE deleted_documents ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE snapshots ADD COLUMN format BLOB NOT NULL DEFAULT x'';  -- JSON of the attributes
    ALTER TABLE rooms ADD COLUMN value_names INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE rooms ADD COLUMN value_bytes INTEGER NOT NULL DEFAULT 0;
    -- JSON of the operations on values. With them, empty data are none.
    ALTER TABLE publications ADD COLUMN changes BLOB;
    -- The newest value of each name.
    CREATE TABLE room_values (
      room INTEGER NOT NULL,
      name TEXT NOT NULL,
      offset INTEGER NOT NULL,      -- of the publication that changed it last
      value BLOB NOT NULL,          -- canonical JSON
      lifetime INTEGER,             -- milliseconds for which it exists; NULL without limit
      expires INTEGER,              -- when it is deleted; NULL without limit
      holder TEXT,                  -- the client to whose connections it is bound; NULL for none
      checksum BLOB NOT NULL,       -- over the room and the fields but expires
      PRIMARY KEY (room, name)
    ) WITHOUT ROWID;
    CREATE INDEX room_values_by_expiry ON room_values (expires) WHERE expires IS NOT NULL;
    CREATE INDEX room_values_by_holder ON room_values (holder) WHERE holder IS NOT NULL;
    """,
    // The audit log.
    """
    CREATE TABLE audit (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      time INTEGER NOT NULL,
      actor TEXT NOT NULL,
      action TEXT NOT NULL,         -- see AuditAction
      target TEXT NOT NULL,
      address TEXT NOT NULL,
      outcome INTEGER NOT NULL,     -- see AuditOutcome
      detail TEXT NOT NULL,
      checksum BLOB NOT NULL        -- over the fields but the number
    );
    CREATE INDEX audit_refused ON audit (number) WHERE outcome = 2;
    """,
    // Notices.
    """
    CREATE TABLE notices (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      person TEXT NOT NULL,
      place INTEGER NOT NULL,       -- counts the notices of the person
      document INTEGER NOT NULL,
      kind INTEGER NOT NULL,        -- see NoticeKind
      comment TEXT NOT NULL,        -- empty for none
      thread TEXT NOT NULL,
      author TEXT NOT NULL,
      time INTEGER NOT NULL,
      seen INTEGER NOT NULL,        -- 1 if it was read
      checksum BLOB NOT NULL        -- over the fields but number, place and seen
    );
    CREATE INDEX notices_of_person ON notices (person, number);
    CREATE INDEX notices_of_note ON notices (document, comment, person);
    CREATE INDEX notices_unread ON notices (person, seen, number);
    """,
  ]

  /// The format that this program writes.
  static var version: Int { firstVersion + migrations.count }

  /// Returns the steps to this program's format, each with its format. Format 0 is an empty file.
  private static func steps(from version: Int) -> [(version: Int, statements: String)] {
    let all = ([tables] + migrations).enumerated().map { (firstVersion + $0, $1) }
    return all.filter { $0.0 > version }
  }

  /// Migrates an open file to this program's format, and creates its tables if it is empty.
  static func prepare(
    _ connection: borrowing SQLiteConnection, path: String
  ) throws(StoreOpenError) {
    // Check before any write: a file of another program must not be changed.
    let version = try version(of: connection, path: path)
    let isLogging: Bool
    do throws(SQLiteFailure) {
      if version == 0 { try connection.execute("PRAGMA auto_vacuum = INCREMENTAL") }
      try configure(connection)
      // Without shared memory, SQLite would use a mode in which a power failure can undo commits.
      isLogging =
        try connection.integer("SELECT journal_mode = 'wal' FROM pragma_journal_mode") == 1
      for step in steps(from: version) {
        // Use one transaction per step: after an interruption the file has one format or the other.
        try connection.execute(
          """
          BEGIN IMMEDIATE;
          \(step.statements)
          PRAGMA application_id = \(applicationID);
          PRAGMA user_version = \(step.version);
          COMMIT;
          """)
      }
    } catch {
      throw StoreOpenError(error, path: path)
    }
    guard isLogging else {
      throw .unavailable(
        path: path, detail: "its file system cannot share memory between programs")
    }
  }

  /// Creates all tables in an empty file, which the first commit marks as unfinished.
  static func makeUnfinished(_ connection: borrowing SQLiteConnection) throws(SQLiteFailure) {
    try connection.execute(
      """
      PRAGMA auto_vacuum = INCREMENTAL;
      BEGIN IMMEDIATE;
      PRAGMA application_id = \(applicationID);
      PRAGMA user_version = \(UnfinishedFormat.number);
      COMMIT;
      """)
    try configure(connection)
    try connection.execute(
      """
      PRAGMA synchronous = NORMAL;
      BEGIN IMMEDIATE;
      \(([tables] + migrations).joined(separator: "\n"))
      DELETE FROM room_epoch;
      COMMIT;
      """)
  }

  /// Verifies that a file is a store of this program's format, without writing to it.
  static func verify(
    _ connection: borrowing SQLiteConnection, path: String, isUnfinished: Bool = false
  ) throws(StoreOpenError) {
    let version: Int
    do throws(StoreOpenError) {
      version = try self.version(of: connection, path: path)
    } catch {
      if isUnfinished, case .unfinished = error { return }
      throw error
    }
    guard version == Self.version else {
      throw .older(path: path, version: version, supported: Self.version)
    }
  }

  /// Returns the format of a store; 0 for an empty file.
  static func version(
    of connection: borrowing SQLiteConnection, path: String
  ) throws(StoreOpenError) -> Int {
    let id: Int
    let version: Int
    let tableCount: Int
    do throws(SQLiteFailure) {
      id = try connection.integer("PRAGMA application_id")
      version = try connection.integer("PRAGMA user_version")
      tableCount = try connection.integer("SELECT count(*) FROM sqlite_schema")
    } catch {
      throw StoreOpenError(error, path: path)
    }
    guard id == applicationID || (id == 0 && tableCount == 0) else {
      throw .notAStore(path: path)
    }
    guard version != UnfinishedFormat.number else { throw .unfinished(path: path) }
    guard version <= Self.version else {
      throw .newer(path: path, version: version, supported: Self.version)
    }
    guard version == 0 || version >= firstVersion else { throw .unreleased(path: path) }
    return version
  }

  private static func configure(
    _ connection: borrowing SQLiteConnection
  ) throws(SQLiteFailure) {
    try connection.execute(
      """
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;          -- a commit returns after its bytes are on the disk
      PRAGMA journal_size_limit = 67108864;
      PRAGMA temp_store = MEMORY;
      PRAGMA cell_size_check = ON;
      PRAGMA trusted_schema = OFF;
      PRAGMA secure_delete = FAST;
      PRAGMA cache_size = -32768;
      """)
  }
}
