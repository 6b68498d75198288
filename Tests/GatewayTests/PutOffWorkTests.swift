import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// Events that arrive while large work waits for another turn. They have the same effect as events
/// just before the work.
@Suite("Events while large work waits")
struct PutOffWorkTests {
  private static let letters = 5_000

  private struct Client {
    let line: UInt64
    let id: String
    let claim: ClientMessage.Hello.Claim
  }

  private static func limited(_ settings: inout GatewaySettings) { settings.turnWorkMax = 2_000 }

  private func client(of rig: GatewayRig, _ token: String? = nil) throws -> Client {
    let (line, welcome) = try rig.connectNative(token)
    for note in ["n1", "n2"] { rig.ask(line, .join(.init(documentID: note))) }
    _ = rig.pushes(line)
    return Client(
      line: line, id: welcome.clientID,
      claim: .init(id: welcome.clientID, resumeToken: welcome.resumeToken))
  }

  private func change(
    _ letter: Character, _ count: Int = letters, at revision: Int = 0, of length: Int = 0,
    in note: String = "n1"
  ) -> ClientMessage {
    var operation = TextOperation()
    operation.insert(String(repeating: letter, count: count))
    operation.retain(length)
    return .change(
      .init(
        documentID: note, epoch: "epoch of \(note)", revision: revision, sequence: 1,
        operation: operation))
  }

  /// Uses up a turn's work, so that large work waits from now on.
  private func useUpTurn(_ rig: GatewayRig, by client: Client) {
    rig.isStepwise = true
    rig.ask(client.line, change("!", in: "n2"))
  }

  private func settle(_ rig: GatewayRig) {
    var continues = true
    while continues || !rig.isSettled || !rig.stored.isEmpty {
      continues = rig.endTurn()
      rig.performStoreRequests()
    }
  }

  /// Returns the first letter of each of a note's changes, in log order.
  private func log(_ store: MemoryStore, _ note: String = "n1") -> String {
    (store.log(of: DocumentID(note)) ?? []).reduce(into: "") { letters, entry in
      for case .insert(let text) in entry.operation.components {
        letters.append(text.first ?? "?")
      }
    }
  }

  /// Returns the outcomes of a client's changes: a revision or an error code.
  private func answers(_ rig: GatewayRig, _ client: Client) -> [String] {
    rig.pushes(client.line).compactMap { message in
      switch message {
      case .acknowledged(let acknowledged) where acknowledged.documentID == "n1":
        "\(acknowledged.revision)"
      case .refused(let refused): refused.code.rawValue
      default: nil
      }
    }
  }

  /// Returns the revisions of the note that a client receives, whether its own or others'.
  private func revisions(_ rig: GatewayRig, _ client: Client) -> [Int] {
    rig.pushes(client.line).flatMap { message -> [Int] in
      switch message {
      case .acknowledged(let own) where own.documentID == "n1": [own.revision]
      case .changes(let all) where all.documentID == "n1":
        Array(all.revision..<(all.revision + all.changes.count))
      default: []
      }
    }
  }

  @Test("a client that leaves and rejoins is notified that the log lacks its change")
  func leaving() throws {
    let rig = GatewayRig(isDemo: true, change: Self.limited)
    rig.make("n1", "n2")
    let (other, author) = (try client(of: rig), try client(of: rig))
    useUpTurn(rig, by: other)
    rig.ask(author.line, change("a"))
    rig.ask(author.line, .leave(.init(documentID: "n1")))
    rig.ask(
      author.line,
      .join(
        .init(
          documentID: "n1", resume: ResumePoint(epoch: "epoch of n1", revision: 0),
          unanswered: .init(clientID: author.id, sequence: 1, time: nil))))
    settle(rig)
    let settled = rig.pushes(author.line).compactMap {
      if case .joined(let joined) = $0 { joined.settled?.sequence } else { nil }
    }
    #expect(settled == [0] && log(rig.store) == "")
    for _ in 0..<2 { rig.ask(author.line, change("a")) }
    settle(rig)
    #expect(log(rig.store) == "a")
  }

  @Test("a change sent twice on a connection is made once")
  func twice() throws {
    let rig = GatewayRig(isDemo: true, change: Self.limited)
    rig.make("n1", "n2")
    let (other, author) = (try client(of: rig), try client(of: rig))
    useUpTurn(rig, by: other)
    for _ in 0..<2 { rig.ask(author.line, change("a")) }
    #expect(!rig.isSettled)
    settle(rig)
    #expect(log(rig.store) == "a")
    #expect(Set(answers(rig, author)) == ["1"])
  }

  @Test("a change is refused if its author's right was revoked meanwhile")
  func rights() throws {
    let rig = GatewayRig(change: Self.limited)
    rig.make("n1", "n2")
    let all = NamePattern("*")
    rig.book?.enter("reads", user: "u", [Grant(.documents, all, [.read])])
    rig.book?.enter(
      "writes", user: "u", tokenID: "t1", issuedAt: rig.clock.now,
      [Grant(.documents, all, [.read, .write])])
    let other = try client(of: rig, rig.token("other", [Grant(.documents, all, .all)]))
    let author = try client(of: rig, "reads")
    rig.ask(author.line, .grant(.init(token: "writes")))
    _ = rig.pushes(author.line)
    useUpTurn(rig, by: other)
    rig.ask(author.line, change("a"))
    #expect(!rig.isSettled && answers(rig, author).isEmpty)
    let taken = rig.request("POST", "/api/revoke", token: "pk_operator", #"{"token":"t1"}"#)
    #expect(taken.status == 200)
    settle(rig)
    #expect(log(rig.store) == "" && answers(rig, author) == ["notAllowed"])
  }

  @Test("a new epoch takes effect after the waiting messages before it")
  func epochs() throws {
    let rig = GatewayRig(isDemo: true, change: Self.limited)
    rig.make("n1", "n2")
    let (other, author, late) = (try client(of: rig), try client(of: rig), try client(of: rig))
    let (knowing, _) = try rig.connectNative(nil)
    useUpTurn(rig, by: other)
    func put(_ letter: String) -> UInt64 {
      rig.begin(
        "PUT", "/api/notes/n1/text", headers: [:], String(repeating: letter, count: Self.letters))
    }
    let first = put("1")
    rig.ask(author.line, change("a"))
    rig.ask(
      knowing,
      .join(.init(documentID: "n1", resume: ResumePoint(epoch: "epoch of n1", revision: 99))))
    rig.ask(late.line, change("b"))
    let second = put("2")
    settle(rig)
    #expect(rig.answer(first)?.status == 200 && rig.answer(second)?.status == 200)
    #expect(answers(rig, author) == ["2"] && answers(rig, late) == ["epochChanged"])
    #expect(log(rig.store) == "1a2")
    let epochs = rig.pushes(knowing).compactMap {
      if case .joined(let joined) = $0 { joined.epoch } else { nil }
    }
    #expect(epochs.count == 1 && epochs != ["epoch of n1"])
  }

  @Test("messages after a change that needs older entries keep their order")
  func history() throws {
    let former = GatewayRig(isDemo: true)
    former.make("n1", "n2")
    for number in 0..<10 {
      let text = String(repeating: ".", count: number + 1)
      _ = former.request("PUT", "/api/notes/n1/text", text)
    }
    let rig = GatewayRig(isDemo: true, store: former.store, prefix: "h") {
      Self.limited(&$0)
      $0.windowEntries = 4
    }
    let clients = try (0..<4).map { _ in try client(of: rig) }
    useUpTurn(rig, by: clients[0])
    rig.ask(clients[1].line, change("a"))
    rig.ask(clients[2].line, change("b", 1, at: 10, of: 10))
    rig.ask(clients[3].line, change("c", at: 10, of: 10))
    settle(rig)
    #expect(log(rig.store).suffix(3) == "abc")
    for client in clients { #expect(revisions(rig, client) == [11, 12, 13]) }
  }

  // MARK: Several nodes

  @Test(
    "a waiting text edit is merged with another node's entries, or refused",
    arguments: [false, true])
  func otherNode(isConditional: Bool) throws {
    let store = MemoryStore(isShared: true)
    let a = GatewayRig(isDemo: true, store: store, prefix: "a", change: Self.limited)
    let b = GatewayRig(isDemo: true, store: store, prefix: "b")
    a.make("n1", "n2")
    _ = a.request("PUT", "/api/notes/n1/text", "-")
    let (reader, author) = (try client(of: a), try client(of: b))
    useUpTurn(a, by: reader)
    let text = String(repeating: "t", count: Self.letters)
    let request = a.begin(
      "PUT", "/api/notes/n1/text", headers: isConditional ? ["if-match": "\"1\""] : [:], "-" + text)
    // The second turn computes the difference.
    for _ in 0..<2 { _ = a.endTurn() }
    #expect(!a.isSettled)
    b.ask(author.line, change("b", 1, at: 1, of: 1))
    #expect(log(store) == "-b")
    for hint in b.takeHints() { a.hear(hint.topic, hint.bytes) }
    a.performStoreRequests()
    settle(a)
    #expect(a.answer(request)?.status == (isConditional ? 412 : 200))
    #expect(store.document("n1")?.text == (isConditional ? "b-" : "b-" + text))
  }

  @Test("a waiting copy is not committed after another node has reported that the log lacks it")
  func fence() throws {
    let store = MemoryStore(isShared: true)
    let a = GatewayRig(isDemo: true, store: store, prefix: "a", change: Self.limited)
    let b = GatewayRig(isDemo: true, store: store, prefix: "b")
    a.make("n1", "n2")
    let (other, author) = (try client(of: a), try client(of: a))
    useUpTurn(a, by: other)
    a.ask(author.line, change("a"))
    #expect(!a.isSettled)
    let (line, _) = try b.connectNative(nil, client: author.claim)
    b.ask(
      line,
      .join(
        .init(
          documentID: "n1", resume: .init(epoch: "epoch of n1", revision: 0),
          unanswered: .init(clientID: author.id, sequence: 1))))
    settle(a)
    #expect(log(store) == "" && a.closeCodes[author.line] == CloseReason.rejoin.rawValue)
    b.ask(line, change("a"))
    #expect(log(store) == "a")
  }
}
