import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

/// Several writers of one store. A writer that loses a race adopts the other writers' entries and
/// submits its waiting changes again.
@Suite("Racing for a revision")
struct RacingTests {
  private let rig = GatewayRig(isDemo: true)
  private let author: (connection: UInt64, client: String)
  private let reader: UInt64

  init() throws {
    rig.make("n1")
    let (connection, welcome) = try rig.connectNative(nil)
    author = (connection, welcome.clientID)
    reader = try rig.connectNative(nil).0
    for connection in [author.connection, reader] {
      rig.ask(connection, .join(.init(documentID: "n1")))
      _ = rig.pushes(connection)
    }
    rig.isStepwise = true
  }

  /// Makes the author insert a letter at the start of the note, and ends the turn.
  private func type(_ letter: String = "x", at revision: Int = 0) {
    rig.ask(
      author.connection, .change(Self.change(letter, at: revision, length: revision, sequence: 1)))
    _ = rig.endTurn()
  }

  private static func change(
    _ letter: String, at revision: Int, length: Int, sequence: Int
  ) -> ClientMessage.Change {
    var operation = TextOperation()
    operation.insert(letter)
    operation.retain(length)
    return .init(
      documentID: "n1", epoch: "epoch of n1", revision: revision, sequence: sequence,
      operation: operation)
  }

  /// Appends entries to the log as another node does.
  private func append(_ entries: LogEntry...) throws {
    let reply = rig.store.perform([.append(id: "n1", epoch: "epoch of n1", entries: entries)])[0]
    #expect(reply.isDone)
  }

  private func others(_ text: String, at revision: Int, length: Int) -> LogEntry {
    var operation = TextOperation()
    operation.insert(text)
    operation.retain(length)
    return LogEntry(
      revision: revision, client: "other", sequence: revision, digest: 1, operation: operation,
      author: "Other", time: 1)
  }

  /// Lets the store perform all waiting requests.
  private func finish() {
    while rig.endTurn() || !rig.stored.isEmpty { rig.performStoreRequests() }
  }

  private func acknowledged(_ messages: [ServerMessage]) -> [Int] {
    messages.compactMap { if case .acknowledged(let it) = $0 { it.revision } else { nil } }
  }

  private func changes(_ messages: [ServerMessage]) -> [Int] {
    messages.flatMap { message -> [Int] in
      guard case .changes(let it) = message else { return [] }
      return it.changes.indices.map { it.revision + $0 }
    }
  }

  @Test("changes that lost the race are committed after the others, and delivered once")
  func change() throws {
    type()
    try append(others("ab", at: 1, length: 0), others("c", at: 2, length: 2))
    rig.performStoreRequests()
    #expect(changes(rig.pushes(reader)) == [1, 2])
    let before = rig.pushes(author.connection)
    #expect(changes(before) == [1, 2])
    #expect(acknowledged(before) == [])
    finish()
    #expect(acknowledged(rig.pushes(author.connection)) == [3])
    #expect(changes(rig.pushes(reader)) == [3])
    #expect(rig.store.document("n1")?.text == "cabx")
    #expect(rig.store.log(of: "n1")?.map(\.client) == ["other", "other", author.client])
    #expect(rig.unreadiness == nil)
  }

  @Test("a change that loses several races is committed in the end")
  func again() throws {
    type()
    for revision in 1...3 {
      try append(others("a", at: revision, length: revision - 1))
      rig.performStoreRequests()
      while rig.endTurn() {}
    }
    finish()
    #expect(acknowledged(rig.pushes(author.connection)) == [4])
    #expect(rig.store.document("n1")?.text == "aaax")
  }

  @Test("a change that another node has appended is acknowledged, and not appended again")
  func sameChange() throws {
    type()
    guard case .append(_, _, let entries, _)? = rig.stored.first?.request else {
      throw Unexpected(message: nil)
    }
    for entry in entries { try append(entry) }
    rig.performStoreRequests()
    #expect(acknowledged(rig.pushes(author.connection)) == [1])
    finish()
    #expect(rig.pushes(author.connection).isEmpty)
    #expect(rig.store.document("n1")?.text == "x")
  }

  @Test("an edit over HTTP is made after the others' changes, unless it expected another revision")
  func edits() throws {
    func edit(_ headers: [String: String] = [:]) throws -> UInt64 {
      let request = rig.begin("PUT", "/api/notes/n1/text", headers: headers, "text")
      _ = rig.endTurn()
      let head = rig.store.log(of: "n1")?.count ?? 0
      let length = rig.store.document("n1")?.scalarCount ?? 0
      try append(others("a", at: head + 1, length: length))
      rig.performStoreRequests()
      finish()
      return request
    }
    #expect(rig.answer(try edit(["if-match": "\"0\""]))?.status == 412)
    #expect(rig.store.document("n1")?.text == "a")
    let made = try edit(["idempotency-key": "k"])
    #expect(rig.answer(made)?.status == 200)
    #expect(rig.answer(made)?.body == #"{"revision":3}"#)
    let repeated = rig.begin(
      "PUT", "/api/notes/n1/text", headers: ["idempotency-key": "k"], "text")
    rig.performStoreRequests()
    #expect(rig.answer(repeated)?.body == #"{"revision":3}"#)
  }

  @Test("finished work is removed from the store's account")
  func backlog() throws {
    let idle = rig.storeBacklog.bytes
    type()
    try append(others("ab", at: 1, length: 0))
    rig.performStoreRequests()
    #expect(rig.storeBacklog.bytes > idle)
    finish()
    #expect(rig.storeBacklog.bytes == idle)
  }

  // MARK: Two nodes

  /// A client of one of two nodes, which repeatedly types an x at the start.
  private struct Typist {
    let node: Int
    let connection: UInt64
    let client: String
    var head = 0
    var sequence = 0
    var isWaiting = false
    var acknowledged: [Int: Int] = [:]
  }

  @Test(
    "two nodes on one store commit each change once, in the order of its author", arguments: 1...20)
  func twoNodes(seed: UInt64) throws {
    var rng = SplitMix64(seed: seed)
    let store = MemoryStore()
    let nodes = ["a", "b"].map { GatewayRig(isDemo: true, store: store, prefix: $0) }
    nodes[0].make("n1")
    var typists: [Typist] = []
    for node in 0..<4 {
      let (connection, welcome) = try nodes[node % 2].connectNative(nil)
      nodes[node % 2].ask(connection, .join(.init(documentID: "n1")))
      typists.append(
        Typist(node: node % 2, connection: connection, client: welcome.clientID))
    }
    for node in nodes { node.isStepwise = true }
    func listen() {
      for index in typists.indices {
        for message in nodes[typists[index].node].pushes(typists[index].connection) {
          switch message {
          case .acknowledged(let it):
            typists[index].acknowledged[it.sequence] = it.revision
            typists[index].head = it.revision
            typists[index].isWaiting = false
          case .changes(let it):
            for (offset, change) in it.changes.enumerated() {
              typists[index].head = it.revision + offset
              guard change.clientID == typists[index].client else { continue }
              typists[index].acknowledged[change.sequence] = it.revision + offset
              typists[index].isWaiting = false
            }
          default: break
          }
        }
      }
    }
    func step(_ node: GatewayRig, _ choice: UInt64) {
      if choice == 0 { _ = node.endTurn() } else { node.performStoreRequests(on: 1) }
      listen()
    }
    for _ in 0..<300 {
      let index = Int(rng.next() % 4)
      if rng.next() % 3 > 0 {
        step(nodes[Int(rng.next() % 2)], rng.next() % 2)
      } else if !typists[index].isWaiting {
        typists[index].sequence += 1
        typists[index].isWaiting = true
        let typist = typists[index]
        nodes[typist.node].ask(
          typist.connection,
          .change(
            Self.change("x", at: typist.head, length: typist.head, sequence: typist.sequence)))
        listen()
      }
    }
    for _ in 0..<20 {
      for node in nodes {
        step(node, 0)
        while !node.stored.isEmpty { step(node, 1) }
      }
    }
    let log = store.log(of: "n1") ?? []
    var count = 0
    for typist in typists {
      #expect(!typist.isWaiting, "seed \(seed)")
      let own = log.filter { $0.client == typist.client }
      #expect(own.map(\.sequence) == own.indices.map { $0 + 1 } && own.count == typist.sequence)
      for entry in own { #expect(typist.acknowledged[entry.sequence] == entry.revision) }
      count += own.count
    }
    #expect(count == log.count && count > 20)
    #expect(store.document("n1")?.scalarCount == log.count)
  }
}
