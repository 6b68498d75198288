import ParleyJSON
import ParleyClientCore
import SocketMessages
import Testing

@Suite("A client's room")
struct RoomTests {
  /// Subscribed to the room `r`, whose newest offset is 5.
  private func live(isPresent: Bool = false) -> Rig {
    var rig = Rig()
    rig.connect()
    rig.room(.subscribe(isPresent: isPresent, from: nil))
    rig.subscribed(5)
    return rig
  }

  @Test("is subscribed to, and passes on what is published")
  func subscribe() {
    var rig = Rig()
    #expect(rig.room(.subscribe(isPresent: false, from: nil)) == ["r subscribing"])
    rig.handle(.start)
    rig.handle(.opened)
    #expect(rig.welcome() == ["claim A", "online", "> subscribe r"])
    #expect(rig.subscribed(5) == ["r live", "r at 5"])
    #expect(rig.publication(6) == ["r has 6"])
    #expect(rig.machine.position(inRoom: "r")?.offset == 6)
  }

  @Test("resumes at its position, and takes missed publications in order")
  func resume() {
    var rig = live()
    rig.publication(6)
    #expect(rig.reconnect() == ["online", "> subscribe r@p:6"])
    #expect(
      rig.subscribed(8, recovered: true, [7, 8]) == ["r has 7", "r has 8", "r live", "r at 8"])
  }

  @Test("an app resumes from the position that it kept")
  func from() {
    var rig = Rig()
    rig.connect()
    let words = rig.room(.subscribe(isPresent: false, from: RoomPosition(epoch: "p", offset: 3)))
    #expect(words == ["r subscribing", "> subscribe r@p:3"])
  }

  @Test("unavailable publications are reported as a gap", arguments: [false, true])
  func gap(isOtherHistory: Bool) {
    var rig = live()
    _ = rig.reconnect()
    let words = rig.subscribed(
      isOtherHistory ? 5 : 9, epoch: isOtherHistory ? "q" : "p", recovered: false)
    #expect(
      words == ["r gap 5-\(isOtherHistory ? 5 : 9)", "r live", "r at \(isOtherHistory ? 5 : 9)"])
  }

  @Test("nothing missed is no gap")
  func noGap() {
    var rig = live()
    _ = rig.reconnect()
    #expect(rig.subscribed(5, recovered: false) == ["r live", "r at 5"])
  }

  @Test("a publication that came is passed over; one left out was for others")
  func offsets() {
    var rig = live()
    #expect(rig.publication(7) == ["r has 7"])
    #expect(rig.publication(7) == [])
    #expect(rig.publication(6) == [])
  }

  @Test(
    "a recovery that is no whole is asked for again, three times",
    arguments: [[6, 6], [4], [9], [7, 6]])
  func brokenRecovery(offsets: [Int]) {
    var rig = live()
    _ = rig.reconnect()
    for _ in 0..<3 {
      #expect(
        rig.subscribed(8, recovered: true, offsets) == ["r out of step", "> subscribe r@p:5"])
    }
    #expect(rig.subscribed(8, recovered: true, offsets) == ["r out of step", "r ended"])
  }

  @Test("it subscribes again after another history in the middle")
  func otherEpoch() {
    var rig = live()
    #expect(
      rig.publication(6, epoch: "q") == ["r out of step", "r away", "> subscribe r@p:5"])
  }

  @Test("a message that cannot be read may have been a publication")
  func misread() {
    var rig = live()
    #expect(
      rig.handle(.received([0x7b])) == ["r out of step", "r away", "> subscribe r@p:5"])
  }

  @Test("a subscription that may succeed later is tried again; one refused for good is not")
  func refused() {
    var rig = Rig()
    rig.connect()
    rig.room(.subscribe(isPresent: false, from: nil))
    rig.fail("subscribe", .busy, after: 300)
    #expect(rig.pass(299) == [])
    #expect(rig.pass(1) == ["> subscribe r"])
    #expect(rig.fail("subscribe", .notAllowed) == ["r ended"])
    #expect(rig.reconnect() == ["online"])
  }

  @Test("the right to read may go")
  func unsubscribed() {
    var rig = live()
    #expect(rig.receive(.unsubscribed(.init(room: "r"))) == ["r ended"])
    #expect(
      rig.room(.subscribe(isPresent: false, from: nil)) == ["r subscribing", "> subscribe r@p:5"])
  }

  @Test("leaving forgets it")
  func leave() {
    var rig = live()
    #expect(rig.room(.unsubscribe) == ["> unsubscribe", "r left"])
    #expect(rig.machine.status(ofRoom: "r") == nil)
    #expect(rig.publication(6) == [])
  }

  // MARK: Publishing

  private func publish(_ rig: inout Rig, _ key: String) -> [String] {
    rig.room(.publish(.init(room: "r", data: .null, key: key), key: key))
  }

  @Test("goes out under its key until it is answered")
  func publishing() {
    var rig = Rig()
    #expect(publish(&rig, "k") == [])
    rig.handle(.start)
    rig.handle(.opened)
    #expect(rig.welcome() == ["claim A", "online", "> publish k"])
    #expect(rig.reconnect() == ["online", "> publish k"])
    #expect(rig.published(6) == ["r stored k 6"])
    #expect(rig.reconnect() == ["online"])
  }

  @Test("the same key is published once")
  func sameKey() {
    var rig = live()
    #expect(publish(&rig, "k") == ["> publish k"])
    #expect(publish(&rig, "k") == [])
  }

  @Test("retries a temporary refusal; reports a final one")
  func publishRefused() {
    var rig = live()
    _ = publish(&rig, "k")
    rig.fail("publish", .unavailable, after: 200)
    #expect(rig.pass(200) == ["> publish k"])
    #expect(rig.fail("publish", .keyReused) == ["r failed k"])
    #expect(rig.pass(60_000).contains("> publish k") == false)
  }

  @Test("under another id it is not sent again, for it might be stored twice")
  func unsure() {
    var rig = live()
    _ = publish(&rig, "k")
    #expect(rig.reconnect(as: "B") == ["claim B", "online", "r unsure k", "> subscribe r@p:5"])
  }

  @Test("what no message may hold is refused here, for the server would end the connection over it")
  func tooLarge() throws {
    var limits = Limits()
    limits.messageBytesMax = 120
    var rig = Rig()
    let words = try #require(JSONValue(Array("\"\(String(repeating: "x", count: 100))\"".utf8)))
    rig.room(.publish(.init(room: "r", data: words, key: "large"), key: "large"))
    #expect(publish(&rig, "k") == [])
    rig.handle(.start)
    rig.handle(.opened)
    #expect(
      rig.welcome(limits: limits) == ["claim A", "online", "r failed large", "> publish k"])
    #expect(
      rig.room(.publish(.init(room: "r", data: words, key: "again"), key: "again"))
        == ["r failed again"])
    #expect(rig.published(6) == ["r stored k 6"])
  }

  @Test("so many may wait")
  func bound() {
    var rig = Rig()
    for number in 0..<1_000 { #expect(publish(&rig, "k\(number)") == []) }
    #expect(publish(&rig, "one more") == ["r failed one more"])
  }

  // MARK: People

  @Test("people come and go, and are listed again with each subscription")
  func people() {
    var rig = Rig()
    rig.connect()
    rig.room(.subscribe(isPresent: true, from: nil))
    rig.subscribed(0, present: ["u2", "u1"])
    #expect(rig.machine.people(inRoom: "r").map(\.personID) == ["u1", "u2"])
    rig.receive(
      .roomPresence(
        .init(
          room: "r", joined: [.init(personID: "u0", name: "Zoe")], updated: [], left: ["u2", "x"])))
    #expect(rig.machine.people(inRoom: "r").map(\.personID) == ["u0", "u1"])
    rig.receive(.typing(.init(room: "r", personID: "u0", isTyping: true)))
    #expect(rig.machine.typists(inRoom: "r") == ["u0"])
    rig.handle(.closed(code: 1006))
    #expect(rig.machine.people(inRoom: "r") == [])
    #expect(rig.machine.typists(inRoom: "r") == [])
  }

  @Test("typing is said again before it ends by itself, and its end once")
  func typing() {
    var rig = live()
    #expect(rig.room(.typing(true)) == ["> typing true"])
    #expect(rig.room(.typing(true)) == [])
    #expect(rig.pass(3_000) == ["> typing true"])
    #expect(rig.room(.typing(false)) == ["> typing false"])
    #expect(rig.pass(10_000) == [])
  }

  @Test("a receipt is sent until it is answered; others' receipts are reported")
  func receipts() {
    var rig = live()
    #expect(rig.room(.receipt(offset: 4, .read)) == ["> receipt 4"])
    #expect(rig.reconnect() == ["online", "> subscribe r@p:5", "> receipt 4"])
    let receipt = ServerMessage.Receipt(room: "r", offset: 4, personID: "u", state: .read)
    #expect(rig.receive(.receipt(receipt), to: "receipt") == [])
    #expect(rig.reconnect() == ["online", "> subscribe r@p:5"])
    #expect(rig.receive(.receipt(receipt)) == ["r receipt 4"])
  }

  @Test("a question about receipts is asked until it is answered")
  func questions() {
    var rig = live()
    #expect(rig.room(.receipts(offset: 4)) == ["> receipts"])
    #expect(rig.reconnect() == ["online", "> subscribe r@p:5", "> receipts"])
    let receipts = [
      Receipt(personID: "u", stage: .read), Receipt(personID: "v", stage: .delivered),
    ]
    let answer = ServerMessage.Receipts(room: "r", offset: 4, receipts: receipts)
    #expect(rig.receive(.receipts(answer), to: "receipts") == ["r receipts 4 u,v"])
    #expect(rig.receive(.receipts(answer), to: "receipts") == [])
    #expect(rig.room(.receipts(offset: 5)) == ["> receipts"])
    #expect(rig.fail("receipts", .notAllowed) == ["r receipts 5 notAllowed"])
    #expect(rig.reconnect() == ["online", "> subscribe r@p:5"])
  }

  @Test("of receipts that wait the oldest gives way, and of questions the newest")
  func receiptsBeyondTheBound() {
    var rig = live()
    rig.handle(.closed(code: 1006))
    #expect(rig.room(.receipts(offset: 1)) == [])
    for offset in 2...256 { #expect(rig.room(.receipt(offset: Int64(offset), .read)) == []) }
    #expect(rig.room(.receipts(offset: 257)) == ["r receipts 257 tooMany"])
    #expect(rig.room(.receipt(offset: 258, .read)) == [])
    let sent = rig.reconnect().filter { $0.contains("receipt") }
    #expect(sent.count == 256)
    #expect(sent.first == "> receipts" && sent.last == "> receipt 258")
    #expect(!sent.contains("> receipt 2") && sent.contains("> receipt 3"))
  }
}
