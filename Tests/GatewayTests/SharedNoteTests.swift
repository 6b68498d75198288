import Gateway
import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

/// People in one note on several nodes, and their carets.
@Suite("A note on several nodes")
struct SharedNoteTests {
  private static let topic = "note/n1"
  private let a: GatewayRig
  private let b: GatewayRig
  private let store: MemoryStore

  init() {
    store = MemoryStore(isShared: true)
    a = GatewayRig(isDemo: true, store: store, prefix: "a") { $0.sharesStore = true }
    b = GatewayRig(isDemo: true, store: store, prefix: "b") { $0.sharesStore = true }
    a.make("n1")
    for node in [a, b] { node.hintsArrive() }
  }

  private struct Client {
    let line: UInt64
    let id: String
    let claim: ClientMessage.Hello.Claim
    let joined: ServerMessage.Joined
  }

  private func client(
    of node: GatewayRig, name: String = "Somebody", claim: ClientMessage.Hello.Claim? = nil
  ) throws -> Client {
    let (line, welcome) = try node.connectNative(nil, name: name, client: claim)
    guard case .joined(let joined)? = node.ask(line, .join(.init(documentID: "n1"))) else {
      throw Unexpected(message: nil)
    }
    return Client(
      line: line, id: welcome.clientID,
      claim: .init(id: welcome.clientID, resumeToken: welcome.resumeToken), joined: joined)
  }

  private func select(_ client: Client, at node: GatewayRig, _ place: Int, revision: Int = 0) {
    node.ask(
      client.line,
      .select(
        .init(
          documentID: "n1", revision: revision, selections: [Selection(anchor: place, head: place)])
      ))
  }

  private func change(
    _ client: Client, at node: GatewayRig, _ text: String, revision: Int = 0, length: Int = 0,
    sequence: Int = 1
  ) {
    var operation = TextOperation()
    operation.insert(text)
    operation.retain(length)
    node.ask(
      client.line,
      .change(
        .init(
          documentID: "n1", epoch: "epoch of n1", revision: revision, sequence: sequence,
          operation: operation)))
  }

  /// Delivers the hints that each node has sent since the last call to the other node.
  private func exchange() {
    for _ in 0..<4 {
      for hint in a.takeHints() { b.hear(hint.topic, hint.bytes) }
      for hint in b.takeHints() { a.hear(hint.topic, hint.bytes) }
    }
  }

  /// Returns the hints about people. The other hints report that the log has grown.
  private func words(_ hints: [(topic: String, bytes: [UInt8])]) -> [(
    topic: String, bytes: [UInt8]
  )] {
    hints.filter { $0.topic == Self.topic && $0.bytes.first == UInt8(ascii: "{") }
  }

  private func pass(milliseconds: Int64) {
    a.pass(milliseconds: milliseconds)
    b.pass(milliseconds: milliseconds)
  }

  private func joined(_ messages: [ServerMessage]) -> [ServerMessage.Participant] {
    messages.flatMap { message -> [ServerMessage.Participant] in
      if case .presence(let it) = message { it.joined } else { [] }
    }
  }

  private func left(_ messages: [ServerMessage]) -> [String] {
    messages.flatMap { message -> [String] in
      if case .presence(let it) = message { it.left } else { [] }
    }
  }

  private func carets(_ messages: [ServerMessage]) -> [[Int]] {
    messages.compactMap { message in
      guard case .selections(let it) = message else { return nil }
      return [it.revision] + it.selections.map(\.head)
    }
  }

  private func counts(_ messages: [ServerMessage]) -> [Int?] {
    messages.compactMap { message -> Int?? in
      if case .presence(let it) = message { .some(it.people) } else { nil }
    }
  }

  @Test("people at another node join, change names, move carets, and leave")
  func people() throws {
    let first = try client(of: a, name: "Ann")
    let second = try client(of: b, name: "Ben")
    exchange()
    #expect(joined(a.pushes(first.line)).map(\.name) == ["Ben"])
    #expect(joined(b.pushes(second.line)).map(\.clientID) == [first.id])
    pass(milliseconds: 100)
    select(second, at: b, 0)
    exchange()
    #expect(carets(a.pushes(first.line)) == [[0, 0]])
    // A newcomer receives both people.
    let third = try client(of: a)
    #expect(third.joined.presence.map(\.clientID) == [first.id, second.id])
    #expect(third.joined.presence.last?.selections == [Selection(anchor: 0, head: 0)])
    b.ask(second.line, .profile(.init(name: "Bea", color: "#102030")))
    pass(milliseconds: 100)
    exchange()
    let updated = a.pushes(first.line).flatMap { message -> [ServerMessage.Participant] in
      if case .presence(let it) = message { it.updated } else { [] }
    }
    #expect(updated.map(\.name) == ["Bea"] && updated.map(\.color) == ["#102030"])
    b.close(second.line)
    pass(milliseconds: 100)
    exchange()
    #expect(left(a.pushes(first.line)) == [second.id])
  }

  @Test("the people of a silent node are removed after about six seconds")
  func silence() throws {
    let first = try client(of: a)
    let second = try client(of: b)
    exchange()
    #expect(joined(a.pushes(first.line)).map(\.clientID) == [second.id])
    a.pass(milliseconds: 5_400)
    #expect(left(a.pushes(first.line)).isEmpty)
    a.pass(milliseconds: 100)
    #expect(left(a.pushes(first.line)) == [second.id])
    // The node was only disconnected.
    for _ in 0..<30 {
      pass(milliseconds: 100)
      exchange()
    }
    #expect(joined(a.pushes(first.line)).map(\.clientID) == [second.id])
  }

  @Test("carets wait for their revision, and are moved over later ones")
  func revisions() throws {
    let first = try client(of: a)
    let second = try client(of: b)
    exchange()
    change(second, at: b, "abc")
    pass(milliseconds: 100)
    select(second, at: b, 3, revision: 1)
    _ = a.pushes(first.line)
    // The message about the caret overtakes the hint.
    let hints = b.takeHints()
    for hint in words(hints) { a.hear(hint.topic, hint.bytes) }
    #expect(carets(a.pushes(first.line)).isEmpty)
    for hint in hints { a.hear(hint.topic, hint.bytes) }
    #expect(carets(a.pushes(first.line)) == [[1, 3]])
    // Another newcomer receives the same caret.
    #expect(
      try client(of: a).joined.presence.map(\.selections) == [
        [], [Selection(anchor: 3, head: 3)],
      ])
    // At this node the text has grown meanwhile.
    change(first, at: a, "xy", revision: 1, length: 3)
    _ = b.takeHints()
    b.pass(milliseconds: 100)
    select(second, at: b, 1, revision: 1)
    for hint in words(b.takeHints()) { a.hear(hint.topic, hint.bytes) }
    #expect(carets(a.pushes(first.line)).last == [2, 3])
  }

  @Test("the first and the last waiting carets are kept")
  func waiting() throws {
    let first = try client(of: a)
    let second = try client(of: b)
    exchange()
    var told: [[UInt8]] = []
    for number in 1...4 {
      b.pass(milliseconds: 100)
      change(second, at: b, "x", revision: number - 1, length: number - 1, sequence: number)
      select(second, at: b, number, revision: number)
      for hint in words(b.takeHints()) { a.hear(hint.topic, hint.bytes) }
      told.append(Array(String(number).utf8))
    }
    #expect(carets(a.pushes(first.line)).isEmpty)
    for bytes in told { a.hear(Self.topic, bytes) }
    #expect(carets(a.pushes(first.line)).last == [4, 4])
  }

  @Test("moving carets are sent at most ten times a second, including the last position")
  func coalescing() throws {
    let first = try client(of: a)
    let second = try client(of: b)
    change(second, at: b, String(repeating: "x", count: 1_000))
    pass(milliseconds: 1_000)
    exchange()
    _ = a.pushes(first.line)
    for place in 0..<1_000 {
      select(second, at: b, place, revision: 1)
      if place % 10 == 9 { b.pass(milliseconds: 10) }
    }
    let words = words(b.takeHints())
    #expect((5...12).contains(words.count))
    for hint in words { a.hear(hint.topic, hint.bytes) }
    b.pass(milliseconds: 100)
    exchange()
    #expect(carets(a.pushes(first.line)).last == [1, 999])
  }

  @Test("a single node sends no people, and many moves are one message")
  func costs() throws {
    let alone = GatewayRig(isDemo: true)
    alone.make("n1")
    let client = try client(of: alone)
    select(client, at: alone, 0)
    alone.pass(milliseconds: 3_000)
    #expect(alone.hints.isEmpty && alone.topics.isEmpty)
    let people = try (0..<20).map { _ in try self.client(of: b) }
    for _ in 0..<2 { b.pass(milliseconds: 1_000) }
    _ = b.takeHints()
    b.isStepwise = true
    for person in people { select(person, at: b, 0) }
    while b.endTurn() {}
    #expect(words(b.takeHints()).count == 1)
  }

  @Test("malformed messages are dropped and counted, and carets stay within the text")
  func lies() throws {
    let first = try client(of: a)
    change(first, at: a, "abc")
    _ = a.pushes(first.line)
    let garbled = [
      "x", "", "{}", "[]", "null", "{\"n\":\"x\",\"t\":1}",
      "{\"n\":\"x\",\"t\":1,\"typing\":\"p\",\"on\":true}",
      "{\"n\":\"x\",\"t\":1,\"published\":3}", "{\"n\":\"\",\"t\":1,\"beat\":1}",
      "{\"n\":\"x\",\"t\":1,\"change\":1,\"from\":0,\"joined\":[{\"id\":\"c\"}]}",
      "{\"n\":\"x\",\"t\":1,\"change\":1,\"from\":0,\"joined\":[{\"id\":\"c\",\"name\":\"C\",\"color\":\"red\"}]}",
      "{\"n\":\"x\",\"t\":1,\"change\":1,\"from\":0,\"joined\":[],\"epoch\":\"e\",\"revision\":-1,\"moved\":[]}",
      "{\"n\":\"x\",\"t\":1,\"change\":1,\"from\":0,\"joined\":[],\"epoch\":\"e\",\"revision\":1,"
        + "\"moved\":[{\"id\":\"c\",\"at\":[1]}]}",
      "{\"n\":\"x\",\"t\":1,\"people\":1,\"part\":2,\"parts\":2,\"all\":[]}",
      "{\"n\":\"x\",\"t\":1,\"people\":1,\"part\":0,\"parts\":1000000,\"all\":[]}",
    ]
    for text in garbled { a.hear(Self.topic, Array(text.utf8)) }
    a.hear(Self.topic, [UInt8](repeating: 0x7b, count: 5_000))
    a.hear(Self.topic, [0xff, 0xfe])
    #expect(a.metrics.nodeMessagesDropped == garbled.count + 2)
    #expect(a.pushes(first.line).isEmpty)
    func tell(_ version: Int, revision: Int, epoch: String = "epoch of n1", _ places: String) {
      let text = """
        {"n":"x","t":1,"change":\(version),"from":\(version - 1),"joined":[{"id":"c","name":"C"}],\
        "epoch":"\(epoch)","revision":\(revision),"moved":[{"id":"c","at":[\(places)]}]}
        """
      a.hear(Self.topic, Array(text.utf8))
    }
    tell(1, revision: 0, "-5,9007199254740991")
    #expect(carets(a.pushes(first.line)) == [[1, 0]])
    tell(2, revision: 9_007_199_254_740_991, "1,1")
    tell(3, revision: 1, epoch: "another", "2,2")
    #expect(carets(a.pushes(first.line)).isEmpty)
    tell(4, revision: 1, "2,2")
    #expect(carets(a.pushes(first.line)) == [[1, 2]])
    // The number of carets is limited to the maximum per client.
    tell(5, revision: 1, Array(repeating: "1,1", count: 100).joined(separator: ","))
    #expect(carets(a.pushes(first.line)).map(\.count) == [17])
    a.pass(milliseconds: 5_499)
    #expect(left(a.pushes(first.line)).isEmpty)
    a.pass(milliseconds: 1)
    #expect(left(a.pushes(first.line)) == ["c"])
  }

  @Test("nodes and parts beyond the maximum are ignored, and the others are processed")
  func flood() throws {
    let first = try client(of: a)
    let second = try client(of: b)
    exchange()
    _ = a.pushes(first.line)
    for number in 0..<400 {
      a.hear(
        Self.topic,
        Array(
          "{\"n\":\"x\(number)\",\"t\":1,\"people\":7,\"part\":0,\"parts\":9999,\"all\":[]}".utf8))
    }
    #expect(a.metrics.nodeMessagesDropped == 400 - 255)
    for part in 0..<9_998 {
      a.hear(
        Self.topic,
        Array("{\"n\":\"x0\",\"t\":1,\"people\":7,\"part\":\(part),\"parts\":9999,\"all\":[]}".utf8)
      )
    }
    #expect(a.metrics.nodeMessagesDropped > 400 - 255)
    pass(milliseconds: 100)
    select(second, at: b, 0)
    exchange()
    #expect(carets(a.pushes(first.line)) == [[0, 0]])
  }

  @Test("all nodes count the same people in a crowd, and list people active at other nodes")
  func crowd() throws {
    let a = GatewayRig(isDemo: true, store: store, prefix: "c") {
      $0.sharesStore = true
      $0.presenceListMax = 4
    }
    let b = GatewayRig(isDemo: true, store: store, prefix: "d") {
      $0.sharesStore = true
      $0.presenceListMax = 4
    }
    func exchange() {
      for _ in 0..<4 {
        a.pass(milliseconds: 150)
        b.pass(milliseconds: 150)
        for hint in a.takeHints() { b.hear(hint.topic, hint.bytes) }
        for hint in b.takeHints() { a.hear(hint.topic, hint.bytes) }
      }
      a.pass(milliseconds: 150)
      b.pass(milliseconds: 150)
    }
    let first = try (0..<3).map { try client(of: a, name: "A\($0)") }
    let second = try (0..<3).map { try client(of: b, name: "B\($0)") }
    exchange()
    #expect(counts(a.pushes(first[0].line)).last == 6)
    #expect(counts(b.pushes(second[0].line)).last == 6)
    // The author of a change is named before the change is delivered.
    change(second[1], at: b, "x")
    exchange()
    let heard = a.pushes(first[0].line).filter {
      switch $0 {
      case .presence, .changes: true
      default: false
      }
    }
    guard case .presence(let named)? = heard.first, case .changes? = heard.dropFirst().first else {
      Issue.record("\(heard)")
      return
    }
    #expect(named.joined.map(\.name) == ["B1"] && named.people == 6)
    select(second[2], at: b, 1, revision: 1)
    exchange()
    let messages = a.pushes(first[0].line)
    #expect(joined(messages).map(\.name) == ["B2"])
    #expect(carets(messages) == [[1, 1]])
    for person in second.dropFirst() { b.close(person.line) }
    exchange()
    b.close(second[0].line)
    exchange()
    #expect(counts(a.pushes(first[0].line)).last == .some(nil))
  }

  @Test("a client that has moved to another node is shown once, with its state there")
  func moving() throws {
    let witness = try client(of: a)
    let other = try client(of: b)
    let former = try client(of: a, name: "Ann")
    select(former, at: a, 0)
    pass(milliseconds: 100)
    exchange()
    _ = (a.pushes(witness.line), b.pushes(other.line))
    // The client's connection to the first node is dead, but the node has not noticed.
    let now = try client(of: b, name: "Ann again", claim: former.claim)
    #expect(now.id == former.id)
    pass(milliseconds: 100)
    exchange()
    for messages in [a.pushes(witness.line), b.pushes(other.line)] {
      #expect(joined(messages).last?.name == "Ann again")
    }
    #expect(
      try client(of: a).joined.presence.first { $0.clientID == now.id }?.selections == [])
    pass(milliseconds: 100)
    a.close(former.line)
    pass(milliseconds: 100)
    exchange()
    #expect(try client(of: a).joined.presence.contains { $0.clientID == now.id })
    #expect(try client(of: b).joined.presence.filter { $0.clientID == now.id }.isEmpty == false)
    b.close(now.line)
    pass(milliseconds: 100)
    exchange()
    #expect(left(a.pushes(witness.line)).last == now.id)
  }

  @Test("carets of another epoch are not shown, and a deleted note has no people")
  func histories() throws {
    let first = try client(of: a)
    let second = try client(of: b)
    exchange()
    select(second, at: b, 0)
    pass(milliseconds: 100)
    exchange()
    _ = store.perform([.renewEpoch(id: "n1", from: "epoch of n1", to: "epoch 2")])
    // The first node has reloaded the log.
    a.pass(milliseconds: 1_000)
    #expect(a.closeCodes[first.line] == CloseReason.rejoin.rawValue)
    let again = try client(of: a)
    #expect(again.joined.epoch == "epoch 2")
    select(second, at: b, 0)
    // The node replies twice a second.
    for _ in 0..<6 {
      b.pass(milliseconds: 100)
      exchange()
    }
    let messages = a.pushes(again.line)
    #expect(joined(messages).map(\.clientID) == [second.id])
    #expect(carets(messages).isEmpty)
    _ = store.perform([.delete(id: "n1")])
    pass(milliseconds: 2_000)
    exchange()
    a.make("n1")
    #expect(try client(of: a).joined.presence.isEmpty)
  }

  @Test("a person without the right to presence is not shown at other nodes, and sees no people")
  func rights() throws {
    let nodes = ["a", "b"].map { name in
      GatewayRig(store: store, prefix: "r\(name)") { $0.sharesStore = true }
    }
    let all = NamePattern("*")
    let seen = try nodes.map { node in
      let token = node.token("seen", [Grant(.documents, all, [.read, .write, .presence])])
      let (line, _) = try node.connectNative(token)
      node.ask(line, .join(.init(documentID: "n1")))
      return line
    }
    let token = nodes[1].token("unseen", [Grant(.documents, all, [.read])])
    let (unseen, _) = try nodes[1].connectNative(token)
    nodes[1].ask(unseen, .join(.init(documentID: "n1")))
    for _ in 0..<4 {
      for hint in nodes[0].takeHints() { nodes[1].hear(hint.topic, hint.bytes) }
      for hint in nodes[1].takeHints() { nodes[0].hear(hint.topic, hint.bytes) }
    }
    let people = joined(nodes[0].pushes(seen[0]))
    #expect(people.count == 1)
    // Two devices of one user are one person.
    #expect(people.first?.personID != nil)
    let (own, _) = try nodes[0].connectNative(
      nodes[0].token("seen", [Grant(.documents, all, [.read, .write, .presence])]))
    guard case .joined(let reply)? = nodes[0].ask(own, .join(.init(documentID: "n1"))) else {
      Issue.record("not joined")
      return
    }
    #expect(Set(reply.presence.map(\.personID)).count == 1 && reply.presence.count == 2)
    #expect(nodes[1].pushes(unseen).isEmpty)
  }

  @Test(
    "after the last message, all nodes show the people and carets that one node would",
    arguments: UInt64(1)...30, [1, 2, 3, 5])
  func convergence(seed: UInt64, nodes: Int) throws {
    var run = NodesOfANote(seed: seed, nodes: nodes)
    try run.run()
  }
}
