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

  @Test("subscribes, and delivers publications")
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

  @Test("resumes at its position, and delivers missed publications in order")
  func resume() {
    var rig = live()
    rig.publication(6)
    #expect(rig.reconnect() == ["online", "> subscribe r@p:6"])
    #expect(
      rig.subscribed(8, recovered: true, [7, 8]) == ["r has 7", "r has 8", "r live", "r at 8"])
  }

  @Test("an app resumes from its stored position")
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

  @Test("without missed publications there is no gap")
  func noGap() {
    var rig = live()
    _ = rig.reconnect()
    #expect(rig.subscribed(5, recovered: false) == ["r live", "r at 5"])
  }

  @Test("a repeated publication is ignored, and a skipped offset was for others")
  func offsets() {
    var rig = live()
    #expect(rig.publication(7) == ["r has 7"])
    #expect(rig.publication(7) == [])
    #expect(rig.publication(6) == [])
  }

  @Test(
    "an incomplete recovery is requested again, up to three times",
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

  @Test("it resubscribes when the epoch changes")
  func otherEpoch() {
    var rig = live()
    #expect(
      rig.publication(6, epoch: "q") == ["r out of step", "r away", "> subscribe r@p:5"])
  }

  @Test("an unreadable message causes a recovery, because it may have been a publication")
  func misread() {
    var rig = live()
    #expect(
      rig.handle(.received([0x7b])) == ["r out of step", "r away", "> subscribe r@p:5"])
  }

  @Test("a temporarily refused subscription is retried; a permanently refused one is not")
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

  @Test("losing the right to read ends the room")
  func unsubscribed() {
    var rig = live()
    #expect(rig.receive(.unsubscribed(.init(room: "r"))) == ["r ended"])
    #expect(
      rig.room(.subscribe(isPresent: false, from: nil)) == ["r subscribing", "> subscribe r@p:5"])
  }

  @Test("leaving removes the room")
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

  @Test("is sent with its key until it is answered")
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

  @Test("is not resent under another client id, because it might be stored twice")
  func unsure() {
    var rig = live()
    _ = publish(&rig, "k")
    #expect(rig.reconnect(as: "B") == ["claim B", "online", "r unsure k", "> subscribe r@p:5"])
  }

  @Test("invalid data is refused locally, because the server would close the connection")
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

  @Test("waiting publications are limited in number")
  func bound() {
    var rig = Rig()
    for number in 0..<1_000 { #expect(publish(&rig, "k\(number)") == []) }
    #expect(publish(&rig, "one more") == ["r failed one more"])
  }

  // MARK: People

  @Test("people join and leave, and are listed again with each subscription")
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

  @Test("typing is repeated before it expires, and its end is sent once")
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

  @Test("a request for receipts is repeated until it is answered")
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

  @Test("the oldest waiting receipt is dropped, and the newest request for receipts is refused")
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
