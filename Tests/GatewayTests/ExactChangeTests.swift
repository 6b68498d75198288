import Gateway
import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

/// Changes for clients that rebase by themselves: stored as they are, or refused with the newest
/// revision.
@Suite("Exact changes")
struct ExactChangeTests {
  private struct Client {
    let line: UInt64
    let id: String
    let claim: ClientMessage.Hello.Claim
  }

  private func rig(nodes: Int = 1, store: MemoryStore? = nil) -> [GatewayRig] {
    let store = store ?? MemoryStore(isShared: nodes > 1)
    let rigs = (0..<nodes).map { index in
      GatewayRig(isDemo: true, store: store, prefix: "n\(index)") {
        $0.sharesStore = nodes > 1
        $0.windowEntries = 2
      }
    }
    if store.log(of: "n1") == nil { rigs[0].make("n1") }
    return rigs
  }

  private func client(
    of rig: GatewayRig, formats: Bool = false, claim: ClientMessage.Hello.Claim? = nil
  ) throws -> Client {
    let (line, welcome) = try rig.connectNative(nil, client: claim)
    rig.ask(line, .join(.init(documentID: "n1", formats: formats)))
    _ = rig.pushes(line)
    return Client(
      line: line, id: welcome.clientID,
      claim: .init(id: welcome.clientID, resumeToken: welcome.resumeToken))
  }

  /// Returns a change that inserts a letter before a text of as many letters as revisions.
  private func change(
    _ letter: String, at revision: Int, sequence: Int = 1, isExact: Bool = true,
    format: FormatJSON? = nil
  ) -> ClientMessage {
    var operation = TextOperation()
    operation.insert(letter)
    operation.retain(revision)
    var change = ClientMessage.Change(
      documentID: "n1", epoch: "epoch of n1", revision: revision, sequence: sequence,
      operation: operation, format: format)
    change.isExact = isExact
    return .change(change)
  }

  private func acknowledged(_ messages: [ServerMessage]) -> [Int] {
    messages.compactMap { if case .acknowledged(let it) = $0 { it.revision } else { nil } }
  }

  private func refusals(_ messages: [ServerMessage]) -> [ServerMessage.Refused] {
    messages.compactMap { if case .refused(let it) = $0 { it } else { nil } }
  }

  private func changes(_ messages: [ServerMessage]) -> [Int] {
    messages.flatMap { message -> [Int] in
      guard case .changes(let it) = message else { return [] }
      return it.changes.indices.map { it.revision + $0 }
    }
  }

  /// Checks that messages end with the refusal of a change, behind the changes up to the newest.
  private func expectOutdated(_ messages: [ServerMessage], head: Int) {
    let refused = refusals(messages)
    #expect(refused.map(\.code) == [.outdated])
    #expect(refused.first?.revision == head)
    #expect(refused.first?.retryable == false)
    guard case .refused? = messages.last else {
      Issue.record("the refusal is not behind the changes")
      return
    }
  }

  private func settle(_ rigs: GatewayRig...) {
    for rig in rigs { while rig.endTurn() || !rig.stored.isEmpty { rig.performStoreRequests() } }
  }

  @Test("an exact change is stored on the newest revision, and refused with it on any other")
  func newest() throws {
    let rig = rig()[0]
    let ann = try client(of: rig)
    let ben = try client(of: rig)
    _ = rig.send(ann.line, change("a", at: 0))
    #expect(acknowledged(rig.pushes(ann.line)) == [1])
    _ = rig.send(ben.line, change("b", at: 0))
    expectOutdated(rig.pushes(ben.line), head: 1)
    // A change that is not exact is rebased.
    _ = rig.send(ben.line, change("b", at: 0, isExact: false))
    #expect(acknowledged(rig.pushes(ben.line)) == [2])
    for sequence in 2...6 {
      _ = rig.send(ann.line, change("a", at: sequence, sequence: sequence))
    }
    _ = rig.pushes(ann.line)
    // The changes since this base are no longer in memory: an exact change needs none of them.
    _ = rig.send(ben.line, change("c", at: 1, sequence: 2))
    expectOutdated(rig.pushes(ben.line), head: 7)
    // A refused sequence is free.
    _ = rig.send(ben.line, change("d", at: 7, sequence: 2))
    #expect(acknowledged(rig.pushes(ben.line)) == [8])
    _ = rig.send(ben.line, change("e", at: 9, sequence: 3))
    #expect(refusals(rig.pushes(ben.line)).map(\.code) == [.futureRevision])
    #expect(rig.store.document("n1")?.text == "daaaaaab")
  }

  @Test(
    "an exact change whose answer was lost is stored once, and acknowledged whatever came after it",
    arguments: [true, false], [true, false])
  func lostAnswer(staysExact: Bool, restarts: Bool) throws {
    let rig = rig()[0]
    let ann = try client(of: rig)
    let ben = try client(of: rig)
    _ = rig.send(ann.line, change("a", at: 0))
    rig.close(ann.line)
    _ = rig.send(ben.line, change("b", at: 1))
    let next = restarts ? self.rig(store: rig.store)[0] : rig
    let back = try client(of: next, claim: ann.claim)
    _ = next.send(back.line, change("a", at: 0, isExact: staysExact))
    let told = next.pushes(back.line)
    #expect(acknowledged(told) == [1])
    #expect(refusals(told).isEmpty)
    #expect(rig.store.document("n1")?.text == "ba")
    // Another change under the same number is not taken for it.
    _ = next.send(back.line, change("x", at: 0))
    #expect(refusals(next.pushes(back.line)).map(\.code) == [.sequenceReused])
  }

  @Test(
    "an exact change beside a commit is decided by its end", arguments: [true, false])
  func besideACommit(succeeds: Bool) throws {
    let rig = rig()[0]
    let ann = try client(of: rig)
    let ben = try client(of: rig)
    rig.isStepwise = true
    _ = rig.send(ann.line, change("a", at: 0, isExact: false))
    _ = rig.endTurn()
    _ = rig.send(ben.line, change("b", at: 0))
    rig.ask(ben.line, .ping)
    #expect(refusals(rig.pushes(ben.line)).isEmpty)
    if succeeds { rig.performStoreRequests() } else { rig.failAsUnavailable() }
    settle(rig)
    let told = rig.pushes(ben.line)
    if succeeds {
      #expect(changes(told) == [1])
      expectOutdated(told, head: 1)
      #expect(rig.store.document("n1")?.text == "a")
    } else {
      #expect(refusals(rig.pushes(ann.line)).map(\.code) == [.unavailable])
      #expect(acknowledged(told) == [1])
      #expect(rig.store.document("n1")?.text == "b")
    }
    #expect(rig.isSettled)
  }

  @Test("formatting is exact, too, and a retry with it is the same change")
  func formatted() throws {
    let rig = rig()[0]
    let ann = try client(of: rig, formats: true)
    let ben = try client(of: rig, formats: true)
    func bold(_ makesRich: Bool) throws -> FormatJSON {
      var builder = RichOperationBuilder()
      builder.insert("x", with: try AttributeSet(json: #"{"bold":true}"#))
      let format = try #require(
        ChangeFormat(builder.finished().format, makesRich: makesRich))
      return FormatJSON(format)
    }
    _ = rig.send(ann.line, change("a", at: 0, format: try bold(true)))
    #expect(acknowledged(rig.pushes(ann.line)) == [1])
    _ = rig.send(ben.line, change("b", at: 0, format: try bold(true)))
    expectOutdated(rig.pushes(ben.line), head: 1)
    _ = rig.send(ben.line, change("b", at: 1, format: try bold(false)))
    #expect(acknowledged(rig.pushes(ben.line)) == [2])
    let entry = try #require(rig.store.log(of: "n1")?.last)
    #expect(entry.format == (try bold(false).changeFormat(of: entry.operation)))
    let back = try client(of: rig, formats: true, claim: ann.claim)
    _ = rig.send(back.line, change("a", at: 0, format: try bold(true)))
    #expect(acknowledged(rig.pushes(back.line)) == [1])
    _ = rig.send(back.line, change("a", at: 0))
    #expect(refusals(rig.pushes(back.line)).map(\.code) == [.sequenceReused])
    #expect(rig.store.log(of: "n1")?.count == 2)
  }

  @Test("of two exact changes on two nodes one is stored, and the other refused with its revision")
  func lostRace() throws {
    let nodes = rig(nodes: 2)
    let ann = try client(of: nodes[0])
    let ben = try client(of: nodes[1])
    nodes[1].isStepwise = true
    _ = nodes[1].send(ben.line, change("b", at: 0))
    _ = nodes[1].endTurn()
    _ = nodes[0].send(ann.line, change("a", at: 0))
    #expect(acknowledged(nodes[0].pushes(ann.line)) == [1])
    settle(nodes[1])
    let told = nodes[1].pushes(ben.line)
    #expect(Set(changes(told)).isSubset(of: [1]))
    #expect(refusals(told).map(\.code) == [.outdated])
    #expect(refusals(told).first?.revision == 1)
    #expect(nodes[0].store.document("n1")?.text == "a")
    _ = nodes[1].send(ben.line, change("b", at: 1))
    settle(nodes[1])
    #expect(acknowledged(nodes[1].pushes(ben.line)) == [2])
  }

  @Test(
    "on several nodes a lost answer is found in the log, and the change stored once",
    arguments: [true, false], [true, false])
  func unknownOutcome(isDone: Bool, isOvertaken: Bool) throws {
    let nodes = rig(nodes: 2)
    let ann = try client(of: nodes[0])
    let ben = try client(of: nodes[1])
    nodes[0].isStepwise = true
    _ = nodes[0].send(ann.line, change("a", at: 0))
    _ = nodes[0].endTurn()
    nodes[0].failWithUnknownOutcome(afterDoing: isDone)
    if isOvertaken {
      nodes[1].pass(milliseconds: 1_000)
      _ = nodes[1].send(ben.line, change("b", at: isDone ? 1 : 0))
      #expect(acknowledged(nodes[1].pushes(ben.line)) == [isDone ? 2 : 1])
    }
    settle(nodes[0])
    let told = nodes[0].pushes(ann.line)
    if isOvertaken, !isDone {
      #expect(refusals(told).map(\.code) == [.outdated])
    } else {
      #expect(refusals(told).isEmpty)
      #expect((acknowledged(told) + changes(told)).contains(1))
      // At another node, the same change is acknowledged again.
      let back = try client(of: nodes[1], claim: ann.claim)
      _ = nodes[1].send(back.line, change("a", at: 0))
      let again = nodes[1].pushes(back.line)
      #expect(acknowledged(again) == [1])
      #expect(refusals(again).isEmpty)
    }
    let own = nodes[0].store.log(of: "n1")?.filter { $0.client == ann.id }
    #expect(own?.count == (isOvertaken && !isDone ? 0 : 1))
  }

  @Test("no exact change is ever rebased, from many seeds", arguments: UInt64(1)...60)
  func seeds(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let nodes = rig(nodes: 1 + Int(seed % 3))
    var clients: [(client: Client, node: Int, revision: Int, sent: ClientMessage?)] = []
    for index in 0..<4 {
      let node = index % nodes.count
      clients.append((try client(of: nodes[node]), node, 0, nil))
    }
    for node in nodes { node.isStepwise = true }
    var refused = 0
    var stored: [String: [ClientMessage.Change]] = [:]
    for round in 0..<200 {
      let index = random.below(clients.count)
      let (client, node, revision, sent) = clients[index]
      let isEnd = round > 150
      switch random.below(isEnd ? 2 : 6) {
      case 0, 2:
        for message in nodes[node].pushes(client.line) {
          switch message {
          case .changes(let it):
            clients[index].revision = it.revision + it.changes.count - 1
            if it.changes.contains(where: { $0.clientID == client.id }) {
              clients[index].sent = nil
            }
          case .acknowledged(let it):
            clients[index].revision = it.revision
            clients[index].sent = nil
          case .refused(let it):
            refused += 1
            #expect([.outdated, .unavailable].contains(it.code), "seed \(seed): \(it.code)")
            if it.code == .outdated {
              #expect(try #require(it.revision) >= clients[index].revision, "seed \(seed)")
            }
            stored[client.id]?.removeLast()
            clients[index].sent = nil
          default: break
          }
        }
      case 1: nodes.forEach { settle($0) }
      case 3 where random.chance(20): nodes[node].failAsUnavailable()
      case 3: nodes[node].performStoreRequests()
      case 4: _ = nodes[node].endTurn()
      default:
        guard sent == nil else { continue }
        let message = change(
          "x", at: revision, sequence: (stored[client.id]?.count ?? 0) + 1,
          isExact: index < 3)
        guard case .change(let change) = message else { continue }
        stored[client.id, default: []].append(change)
        clients[index].sent = message
        _ = nodes[node].send(client.line, message)
      }
    }
    let log = try #require(nodes[0].store.log(of: "n1"))
    for (client, _, _, _) in clients.prefix(3) {
      for entry in log where entry.client == client.id {
        let change = try #require(stored[client.id]?[entry.sequence - 1])
        #expect(entry.revision == change.revision + 1, "seed \(seed)")
        #expect(entry.operation == change.operation, "seed \(seed)")
      }
    }
    #expect(log.count > 3)
    #expect(refused > 0)
  }
}
