import ParleyGatewayPorts
import Glibc
import OTCore
import ParleyPostgreSQLAdapter
import ParleyStoreRecords
import Testing

/// Databases with a standby: changes that it lacks are not confirmed, and knowledge from before it
/// replaced the database is not trusted.
@Suite("Standbys of PostgreSQL", .serialized, .timeLimit(.minutes(30)))
struct StandbyTests {
  private let server: PostgresServer
  private let database: String

  init() throws {
    // Its crashes must not disturb other suites.
    server = try PostgresServer()
    database = try server.newDatabase()
  }

  private func open(_ sharing: PostgresStore.Sharing = .shared) throws -> PostgresStore {
    var timeouts = StoreTimeouts()
    timeouts.answer = 500
    timeouts.reconnecting = 200
    timeouts.looking = 0
    while true {
      do {
        return try PostgresStore(
          try #require(PostgresAddress(database)), sharing: sharing, timeouts: timeouts)
      } catch PostgresOpenError.failed(_, let reason) where reason.contains("did not answer") {
        // On a busy machine the tables take longer to create than an answer may.
      }
    }
  }

  private func load(_ store: PostgresStore) throws -> StoredDocument {
    guard case .document(let document) = store.perform([.load(id: "n", recentMax: 9)])[0] else {
      throw PostgresServer.Failure(description: "expected a document")
    }
    return document
  }

  private func append(_ revision: Int, _ chain: LogChain, _ store: PostgresStore) -> StoreReply {
    var operation = TextOperation()
    operation.insert("x")
    operation.retain(revision - 1)
    let entry = LogEntry(
      revision: revision, client: "ann", sequence: revision, digest: 7, operation: operation,
      author: "Ann", time: 5)
    return store.perform([
      .append(id: "n", epoch: "e", entries: [entry], condition: AppendCondition(chain: chain))
    ])[0]
  }

  private func news(after revision: Int, _ chain: LogChain, _ store: PostgresStore) -> StoreReply {
    store.perform([.news(id: "n", epoch: "e", after: revision, chain: chain)])[0]
  }

  private func make(_ store: PostgresStore) throws -> LogChain {
    let made = store.perform([.create(id: "n", epoch: "e", title: "N", time: 1)])
    #expect(made[0].failure == nil)
    return try #require(load(store).chain)
  }

  @Test("a commit that only a crashed database's disk has is acknowledged once its standby has it")
  func crash() throws {
    let (store, other, reader) = (try open(), try open(), try open(.reading))
    let chain = try make(store)
    try set("synchronous_standby_names", to: "away")
    guard case .failed(.unknownOutcome) = append(1, chain, store) else {
      Issue.record("a commit was acknowledged that no standby has")
      return
    }
    let waiting = try server.execute(
      "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    try server.crash(process: try #require(waiting.first))
    #expect(try server.execute("SELECT revision FROM parley.documents", in: database).count == 1)
    #expect(news(after: 0, chain, store).failure?.isRetryable == true)
    #expect(news(after: 0, chain, other).failure?.isRetryable == true)
    let text = StoreRequest.text(id: "n", at: .revision(.max))
    #expect(reader.perform([text])[0].failure?.isRetryable == true)
    // The standby comes, or is given up by the operator.
    try server.execute("ALTER SYSTEM RESET synchronous_standby_names")
    try server.execute("SELECT pg_reload_conf()")
    var reply = news(after: 0, chain, other)
    while reply.failure != nil { reply = news(after: 0, chain, other) }
    guard case .news(.entries(let stretch)) = reply else {
      Issue.record("expected entries, found \(reply)")
      return
    }
    #expect(stretch.entries.map(\.revision) == [1])
    var read = reader.perform([text])[0]
    while read.failure != nil { read = reader.perform([text])[0] }
    guard case .text(let now) = read else {
      Issue.record("expected a text, found \(read)")
      return
    }
    #expect(now.revision == 1)
  }

  @Test(
    "a commit that waits for a standby keeps one process of the server's, however often it is asked for"
  )
  func waiting() throws {
    let store = try open()
    let chain = try make(store)
    try set("synchronous_standby_names", to: "away")
    guard case .failed(.unknownOutcome) = append(1, chain, store) else {
      Issue.record("a commit was acknowledged that no standby has")
      return
    }
    let counting =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'parley' AND state = 'active'"
    // Some attempts to connect, with pauses of up to two seconds.
    for _ in 0..<300 {
      #expect(news(after: 0, chain, store).failure?.isRetryable == true)
      poll(nil, 0, 10)
    }
    #expect(try server.execute(counting) == ["1"])
    try server.execute("ALTER SYSTEM RESET synchronous_standby_names")
    try server.execute("SELECT pg_reload_conf()")
    var reply = news(after: 0, chain, store)
    while reply.failure != nil { reply = news(after: 0, chain, store) }
    guard case .news(.entries(let stretch)) = reply else {
      Issue.record("expected entries, found \(reply)")
      return
    }
    #expect(stretch.entries.map(\.revision) == [1])
  }

  /// Sets something while sessions are open.
  private func set(_ name: String, to value: String) throws {
    try server.execute("ALTER SYSTEM SET \(name) = \(value)")
    try server.execute("SELECT pg_reload_conf()")
    while try server.execute("SHOW \(name)") != [value] { poll(nil, 0, 5) }
    // The checkpointer passes the names of standbys to commits, and reads the settings before it
    // makes a checkpoint.
    try server.execute("CHECKPOINT")
  }

  @Test("what a session has promised holds to its end, and a server that promises less is not used")
  func settings() throws {
    let store = try open()
    _ = try make(store)
    for statement in [
      "CREATE TABLE public.seen (name text)",
      """
      CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.seen SELECT name FROM pg_catalog.pg_settings
          WHERE source = 'session' AND (name LIKE 'tcp_%' OR name || '=' || setting = 'synchronous_commit=on');
        RETURN NEW; END $$
      """,
      """
      CREATE TRIGGER seen AFTER INSERT OR UPDATE ON parley.writers FOR EACH ROW EXECUTE FUNCTION see()
      """,
    ] { try server.execute(statement, in: database) }
    try set("synchronous_commit", to: "off")
    for _ in 0..<3 { _ = store.perform([.rename(id: "n", title: "M", time: 9)]) }
    try set("synchronous_commit", to: "on")
    try set("fsync", to: "off")
    var reply = store.perform([.rename(id: "n", title: "O", time: 9)])[0]
    // The session may not have heard of it.
    while reply.failure == nil { reply = store.perform([.rename(id: "n", title: "O", time: 9)])[0] }
    guard case .unavailable(let words)? = reply.failure else {
      Issue.record("expected it to be unavailable, found \(reply)")
      return
    }
    #expect(words.contains("fsync"))
    try set("fsync", to: "on")
    while reply.failure != nil { reply = store.perform([.rename(id: "n", title: "P", time: 9)])[0] }
    #expect(
      try server.execute("SELECT DISTINCT name FROM public.seen ORDER BY 1", in: database) == [
        "synchronous_commit", "tcp_keepalives_count", "tcp_keepalives_idle",
        "tcp_keepalives_interval",
        "tcp_user_timeout",
      ])
  }

  @Test("after a promotion, nothing is appended or reported on the basis of an earlier read")
  func promotion() throws {
    let store = try open()
    let start = try make(store)
    guard case .appended(let before) = append(1, start, store) else {
      Issue.record("expected to append")
      return
    }
    try server.promote()
    var reply = news(after: 1, before, store)
    while reply.failure != nil { reply = news(after: 1, before, store) }
    guard case .news(.otherHistory) = reply else {
      Issue.record("expected another history, found \(reply)")
      return
    }
    for revision in [1, 2] {
      let chain = revision == 1 ? start : before
      guard case .failed(.notNext) = append(revision, chain, store) else {
        Issue.record("an append was taken that goes by revision \(revision - 1) of before")
        return
      }
    }
    let document = try load(store)
    #expect(document.text == "x")
    let after = try #require(document.chain)
    #expect(after.life != before.life)
    #expect(after.high == before.high && after.low == before.low)
    guard case .appended = append(2, after, store) else {
      Issue.record("expected to append")
      return
    }
    #expect(try load(store).text == "xx")
    #expect(store.check().problems == [])
  }
}
