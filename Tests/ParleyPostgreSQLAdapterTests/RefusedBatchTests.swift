import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyPortConformance
import ParleyPostgreSQLAdapter
import ParleyStoreRecords
import Testing

/// Batches of which PostgreSQL refuses one request, and clients that are made up.
@Suite("The effects of a request on others of its batch")
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
      let made = store.perform([.create(id: DocumentID(id), epoch: "e", title: "T", time: 1)])
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

  @Test("a refused append does not affect the batch")
  func appends() throws {
    let replies = store.perform([
      try append("a"), try append("b", client: endless), try append("c"), try append("d"),
    ])
    #expect(replies.map(\.isDone) == [true, false, true, true])
    #expect(isRefused(replies[1]))
    #expect(store.check().problems == [])
  }

  @Test("a refused append does not affect other work of the batch")
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
    "invented clients leave some thousand rows for an hour, and displace no session")
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

  private func rooms() throws -> Int? {
    try server.execute("SELECT count(*) FROM parley.rooms", in: database).first.flatMap { Int($0) }
  }

  @Test("a refused request leaves no record of its room", arguments: RefusedRoomRequests.all)
  func refusedRooms(name: String, request: StoreRequest) throws {
    _ = store.perform([request])
    #expect(try rooms() == 0, "alone")
    let publication = StoreRequest.room(
      .publish(
        "kept", PublicationDraft(time: 1, data: .null), retention: .standard, keyAge: 1))
    let replies = store.perform([request, publication, request])
    #expect(replies[1].isDone)
    #expect(try rooms() == 1, "in a batch")
    // A room that another request of the batch needs stays.
    let needed = StoreRequest.people(.member(RefusedRoomRequests.room, "zoe", isMember: true))
    #expect(store.perform([request, needed, request])[1].isDone)
    #expect(try rooms() == 2, "beside a request that needs the room")
    #expect(store.check().problems == [])
  }

  @Test(
    "a change of before a session that was dropped is refused, however late it comes",
    arguments: [false, true])
  func dropped(inTransaction: Bool) throws {
    func perform(_ request: StoreRequest) -> StoreReply {
      // Beside work with the same note an append is done in a transaction.
      inTransaction
        ? store.perform([request, .rename(id: "a", title: "New", time: 9)])[0]
        : store.perform([request])[0]
    }
    let late = try append("a", client: "zoe")
    #expect(store.perform([.fence(id: "a", clients: ["zoe"])])[0].isDone)
    _ = try server.execute("UPDATE parley.marks SET begun = begun - 3601", in: database)
    for number in 0..<5 {
      let names = (0..<500).map { "\(number) \($0)" }
      #expect(store.perform([.fence(id: "a", clients: names)])[0].isDone)
    }
    let kept = try server.execute(
      "SELECT count(*) FROM parley.marks WHERE client = 'zoe'", in: database)
    #expect(kept == ["0"], "the session was not dropped")
    guard case .failed(.fenced(["zoe"])) = perform(late) else {
      Issue.record("a change of an earlier session was committed")
      return
    }
    // Other clients continue: in the session that the store names, and without a session where there is no sequence.
    guard case .document(let document) = store.perform([.load(id: "a", recentMax: 1)])[0],
      let chain = document.chain
    else { throw PostgresServer.Failure(description: "expected a document") }
    #expect(document.sessionFloor == 1)
    guard case .append(_, _, let entries, _) = try append("a", client: "new") else { return }
    let condition = AppendCondition(chain: chain, sessions: ["new": document.sessionFloor])
    let own = StoreRequest.append(id: "a", epoch: "e", entries: entries, condition: condition)
    guard case .appended(let next) = perform(own) else {
      Issue.record("a new client's change was refused")
      return
    }
    let news = store.perform([
      .news(id: "a", epoch: "e", after: 1, chain: next, clients: ["new", "other"])
    ])[0]
    guard case .news(.entries(let stretch)) = news else {
      Issue.record("expected news, found \(news)")
      return
    }
    #expect(stretch.sessions == ["new": 1, "other": 1] && stretch.sessionFloor == 1)
    guard case .sessions(["other": 2]) = store.perform([.fence(id: "a", clients: ["other"])])[0]
    else {
      Issue.record("a session of before may come again")
      return
    }
    var operation = TextOperation()
    operation.retain(1)
    operation.insert("y")
    let edit = LogEntry(
      revision: 2, client: "program", sequence: 0, digest: 7, operation: operation, author: "P",
      time: 6)
    let reply = perform(
      .append(id: "a", epoch: "e", entries: [edit], condition: AppendCondition(chain: next)))
    #expect(reply.isDone, "\(reply)")
  }

  @Test("deleted notes that cannot be read do not keep others from being removed")
  func unreadableDeletions() throws {
    for id in ["a", "b", "c", "d"] {
      let deletion = Deletion(time: id == "d" ? 9 : 5, author: "Ann")
      #expect(store.perform([.delete(id: DocumentID(id), keeping: deletion)])[0].isDone)
    }
    _ = try server.execute(
      "UPDATE parley.deleted_documents SET chain = 'x' WHERE deleted < 9", in: database)
    #expect(store.perform([.deleted(.removeOlder(than: 100, limit: 2))])[0].isDone)
    let left = try server.execute(
      "SELECT convert_from(id, 'UTF8') FROM parley.deleted_documents ORDER BY id", in: database)
    #expect(left == ["a", "b", "c"])
    guard case .deletedNotes(let notes) = store.perform([.deleted(.list(after: nil, limit: 2))])[0]
    else {
      Issue.record("deleted notes cannot be listed")
      return
    }
    #expect(notes.isEmpty)
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

  @Test("others' revocations are read though own ones are refused, with the newest place")
  func revocations() throws {
    let other = try PostgresStore(try #require(PostgresAddress(database)), sharing: .shared)
    let first = try #require(
      try store.exchange([.token("one"), .user("ada", before: 5), .token(endless)], after: 0))
    #expect(first.revocations == [.token("one"), .user("ada", before: 5)])
    #expect(first.newest == first.place && first.isShared && !first.hasMore)
    try server.execute(
      "ALTER TABLE parley.revocations ADD CHECK (before < 9) NOT VALID", in: database)
    let second = try #require(try other.exchange([.user("ben", before: 10)], after: 0))
    #expect(second.revocations == first.revocations)
    #expect(!second.isShared && second.life == first.life)
    try server.execute("DELETE FROM parley.revocations", in: database)
    let third = try #require(try other.exchange([], after: first.place))
    #expect(third.revocations.isEmpty && third.newest == 0)
  }
}
