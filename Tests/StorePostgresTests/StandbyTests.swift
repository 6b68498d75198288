import GatewayPorts
import Glibc
import OTCore
import PostgresClient
import StorePostgres
import StoreRecords
import Testing

/// Databases with a standby: what it lacks is not told, and what is known from before it took the
/// database's place is not believed.
@Suite("Standbys of PostgreSQL", .serialized, .timeLimit(.minutes(5)))
struct StandbyTests {
  private let server: PostgresServer
  private let database: String

  init() throws {
    // Its crashes are nobody else's.
    server = try PostgresServer()
    database = try server.newDatabase()
  }

  private func open() throws -> PostgresStore {
    var patience = Patience()
    patience.answer = 500
    patience.reconnecting = 200
    patience.looking = 0
    return try PostgresStore(
      try #require(PostgresAddress(database)), sharing: .shared, patience: patience)
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

  @Test("what only the disk of a database that crashed has is told once its standby has it, too")
  func crash() throws {
    let (store, other) = (try open(), try open())
    let chain = try make(store)
    try server.execute("ALTER SYSTEM SET synchronous_standby_names = 'away'")
    try server.execute("SELECT pg_reload_conf()")
    while try server.execute("SHOW synchronous_standby_names") != ["away"] { poll(nil, 0, 5) }
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
  }

  @Test("after a promotion nothing is appended or told that goes by what was read before")
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
