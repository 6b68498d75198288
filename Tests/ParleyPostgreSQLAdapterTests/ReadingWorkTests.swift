import ParleyGatewayPorts
import ParleyPostgreSQLAdapter
import Testing

/// Rows that PostgreSQL reads, by its own counters: a page of a list reads about as many rows as it
/// returns, for any number of notes.
@Suite("What PostgreSQL reads for lists")
struct ReadingWorkTests {
  private let server: PostgresServer
  private let database: String
  private let address: PostgresAddress
  private static let notes = 20_000

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.newDatabase()
    address = try #require(PostgresAddress(database))
    _ = try PostgresStore(address)
    _ = try PostgresSearchIndex(address)
  }

  /// Adds notes by a statement, and has PostgreSQL know how many there are, as it does after a while in use.
  private func add(_ statement: String) throws {
    try server.execute(
      "\(statement) FROM generate_series(1, \(Self.notes)) AS n", in: database)
    try server.execute("VACUUM ANALYZE", in: database)
  }

  /// Rows, and entries of indices, that were read while `body` ran, up to the end of its connections.
  private func reads(_ body: () throws -> Void) throws -> Int {
    try server.execute("SELECT pg_stat_reset()", in: database)
    try body()
    // A process of the server counts to its end.
    let others = """
      SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'parley%'
      """
    while try !server.execute(others, in: database).isEmpty {}
    let counted = try server.execute(
      """
      SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables)
        + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes)
      """, in: database)
    return try #require(counted.first.flatMap { Int($0) })
  }

  @Test("a page of tags reads the tags of that page")
  func tags() throws {
    try add(
      """
      INSERT INTO parley.search_3 (id, revision, updated, created, text, words, tags)
      SELECT ('note ' || n)::bytea, 1, n, 1, '', '', ARRAY['tag ' || n % 2000]::bytea[]
      """)
    try add(
      """
      INSERT INTO parley.search_3_tags (tag, note)
      SELECT ('tag ' || n % 2000)::bytea, ('note ' || n)::bytea
      """)
    let opening = try reads { _ = try PostgresSearchIndex(address) }
    let listing = try reads {
      let index = try PostgresSearchIndex(address)
      let last = TaggedNote(tag: "tag 7", id: "note 7")
      #expect(try index.tags(after: last, limit: 100).count == 100)
      #expect(try index.find(tag: "tag 7", skipping: 0, limit: 99).count == 10)
      #expect(try index.tags(of: "note 7") == ["tag 7"])
    }
    #expect(listing - opening < 1_000)
  }

  @Test("folders are found, and notes of one moved, without a look at all notes")
  func folders() throws {
    try add(
      """
      INSERT INTO parley.documents (id, title, created, updated, epoch, revision, length, chain, base, base_chain,
        unsnapped, folder)
      SELECT ('note ' || n)::bytea, '', n, n, 'e', 0, 0, decode(repeat('00', 16), 'hex'), 0,
        decode(repeat('00', 16), 'hex'), 0, CASE WHEN n % 1000 = 0 THEN 'small' ELSE 'big/part' END::bytea
      """)
    let opening = try reads { _ = try PostgresStore(address) }
    let listing = try reads {
      let store = try PostgresStore(address)
      let counting = FolderCounting(notes: [], folders: [NamePattern("small")])
      let replies = try store.perform([
        .folders(.list(after: nil, limit: 10, counting: counting, work: 2_000)),
        .folders(.moveAll(from: FolderPath("big"), to: FolderPath("new"), limit: 50)),
      ])
      guard case .folders(.folders(let folders, next: nil)) = replies[0],
        case .folders(.moved(let moved, hasMore: true, rest: nil)) = replies[1]
      else {
        Issue.record("expected folders, and a part of one moved")
        return
      }
      #expect(try folders == [FolderCount(folder: FolderPath("small"), notes: 20)])
      #expect(moved.map(\.id) == (1...50).map { "note \($0)" })
    }
    #expect(listing - opening < 1_000)
  }
}
