import ParleyOTWorkloads
import ParleyClientCore
import SocketMessages
import Testing

@Suite("A client's requests")
struct RequestTests {
  private func online() -> Rig {
    var rig = Rig()
    rig.connect()
    return rig
  }

  private func block(_ person: String, _ isBlocked: Bool = true) -> RoomRequest {
    .block(.init(personID: person, isBlocked: isBlocked))
  }

  private static let blocks = ServerMessage.blocks(.init(people: ["u-ben"]))

  @Test("a request waits for the connection, and has one answer")
  func offline() {
    var rig = Rig()
    #expect(rig.handle(.ask(.blocks, as: 7)) == [])
    rig.handle(.start)
    rig.handle(.opened)
    #expect(rig.welcome() == ["claim A", "online", "> blocks"])
    #expect(rig.receive(Self.blocks, to: "blocks") == ["answer 7"])
    #expect(rig.receive(Self.blocks, to: "blocks") == [])
  }

  @Test("a request whose connection is lost is sent over the next one")
  func lost() {
    var rig = online()
    #expect(rig.handle(.ask(.blocks, as: 7)) == ["> blocks"])
    #expect(rig.reconnect() == ["online", "> blocks"])
    #expect(rig.receive(Self.blocks, to: "blocks") == ["answer 7"])
    #expect(rig.reconnect() == ["online"])
  }

  @Test("writing requests are sent one after the other, reading requests at once")
  func order() {
    var rig = online()
    #expect(rig.handle(.ask(block("u-ben"), as: 1)) == ["> block u-ben true"])
    #expect(rig.handle(.ask(block("u-ben", false), as: 2)) == [])
    #expect(rig.handle(.ask(.blocks, as: 3)) == ["> blocks"])
    #expect(rig.receive(Self.blocks, to: "block") == ["answer 1", "> block u-ben false"])
  }

  @Test("a retried writing request precedes later ones")
  func busy() {
    var rig = online()
    rig.handle(.ask(block("u-ben"), as: 1))
    rig.handle(.ask(block("u-ben", false), as: 2))
    #expect(rig.fail("block", .busy, after: 500) == [])
    #expect(rig.pass(499) == [])
    #expect(rig.pass(1) == ["> block u-ben true"])
    #expect(rig.receive(Self.blocks, to: "block") == ["answer 1", "> block u-ben false"])
  }

  @Test("a permanent refusal is the answer")
  func refused() {
    var rig = online()
    rig.handle(.ask(block("u-ben"), as: 1))
    rig.handle(.ask(.follow(.init(room: "r", isFollowing: true)), as: 2))
    #expect(rig.fail("block", .notOffered) == ["answer 1 notOffered", "> follow r true"])
  }

  @Test("an unexpected or malformed answer is a failure")
  func unfitting() {
    var rig = online()
    rig.handle(.ask(.history(.init(room: "r")), as: 1))
    let page = ServerMessage.RoomHistory(
      room: "another", position: .init(epoch: "e", offset: 0), publications: [], hasGap: false,
      hasMore: false)
    #expect(rig.receive(.roomHistory(page), to: "history") == ["answer 1 badMessage"])
    rig.handle(.ask(.history(.init(room: "r")), as: 2))
    #expect(rig.receive(Self.blocks, to: "history") == ["answer 2 badMessage"])
    rig.handle(.ask(.blocks, as: 3))
    let id = rig.sent.last?.id ?? ""
    let words = rig.handle(
      .received(Array(#"{"messageId":"\#(id)","type":"blocks","data":{"people":7}}"#.utf8)))
    #expect(words == ["answer 3 badMessage"])
  }

  @Test("a cancelled request has no answer, and does not delay others")
  func givenUp() {
    var rig = online()
    rig.handle(.ask(block("u-ben"), as: 1))
    rig.handle(.ask(block("u-cid"), as: 2))
    #expect(rig.handle(.giveUp(1)) == ["> block u-cid true"])
    #expect(rig.handle(.giveUp(1)) == [])
    #expect(rig.receive(Self.blocks, to: "block") == ["answer 2"])
  }

  @Test("waiting requests are limited in number")
  func bound() {
    var rig = Rig()
    for id in 0..<256 { #expect(rig.handle(.ask(.blocks, as: Int64(id))) == []) }
    #expect(rig.handle(.ask(.blocks, as: 256)) == ["answer 256 tooMany"])
  }

  @Test("requests of one user are never sent as another user")
  func otherPerson() {
    var rig = Rig { $0.isOnePersons = true }
    func welcome(_ person: String) -> ServerMessage {
      .welcome(
        .init(
          clientID: "of \(person)", resumeToken: "t", serverTime: 1, demo: false, capabilities: [],
          limits: Limits(), personID: person))
    }
    rig.handle(.start)
    rig.handle(.opened)
    rig.receive(welcome("u-ann"), to: "hello")
    rig.handle(.closed(code: 1006))
    rig.handle(.ask(block("u-ben"), as: 1))
    rig.room(.receipt(offset: 3, .read))
    rig.handle(.reachable)
    rig.handle(.opened)
    #expect(rig.receive(welcome("u-ben"), to: "hello") == ["disconnect", "stopped"])
    #expect(rig.handle(.changePerson) == ["answer 1 otherPerson", "connecting", "connect"])
    rig.handle(.opened)
    #expect(rig.receive(welcome("u-ben"), to: "hello") == ["claim of u-ben", "online"])
  }

  @Test("reports are delivered to a moderator, and own reports are answers")
  func reports() {
    var rig = online()
    rig.room(.subscribe(isPresent: false, from: nil))
    rig.subscribed(5)
    let report = ServerMessage.flag(
      .init(room: "r", offset: 4, personID: "u-ben", isFlagged: true, reason: nil))
    #expect(rig.receive(report) == ["r flagged 4"])
    rig.handle(.ask(.flag(.init(room: "r", offset: 4, isFlagged: true)), as: 1))
    #expect(rig.receive(report, to: "flag") == ["answer 1"])
  }

  @Test("each request that is not cancelled has one answer", arguments: 1...50)
  func histories(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var rig = online()
    var asked: Set<Int64> = []
    var answers: [Int64] = []
    var count: Int64 = 0
    func note(_ words: [String]) {
      for word in words where word.hasPrefix("answer ") {
        answers.append(Int64(word.split(separator: " ")[1]) ?? -1)
      }
    }
    for _ in 0..<200 {
      switch random.below(8) {
      case 0...2:
        count += 1
        asked.insert(count)
        note(rig.handle(.ask(random.chance(50) ? block("u\(count)") : .blocks, as: count)))
      case 3: note(rig.reconnect())
      case 4: note(rig.pass(Int64(random.below(2_000))))
      case 5: note(rig.fail(random.chance(50) ? "block" : "blocks", .busy, after: 100))
      case 6 where random.chance(20):
        guard let id = asked.subtracting(answers).min() else { continue }
        asked.remove(id)
        note(rig.handle(.giveUp(id)))
      default: note(rig.receive(Self.blocks, to: random.chance(50) ? "block" : "blocks"))
      }
    }
    // In the end the server answers all there is.
    for _ in 0..<2 * count + 2 {
      note(rig.reconnect())
      for (id, message) in rig.sent.suffix(Int(count)) {
        guard message != .ping else { continue }
        var bytes: [UInt8] = []
        Self.blocks.encode(messageID: id, into: &bytes)
        note(rig.handle(.received(bytes)))
      }
      if Set(answers) == asked { break }
    }
    #expect(Set(answers) == asked)
    #expect(answers.count == asked.count)
  }
}
