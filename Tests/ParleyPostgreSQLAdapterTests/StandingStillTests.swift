import Foundation
import ParleyGatewayPorts
import OTCore
import ParleyPostgreSQLAdapter
import Synchronization
import Testing

/// A gateway that is stopped while its batch is under way: others continue with its notes.
@Suite("A stopped gateway")
struct StandingStillTests {
  private let line: PostgresProxy
  private let still: PostgresStore
  private let other: PostgresStore

  init() throws {
    let server = try PostgresServer.shared.get()
    line = try PostgresProxy(to: server)
    let database = try server.newDatabase()
    var timeouts = StoreTimeouts()
    // The server does not end stopped processes: a transaction that waits for their rows waits in
    // vain.
    (timeouts.holding, timeouts.answer, timeouts.reconnecting) = (3_600_000, 3_600_000, 100)
    still = try PostgresStore(
      try #require(PostgresAddress(database.replacing(server.folder, with: line.folder))),
      sharing: .shared, timeouts: timeouts)
    timeouts.answer = 20_000
    other = try PostgresStore(
      try #require(PostgresAddress(database)), sharing: .shared, timeouts: timeouts)
    for id in ["n", "beside"] {
      #expect(
        still.perform([.create(id: DocumentID(id), epoch: "e", title: "N", time: 1)])[0].failure
          == nil)
    }
  }

  private func append(_ store: PostgresStore, client: String) throws -> StoreRequest {
    guard case .document(let document) = store.perform([.load(id: "n", recentMax: 9)])[0] else {
      throw PostgresServer.Failure(description: "expected a document")
    }
    let revision = document.summary.revision
    var operation = TextOperation()
    operation.retain(document.text.unicodeScalars.count)
    operation.insert("x")
    let entry = LogEntry(
      revision: revision + 1, client: client, sequence: 1, digest: 7, operation: operation,
      author: "Ann", time: 5)
    return .append(
      id: "n", epoch: "e", entries: [entry],
      condition: document.chain.map { AppendCondition(chain: $0) })
  }

  /// Stops one store during a batch, from the first answer on, while another one does something.
  private func standStill(over batch: [StoreRequest], _ body: () throws -> Void) rethrows {
    // Handed to one thread, which has ended before another one works with the store.
    nonisolated(unsafe) let store = still
    let hasEnded = DispatchSemaphore(value: 0)
    line.bring(.silence)
    let thread = Thread {
      _ = store.perform(batch)
      hasEnded.signal()
    }
    thread.start()
    line.waitForTrouble()
    defer {
      line.bring(.down)
      hasEnded.wait()
    }
    try body()
  }

  @Test("holds no note that it appends to, also in a mixed batch")
  func append() throws {
    let batch = [
      try append(still, client: "ann"), .rename(id: "beside", title: "Other", time: 2),
    ]
    try standStill(over: batch) {
      let next = other.perform([try append(other, client: "ben")])[0]
      #expect(next.failure == nil, "\(next)")
    }
  }

  @Test("holds no note in which it begins sessions, also in a mixed batch")
  func fence() throws {
    let batch: [StoreRequest] = [
      .fence(id: "n", clients: ["ann"]), .rename(id: "beside", title: "Other", time: 2),
    ]
    try standStill(over: batch) {
      let next = other.perform([try append(other, client: "ben")])[0]
      #expect(next.failure == nil, "\(next)")
      guard case .sessions(let begun) = other.perform([.fence(id: "n", clients: ["ann"])])[0]
      else {
        Issue.record("expected sessions")
        return
      }
      #expect(begun == ["ann": 2])
    }
  }
}
