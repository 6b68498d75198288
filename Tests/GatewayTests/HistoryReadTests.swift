import Gateway
import ParleyGatewayPorts
import ParleyLocks
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// Reads of older changes: their cost, and their failures.
@Suite("Reads of older changes")
struct HistoryReadTests {
  private static let epoch = "epoch of n1"

  private final class Lines: LogSink {
    private let lines = Locked<[String]>([])
    let level = LogLevel.error
    var all: [String] { lines.withLock { $0 } }
    func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]) {
      guard level >= self.level else { return }
      let fields = data.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      lines.withLock { $0.append("\(message) \(fields)") }
    }
  }

  /// Returns a gateway with the last four of a note's twenty changes in memory.
  private func rig(
    log: any LogSink = NoLog(), letters: Int = 1,
    _ change: (inout GatewaySettings) -> Void = { _ in }
  ) throws -> GatewayRig {
    let rig = GatewayRig(isDemo: true, log: log) {
      $0.windowEntries = 4
      change(&$0)
    }
    rig.make("n1")
    let (id, _) = try rig.connectNative(nil)
    rig.ask(id, .join(.init(documentID: "n1")))
    for revision in 0..<20 { type(rig, id, revision: revision, letters: letters) }
    return rig
  }

  private func type(_ rig: GatewayRig, _ id: UInt64, revision: Int, letters: Int = 1) {
    var operation = TextOperation()
    operation.insert(String(repeating: "x", count: letters))
    operation.retain(revision * letters)
    rig.ask(
      id,
      .change(
        .init(
          documentID: "n1", epoch: Self.epoch, revision: revision, sequence: revision + 1,
          operation: operation)))
  }

  private func resume(_ revision: Int) -> ResumePoint {
    ResumePoint(epoch: Self.epoch, revision: revision)
  }

  private func page(_ rig: GatewayRig, _ id: UInt64, of note: String = "n1") -> ServerMessage? {
    rig.ask(
      id,
      .documentHistory(
        .init(documentID: note, resume: .init(epoch: "epoch of \(note)", revision: 0))))
  }

  private func code(_ reply: ServerMessage?) -> ErrorCode? {
    if case .error(let failure)? = reply { failure.code } else { nil }
  }

  @Test("a join whose changes cannot be read now is refused as retryable, without loss")
  func passingError() throws {
    let rig = try rig()
    let (id, _) = try rig.connectNative(nil)
    rig.store.unreadableDocuments = ["n1"]
    let join = ClientMessage.join(.init(documentID: "n1", resume: resume(2)))
    guard case .error(let failure)? = rig.ask(id, join) else {
      Issue.record("answered with what was not read")
      return
    }
    #expect(failure.code == .unavailable && failure.retryable)
    rig.store.unreadableDocuments = []
    guard case .joined(let joined)? = rig.ask(id, join),
      case .changes(let changes) = joined.content
    else {
      Issue.record("not resumed")
      return
    }
    #expect(changes.count == 18)
  }

  @Test(
    "with a crowd, changes may have older bases before the store is read",
    arguments: [1, 500])
  func crowd(followers: Int) throws {
    let rig = GatewayRig(isDemo: true) { $0.windowEntries = 4 }
    rig.make("n1")
    let ids = try (0...followers).map { _ in try rig.connectNative(nil).0 }
    for id in ids { rig.ask(id, .join(.init(documentID: "n1"))) }
    for revision in 0..<20 { type(rig, ids[0], revision: revision) }
    rig.store.unreadableDocuments = ["n1"]
    var operation = TextOperation()
    operation.insert("y")
    operation.retain(13)
    let reply = rig.ask(
      ids[1],
      .change(
        .init(
          documentID: "n1", epoch: Self.epoch, revision: 13, sequence: 1, operation: operation)))
    switch reply {
    case .acknowledged(let answer)?: #expect(followers == 500 && answer.revision == 21)
    case .refused(let refusal)?: #expect(followers == 1 && refusal.code == .unavailable)
    default: Issue.record("answered with \(String(describing: reply))")
    }
  }

  @Test("a client that waits at the same time and needs no changes is admitted")
  func passingErrorOfAnother() throws {
    let rig = try rig()
    let (late, _) = try rig.connectNative(nil)
    let (fresh, _) = try rig.connectNative(nil)
    rig.isStepwise = true
    rig.store.unreadableDocuments = ["n1"]
    #expect(rig.ask(late, .join(.init(documentID: "n1", resume: resume(2)))) == nil)
    #expect(rig.ask(fresh, .join(.init(documentID: "n1"))) == nil)
    rig.performStoreRequests()
    #expect(rig.pushes(late).compactMap { code($0) } == [.unavailable])
    #expect(rig.pushes(fresh).contains { if case .joined = $0 { true } else { false } })
  }

  @Test("damage is reported to the operator, and the text still opens", arguments: [false, true])
  func damage(pages: Bool) throws {
    let log = Lines()
    let rig = try rig(log: log)
    let (id, _) = try rig.connectNative(nil)
    rig.store.damagedDocuments = ["n1"]
    if pages {
      #expect(code(page(rig, id)) == .historyGone)
    } else {
      guard
        case .joined(let joined)? = rig.ask(id, .join(.init(documentID: "n1", resume: resume(2))))
      else {
        Issue.record("not joined")
        return
      }
      #expect(joined.content == .text(String(repeating: "x", count: 20)))
    }
    #expect(log.all == ["changes not readable error=damaged"])
  }

  @Test("reading the store for a lagging client is limited in bytes")
  func catchUpBytes() throws {
    let rig = try rig(letters: 1) {
      $0.windowEntries = 50
      $0.catchUpBytes = 2_000
    }
    let (writer, _) = try rig.connectNative(nil)
    let (slow, _) = try rig.connectNative(nil)
    for id in [writer, slow] { rig.ask(id, .join(.init(documentID: "n1"))) }
    rig.queues.bytes[slow] = .max
    var length = 20
    for sequence in 1...200 {
      var operation = TextOperation()
      operation.insert(String(repeating: "y", count: 1_000))
      operation.retain(length)
      length += 1_000
      rig.ask(
        writer,
        .change(
          .init(
            documentID: "n1", epoch: Self.epoch, revision: 19 + sequence, sequence: sequence,
            operation: operation)))
    }
    _ = rig.pushes(slow)
    rig.queues.bytes[slow] = nil
    rig.isStepwise = true
    rig.drain(slow)
    let reads = rig.stored.compactMap { item -> Int? in
      if case .entries(_, _, _, let bytesMax) = item.request { bytesMax } else { nil }
    }
    #expect(reads == [2_000])
    rig.isStepwise = false
    rig.performStoreRequests()
    var revision = 20
    for _ in 0..<400 where revision < 220 {
      for case .changes(let changes) in rig.pushes(slow) {
        #expect(changes.revision == revision + 1)
        #expect(changes.changes.count <= 2)
        revision += changes.changes.count
      }
      rig.drain(slow)
    }
    #expect(revision == 220)
  }

  @Test("a client that leaves before its read has begun is not logged as an error")
  func abandoned() throws {
    let log = Lines()
    let rig = try rig(log: log)
    rig.isStepwise = true
    let request = rig.begin("GET", "/api/notes/n1/text?revision=2", headers: [:])
    #expect(rig.stored.count == 1)
    rig.abandon(request)
    #expect(rig.forgotten == rig.stored.map(\.ticket))
    rig.performStoreRequests(failing: { _ in .cancelled })
    #expect(log.all.isEmpty)
    #expect(rig.answer(request)?.status == 503)
  }

  // MARK: Pages

  @Test("reading pages keeps a note in memory, as following it does")
  func renewsIdleTime() throws {
    let rig = try rig { $0.idleDocumentMilliseconds = 1_000 }
    rig.close(1)
    let (id, _) = try rig.connectNative(nil)
    for _ in 0..<5 {
      #expect(code(page(rig, id)) == nil)
      rig.pass(milliseconds: 600)
    }
    rig.isStepwise = true
    #expect(page(rig, id) == nil)
    let loads = rig.stored.filter { if case .load = $0.request { true } else { false } }
    #expect(loads.isEmpty)
  }

  @Test("a connection can read pages of a limited number of notes that it does not follow")
  func notesInMemory() throws {
    let rig = GatewayRig(isDemo: true) {
      $0.limits.documentsPerConnectionMax = 3
      $0.idleDocumentMilliseconds = 1_000
    }
    for number in 0..<5 { rig.make("m\(number)") }
    let (id, _) = try rig.connectNative(nil)
    for number in 0..<3 { #expect(code(page(rig, id, of: "m\(number)")) == nil) }
    #expect(code(page(rig, id, of: "m3")) == .busy)
    #expect(code(page(rig, id, of: "m0")) == nil)
    // A note that the connection follows does not count towards the limit.
    rig.ask(id, .join(.init(documentID: "m0")))
    #expect(code(page(rig, id, of: "m3")) == nil)
    #expect(code(page(rig, id, of: "m4")) == .busy)
    rig.pass(milliseconds: 1_000)
    #expect(code(page(rig, id, of: "m4")) == nil)
  }

  @Test("the end of a connection cancels its reads of pages")
  func forgotten() throws {
    let rig = try rig()
    let (id, _) = try rig.connectNative(nil)
    rig.isStepwise = true
    #expect(page(rig, id) == nil)
    let read = try #require(rig.stored.last)
    rig.close(id)
    #expect(rig.forgotten == [read.ticket])
    // A reply that arrives nevertheless is discarded.
    rig.performStoreRequests()
    #expect(rig.pushes(id).isEmpty)
  }

  @Test("no page is read while the store is overloaded")
  func backlog() throws {
    let rig = try rig { $0.storeRequestsMax = 1 }
    let (writer, _) = try rig.connectNative(nil)
    rig.ask(writer, .join(.init(documentID: "n1")))
    let (id, _) = try rig.connectNative(nil)
    rig.isStepwise = true
    var operation = TextOperation()
    operation.retain(20)
    operation.insert("y")
    rig.ask(
      writer,
      .change(
        .init(
          documentID: "n1", epoch: Self.epoch, revision: 20, sequence: 1, operation: operation)))
    #expect(rig.unreadiness != nil)
    #expect(code(page(rig, id)) == .busy)
    rig.isStepwise = false
    _ = rig.endTurn()
    rig.performStoreRequests()
    #expect(rig.unreadiness == nil)
    #expect(code(page(rig, id)) == nil)
  }
}
