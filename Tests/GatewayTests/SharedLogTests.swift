import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// Two nodes on one log, step by step.
@Suite("A log that two nodes share")
struct SharedLogTests {
  private static let topic = "note/n1"
  private let a: GatewayRig
  private let b: GatewayRig
  private let store: MemoryStore

  init() {
    store = MemoryStore(isShared: true)
    a = GatewayRig(isDemo: true, store: store, prefix: "a")
    b = GatewayRig(isDemo: true, store: store, prefix: "b")
    a.make("n1")
  }

  private struct Client {
    let line: UInt64
    let id: String
    let claim: ClientMessage.Hello.Claim
  }

  private func client(of node: GatewayRig, joins: Bool = true) throws -> Client {
    let (line, welcome) = try node.connectNative(nil)
    if joins { node.ask(line, .join(.init(documentID: "n1"))) }
    _ = node.pushes(line)
    return Client(
      line: line, id: welcome.clientID,
      claim: .init(id: welcome.clientID, resumeToken: welcome.resumeToken))
  }

  private func change(_ letter: String = "x", at revision: Int = 0, sequence: Int = 1)
    -> ClientMessage
  {
    var operation = TextOperation()
    operation.insert(letter)
    operation.retain(revision)
    return .change(
      .init(
        documentID: "n1", epoch: "epoch of n1", revision: revision, sequence: sequence,
        operation: operation))
  }

  private func settle(_ node: GatewayRig) {
    while node.endTurn() || !node.stored.isEmpty { node.performStoreRequests() }
  }

  private func joined(_ reply: ServerMessage?) -> ServerMessage.Joined? {
    if case .joined(let joined)? = reply { joined } else { nil }
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

  private func refusals(_ messages: [ServerMessage]) -> [ErrorCode] {
    messages.compactMap { if case .refused(let it) = $0 { it.code } else { nil } }
  }

  @Test("a hint makes a node read new entries, and a wrong hint costs one read")
  func hints() throws {
    let author = try client(of: a)
    let reader = try client(of: b)
    #expect(b.topics == [Self.topic])
    a.ask(author.line, change())
    #expect(a.hints.map(\.topic) == [Self.topic])
    #expect(changes(b.pushes(reader.line)) == [])
    for hint in a.hints { b.hear(hint.topic, hint.bytes) }
    #expect(changes(b.pushes(reader.line)) == [1])
    b.isStepwise = true
    for wrong in ["99", "x", "-1", "", "1", "99999999999999999999999"] {
      b.hear(Self.topic, Array(wrong.utf8))
    }
    b.hear("note/n2", Array("9".utf8))
    b.hear("n1", Array("9".utf8))
    #expect(b.stored.count == 1)
    b.performStoreRequests()
    #expect(b.stored.isEmpty)
  }

  @Test("a join that waits for a commit is answered if the log has another epoch")
  func joinBesideAnotherHistory() throws {
    let author = try client(of: a)
    a.isStepwise = true
    a.ask(author.line, change())
    _ = a.endTurn()
    // The client reconnects while its change is being committed, and asks for the outcome.
    a.close(author.line)
    let (line, _) = try a.connectNative(nil, client: author.claim)
    let join = a.send(
      line,
      .join(
        .init(
          documentID: "n1", resume: ResumePoint(epoch: "epoch of n1", revision: 0),
          unanswered: ChangeName(clientID: author.id, sequence: 1))))
    #expect(a.replyCount(line, to: join) == 0)
    a.storeAnswers(.failed(.notNext(headRevision: 9)))
    settle(a)
    #expect(a.replyCount(line, to: join) == 1)
  }

  @Test("a client without a session begins at the floor after sessions were removed")
  func sessionFloor() throws {
    let author = try client(of: b)
    _ = store.perform([.fence(id: "n1", clients: ["made up", author.id])])
    store.dropIdleSessions(of: "n1")
    // The gateway loads the note with the floor.
    let newcomer = try client(of: a)
    a.ask(newcomer.line, change())
    #expect(acknowledged(a.pushes(newcomer.line)) + [store.log(of: "n1")?.count ?? 0] == [1])
    // The gateway loaded the note before the floor rose: it rejects the change, and the client
    // rejoins.
    b.isStepwise = true
    b.ask(author.line, change())
    settle(b)
    #expect(acknowledged(b.pushes(author.line)).isEmpty)
    #expect(b.closeCodes[author.line] == CloseReason.rejoin.rawValue)
    #expect(store.log(of: "n1")?.count == 1)
    b.isStepwise = false
    let (line, _) = try b.connectNative(nil, client: author.claim)
    let reply = b.ask(
      line,
      .join(
        .init(
          documentID: "n1", resume: ResumePoint(epoch: "epoch of n1", revision: 0),
          unanswered: ChangeName(clientID: author.id, sequence: 1))))
    #expect(joined(reply) != nil)
    b.ask(line, change())
    #expect(store.log(of: "n1")?.map(\.client).last == author.id)
    #expect(store.log(of: "n1")?.count == 2)
    // Edits over HTTP have no sessions.
    #expect(b.request("PUT", "/api/notes/n1/text", "words").status == 200)
  }

  @Test("without hints a node checks the heads")
  func heads() throws {
    let author = try client(of: a)
    let reader = try client(of: b)
    a.ask(author.line, change())
    b.pass(milliseconds: 1_000)
    #expect(changes(b.pushes(reader.line)) == [1])
    _ = store.perform([.rename(id: "n1", title: "Other", time: 9)])
    b.pass(milliseconds: 1_000)
    let titles = b.pushes(reader.line).compactMap { message -> String? in
      if case .documentChanged(let it) = message { it.title } else { nil }
    }
    #expect(titles == ["Other"])
  }

  @Test("the heads of very many notes are checked in parts, each in turn")
  func manyHeads() {
    let ids = (0..<4_001).map { "m\($0)" }
    for id in ids {
      a.make(id)
      #expect(a.request("PUT", "/api/notes/\(id)/text", "x").status == 200)
    }
    a.pass(milliseconds: 1_000)
    a.isStepwise = true
    a.pass(milliseconds: 1_000)
    var seen: [String] = []
    for _ in 0..<6 {
      for case .heads(let part) in a.stored.map(\.request) {
        #expect(part.count <= 2_000)
        seen += part.map(\.text)
      }
      while !a.stored.isEmpty { a.performStoreRequests() }
      a.pass(milliseconds: 250)
    }
    #expect(Set(seen).isSuperset(of: ids))
  }

  @Test(
    "a change whose answer was lost is found in the log and acknowledged", arguments: [true, false])
  func lostAnswer(isDone: Bool) throws {
    let author = try client(of: a)
    a.isStepwise = true
    a.ask(author.line, change())
    _ = a.endTurn()
    a.failWithUnknownOutcome(afterDoing: isDone)
    let messages = a.pushes(author.line)
    #expect(refusals(messages).isEmpty && acknowledged(messages).isEmpty)
    settle(a)
    let after = a.pushes(author.line)
    #expect(refusals(after).isEmpty)
    #expect(acknowledged(after) + changes(after) == [1])
    #expect(store.log(of: "n1")?.map(\.client) == [author.id])
    // The gateway is ready when the heads show that it has missed no entries of others.
    #expect(a.unreadiness != nil)
    a.pass(milliseconds: 1_000)
    settle(a)
    #expect(a.unreadiness == nil)
  }

  @Test("changes are refused as retryable after three reads that failed, and no sooner")
  func unreadable() throws {
    let author = try client(of: a)
    a.isStepwise = true
    a.ask(author.line, change())
    _ = a.endTurn()
    for count in 0...3 {
      #expect(refusals(a.pushes(author.line)).isEmpty, "after \(count)")
      a.failWithUnknownOutcome(afterDoing: false)
      a.pass(milliseconds: 1_000)
    }
    #expect(refusals(a.pushes(author.line)) == [.unavailable])
    #expect(store.log(of: "n1")?.isEmpty == true)
    // The client resends the same change.
    a.ask(author.line, change())
    settle(a)
    #expect(acknowledged(a.pushes(author.line)) == [1])
  }

  @Test("a client with entries from another node is not treated as one with a lost tail")
  func ahead() throws {
    let author = try client(of: a)
    _ = try client(of: b)
    a.ask(author.line, change())
    let (line, _) = try b.connectNative(nil, client: author.claim)
    let reply = b.ask(
      line, .join(.init(documentID: "n1", resume: .init(epoch: "epoch of n1", revision: 1))))
    let answer = try #require(joined(reply))
    #expect(answer.epoch == "epoch of n1" && answer.revision == 1 && answer.lastSequence == 1)
  }

  @Test("a copy at another node is not committed after a join reported it as missing")
  func fence() throws {
    let author = try client(of: a)
    a.isStepwise = true
    a.ask(author.line, change())
    _ = a.endTurn()
    let (line, _) = try b.connectNative(nil, client: author.claim)
    let reply = b.ask(
      line,
      .join(
        .init(
          documentID: "n1", resume: .init(epoch: "epoch of n1", revision: 0),
          unanswered: .init(clientID: author.id, sequence: 1))))
    let answer = try #require(joined(reply))
    #expect(answer.settled == ChangeName(clientID: author.id, sequence: 0))
    settle(a)
    #expect(store.log(of: "n1")?.isEmpty == true)
    #expect(a.closeCodes[author.line] == CloseReason.rejoin.rawValue)
    // Another change under the same number, at the client's new node.
    b.ask(line, change("y"))
    #expect(store.document("n1")?.text == "y")
    #expect(a.isSettled && b.isSettled)
  }

  @Test("a page after another node's revisions is sent when the log has been read")
  func pages() throws {
    let author = try client(of: a)
    _ = try client(of: b)
    a.ask(author.line, change())
    let (line, _) = try b.connectNative(nil)
    guard case .documentHistory(let given)? = page(of: b, line, after: 1) else {
      Issue.record("expected a page")
      return
    }
    #expect(given.changes.isEmpty)
    // No node has this revision.
    guard case .error(let failure)? = page(of: b, line, after: 9) else {
      Issue.record("expected an error")
      return
    }
    #expect(failure.code == .futureRevision)
  }

  private func page(of node: GatewayRig, _ line: UInt64, after revision: Int) -> ServerMessage? {
    node.ask(
      line,
      .documentHistory(
        .init(documentID: "n1", resume: .init(epoch: "epoch of n1", revision: revision))))
  }

  @Test("an edit that waits for the log is answered if the note is deleted")
  func deletedMeanwhile() throws {
    _ = try client(of: b)
    b.isStepwise = true
    let request = b.begin("PUT", "/api/notes/n1/text", headers: ["if-match": "\"1\""], "text")
    _ = store.perform([.delete(id: "n1")])
    b.performStoreRequests()
    #expect(b.answer(request)?.status == 404)
  }

  @Test("a new epoch at another node makes all clients rejoin")
  func otherHistory() throws {
    let author = try client(of: a)
    let reader = try client(of: b)
    a.ask(author.line, change())
    b.pass(milliseconds: 1_000)
    _ = store.perform([.renewEpoch(id: "n1", from: "epoch of n1", to: "second")])
    b.pass(milliseconds: 1_000)
    #expect(b.closeCodes[reader.line] == CloseReason.rejoin.rawValue)
    a.ask(author.line, change("y", at: 1, sequence: 2))
    #expect(a.closeCodes[author.line] == CloseReason.rejoin.rawValue)
    #expect(store.document("n1")?.text == "x")
  }

  @Test("a note deleted at another node is deleted here")
  func deletion() throws {
    let reader = try client(of: b)
    _ = store.perform([.delete(id: "n1")])
    b.pass(milliseconds: 1_000)
    let isDeleted = b.pushes(reader.line).contains { message in
      if case .documentChanged(let it) = message { it.deleted } else { false }
    }
    #expect(isDeleted)
  }

  @Test("a client that waits for the log is notified that the note is deleted")
  func deletionWhileReading() throws {
    _ = try client(of: b)
    let (line, _) = try b.connectNative(nil)
    b.isStepwise = true
    let edit = b.begin("PUT", "/api/notes/n1/text", headers: ["if-match": "\"1\""], "text")
    b.ask(
      line, .join(.init(documentID: "n1", resume: .init(epoch: "epoch of n1", revision: 0))))
    _ = store.perform([.delete(id: "n1")])
    settle(b)
    #expect(b.answer(edit)?.status == 404)
    let codes = b.pushes(line).compactMap { message -> ErrorCode? in
      if case .error(let error) = message { error.code } else { nil }
    }
    #expect(codes == [.unknownDocument])
  }

  @Test("changes are refused if the log is readable but not writable")
  func readOnly() throws {
    let author = try client(of: a)
    a.isStepwise = true
    a.ask(author.line, change())
    _ = a.endTurn()
    #expect(a.stored.count == 1)
    a.failAsUnavailable()
    #expect(refusals(a.pushes(author.line)) == [.unavailable])
    #expect(a.stored.isEmpty && !a.endTurn())
    a.ask(author.line, change())
    settle(a)
    #expect(acknowledged(a.pushes(author.line)) == [1])
  }

  @Test("a hint during a read of the log causes another read")
  func hintDuringRead() throws {
    let author = try client(of: a)
    let reader = try client(of: b)
    b.isStepwise = true
    a.ask(author.line, change())
    for hint in a.hints { b.hear(hint.topic, hint.bytes) }
    let replies = b.performWithoutReplying()
    a.ask(author.line, change("y", at: 1, sequence: 2))
    if let hint = a.hints.last { b.hear(hint.topic, hint.bytes) }
    b.deliver(replies)
    settle(b)
    #expect(changes(b.pushes(reader.line)) == [1, 2])
  }

  @Test("a client that joins while the log cannot be read is answered when changes are refused")
  func joinWhileUnreadable() throws {
    let author = try client(of: a)
    let (line, _) = try a.connectNative(nil)
    a.isStepwise = true
    a.ask(author.line, change())
    _ = a.endTurn()
    for _ in 0...2 {
      a.failWithUnknownOutcome(afterDoing: false)
      a.pass(milliseconds: 1_000)
    }
    a.ask(
      line, .join(.init(documentID: "n1", resume: .init(epoch: "epoch of n1", revision: 0))))
    a.failWithUnknownOutcome(afterDoing: false)
    #expect(refusals(a.pushes(author.line)) == [.unavailable])
    settle(a)
    #expect(a.pushes(line).contains { joined($0) != nil })
  }

  @Test("an edit over HTTP that expects another node's head is made on it")
  func edits() throws {
    let author = try client(of: a)
    _ = try client(of: b)
    a.ask(author.line, change())
    let made = b.begin("PUT", "/api/notes/n1/text", headers: ["if-match": "\"1\""], "text")
    #expect(b.answer(made)?.status == 200)
    #expect(store.document("n1")?.text == "text")
    let late = a.begin("PUT", "/api/notes/n1/text", headers: ["if-match": "\"1\""], "other")
    #expect(a.answer(late)?.status == 412)
  }

  @Test(
    "an edit sent to two nodes with one key is made once",
    arguments: [true, false])
  func keyedEdit(isBehindOthers: Bool) throws {
    let author = try client(of: b)
    a.isStepwise = true
    b.isStepwise = true
    let requests = [a, b].map { node in
      node.begin(
        "POST", "/api/notes/n1/changes", headers: ["idempotency-key": "k1"],
        #"{"revision":0,"operation":["k"]}"#)
    }
    // Neither node has found a stored response.
    for node in [a, b] { node.performStoreRequests() }
    if isBehindOthers { b.ask(author.line, change()) }
    _ = b.endTurn()
    settle(a)
    #expect(a.answer(requests[0])?.body == #"{"revision":1}"#)
    if !isBehindOthers { b.ask(author.line, change()) }
    settle(b)
    #expect(b.answer(requests[1])?.status == 200)
    #expect(b.answer(requests[1])?.body == #"{"revision":1}"#)
    #expect(
      b.response(requests[1])?.headers.contains { $0 == ("idempotency-replayed", "true") } ?? false)
    let told = b.pushes(author.line)
    #expect(refusals(told).isEmpty)
    #expect(store.log(of: "n1")?.count == 2)
    #expect(store.log(of: "n1")?.last?.client == author.id)
    #expect(b.unreadiness == nil && a.isSettled && b.isSettled)
  }

  @Test(
    "a join that names an impossible former client is refused",
    arguments: [String(repeating: "x", count: 65), "", "a b", "\u{e9}", "a\u{0}"])
  func madeUpClients(id: String) throws {
    let (line, _) = try b.connectNative(nil)
    b.isStepwise = true
    let reply = b.ask(
      line, .join(.init(documentID: "n1", unanswered: .init(clientID: id, sequence: 1))))
    guard case .error(let error)? = reply else {
      Issue.record("expected an error")
      return
    }
    #expect(error.code == .badMessage)
    #expect(b.stored.isEmpty)
  }

  @Test("an edit over HTTP whose answer was lost is made once", arguments: [true, false])
  func lostEdit(isDone: Bool) throws {
    a.isStepwise = true
    let request = a.begin("PUT", "/api/notes/n1/text", headers: [:], "text")
    a.performStoreRequests()
    _ = a.endTurn()
    a.failWithUnknownOutcome(afterDoing: isDone)
    settle(a)
    #expect(a.answer(request)?.status == 200)
    #expect(a.answer(request)?.body == #"{"revision":1}"#)
    #expect(store.log(of: "n1")?.count == 1)
  }

  @Test("a change that loses many races is committed in the end")
  func unlucky() throws {
    let slow = GatewayRig(isDemo: true, store: store, prefix: "c") { $0.windowEntries = 2 }
    let author = try client(of: a)
    let loser = try client(of: slow)
    slow.isStepwise = true
    slow.ask(loser.line, change("y"))
    for revision in 0..<12 {
      a.ask(author.line, change("x", at: revision, sequence: revision + 1))
      slow.performStoreRequests()
      while slow.endTurn() {}
      #expect(refusals(slow.pushes(loser.line)).isEmpty)
    }
    settle(slow)
    #expect(acknowledged(slow.pushes(loser.line)) == [13])
    #expect(store.log(of: "n1")?.last?.client == loser.id)
  }

  /// The standby lacks the session that the join began, so its log would accept the copy.
  @Test("a copy of a change is not committed after a failover of the database")
  func failover() throws {
    let author = try client(of: a)
    a.isStepwise = true
    a.ask(author.line, change())
    _ = a.endTurn()
    let (line, _) = try b.connectNative(nil, client: author.claim)
    let reply = b.ask(
      line,
      .join(
        .init(
          documentID: "n1", resume: .init(epoch: "epoch of n1", revision: 0),
          unanswered: .init(clientID: author.id, sequence: 1))))
    #expect(joined(reply)?.settled == ChangeName(clientID: author.id, sequence: 0))
    store.failOver(losingCommits: 1)
    settle(a)
    #expect(store.log(of: "n1")?.isEmpty == true)
    #expect(a.closeCodes[author.line] == CloseReason.rejoin.rawValue)
    // Another change under the same number. Its author has to rejoin with its revision first.
    b.ask(line, change("y"))
    #expect(store.log(of: "n1")?.isEmpty == true)
    #expect(b.closeCodes[line] == CloseReason.rejoin.rawValue)
    let (next, _) = try b.connectNative(nil, client: author.claim)
    let answer = b.ask(
      next,
      .join(
        .init(
          documentID: "n1", resume: .init(epoch: "epoch of n1", revision: 0),
          unanswered: .init(clientID: author.id, sequence: 1))))
    #expect(joined(answer)?.settled == ChangeName(clientID: author.id, sequence: 0))
    b.ask(next, change("y"))
    #expect(store.document("n1")?.text == "y")
    #expect(a.isSettled && b.isSettled)
  }

  @Test("followers of a note rejoin after a failover of the database")
  func failoverOfIdleNotes() throws {
    let author = try client(of: a)
    let reader = try client(of: b)
    a.ask(author.line, change())
    b.pass(milliseconds: 1_000)
    store.failOver()
    for node in [a, b] { node.pass(milliseconds: 1_000) }
    #expect(a.closeCodes[author.line] == CloseReason.rejoin.rawValue)
    #expect(b.closeCodes[reader.line] == CloseReason.rejoin.rawValue)
    let (line, _) = try b.connectNative(nil)
    let reply = b.ask(
      line, .join(.init(documentID: "n1", resume: .init(epoch: "epoch of n1", revision: 1))))
    let answer = try #require(joined(reply))
    #expect(answer.epoch == "epoch of n1" && answer.revision == 1)
    #expect(store.document("n1")?.text == "x")
  }

  @Test("checking the heads during an own commit reads nothing")
  func headsBesideCommit() throws {
    let author = try client(of: a)
    a.isStepwise = true
    a.ask(author.line, change())
    _ = a.endTurn()
    a.pass(milliseconds: 1_000)
    // The append is performed first, but the heads are reported first.
    // Expired values of rooms are read, too.
    let replies = a.performWithoutReplying()
    #expect(replies.count == 3)
    a.deliver(replies.reversed())
    #expect(acknowledged(a.pushes(author.line)) == [1])
    #expect(a.stored.isEmpty)
  }
}
