import Gateway
import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

/// Large changes that arrive at the same time. Each turn does little work.
@Suite("Large work in turns")
struct TurnWorkTests {
  /// A kind of request or message with a large change.
  enum Way: CaseIterable {
    case text, textOnBase, change, restoring, message
  }

  private static let scalars = 5_000
  private static let count = 6

  private let rig = GatewayRig(isDemo: true) { $0.turnWorkMax = 2_000 }
  /// Connections that follow the note.
  private var followers: [UInt64] = []

  init() throws {
    rig.make("n1", "n2")
    _ = rig.request("PUT", "/api/notes/n1/text", String(repeating: "-", count: Self.scalars))
    _ = rig.request("PUT", "/api/notes/n1/text", "")
    for _ in 0..<Self.count {
      let (connection, _) = try rig.connectNative(nil)
      for note in ["n1", "n2"] { rig.ask(connection, .join(.init(documentID: note))) }
      followers.append(connection)
    }
    rig.isStepwise = true
  }

  private static func text(_ number: Int) -> String {
    String(repeating: "\(number)", count: scalars)
  }

  private func replace(_ number: Int, query: String = "") -> UInt64 {
    rig.begin("PUT", "/api/notes/n1/text" + query, headers: [:], Self.text(number))
  }

  /// Makes a follower insert text at the start of a note.
  private func insert(_ text: String, by follower: Int, at revision: Int, in note: String) {
    rig.ask(
      followers[follower],
      .change(
        .init(
          documentID: note, epoch: "epoch of \(note)", revision: revision, sequence: 1,
          operation: [.insert(text)])))
  }

  /// Begins a change. Returns its request; `nil` if it is a message.
  private func begin(_ way: Way, _ number: Int) -> UInt64? {
    switch way {
    case .text: return replace(number)
    case .textOnBase: return replace(number, query: "?base=2")
    case .change:
      let operation = #"{"revision":2,"operation":["\#(Self.text(number))"]}"#
      return rig.begin("POST", "/api/notes/n1/changes", headers: [:], operation)
    case .restoring:
      return rig.begin("POST", "/api/notes/n1/restore", headers: [:], #"{"revision":1}"#)
    case .message:
      insert(Self.text(number), by: number, at: 2, in: "n1")
      return nil
    }
  }

  private func logCount(_ note: String) -> Int { rig.store.log(of: DocumentID(note))?.count ?? 0 }

  /// Ends turns until no work is left. The store works after each turn.
  ///
  /// - Returns: The number of entries in the note's log after each turn.
  private func turns() -> [Int] {
    var counts: [Int] = []
    var continues = true
    while continues || !rig.isSettled {
      continues = rig.endTurn()
      rig.performStoreRequests()
      counts.append(logCount("n1"))
    }
    return counts
  }

  @Test("each turn handles one of several large changes", arguments: Way.allCases)
  func oneByOne(way: Way) throws {
    let requests = (0..<Self.count).map { begin(way, $0) }
    // Older texts have been read.
    rig.performStoreRequests()
    insert("x", by: 0, at: 0, in: "n2")
    _ = rig.endTurn()
    rig.performStoreRequests()
    #expect(logCount("n2") == 1, "what is small does not wait")
    let before = logCount("n1")
    #expect(before <= 4)
    let counts = turns()
    for (turn, count) in counts.enumerated() { #expect(count <= before + turn + 1) }
    // Restoring the current text creates a revision, although it changes nothing.
    #expect(counts.last == 2 + Self.count)
    for request in requests.compactMap(\.self) { #expect(rig.answer(request)?.status == 200) }
    if way == .text { #expect(rig.store.document("n1")?.text == Self.text(Self.count - 1)) }
  }

  @Test("each turn handles one of the texts that waited for their note")
  func afterLoading() {
    rig.isStepwise = false
    for follower in followers { rig.close(follower) }
    rig.pass(milliseconds: 100_000)
    rig.isStepwise = true
    let requests = (0..<Self.count).map { replace($0) }
    #expect(rig.stored.count == 1)
    rig.performStoreRequests()
    let counts = turns()
    for (turn, count) in counts.enumerated() { #expect(count <= 2 + turn + 2) }
    for request in requests { #expect(rig.answer(request)?.status == 200) }
    #expect(rig.store.document("n1")?.text == Self.text(Self.count - 1))
  }

  @Test("messages for a note are handled after its waiting work")
  func order() {
    for follower in 0..<3 { insert(Self.text(follower), by: follower, at: 2, in: "n1") }
    insert("small", by: 3, at: 2, in: "n1")
    #expect(!rig.isSettled)
    _ = turns()
    let text = (0..<3).map(Self.text).joined() + "small"
    #expect(rig.store.document("n1")?.text == text)
    for follower in followers.prefix(4) {
      let answers = rig.pushes(follower).filter {
        switch $0 {
        case .acknowledged, .changes: true
        default: false
        }
      }
      #expect(!answers.isEmpty)
    }
  }

  @Test("a client that waits for another turn is answered when the note is deleted")
  func deletion() {
    let requests = (0..<Self.count).map { replace($0) }
    let deletion = rig.begin("DELETE", "/api/notes/n1", headers: [:])
    rig.performStoreRequests()
    #expect(rig.answer(deletion)?.status == 204)
    for request in requests { #expect(rig.answer(request)?.status == 404) }
    _ = turns()
    #expect(rig.isSettled)
  }

  @Test("work that waits for another turn is limited like work that waits for the store")
  func waiting() {
    /// Returns the statuses of five texts sent at once, of which the first is large.
    func statuses(
      others: [String] = (1..<5).map(Self.text), _ change: @escaping (inout GatewaySettings) -> Void
    ) -> [Int?] {
      let rig = GatewayRig(isDemo: true) {
        $0.turnWorkMax = 2_000
        change(&$0)
      }
      rig.make("n1")
      _ = rig.request("PUT", "/api/notes/n1/text", "")
      rig.isStepwise = true
      return ([Self.text(0)] + others).map { text in
        rig.answer(rig.begin("PUT", "/api/notes/n1/text", headers: [:], text))?.status
      }
    }
    #expect(statuses { $0.waitingMax = 2 } == [nil, nil, 503, 503, 503])
    #expect(statuses { $0.storeBytesMax = 3 * Self.scalars } == [nil, nil, nil, 503, 503])
    let small = Array(repeating: "x", count: 4)
    #expect(statuses(others: small) { $0.storeBytesMax = 6_000 } == [nil, nil, nil, nil, 503])
  }

  @Test("a note waits for at most one piece of work of each other note")
  func fairness() {
    for follower in 0..<5 { insert(Self.text(follower), by: follower, at: 2, in: "n1") }
    insert(Self.text(5), by: 5, at: 0, in: "n2")
    var turns = 0
    while logCount("n2") == 0 {
      turns += 1
      _ = rig.endTurn()
      rig.performStoreRequests()
    }
    #expect(turns <= 3 && logCount("n1") <= 2 + turns)
  }

  @Test("many small changes of others do not delay a large one")
  func crowd() {
    insert(Self.text(0), by: 0, at: 2, in: "n1")
    insert(Self.text(1), by: 1, at: 2, in: "n1")
    _ = rig.endTurn()
    rig.performStoreRequests()
    #expect(logCount("n1") == 3)
    // Together more than a turn's work, but each change is small.
    for number in 0..<150 {
      rig.make("small \(number)")
      _ = rig.begin(
        "POST", "/api/notes/small%20\(number)/changes", headers: [:],
        #"{"revision":0,"operation":["abcd"]}"#)
    }
    rig.performStoreRequests()
    // A turn's deliveries are written before more is committed.
    for _ in 0..<2 { _ = rig.endTurn() }
    rig.performStoreRequests()
    #expect(logCount("n1") == 4 && logCount("small 149") == 1)
  }

  @Test("a waiting change is discarded with its connection, and made once when it is repeated")
  func disconnection() throws {
    let (connection, welcome) = try rig.connectNative(nil)
    rig.ask(connection, .join(.init(documentID: "n1")))
    insert(Self.text(0), by: 0, at: 2, in: "n1")
    let change = ClientMessage.change(
      .init(
        documentID: "n1", epoch: "epoch of n1", revision: 2, sequence: 1,
        operation: [.insert(Self.text(1))]))
    rig.ask(connection, change)
    rig.close(connection)
    let (later, _) = try rig.connectNative(
      nil, client: .init(id: welcome.clientID, resumeToken: welcome.resumeToken))
    rig.ask(
      later,
      .join(
        .init(
          documentID: "n1", resume: ResumePoint(epoch: "epoch of n1", revision: 2),
          unanswered: .init(clientID: welcome.clientID, sequence: 1, time: nil))))
    _ = turns()
    let joined = rig.pushes(later).compactMap {
      if case .joined(let joined) = $0 { joined } else { nil }
    }
    #expect(joined.map(\.settled?.sequence) == [0], "the log must not contain the change")
    for _ in 0..<2 {
      rig.ask(later, change)
      _ = turns()
    }
    #expect(logCount("n1") == 4)
  }

  @Test("a note without followers stays in memory while work waits for it")
  func eviction() {
    for follower in followers { rig.close(follower) }
    let requests = (0..<3).map { replace($0) }
    rig.pass(milliseconds: 1_000_000)
    _ = turns()
    for request in requests { #expect(rig.answer(request)?.status == 200) }
  }

  @Test("at shutdown, waiting edits are made and waiting changes are refused, each once")
  func goingDown() {
    let requests = (0..<2).map { replace($0) }
    insert("small", by: 0, at: 2, in: "n1")
    rig.drainGateway()
    #expect(!rig.isSettled)
    _ = turns()
    #expect(rig.isSettled)
    for request in requests { #expect(rig.answer(request)?.status == 200) }
    #expect(answers(to: 0) == ["unavailable"])
  }

  @Test("when a commit fails, its changes are refused and waiting work continues")
  func failure() {
    for follower in 0..<3 { insert(Self.text(follower), by: follower, at: 2, in: "n1") }
    _ = rig.endTurn()
    rig.failAsUnavailable()
    _ = turns()
    #expect((0..<3).map { answers(to: $0) } == [["unavailable"], ["3"], ["4"]])
    #expect(rig.store.document("n1")?.text == Self.text(1) + Self.text(2))
  }

  /// Returns the outcomes of a follower's changes: a revision or an error code.
  private func answers(to follower: Int) -> [String] {
    rig.pushes(followers[follower]).compactMap { message in
      switch message {
      case .acknowledged(let acknowledged): "\(acknowledged.revision)"
      case .refused(let refused): refused.code.rawValue
      default: nil
      }
    }
  }

  @Test("the log does not depend on how the work is divided into turns")
  func sameLogs() throws {
    for seed in UInt64(1)...20 {
      let found = try [1 << 40, 1, 2_000].map { try logs(seed: seed, turnWorkMax: $0) }
      #expect(found.dropFirst().allSatisfy { $0 == found[0] }, "seed \(seed)")
    }
  }

  /// Returns the logs of two notes after a run of changes, each with its author and its outcome.
  private func logs(seed: UInt64, turnWorkMax: Int) throws -> [[String]] {
    let rig = GatewayRig(isDemo: true) { $0.turnWorkMax = turnWorkMax }
    let notes = ["n1", "n2"]
    rig.make("n1", "n2")
    // `script` decides which changes are made; `pace` decides only when turns end.
    var (script, pace) = (SplitMix64(seed: seed), SplitMix64(seed: ~seed))
    var authors: [(connection: UInt64, note: String, length: Int)] = []
    for _ in 0..<8 {
      let (connection, _) = try rig.connectNative(nil)
      for note in notes {
        rig.ask(connection, .join(.init(documentID: note)))
        let length = script.chance(50) ? 1 + script.below(5) : 1_000 + script.below(3_000)
        authors.append((connection, note, length))
      }
      _ = rig.pushes(connection)
    }
    authors.shuffle(using: &script)
    rig.isStepwise = true
    for author in authors {
      rig.ask(
        author.connection,
        .change(
          .init(
            documentID: author.note, epoch: "epoch of \(author.note)", revision: 0, sequence: 1,
            operation: [.insert(String(repeating: "\(author.connection) ", count: author.length))]))
      )
      if pace.chance(30) { _ = rig.endTurn() }
      if pace.chance(30) { rig.performStoreRequests() }
    }
    var continues = true
    while continues || !rig.isSettled {
      continues = rig.endTurn()
      rig.performStoreRequests()
    }
    for connection in Set(authors.map(\.connection)) {
      var heard: [String: [Int]] = [:]
      for message in rig.pushes(connection) {
        switch message {
        case .acknowledged(let own): heard[own.documentID, default: []].append(own.revision)
        case .changes(let all):
          heard[all.documentID, default: []] += all.revision..<(all.revision + all.changes.count)
        default: break
        }
      }
      #expect(heard == ["n1": Array(1...8), "n2": Array(1...8)], "each revision, once, in order")
    }
    let logs = notes.map { note in
      (rig.store.log(of: DocumentID(note)) ?? []).map {
        "\($0.revision) \($0.client) \($0.operation)"
      }
    }
    return logs
  }
}
