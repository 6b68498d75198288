import ParleyGatewayPorts
import OTCore
import ParleyPostgreSQLAdapter
import ParleyStoreRecords
import Testing

/// Connections that are lost at every step: nothing is lost, nothing is done twice.
@Suite("Lost connections to PostgreSQL")
struct ReconnectingTests {
  private struct Rig {
    let line: PostgresProxy
    let store: PostgresStore
    let server: PostgresServer
    let database: String

    init(sharing: PostgresStore.Sharing = .shared, timeouts: StoreTimeouts = StoreTimeouts()) throws
    {
      server = try PostgresServer.shared.get()
      line = try PostgresProxy(to: server)
      database = try server.newDatabase()
      let address = database.replacing(server.folder, with: line.folder)
      store = try PostgresStore(
        try #require(PostgresAddress(address)), sharing: sharing, timeouts: timeouts)
      let made = store.perform([.create(id: "n", epoch: "e", title: "N", time: 1)])
      #expect(made.first?.failure == nil)
    }

    func load() throws -> StoredDocument {
      guard case .document(let document) = store.perform([.load(id: "n", recentMax: 9)])[0] else {
        throw PostgresServer.Failure(description: "expected a document")
      }
      return document
    }

    func append(_ text: String) throws -> StoreReply {
      let document = try load()
      let revision = document.summary.revision
      var operation = TextOperation()
      operation.retain(document.text.unicodeScalars.count)
      operation.insert(text)
      let entry = LogEntry(
        revision: revision + 1, client: "ann", sequence: revision + 1, digest: 7,
        operation: operation, author: "Ann", time: 5)
      return store.perform([
        .append(
          id: "n", epoch: "e", entries: [entry],
          condition: document.chain.map { AppendCondition(chain: $0) })
      ])[0]
    }
  }

  @Test("an append is done once, wherever its connection ends", arguments: [true, false])
  func append(isAnswerLost: Bool) throws {
    for sharing in [PostgresStore.Sharing.alone, .shared] {
      let rig = try Rig(sharing: sharing)
      _ = try rig.append("a")
      let document = try rig.load()
      #expect(document.text == "a")
      rig.line.bring(isAnswerLost ? .loseAnswer("SELECT 1") : .loseRequest)
      // The first statement is the one that is lost: by then the head is known.
      var operation = TextOperation()
      operation.retain(1)
      operation.insert("b")
      let entry = LogEntry(
        revision: 2, client: "ann", sequence: 2, digest: 8, operation: operation, author: "Ann",
        time: 6)
      let reply = rig.store.perform([
        .append(
          id: "n", epoch: "e", entries: [entry],
          condition: document.chain.map { AppendCondition(chain: $0) })
      ])[0]
      #expect(reply.failure == nil && reply.isDone)
      #expect(rig.line.troubleCount == 1)
      #expect(try rig.load().text == "ab")
      #expect(rig.store.state.reconnections == 1)
      #expect(rig.store.check().problems == [])
    }
  }

  @Test("a transaction is done once, wherever its connection ends", arguments: 0..<6)
  func transaction(step: Int) throws {
    let troubles: [PostgresProxy.Trouble] = [
      .loseRequest, .loseAnswer("BEGIN"), .loseAnswer("COMMIT"), .loseAnswer("UPDATE"), .silence,
      .none,
    ]
    var timeouts = StoreTimeouts()
    // On a busy machine, opening the store must not take as long.
    if step == 4 { timeouts.answer = 3_000 }
    let used = try Rig(timeouts: timeouts)
    used.line.bring(troubles[step])
    let reply = used.store.perform([.rename(id: "n", title: "Other", time: 9)])[0]
    guard case .note(let note) = reply else {
      Issue.record("\(reply)")
      return
    }
    #expect(note.title == "Other")
    let made = used.store.perform([.create(id: "m", epoch: "e", title: "M", time: 1)])[0]
    #expect(made.failure == nil)
    #expect(used.line.troubleCount == (step == 5 ? 0 : 1))
    guard case .notes(let notes) = used.store.perform([.list])[0] else { return }
    #expect(notes.map(\.id).sorted() == ["m", "n"])
  }

  @Test("a note that is made while the connection ends is made once")
  func creation() throws {
    for words in ["BEGIN", "INSERT", "COMMIT"] {
      let rig = try Rig()
      rig.line.bring(.loseAnswer(words))
      let reply = rig.store.perform([.create(id: "m", epoch: "e", title: "M", time: 1)])[0]
      #expect(reply.failure == nil, "\(words)")
      #expect(rig.line.troubleCount == 1)
    }
  }

  @Test("a note is made once by a gateway whose record another one has removed")
  func forgottenWriter() throws {
    for words in ["INSERT", "COMMIT"] {
      let rig = try Rig()
      _ = try rig.server.execute("DELETE FROM parley.writers", in: rig.database)
      rig.line.bring(.loseAnswer(words))
      let reply = rig.store.perform([.create(id: "m", epoch: "e", title: "M", time: 1)])[0]
      #expect(reply.failure == nil, "\(words)")
      #expect(rig.line.troubleCount == 1)
    }
  }

  @Test("of two appends the one that is done stays done when the connection is lost for the other")
  func halfDone() throws {
    var timeouts = StoreTimeouts()
    timeouts.reconnecting = 100
    let rig = try Rig(timeouts: timeouts)
    let made = rig.store.perform([.create(id: "m", epoch: "e", title: "M", time: 1)])
    #expect(made.first?.failure == nil)
    let chain = try #require(try rig.load().chain)
    var other = chain
    other.low ^= 1
    var operation = TextOperation()
    operation.insert("a")
    let entry = LogEntry(
      revision: 1, client: "ann", sequence: 1, digest: 7, operation: operation, author: "Ann",
      time: 5)
    // The second is not taken, and why is asked for on a line that breaks then.
    rig.line.bring(.downAfterAnswer)
    let replies = rig.store.perform([
      .append(id: "n", epoch: "e", entries: [entry], condition: AppendCondition(chain: chain)),
      .append(id: "m", epoch: "e", entries: [entry], condition: AppendCondition(chain: other)),
    ])
    #expect(replies[0].isDone)
    #expect(replies[1].failure?.isRetryable == true)
    rig.line.bring(.none)
    while rig.store.perform([.note(id: "n")])[0].failure != nil {}
    #expect(try rig.load().text == "a")
  }

  @Test("stopping does not wait for an unreachable database", arguments: [true, false])
  func givenUp(isShared: Bool) throws {
    var timeouts = StoreTimeouts()
    timeouts.reconnecting = 3_600_000
    let rig = try Rig(sharing: isShared ? .shared : .alone, timeouts: timeouts)
    rig.store.interruption()()
    #expect(try rig.load().summary.title == "N")
    rig.line.bring(.down)
    #expect(rig.store.perform([.list])[0].failure?.isRetryable == true)
    #expect(
      rig.store.perform([.rename(id: "n", title: "M", time: 9)])[0].failure?.isRetryable == true)
  }

  @Test("an unreachable database is reported until it returns")
  func away() throws {
    var timeouts = StoreTimeouts()
    timeouts.reconnecting = 100
    let rig = try Rig(timeouts: timeouts)
    rig.line.bring(.down)
    guard case .failed(.unavailable(let words)) = rig.store.perform([.list])[0] else {
      Issue.record("it answered")
      return
    }
    #expect(words.contains("PostgreSQL"))
    rig.line.bring(.none)
    while rig.store.perform([.note(id: "n")])[0].failure != nil {}
    #expect(try rig.load().summary.title == "N")
  }
}
