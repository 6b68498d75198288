public import ParleyGatewayPorts
import ParleyStoreRecords

/// The search index of words, in separate tables in the database of the store.
///
/// It contains only data derived from the store, and is rebuilt if it is missing or of another
/// version; the version is part of the tables' names. Each node adds the notes that it has
/// committed; of two versions of a note, the newer revision is retained. Commits are asynchronous.
///
/// Words are folded before PostgreSQL receives them (``SearchWords``). They are sent with their
/// positions, so that no dictionary of the database is used.
public final class PostgresSearchIndex: SearchIndex {
  /// The maximum bytes of a note's words. PostgreSQL's own maximum is 1 MiB.
  private static let vectorBytesMax = 900_000
  /// The maximum positions of one word, and the maximum position, in a `tsvector`.
  private static let placesMax = 255
  private static let lastPlace = 16_383
  private static let table = "parley.search_3"
  /// The table with a row for each tag of each note, along which tags are listed.
  private static let tags = "parley.search_3_tags"

  private let address: PostgresAddress
  private var connection: PostgresConnection?

  /// Connects to the database of a store, and creates the tables if they are missing.
  public init(_ address: PostgresAddress) throws(PostgresOpenError) {
    self.address = address
    connection = try Self.connect(address)
  }

  /// Connects for reading, while servers may be writing to the index.
  ///
  /// - Returns: `nil` if there is no index of this version.
  public init?(reading address: PostgresAddress) throws(PostgresOpenError) {
    self.address = address
    let connection = try PostgresConnection.opened(
      address, application: "parley search", answerMilliseconds: 30_000)
    self.connection = connection
    let found = try? connection.run([
      PostgresCommand(
        "SELECT count(*) FROM pg_tables WHERE schemaname || '.' || tablename = '\(Self.table)'")
    ])
    guard found?.first?.first?.integer(0) == 1 else { return nil }
  }

  private static func connect(
    _ address: PostgresAddress
  ) throws(PostgresOpenError) -> PostgresConnection {
    let connection = try PostgresConnection.opened(
      address, application: "parley search", answerMilliseconds: 30_000)
    do throws(PostgresFailure) {
      _ = try connection.run([
        PostgresCommand("SET synchronous_commit = off"),
        // Two nodes may start at once.
        PostgresCommand("SELECT pg_advisory_lock(hashtext('\(table)'))"),
        PostgresCommand("SET client_min_messages = error"),
        PostgresCommand(
          """
          CREATE TABLE IF NOT EXISTS \(table) (
            id bytea PRIMARY KEY,
            revision int8 NOT NULL,
            updated int8 NOT NULL,
            created int8 NOT NULL,
            text bytea NOT NULL,
            words tsvector NOT NULL,
            tags bytea[] NOT NULL
          )
          """),
      ])
      _ = try connection.run([
        PostgresCommand("CREATE INDEX IF NOT EXISTS search_3_words ON \(table) USING gin (words)"),
        PostgresCommand(
          """
          CREATE TABLE IF NOT EXISTS \(tags) (
            tag bytea NOT NULL,
            note bytea NOT NULL REFERENCES \(table) (id) ON DELETE CASCADE,
            PRIMARY KEY (tag, note)
          )
          """),
        // Earlier versions of the index, which this one replaces.
        PostgresCommand("DROP TABLE IF EXISTS parley.search_1, parley.search_2"),
      ])
      _ = try connection.run([
        PostgresCommand("CREATE INDEX IF NOT EXISTS search_3_tags_by_note ON \(tags) (note)"),
        PostgresCommand("SELECT pg_advisory_unlock(hashtext('\(table)'))"),
      ])
    } catch {
      throw PostgresSchema.openError(error, address)
    }
    return connection
  }

  /// See ``SearchIndex``.
  public var isShared: Bool { true }

  // MARK: States

  /// See ``SearchIndex``.
  public func states(of ids: [DocumentID]) throws(StoreError) -> [IndexedState?] {
    let found = try run(
      "SELECT id, revision, updated, created FROM \(Self.table) WHERE id = ANY ($1)", ids)
    var states: [DocumentID: IndexedState] = [:]
    for (id, state) in found.rows({ row in
      (
        DocumentID(row.text(0)),
        IndexedState(
          revision: row.integer(1), updatedAt: Timestamp(row.integer(2)),
          createdAt: Timestamp(row.integer(3)))
      )
    }) {
      states[id] = state
    }
    return ids.map { states[$0] }
  }

  /// See ``SearchIndex``.
  public func ids(after id: DocumentID?, limit: Int) throws(StoreError) -> [DocumentID] {
    try run(
      "SELECT id FROM \(Self.table) WHERE id > $1 ORDER BY id LIMIT $2", id?.text ?? "", limit
    ).rows { $0.name(0) }
  }

  // MARK: Changing

  /// See ``SearchIndex``.
  @discardableResult
  public func put(_ note: IndexedNote) throws(StoreError) -> Bool {
    let upsert = PostgresCommand(
      """
      WITH former AS (SELECT tags FROM \(Self.table) WHERE id = $1)
      INSERT INTO \(Self.table) AS old (id, revision, updated, created, text, words, tags)
      VALUES ($1, $2, $3, $4, $5, convert_from($6, 'UTF8')::tsvector, $7)
      ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, updated = excluded.updated,
        created = excluded.created, text = excluded.text, words = excluded.words,
        tags = excluded.tags
      WHERE old.revision <= excluded.revision OR old.created <> excluded.created
      RETURNING CASE
        WHEN old.tags = coalesce((SELECT tags FROM former), ARRAY[]::bytea[]) THEN 0 ELSE 1
      END::int8
      """,
      [
        note.id, note.state.revision, note.state.updatedAt, note.state.createdAt, note.text,
        Self.vector(note), NoteTags.all(in: note.text),
      ])
    // Read the tags of the row, which another node may have written. It remains locked.
    let removal = PostgresCommand(
      """
      DELETE FROM \(Self.tags) WHERE note = $1
        AND tag <> ALL (SELECT unnest(tags) FROM \(Self.table) WHERE id = $1)
      """, [note.id])
    let addition = PostgresCommand(
      """
      INSERT INTO \(Self.tags) (tag, note) SELECT unnest(tags), id FROM \(Self.table) WHERE id = $1
      ON CONFLICT DO NOTHING
      """, [note.id])
    // No row is returned if another node has indexed a newer revision.
    return try run([upsert, removal, addition])[0].first?.integer(0) == 1
  }

  /// See ``SearchIndex``.
  public func remove(_ ids: [DocumentID]) throws(StoreError) {
    _ = try run("DELETE FROM \(Self.table) WHERE id = ANY ($1)", ids)
  }

  /// See ``SearchIndex``.
  public func clear() throws(StoreError) { _ = try run("DELETE FROM \(Self.table)") }

  /// Returns a note's words and their positions as a `tsvector`. Words of the title weigh more.
  private static func vector(_ note: IndexedNote) -> String {
    var places: [ExactName: [String]] = [:]
    var place = 0
    var bytes = 0
    func add(_ text: String, _ weight: String) {
      SearchWords.forEach(in: text) { word in
        place += 1
        let name = ExactName(word.folded)
        let isKnown = places[name] != nil
        let cost = isKnown ? 2 : word.folded.utf8.count + 12
        guard bytes + cost <= vectorBytesMax else { return false }
        guard !isKnown || places[name, default: []].count < placesMax else { return true }
        bytes += cost
        places[name, default: []].append("\(min(place, lastPlace))\(weight)")
        return true
      }
    }
    add(note.title, "A")
    // Leave a gap, so that no phrase extends from the title into the text.
    place += 8
    add(note.text, "")
    return places.map { name, found in
      "'\(name.text)':\(found.joined(separator: ","))"
    }.joined(separator: " ")
  }

  // MARK: Searching

  /// See ``SearchIndex``.
  public func find(
    _ query: SearchQuery, skipping count: Int, limit: Int
  ) throws(StoreError) -> [DocumentID] {
    guard !query.terms.isEmpty else { return [] }
    return try run(
      """
      SELECT id FROM \(Self.table), (SELECT convert_from($1, 'UTF8')::tsquery AS query) AS asked
      WHERE words @@ query ORDER BY ts_rank(words, query, 1) DESC, id LIMIT $2 OFFSET $3
      """, Self.expression(query), limit, count
    ).rows { $0.name(0) }
  }

  /// Returns a query as a `tsquery`. Folded words contain no special character of its syntax.
  private static func expression(_ query: SearchQuery) -> String {
    query.terms.map { term in
      let words = term.words.map { "'\($0)'" }.joined(separator: " <-> ")
      return term.isPrefix ? words + ":*" : words
    }.joined(separator: " & ")
  }

  /// See ``SearchIndex``.
  public func find(
    tag: String, skipping count: Int, limit: Int
  ) throws(StoreError) -> [DocumentID] {
    try run(
      """
      SELECT s.id FROM \(Self.tags) t JOIN \(Self.table) s ON s.id = t.note WHERE t.tag = $1
      ORDER BY s.updated DESC, s.id LIMIT $2 OFFSET $3
      """, tag, limit, count
    ).rows { $0.name(0) }
  }

  /// See ``SearchIndex``.
  public func tags(after place: TaggedNote?, limit: Int) throws(StoreError) -> [TaggedNote] {
    try run(
      """
      SELECT tag, note FROM \(Self.tags) WHERE (tag, note) > ($1, $2) ORDER BY tag, note LIMIT $3
      """, place?.tag ?? "", place?.id.text ?? "", limit
    ).rows { TaggedNote(tag: $0.text(0), id: $0.name(1)) }
  }

  /// See ``SearchIndex``.
  public func tags(of id: DocumentID) throws(StoreError) -> [String] {
    try run("SELECT tag FROM \(Self.tags) WHERE note = $1 ORDER BY tag", id).rows { $0.text(0) }
  }

  /// See ``SearchIndex``.
  public func text(of id: DocumentID) throws(StoreError) -> String? {
    try run("SELECT text FROM \(Self.table) WHERE id = $1", id).first?.text(0)
  }

  // MARK: Statements

  /// Runs a statement in a separate transaction.
  private func run(
    _ sql: String, _ values: any StoredValue...
  ) throws(StoreError) -> PostgresResult {
    try run([PostgresCommand(sql, values)])[0]
  }

  /// Runs statements in one transaction, and returns their results. Reconnects if necessary.
  private func run(_ commands: [PostgresCommand]) throws(StoreError) -> [PostgresResult] {
    if connection?.isBroken ?? true {
      do throws(PostgresOpenError) {
        connection = try Self.connect(address)
      } catch {
        throw .unavailable("PostgreSQL cannot be reached; search works when it can be again")
      }
    }
    do throws(PostgresFailure) {
      guard let results = try connection?.run(commands), results.count == commands.count else {
        throw .lost("the server sent no result")
      }
      return results
    } catch {
      throw error.storeError
    }
  }
}
