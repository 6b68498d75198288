import GatewayPorts
import OTCore
import PostgresClient
import StorePostgres
import StoreRecords
import Testing

/// Batches of which PostgreSQL refuses one request, and clients that are made up.
@Suite("What one request does to others of its batch")
struct RefusedBatchTests {
  private let server: PostgresServer
  private let database: String
  private let store: PostgresStore
  /// A name that no index of PostgreSQL's takes, however it is compressed.
  private let endless: String

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.newDatabase()
    store = try PostgresStore(try #require(PostgresAddress(database)), sharing: .shared)
    var random = SystemRandomNumberGenerator()
    endless = String(
      decoding: (0..<20_000).map { _ in UInt8.random(in: 33...126, using: &random) }, as: UTF8.self)
    for id in ["a", "b", "c", "d"] {
      let made = store.perform([.create(id: id, epoch: "e", title: "T", time: 1)])
      #expect(made[0].failure == nil)
    }
  }

  private func append(_ id: DocumentID, client: String = "ann") throws -> StoreRequest {
    guard case .document(let document) = store.perform([.load(id: id, recentMax: 1)])[0] else {
      throw PostgresServer.Failure(description: "expected a document")
    }
    var operation = TextOperation()
    operation.insert("x")
    let entry = LogEntry(
      revision: 1, client: client, sequence: 1, digest: 7, operation: operation, author: "Ann",
      time: 5)
    return .append(
      id: id, epoch: "e", entries: [entry],
      condition: document.chain.map { AppendCondition(chain: $0) })
  }

  private func isRefused(_ reply: StoreReply) -> Bool {
    if case .failed(.refused) = reply { true } else { false }
  }

  @Test("an append that is refused fails by itself")
  func appends() throws {
    let replies = store.perform([
      try append("a"), try append("b", client: endless), try append("c"), try append("d"),
    ])
    #expect(replies.map(\.isDone) == [true, false, true, true])
    #expect(isRefused(replies[1]))
    #expect(store.check().problems == [])
  }

  @Test("among other work, too, what is refused fails by itself")
  func others() throws {
    let replies = store.perform([
      .rename(id: "a", title: "New", time: 9), .fence(id: "b", clients: [endless]),
      try append("c"), .note(id: "a"),
    ])
    #expect(replies.map(\.isDone) == [true, false, true, true])
    #expect(isRefused(replies[1]))
    guard case .note(let note) = replies[3] else {
      Issue.record("expected a note, found \(replies[3])")
      return
    }
    #expect(note.title == "New")
  }

  @Test(
    "clients that are made up leave some thousand rows for an hour, and keep nobody's session out")
  func madeUp() throws {
    let late = try append("a", client: "zoe")
    func begin(_ names: Range<Int>) {
      for number in names {
        let begun = store.perform([.fence(id: "a", clients: (0..<500).map { "\(number) \($0)" })])
        #expect(begun[0].isDone)
      }
    }
    func rows() throws -> Int? {
      try server.execute("SELECT count(*) FROM parley.marks", in: database).first.flatMap {
        Int($0)
      }
    }
    #expect(store.perform([.fence(id: "a", clients: ["zoe"])])[0].isDone)
    begin(0..<8)
    #expect(try rows() == 4_001)
    guard case .failed(.fenced(["zoe"])) = store.perform([late])[0] else {
      Issue.record("a change of an earlier session was committed")
      return
    }
    _ = try server.execute("UPDATE parley.marks SET begun = begun - 3601", in: database)
    begin(8..<12)
    #expect(try rows().map { $0 <= 3_000 } ?? false)
  }

  @Test("a race that was lost by very many entries brings a part of them")
  func longRace() throws {
    let late = try append("a")
    guard case .document(let document) = store.perform([.load(id: "a", recentMax: 1)])[0],
      let chain = document.chain
    else {
      Issue.record("expected a document")
      return
    }
    let entries = (1...1_500).map { revision in
      var operation = TextOperation()
      operation.retain(revision - 1)
      operation.insert("x")
      return LogEntry(
        revision: revision, client: "ben", sequence: revision, digest: 7, operation: operation,
        author: "Ben", time: 5)
    }
    let reply = store.perform([
      .append(id: "a", epoch: "e", entries: entries, condition: AppendCondition(chain: chain))
    ])
    #expect(reply[0].isDone)
    guard case .lostRace(let missed, let next?) = store.perform([late])[0] else {
      Issue.record("expected a lost race")
      return
    }
    #expect(missed == Array(entries.prefix(1_000)))
    let rest = store.perform([.news(id: "a", epoch: "e", after: missed.count, chain: next)])[0]
    guard case .news(.entries(let stretch)) = rest else {
      Issue.record("expected the rest, found \(rest)")
      return
    }
    #expect(stretch.entries == Array(entries.dropFirst(1_000)))
  }

  @Test("revocations of others are read though one's own are refused, and the newest place is told")
  func revocations() throws {
    let other = try PostgresStore(try #require(PostgresAddress(database)), sharing: .shared)
    let first = try #require(
      try store.exchange([.token("one"), .user("ada", before: 5), .token(endless)], after: 0))
    #expect(first.revocations == [.token("one"), .user("ada", before: 5)])
    #expect(first.newest == first.place && first.isTold && !first.hasMore)
    try server.execute(
      "ALTER TABLE parley.revocations ADD CHECK (before < 9) NOT VALID", in: database)
    let second = try #require(try other.exchange([.user("ben", before: 10)], after: 0))
    #expect(second.revocations == first.revocations)
    #expect(!second.isTold && second.life == first.life)
    try server.execute("DELETE FROM parley.revocations", in: database)
    let third = try #require(try other.exchange([], after: first.place))
    #expect(third.revocations.isEmpty && third.newest == 0)
  }
}
