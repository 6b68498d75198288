import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import SocketMessages
import Testing

/// Two nodes on one store, with people in one room, step by step.
@Suite("A room on two nodes")
struct SharedRoomTests {
  private let a: GatewayRig
  private let b: GatewayRig
  private let store: MemoryStore

  init() {
    store = MemoryStore(isShared: true)
    a = GatewayRig(isDemo: true, store: store, prefix: "a") { $0.sharesStore = true }
    b = GatewayRig(isDemo: true, store: store, prefix: "b") {
      $0.sharesStore = true
      $0.roomRetention = RoomRetention(publicationsMax: 0, ageMax: 0)
    }
  }

  private func subscriber(of node: GatewayRig, isPresent: Bool = false) throws -> (
    line: UInt64, id: String
  ) {
    let (line, welcome) = try node.connectNative(nil)
    let reply = node.ask(line, .subscribe(.init(room: "r", isPresent: isPresent)))
    guard case .subscribed = reply else { throw Unexpected(message: reply) }
    return (line, welcome.clientID)
  }

  private func publish(_ line: UInt64, _ text: String, at node: GatewayRig) {
    node.ask(line, .publish(.init(room: "r", data: JSONValue(text), key: text)))
  }

  /// Delivers the hints that each node has sent since the last call to the other node.
  private func exchange() {
    for _ in 0..<4 {
      for hint in a.takeHints() { b.hear(hint.topic, hint.bytes) }
      for hint in b.takeHints() { a.hear(hint.topic, hint.bytes) }
    }
  }

  private func pass(milliseconds: Int64) {
    a.pass(milliseconds: milliseconds)
    b.pass(milliseconds: milliseconds)
  }

  private func published(_ messages: [ServerMessage]) -> [Int] {
    messages.compactMap { if case .publication(let it) = $0 { it.publication.offset } else { nil } }
  }

  private func present(_ messages: [ServerMessage]) -> (joined: [String], left: [String]) {
    var joined: [String] = []
    var left: [String] = []
    for case .roomPresence(let change) in messages {
      joined += change.joined.map(\.personID.text)
      left += change.left.map(\.text)
    }
    return (joined, left)
  }

  @Test("impossible times of another node are ignored")
  func foreignTimes() throws {
    let reader = try subscriber(of: a)
    let author = try subscriber(of: b, isPresent: true)
    let hint = try #require(b.takeHints().last)
    for sent in ["9000000000000000000", "-9000000000000000000", "-9223372036854775808", "0"] {
      let words = #"{"n":"x","t":\#(sent),"typing":"ann","on":true}"#
      let people = #"{"n":"x","t":\#(sent),"beat":1}"#
      for words in [words, people] { a.hear(hint.topic, Array(words.utf8)) }
    }
    publish(author.line, "1", at: b)
    exchange()
    #expect(published(a.pushes(reader.line)) == [1])
  }

  @Test("a hint makes a node deliver a publication, also in a room without history")
  func hints() throws {
    let author = try subscriber(of: b)
    let reader = try subscriber(of: a)
    publish(author.line, "1", at: b)
    publish(author.line, "2", at: b)
    #expect(published(a.pushes(reader.line)).isEmpty)
    exchange()
    #expect(published(a.pushes(reader.line)) == [1, 2])
    #expect(published(b.pushes(author.line)) == [1, 2])
  }

  @Test("without hints publications are delivered in order after the next check of the heads")
  func heads() throws {
    let first = try subscriber(of: a)
    let second = try subscriber(of: b)
    publish(first.line, "1", at: a)
    publish(second.line, "2", at: b)
    // The node's own publication follows the publication that it had not seen.
    #expect(published(b.pushes(second.line)) == [1, 2])
    #expect(published(a.pushes(first.line)) == [1])
    pass(milliseconds: 1_000)
    #expect(published(a.pushes(first.line)) == [2])
  }

  @Test("each wrong hint costs at most one read")
  func lies() throws {
    let reader = try subscriber(of: b)
    _ = b.takeHints()
    b.isStepwise = true
    for offset in ["9", "-1", "9007199254740991", "\"x\"", "null", "1e400"] {
      b.hear("room/r", Array("{\"n\":\"x\",\"t\":1,\"published\":\(offset)}".utf8))
    }
    for bytes in ["", "{}", "[]", "{\"n\":\"\",\"t\":1,\"beat\":1}", "{\"n\":\"x\",\"beat\":1}"] {
      b.hear("room/r", Array(bytes.utf8))
      b.hear("room/s", Array(bytes.utf8))
      b.hear("nodes", Array(bytes.utf8))
    }
    b.hear("room/r", [UInt8](repeating: 0x20, count: 5_000))
    #expect(b.stored.count == 1)
    b.performStoreRequests()
    #expect(b.stored.isEmpty)
    #expect(published(b.pushes(reader.line)).isEmpty)
  }

  @Test("a new epoch in the store makes subscribers resubscribe")
  func otherHistory() throws {
    let first = try subscriber(of: a)
    publish(first.line, "1", at: a)
    _ = store.perform([.room(.renewEpoch("r", from: "first", to: "second"))])
    pass(milliseconds: 1_000)
    #expect(a.closeCodes[first.line] == CloseReason.rejoin.rawValue)
  }

  @Test("people at other nodes are shown until they leave")
  func presence() throws {
    let first = try subscriber(of: a, isPresent: true)
    pass(milliseconds: 100)
    let second = try subscriber(of: b, isPresent: true)
    exchange()
    pass(milliseconds: 100)
    exchange()
    pass(milliseconds: 100)
    #expect(present(a.pushes(first.line)).joined.contains(second.id))
    #expect(present(b.pushes(second.line)).joined.contains(first.id))
    b.ask(second.line, .unsubscribe(.init(room: "r")))
    pass(milliseconds: 100)
    exchange()
    pass(milliseconds: 100)
    #expect(present(a.pushes(first.line)).left == [second.id])
  }

  @Test("the people of a silent node are removed after about six seconds")
  func silence() throws {
    let first = try subscriber(of: a, isPresent: true)
    let second = try subscriber(of: b, isPresent: true)
    pass(milliseconds: 100)
    exchange()
    pass(milliseconds: 100)
    #expect(present(a.pushes(first.line)).joined.contains(second.id))
    a.pass(milliseconds: 5_300)
    #expect(present(a.pushes(first.line)).left.isEmpty)
    a.pass(milliseconds: 200)
    #expect(present(a.pushes(first.line)).left == [second.id])
    // Old hints do not show the people again.
    for hint in b.takeHints() { a.hear(hint.topic, hint.bytes) }
    a.pass(milliseconds: 100)
    exchange()
    a.pass(milliseconds: 100)
    let back = present(a.pushes(first.line)).joined
    #expect(back.isEmpty || back == [second.id])
  }

  @Test("typing is shown at the other node, and expires there")
  func typing() throws {
    let first = try subscriber(of: a)
    let second = try subscriber(of: b)
    func typing(_ messages: [ServerMessage]) -> [Bool] {
      messages.compactMap { if case .typing(let it) = $0 { it.isTyping } else { nil } }
    }
    b.ask(second.line, .typing(.init(room: "r", isTyping: true)))
    exchange()
    #expect(typing(a.pushes(first.line)) == [true])
    b.ask(second.line, .typing(.init(room: "r", isTyping: false)))
    exchange()
    #expect(typing(a.pushes(first.line)) == [false])
    b.ask(second.line, .typing(.init(room: "r", isTyping: true)))
    exchange()
    a.pass(milliseconds: 6_000)
    #expect(typing(a.pushes(first.line)) == [true, false])
  }

  @Test("an author at another node is notified of receipts, and updates reach all nodes")
  func receipts() throws {
    let author = try subscriber(of: a)
    let reader = try subscriber(of: b)
    publish(author.line, "1", at: a)
    exchange()
    _ = a.pushes(author.line)
    b.ask(reader.line, .receipt(.init(room: "r", offset: 1, state: .read)))
    exchange()
    let receipts = a.pushes(author.line).compactMap { message -> String? in
      if case .receipt(let it) = message { it.personID } else { nil }
    }
    #expect(receipts == [reader.id])
    b.publish("x", in: "r")
    exchange()
    let updates = a.pushes(author.line).filter {
      if case .resourceUpdate = $0 { true } else { false }
    }
    #expect(updates.count == 1)
  }

  @Test("a block at one node applies at the other")
  func blocks() throws {
    let first = try subscriber(of: a)
    let second = try subscriber(of: b)
    a.ask(first.line, .block(.init(personID: second.id, isBlocked: true)))
    exchange()
    publish(second.line, "1", at: b)
    exchange()
    #expect(published(a.pushes(first.line)).isEmpty)
    #expect(published(b.pushes(second.line)) == [1])
  }

  // MARK: Values

  private func follower(of node: GatewayRig) throws -> UInt64 {
    let (line, _) = try node.connectNative(nil)
    var message = ClientMessage.Subscribe(room: "r", isPresent: false)
    message.values = ValueNames()
    let reply = node.ask(line, .subscribe(message))
    guard case .subscribed = reply else { throw Unexpected(message: reply) }
    return line
  }

  private func change(_ line: UInt64, _ key: String, at node: GatewayRig) -> String {
    var publish = ClientMessage.Publish(room: "r", data: .null, key: key)
    publish.data = nil
    publish.values = ValueOperationList([ValueOperation("n", .add(1))])
    return node.send(line, .publish(publish))
  }

  @Test("values that are newer than what the members have are sent after the publications")
  func pageAhead() throws {
    let reader = try follower(of: a)
    let author = try subscriber(of: b)
    _ = change(author.line, "1", at: b)
    a.isStepwise = true
    let asked = a.send(reader, .values(.init(room: "r")))
    a.performStoreRequests(on: 1)
    #expect(a.replyCount(reader, to: asked) == 0)
    let another = a.send(reader, .values(.init(room: "r")))
    while !a.stored.isEmpty { a.performStoreRequests(on: 1) }
    #expect(a.replyCount(reader, to: another) == 1)
    #expect(a.replyCount(reader, to: asked) == 1)
    let kinds = a.pushes(reader).compactMap { message -> String? in
      switch message {
      case .publication(let it): "publication \(it.publication.offset)"
      case .values(let it): "values at \(it.position.offset)"
      default: nil
      }
    }
    #expect(Array(kinds.prefix(2)) == ["publication 1", "values at 1"])
  }

  @Test("a value that is bound to a client of a node that dies is deleted by another, once")
  func deadNode() throws {
    let author = try subscriber(of: a)
    let reader = try follower(of: b)
    var publish = ClientMessage.Publish(room: "r", data: .null)
    publish.data = nil
    publish.values = ValueOperationList([
      ValueOperation("seat", .set(JSONValue(1)), lifetime: .connection)
    ])
    _ = a.send(author.line, .publish(publish))
    for _ in 0..<30 {
      pass(milliseconds: 1_000)
      exchange()
    }
    #expect(store.rooms.values(of: "r")["seat"] != nil)
    #expect(published(b.pushes(reader)) == [1])
    // From here on nothing is heard of the first node.
    for _ in 0..<5 { b.pass(milliseconds: 1_000) }
    #expect(store.rooms.values(of: "r")["seat"] != nil)
    for _ in 0..<25 { b.pass(milliseconds: 1_000) }
    #expect(store.rooms.values(of: "r")["seat"] == nil)
    #expect(published(b.pushes(reader)) == [2])
  }

  @Test("a page that waits is sent if its reader leaves the room", arguments: [true, false])
  func readerLeaves(isLast: Bool) throws {
    let reader = try follower(of: a)
    if !isLast { _ = try subscriber(of: a) }
    let author = try subscriber(of: b)
    _ = change(author.line, "1", at: b)
    a.isStepwise = true
    let asked = a.send(reader, .values(.init(room: "r")))
    a.performStoreRequests(on: 1)
    #expect(a.replyCount(reader, to: asked) == 0)
    _ = a.send(reader, .unsubscribe(.init(room: "r")))
    while !a.stored.isEmpty { a.performStoreRequests(on: 1) }
    #expect(a.replyCount(reader, to: asked) == 1)
  }

  @Test(
    "what the store has confirmed and lost begins another history, though no member had it",
    arguments: ["publication", "page", "subscription"])
  func lostBeforeDelivery(confirmation: String) throws {
    let reader = try follower(of: a)
    let author = try subscriber(of: b)
    _ = change(author.line, "1", at: b)
    _ = a.takeHints()
    a.isStepwise = true
    switch confirmation {
    case "publication": _ = change(reader, "2", at: a)
    case "page": _ = a.send(reader, .values(.init(room: "r")))
    default:
      let (late, _) = try a.connectNative(nil)
      _ = a.send(late, .subscribe(.init(room: "r", isPresent: false)))
    }
    a.performStoreRequests(on: 1)
    store.restart(losingCommits: 2)
    while !a.stored.isEmpty { a.performStoreRequests() }
    #expect(a.closeCodes[reader] == CloseReason.rejoin.rawValue)
    let reply = store.perform([.room(.heads(["r"]))])
    guard case .room(.heads(let heads)) = try #require(reply.first) else {
      Issue.record("no heads")
      return
    }
    #expect(heads.first?.position.epoch != "first")
  }
}
