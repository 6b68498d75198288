import ParleyStoreRecords

/// The tables of a store, and the migrations of older stores.
///
/// Programs of different versions may use one database. As far as possible, a migration adds only
/// what older programs do not see. ``PostgresSchema/oldest`` is the format of the oldest programs
/// that can continue.
enum PostgresSchema {
  /// The format of ``tables``, the first released format.
  static let firstVersion = 10

  /// The format that this program writes.
  static var version: Int { firstVersion + migrations.count }

  /// The oldest format whose programs can use tables of ``version``.
  static let oldest = 11

  /// The statements that create the tables of 0.1.0. They must not change: ``migrations`` create
  /// later formats.
  ///
  /// Texts are `bytea` in UTF-8: see ``PostgresParameter``.
  static let tables: [String] = [
    """
    CREATE TABLE parley.documents (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id bytea NOT NULL UNIQUE,
      title bytea NOT NULL,
      created bigint NOT NULL,
      updated bigint NOT NULL,
      epoch bytea NOT NULL,
      revision bigint NOT NULL,
      length bigint NOT NULL,       -- of the text at the head, in Unicode scalars
      chain bytea NOT NULL,         -- the head entry's checksum
      base bigint NOT NULL,         -- entries up to this revision have been compacted away
      base_chain bytea NOT NULL,    -- the checksum of the entry at base
      unsnapped bigint NOT NULL,    -- bytes of entries since the newest snapshot, about
      set_backs bigint[] NOT NULL DEFAULT '{}',  -- revisions before which the clock was set back
      folder bytea NOT NULL DEFAULT '',
      session_floor bigint NOT NULL DEFAULT 0  -- the session of clients that the note has no mark of
    ) WITH (fillfactor = 50)        -- so that a change stays in its page and touches no index
    """,
    "CREATE INDEX documents_by_creation ON parley.documents (created, id)",
    "CREATE INDEX documents_by_folder ON parley.documents (folder, created, id)",
    """
    CREATE TABLE parley.epochs (
      document bigint NOT NULL,
      after bigint NOT NULL,        -- the entries after this revision were written in it
      epoch bytea NOT NULL,
      PRIMARY KEY (document, after)
    )
    """,
    """
    CREATE TABLE parley.log (
      document bigint NOT NULL,
      revision bigint NOT NULL,
      client bytea NOT NULL,
      sequence bigint NOT NULL,
      digest bigint NOT NULL,
      operation bytea NOT NULL,     -- JSON form
      author bytea NOT NULL,
      time bigint NOT NULL,
      checksum bytea NOT NULL,      -- over the fields, the epoch, the document, the predecessor's
      PRIMARY KEY (document, revision)
    )
    """,
    """
    CREATE TABLE parley.marks (
      document bigint NOT NULL,
      client bytea NOT NULL,
      sequence bigint NOT NULL,
      revision bigint NOT NULL,
      digest bigint NOT NULL,
      session bigint NOT NULL DEFAULT 0,  -- entries of an earlier one are no longer appended
      begun bigint NOT NULL DEFAULT 0,    -- when the session began: seconds of the database's clock
      PRIMARY KEY (document, client)
    ) WITH (fillfactor = 50)
    """,
    """
    CREATE TABLE parley.snapshots (
      document bigint NOT NULL,
      revision bigint NOT NULL,
      chain bytea NOT NULL,
      time bigint NOT NULL,
      text bytea NOT NULL,
      authors bytea NOT NULL,
      checksum bytea NOT NULL,
      PRIMARY KEY (document, revision)
    )
    """,
    """
    CREATE TABLE parley.versions (
      document bigint NOT NULL,
      revision bigint NOT NULL,
      name bytea NOT NULL,
      author bytea NOT NULL,
      time bigint NOT NULL,
      checksum bytea NOT NULL,
      PRIMARY KEY (document, revision)
    )
    """,
    // Deleted documents whose other rows are still to be deleted.
    "CREATE TABLE parley.garbage (document bigint PRIMARY KEY)",
    """
    CREATE TABLE parley.meta (
      name bytea PRIMARY KEY,
      value bytea NOT NULL,
      checksum bytea NOT NULL
    )
    """,
    // The newest commit of each store, which shows the outcome of a commit after a lost connection.
    """
    CREATE TABLE parley.writers (
      id bytea PRIMARY KEY,
      batch bigint NOT NULL,
      seen timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50)
    """,
    "CREATE TABLE parley.room_epoch (epoch bytea NOT NULL)",
    """
    INSERT INTO parley.room_epoch
      VALUES (convert_to(left(replace(gen_random_uuid()::text, '-', ''), 24), 'UTF8'))
    """,
    """
    CREATE TABLE parley.rooms (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name bytea NOT NULL UNIQUE,
      epoch bytea NOT NULL,
      head bigint NOT NULL,         -- offset of the newest publication
      time bigint NOT NULL,         -- of the newest publication
      checksum bytea NOT NULL       -- empty before the first publication
    ) WITH (fillfactor = 50)
    """,
    """
    CREATE TABLE parley.publications (
      room bigint NOT NULL,
      "offset" bigint NOT NULL,
      time bigint NOT NULL,
      expires bigint NOT NULL,      -- when it may be forgotten
      person bytea,
      sender bytea,
      data bytea NOT NULL,
      checksum bytea NOT NULL,
      PRIMARY KEY (room, "offset")
    )
    """,
    "CREATE INDEX publications_by_expiry ON parley.publications (expires)",
    """
    CREATE TABLE parley.publication_keys (
      room bigint NOT NULL,
      key bytea NOT NULL,
      "offset" bigint NOT NULL,
      time bigint NOT NULL,
      digest bytea NOT NULL,        -- of what was published under the key
      expires bigint NOT NULL,
      PRIMARY KEY (room, key)
    )
    """,
    "CREATE INDEX publication_keys_by_expiry ON parley.publication_keys (expires)",
    """
    CREATE TABLE parley.room_members (
      room bigint NOT NULL, person bytea NOT NULL, PRIMARY KEY (room, person)
    )
    """,
    """
    CREATE TABLE parley.receipts (
      room bigint NOT NULL,
      "offset" bigint NOT NULL,
      person bytea NOT NULL,
      state bigint NOT NULL,        -- 1 is delivered, 2 is read
      PRIMARY KEY (room, "offset", person)
    )
    """,
    """
    CREATE TABLE parley.flags (
      room bigint NOT NULL,
      "offset" bigint NOT NULL,
      person bytea NOT NULL,
      reason bytea NOT NULL,
      time bigint NOT NULL,
      PRIMARY KEY (room, "offset", person)
    )
    """,
    """
    CREATE TABLE parley.blocks (
      person bytea NOT NULL, blocked bytea NOT NULL, PRIMARY KEY (person, blocked)
    )
    """,
    "CREATE TABLE parley.last_online (person bytea PRIMARY KEY, time bigint NOT NULL)",
    """
    CREATE TABLE parley.outbox (
      number bigint GENERATED ALWAYS AS IDENTITY,
      target bigint NOT NULL,
      id bytea NOT NULL,
      type bytea NOT NULL,
      subject bytea NOT NULL,
      time bigint NOT NULL,
      data bytea NOT NULL,
      PRIMARY KEY (target, number)
    )
    """,
    """
    CREATE TABLE parley.outbox_held (
      target bigint NOT NULL,
      subject bytea NOT NULL,
      type bytea NOT NULL,
      since bigint NOT NULL,
      due bigint NOT NULL,
      time bigint NOT NULL,
      data bytea NOT NULL,
      PRIMARY KEY (target, subject, type)
    )
    """,
    "CREATE INDEX outbox_held_by_due ON parley.outbox_held (target, due)",
    """
    CREATE TABLE parley.dead_letters (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      target bigint NOT NULL,
      place bigint NOT NULL,        -- the event's number in the outbox
      id bytea NOT NULL,
      type bytea NOT NULL,
      subject bytea NOT NULL,
      time bigint NOT NULL,
      data bytea NOT NULL,
      died bigint NOT NULL,
      reason bigint NOT NULL
    )
    """,
    """
    CREATE TABLE parley.answers (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      owner bytea NOT NULL,
      key bytea NOT NULL,           -- method, path, and the client's own key
      digest bytea NOT NULL,        -- of what was asked for under the key
      answer bytea NOT NULL,
      checksum bytea NOT NULL,
      expires bigint NOT NULL,
      UNIQUE (owner, key)
    )
    """,
    "CREATE INDEX answers_by_owner ON parley.answers (owner, number)",
    "CREATE INDEX answers_by_expiry ON parley.answers (expires)",
    """
    CREATE TABLE parley.note_origins (
      id bytea PRIMARY KEY,
      owner bytea NOT NULL,
      title bytea NOT NULL,         -- the first one
      rest bigint NOT NULL,         -- milliseconds for which the id of a deleted note rests
      deleted bigint NOT NULL,
      expires bigint                -- when the id may be used again; NULL until it was looked up
    )
    """,
    """
    CREATE TABLE parley.chat_groups (
      room bigint PRIMARY KEY,
      name bytea NOT NULL,          -- of the room
      title bytea NOT NULL,
      purpose bytea,
      picture bytea,
      open bigint NOT NULL,         -- whether people may join by themselves
      creator bytea,
      created bigint NOT NULL,
      updated bigint NOT NULL,
      members bigint NOT NULL       -- how many there are
    )
    """,
    """
    CREATE TABLE parley.group_members (
      room bigint NOT NULL,
      person bytea NOT NULL,
      name bytea NOT NULL,          -- of the room
      nickname bytea NOT NULL,
      joined bigint NOT NULL,
      PRIMARY KEY (room, person)
    )
    """,
    "CREATE INDEX group_members_by_person ON parley.group_members (person, name)",
    """
    CREATE TABLE parley.likes (
      room bigint NOT NULL,
      "offset" bigint NOT NULL,
      person bytea NOT NULL,
      reaction bytea NOT NULL,
      PRIMARY KEY (room, "offset", person)
    )
    """,
    """
    CREATE TABLE parley.read_marks (
      person bytea NOT NULL,
      name bytea NOT NULL,          -- of the room
      room bigint NOT NULL,
      "offset" bigint NOT NULL,
      PRIMARY KEY (person, name)
    )
    """,
    "CREATE INDEX read_marks_by_room ON parley.read_marks (room)",
    "CREATE INDEX note_origins_by_expiry ON parley.note_origins (deleted, expires)",
    // Revoked tokens.
    """
    CREATE TABLE parley.revocations (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      is_user bigint NOT NULL,      -- 1: all tokens of a user that are no younger than before; 2: those of an id, until before
      name bytea NOT NULL,          -- the user's or the token's
      before bigint NOT NULL,
      UNIQUE (is_user, name, before)
    )
    """,
    // Deleted notes that can be restored.
    """
    CREATE TABLE parley.deleted_documents (
      number bigint PRIMARY KEY,
      id bytea NOT NULL,            -- free for another note
      title bytea NOT NULL,
      created bigint NOT NULL,
      updated bigint NOT NULL,
      epoch bytea NOT NULL,
      revision bigint NOT NULL,
      length bigint NOT NULL,
      chain bytea NOT NULL,
      base bigint NOT NULL,
      base_chain bytea NOT NULL,
      unsnapped bigint NOT NULL,
      set_backs bigint[] NOT NULL,
      deleted bigint NOT NULL,      -- when
      author bytea NOT NULL,        -- who did it
      folder bytea NOT NULL DEFAULT '',
      session_floor bigint NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX deleted_documents_by_time ON parley.deleted_documents (deleted, id)",
    "CREATE INDEX deleted_documents_by_id ON parley.deleted_documents (id, deleted)",
    // Files of notes.
    """
    CREATE TABLE parley.files (
      hash bytea PRIMARY KEY,       -- SHA-256 of the bytes
      size bigint NOT NULL,
      bytes bytea NOT NULL
    )
    """,
    // Pictures are already compressed.
    "ALTER TABLE parley.files ALTER COLUMN bytes SET STORAGE EXTERNAL",
    """
    CREATE TABLE parley.note_files (
      document bigint NOT NULL,
      hash bytea NOT NULL,
      name bytea NOT NULL,
      time bigint NOT NULL,         -- when it was last put there
      seen bigint NOT NULL,         -- a revision whose text names it; -1 while none is known
      PRIMARY KEY (document, hash)
    )
    """,
    "CREATE INDEX note_files_by_hash ON parley.note_files (hash)",
    // Comments on notes.
    """
    CREATE TABLE parley.comments (
      document bigint NOT NULL,
      id bytea NOT NULL,
      thread bytea NOT NULL,        -- the comment that it answers; empty for the first of a thread
      data bytea NOT NULL,          -- see CommentCoding
      checksum bytea NOT NULL,
      PRIMARY KEY (document, id)
    )
    """,
    "CREATE INDEX comments_by_thread ON parley.comments (document, thread)",
    // Sessions of signed-in users, and links to notes.
    """
    CREATE TABLE parley.sessions (
      id bytea PRIMARY KEY,
      "user" bytea NOT NULL,
      turn bigint NOT NULL,         -- the refresh token that counts says this number
      begun bigint NOT NULL,
      renewed bigint NOT NULL,      -- when that token was made
      expires bigint NOT NULL,      -- when it ends if it is not used
      ends bigint NOT NULL,         -- when it ends in any case
      browser bytea NOT NULL,
      system bytea NOT NULL
    )
    """,
    "CREATE INDEX sessions_by_user ON parley.sessions (\"user\", renewed)",
    "CREATE INDEX sessions_by_expiry ON parley.sessions (expires)",
    """
    CREATE TABLE parley.note_links (
      id bytea PRIMARY KEY,
      note bytea NOT NULL,
      hash bytea NOT NULL UNIQUE,   -- SHA-256 of the key that opens it
      access bigint NOT NULL,       -- see NoteLink.Access
      maker bytea NOT NULL,
      created bigint NOT NULL,
      expires bigint NOT NULL
    )
    """,
    "CREATE INDEX note_links_by_note ON parley.note_links (note, created)",
    "CREATE INDEX note_links_by_expiry ON parley.note_links (expires)",
    // Names of published notes.
    """
    CREATE TABLE parley.public_names (
      name bytea PRIMARY KEY,       -- see ReadableName
      id bytea NOT NULL,            -- of the publication, which its readers' tokens name
      document bigint NOT NULL,     -- the number of the note, which no other note gets
      maker bytea NOT NULL,
      created bigint NOT NULL,
      rests bigint                  -- NULL while the note is published, else until when the name rests; 0: not dated
    )
    """,
    "CREATE INDEX public_names_by_document ON parley.public_names (document)",
    "CREATE INDEX public_names_by_maker ON parley.public_names (maker)",
    "CREATE INDEX public_names_by_rest ON parley.public_names (rests)",
    appendFunction,
  ]

  /// The migrations, one for each format after the first. A store of format 10 + *n* needs those
  /// from index *n* on.
  static let migrations = [
    // Rich notes, and values of rooms. Older programs would drop formatting and changes of values.
    [
      "ALTER TABLE parley.documents ADD COLUMN kind bigint NOT NULL DEFAULT 0",
      "ALTER TABLE parley.deleted_documents ADD COLUMN kind bigint NOT NULL DEFAULT 0",
      "ALTER TABLE parley.snapshots ADD COLUMN format bytea NOT NULL DEFAULT ''",
      "ALTER TABLE parley.rooms ADD COLUMN value_names bigint NOT NULL DEFAULT 0",
      "ALTER TABLE parley.rooms ADD COLUMN value_bytes bigint NOT NULL DEFAULT 0",
      // JSON of the operations on values. With them, empty data are none.
      "ALTER TABLE parley.publications ADD COLUMN changes bytea",
      // The newest value of each name.
      """
      CREATE TABLE parley.room_values (
        room bigint NOT NULL,
        name bytea NOT NULL,
        "offset" bigint NOT NULL,     -- of the publication that changed it last
        value bytea NOT NULL,         -- canonical JSON
        lifetime bigint,              -- milliseconds for which it exists; NULL without limit
        expires bigint,               -- when it is deleted; NULL without limit
        holder bytea,                 -- the client to whose connections it is bound; NULL for none
        checksum bytea NOT NULL,      -- over the room and the fields but expires
        PRIMARY KEY (room, name)
      )
      """,
      """
      CREATE INDEX room_values_by_expiry ON parley.room_values (expires)
      WHERE expires IS NOT NULL
      """,
      """
      CREATE INDEX room_values_by_holder ON parley.room_values (holder)
      WHERE holder IS NOT NULL
      """,
    ],
    // The audit log.
    [
      """
      CREATE TABLE parley.audit (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        time bigint NOT NULL,
        actor bytea NOT NULL,
        action bytea NOT NULL,        -- see AuditAction
        target bytea NOT NULL,
        address bytea NOT NULL,
        outcome bigint NOT NULL,      -- see AuditOutcome
        detail bytea NOT NULL,
        checksum bytea NOT NULL       -- over the fields but the number
      )
      """,
      "CREATE INDEX audit_refused ON parley.audit (number) WHERE outcome = 2",
    ],
    // Notices.
    [
      """
      CREATE TABLE parley.notices (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        person bytea NOT NULL,
        place bigint NOT NULL,        -- counts the notices of the person
        document bigint NOT NULL,
        kind bigint NOT NULL,         -- see NoticeKind
        comment bytea NOT NULL,       -- empty for none
        thread bytea NOT NULL,
        author bytea NOT NULL,
        time bigint NOT NULL,
        seen bigint NOT NULL,         -- 1 if it was read
        checksum bytea NOT NULL       -- over the fields but number, place and seen
      )
      """,
      "CREATE INDEX notices_of_person ON parley.notices (person, number)",
      "CREATE INDEX notices_of_note ON parley.notices (document, comment, person)",
      "CREATE INDEX notices_unread ON parley.notices (person, seen, number)",
    ],
  ]

  /// Appends to any number of logs in one statement, each with its own outcome.
  ///
  /// Rows are locked in the order of their numbers, so that two calls do not deadlock, and only
  /// while the statement runs, since the caller may vanish at any time.
  private static let appendFunction = """
    CREATE OR REPLACE FUNCTION parley.append(
      a_ids bytea[], a_epochs bytea[], a_revisions bigint[], a_chains bytea[],
      a_counts bigint[], a_lengths bigint[], a_heads bytea[], a_sizes bigint[],
      a_firsts bigint[], a_lasts bigint[],
      a_places bigint[], a_entries bigint[], a_clients bytea[], a_sequences bigint[],
      a_digests bigint[], a_operations bytea[], a_authors bytea[], a_times bigint[],
      a_checksums bytea[], a_set_back_places bigint[], a_set_backs bigint[], a_starts bigint[],
      a_session_places bigint[], a_session_clients bytea[], a_sessions bigint[])
    RETURNS TABLE (place bigint, won boolean, fenced boolean, number bigint, epoch bytea, revision bigint,
      length bigint, chain bytea, base bigint, unsnapped bigint)
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      won_places bigint[];
      won_numbers bigint[];
      fenced_places bigint[] := '{}';
    BEGIN
      PERFORM 1 FROM parley.documents d WHERE d.id = ANY (a_ids) ORDER BY d.number FOR UPDATE;
      IF cardinality(a_sessions) > 0 THEN
        SELECT coalesce(array_agg(DISTINCT s.place), '{}') INTO fenced_places
        FROM unnest(a_session_places, a_session_clients, a_sessions) AS s(place, client, session)
        JOIN parley.documents d ON d.id = a_ids[s.place]
        LEFT JOIN parley.marks m ON m.document = d.number AND m.client = s.client
        WHERE m.session > s.session
          -- A client without a mark. An entry without a sequence is never sent again.
          OR m.session IS NULL AND d.session_floor > s.session
            AND EXISTS (SELECT 1 FROM unnest(a_places, a_clients, a_sequences)
              AS e(place, client, sequence)
              WHERE e.place = s.place AND e.client = s.client AND e.sequence > 0);
      END IF;
      WITH changed AS (
        UPDATE parley.documents d SET
          revision = a.revision + a.count, length = a.length, chain = a.head,
          unsnapped = d.unsnapped + a.size,
          set_backs = CASE WHEN d.updated::numeric - a.first > 60000
            THEN (d.set_backs || (a.revision + 1))[greatest(cardinality(d.set_backs) - 998, 1):]
            ELSE d.set_backs END,
          updated = CASE WHEN d.updated::numeric - a.last > 60000 THEN a.last
            ELSE greatest(d.updated, a.last) END
        FROM unnest(a_ids, a_epochs, a_revisions, a_chains, a_counts, a_lengths, a_heads, a_sizes,
          a_firsts, a_lasts, a_starts) WITH ORDINALITY AS a(id, epoch, revision, chain, count, length,
          head, size, first, last, start, place)
        WHERE d.id = a.id AND d.epoch = a.epoch AND d.revision = a.revision AND d.chain = a.chain
          AND d.length = a.start AND a.place <> ALL (fenced_places)
        RETURNING a.place, d.number)
      SELECT array_agg(changed.place), array_agg(changed.number)
        INTO won_places, won_numbers FROM changed;
      IF won_places IS NOT NULL THEN
        INSERT INTO parley.log (document, revision, client, sequence, digest, operation, author,
          time, checksum)
        SELECT w.number, e.revision, e.client, e.sequence, e.digest, e.operation, e.author, e.time,
          e.checksum
        FROM unnest(a_places, a_entries, a_clients, a_sequences, a_digests, a_operations, a_authors,
          a_times, a_checksums)
          AS e(place, revision, client, sequence, digest, operation, author, time, checksum)
        JOIN unnest(won_places, won_numbers) AS w(place, number) ON w.place = e.place;
        INSERT INTO parley.marks (document, client, sequence, revision, digest, session)
        SELECT DISTINCT ON (w.number, e.client)
          w.number, e.client, e.sequence, e.revision, e.digest, d.session_floor
        FROM unnest(a_places, a_entries, a_clients, a_sequences, a_digests)
          AS e(place, revision, client, sequence, digest)
        JOIN unnest(won_places, won_numbers) AS w(place, number) ON w.place = e.place
        JOIN parley.documents d ON d.number = w.number
        WHERE e.sequence > 0 ORDER BY w.number, e.client, e.revision DESC
        ON CONFLICT (document, client) DO UPDATE SET sequence = excluded.sequence,
          revision = excluded.revision, digest = excluded.digest;
        IF cardinality(a_set_backs) > 0 THEN
          UPDATE parley.documents d SET set_backs = d.set_backs || s.revisions
          FROM (SELECT w.number, array_agg(b.revision ORDER BY b.revision) AS revisions
            FROM unnest(a_set_back_places, a_set_backs) AS b(place, revision)
            JOIN unnest(won_places, won_numbers) AS w(place, number) ON w.place = b.place
            GROUP BY w.number) AS s
          WHERE d.number = s.number;
        END IF;
      END IF;
      RETURN QUERY SELECT a.place, a.place = ANY (coalesce(won_places, '{}')),
        a.place = ANY (fenced_places), d.number, d.epoch,
        d.revision, d.length, d.chain, d.base, d.unsnapped
      FROM unnest(a_ids) WITH ORDINALITY AS a(id, place) LEFT JOIN parley.documents d ON d.id = a.id
      ORDER BY a.place;
    END
    $$
    """

  // MARK: Opening

  /// The numbers of advisory locks, within ``lockSpace``.
  enum Lock: Int {
    /// Taken by each store that commits: exclusively, or shared with other nodes.
    case store = 1
    /// Taken while tables are created.
    case migration
    /// Taken during a step of housekeeping.
    case maintenance
    /// Taken while files are added or deleted: no content may be deleted while a note adds it.
    case files
  }

  /// `PRLY`, the first of the two numbers of an advisory lock.
  static let lockSpace = 0x5052_4c59

  /// `PRLO`, the first number of locks of queues. The second number is the target's.
  static let outboxLockSpace = 0x5052_4c4f

  /// Returns the statements of each step to this program's format. Format 0 has no tables.
  private static func steps(from version: Int) -> [[String]] {
    version == 0 ? [tables] + migrations : Array(migrations[(version - firstVersion)...])
  }

  /// The time for which a transaction that creates tables may be idle. A store's usual limit is so
  /// short that a busy machine exceeds it between two statements.
  private static let longIdleTime = "SET LOCAL idle_in_transaction_session_timeout = '30s'"

  /// Migrates a database to this program's format, and creates its tables if there are none.
  static func prepare(
    _ connection: PostgresConnection, address: PostgresAddress
  ) throws(PostgresOpenError) {
    do throws(PostgresFailure) {
      // Two servers that start at once must not both create the tables.
      _ = try connection.run([
        PostgresCommand("BEGIN"),
        PostgresCommand(longIdleTime),
        PostgresCommand(
          "SELECT pg_advisory_xact_lock(\(lockSpace), \(Lock.migration.rawValue))::text"),
      ])
      let version = try readFormat(connection)
      if let version, !(firstVersion...Self.version).contains(version.version) {
        _ = try connection.run([PostgresCommand("ROLLBACK")])
      } else {
        var statements: [String] = []
        if version == nil {
          statements = [
            "CREATE SCHEMA IF NOT EXISTS parley",
            "CREATE TABLE parley.format (version bigint NOT NULL, oldest bigint NOT NULL)",
            "INSERT INTO parley.format VALUES (0, 0)",
          ]
        }
        let steps = steps(from: version?.version ?? 0)
        if !steps.isEmpty {
          statements += steps.flatMap(\.self)
          statements.append(
            "UPDATE parley.format SET version = \(Self.version), oldest = \(oldest)")
        }
        _ = try connection.run((statements + ["COMMIT"]).map { PostgresCommand($0) })
      }
    } catch {
      throw openError(error, address)
    }
    try verify(connection, address: address)
  }

  /// Creates all tables in a format that no program supports. Existing tables are dropped.
  static func makeUnfinished(_ connection: PostgresConnection) throws(PostgresFailure) {
    let number = UnfinishedFormat.number
    let statements =
      [
        "BEGIN", longIdleTime,
        "SELECT pg_advisory_xact_lock(\(lockSpace), \(Lock.migration.rawValue))::text",
        "DROP SCHEMA IF EXISTS parley CASCADE", "CREATE SCHEMA parley",
        "CREATE TABLE parley.format (version bigint NOT NULL, oldest bigint NOT NULL)",
        "INSERT INTO parley.format VALUES (\(number), \(number))",
      ] + steps(from: 0).flatMap(\.self) + ["DELETE FROM parley.room_epoch", "COMMIT"]
    // Run each statement separately: PostgreSQL parses a statement only if its tables exist.
    for statement in statements { _ = try connection.run([PostgresCommand(statement)]) }
  }

  /// Verifies that this program can use a database's tables, without writing to it.
  ///
  /// - Parameter isUnfinished: Whether the tables may be unfinished, as during a move.
  static func verify(
    _ connection: PostgresConnection, address: PostgresAddress, isUnfinished: Bool = false
  ) throws(PostgresOpenError) {
    let format: (version: Int, oldest: Int)?
    do throws(PostgresFailure) {
      format = try readFormat(connection)
    } catch {
      throw openError(error, address)
    }
    guard let format else { throw .noStore(address: address.description) }
    if format.version == UnfinishedFormat.number {
      guard isUnfinished else { throw .unfinished(address: address.description) }
      return
    }
    guard format.oldest <= version else {
      throw .newer(address: address.description, version: format.version, supported: version)
    }
    guard format.version >= firstVersion else {
      throw .unreleased(address: address.description)
    }
    guard format.version >= version else {
      throw .older(address: address.description, version: format.version, supported: version)
    }
  }

  /// Returns the format of a database, and the oldest format whose programs can use it; `nil` if
  /// there are no tables.
  static func readFormat(
    _ connection: PostgresConnection
  ) throws(PostgresFailure) -> (version: Int, oldest: Int)? {
    let found = try connection.run([
      PostgresCommand("SELECT to_regclass('parley.format') IS NOT NULL")
    ])
    guard found.first?.first?.bool(0) == true else { return nil }
    let rows = try connection.run([PostgresCommand("SELECT version, oldest FROM parley.format")])
    guard let row = rows.first?.first else { return nil }
    return (row.integer(0), row.integer(1))
  }

  static func openError(
    _ failure: PostgresFailure, _ address: PostgresAddress
  ) -> PostgresOpenError {
    switch failure {
    case .unreachable(let reason): .unreachable(address: address.description, reason: reason)
    case .lost(let reason):
      .failed(address: address.description, reason: "the connection was lost: \(reason)")
    case .refused(let state) where state == "25006": .readOnly(address: address.description)
    case .refused(let state) where state == "42501":
      .failed(
        address: address.description,
        reason: "this user may not make tables there (code \(state)); grant CREATE on the database")
    case .refused(let state):
      .failed(
        address: address.description, reason: "PostgreSQL refused (code \(state)); see its log")
    }
  }
}
