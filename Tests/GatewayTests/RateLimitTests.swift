import CParleyAllocationCount
import Gateway
import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

/// Messages that exceed their rates. The test moves the clock.
@Suite("Rates")
struct RateLimitTests {
  private static let here = IPAddress("192.0.2.1")
  private static let there = IPAddress("192.0.2.2")

  /// Returns a gateway whose burst is two seconds of each rate.
  private func rig(
    isDemo: Bool = true, _ change: (inout Limits) -> Void
  ) -> GatewayRig {
    let rig = GatewayRig(isDemo: isDemo) {
      $0.limits.burstSeconds = 2
      change(&$0.limits)
    }
    rig.make("n")
    for name in ["ada", "ben"] {
      rig.book?.enter(name, user: name, [Grant(.documents, NamePattern("*"), .all)])
    }
    return rig
  }

  @Test("a full book of rates forgets the user with the least usage")
  func book() {
    let rate = Rate(perSecond: 1, burst: 10)
    var book = RateBook(countMax: 3)
    for (user, amount) in [("a", 10), ("b", 6), ("c", 3)] {
      #expect(book.draw(amount, by: user, at: rate, now: 0) == 0)
    }
    // "d" takes the bucket of "c", and "e" takes the bucket of "d".
    #expect(book.draw(2, by: "d", at: rate, now: 0) == 0)
    #expect(book.draw(1, by: "e", at: rate, now: 0) == 0)
    // A user without a bucket draws nothing, and evicts no other user.
    #expect(book.draw(5, by: "f", at: rate, now: 0) == 1_000)
    #expect(book.count == 3)
    #expect(book.draw(5, by: "a", at: rate, now: 0) == 5_000)
    #expect(book.draw(5, by: "b", at: rate, now: 0) == 1_000)
    #expect(book.draw(5, by: "e", at: rate, now: 0) == 1_000)
    // Ten seconds later all buckets are full again.
    for user in ["x", "y", "z"] { #expect(book.draw(10, by: user, at: rate, now: 10_000) == 0) }
    #expect(book.draw(1, by: "a", at: rate, now: 10_000) == 1_000)
    #expect(book.count == 3)
  }

  @Test(
    "many names do not exceed the rates that the book has room for", arguments: UInt64(1)...20)
  func names(seed: UInt64) {
    let rate = Rate(perSecond: 2, burst: 5)
    let countMax = 8
    var random = SplitMix64(seed: seed)
    var (book, drawn, ofVictim, now) = (RateBook(countMax: countMax), 0, 0, Int64(0))
    while book.draw(1, by: "victim", at: rate, now: now) == 0 { ofVictim += 1 }
    for _ in 0..<5_000 {
      now += Int64(random.below(100))
      let amount = 1 + random.below(3)
      let name = "\(random.below(random.chance(50) ? 20 : 1_000))"
      if book.draw(amount, by: name, at: rate, now: now) == 0 { drawn += amount }
      if book.draw(1, by: "victim", at: rate, now: now) == 0 { ofVictim += 1 }
      #expect(book.count <= countMax)
    }
    let allowed = rate.burst + rate.perSecond * Int(now) / 1_000
    #expect(drawn + ofVictim <= countMax * allowed)
    #expect(ofVictim <= allowed)
  }

  private func insertion(_ sequence: Int, _ text: String = "x") -> ClientMessage {
    var operation = TextOperation()
    operation.insert(text)
    operation.retain(sequence - 1)
    return .change(
      .init(
        documentID: "n", epoch: "epoch of n", revision: sequence - 1, sequence: sequence,
        operation: operation))
  }

  /// Returns the milliseconds to wait according to a reply; `nil` for other replies.
  private func pause(_ message: ServerMessage?) -> Int? {
    switch message {
    case .error(let error) where error.code == .tooFast && error.retryable: error.retryAfter
    case .refused(let refused) where refused.code == .tooFast && refused.retryable:
      refused.retryAfter
    default: nil
    }
  }

  private func isPong(_ message: ServerMessage?) -> Bool {
    if case .pong = message { true } else { false }
  }

  @Test("a change over the rate is refused, and accepted after exactly the time in the refusal")
  func change() throws {
    let rig = rig { $0.messagesPerSecondMax = 2 }
    let (id, welcome) = try rig.connectNative(nil)
    #expect(welcome.limits.messagesPerSecondMax == 2)
    rig.ask(id, .join(.init(documentID: "n")))
    for sequence in 1...2 { #expect(pause(rig.ask(id, insertion(sequence))) == nil) }
    let told = try #require(pause(rig.ask(id, insertion(3))))
    #expect(told == 500)
    rig.pass(milliseconds: Int64(told) - 1)
    #expect(pause(rig.ask(id, insertion(3))) == 1)
    rig.pass(milliseconds: 1)
    guard case .acknowledged(let answer)? = rig.ask(id, insertion(3)) else {
      Issue.record("expected an acknowledgement")
      return
    }
    #expect(answer.revision == 3)
  }

  @Test("bytes count, too, and a message larger than a burst passes when the bucket is full")
  func bytes() throws {
    let rig = rig { $0.bytesPerSecondMax = 500 }
    let (id, _) = try rig.connectNative(nil)
    rig.ask(id, .join(.init(documentID: "n")))
    let large = String(repeating: "x", count: 3_000)
    #expect(try #require(pause(rig.ask(id, insertion(1, large)))) > 0)
    rig.pass(milliseconds: 2_000)
    #expect(pause(rig.ask(id, insertion(1, large))) == nil)
    #expect(try #require(pause(rig.ask(id, .ping))) > 2_000)
  }

  @Test("the connections of a user share the user's rate, and other users have separate rates")
  func user() throws {
    let rig = rig(isDemo: false) { $0.userMessagesPerSecondMax = 3 }
    let (first, _) = try rig.connectNative("ada")
    let (second, _) = try rig.connectNative("ada")
    let (other, _) = try rig.connectNative("ben")
    // The hellos do not count, as they came before the users were known.
    for id in [first, second, first, second, first, second] { #expect(isPong(rig.ask(id, .ping))) }
    #expect(pause(rig.ask(first, .ping)) == 334)
    #expect(pause(rig.ask(second, .ping)) == 334)
    #expect(isPong(rig.ask(other, .ping)))
    rig.pass(milliseconds: 334)
    #expect(isPong(rig.ask(second, .ping)))
    #expect(pause(rig.ask(first, .ping)) != nil)
  }

  @Test("the connections of an address share its rate")
  func address() throws {
    let rig = rig { $0.addressMessagesPerSecondMax = 2 }
    let (first, _) = try rig.connectNative(nil, from: Self.here)
    let (second, _) = try rig.connectNative(nil, from: Self.here)
    let (other, _) = try rig.connectNative(nil, from: Self.there)
    let (unlimited, _) = try rig.connectNative(nil)
    for id in [first, second] { #expect(isPong(rig.ask(id, .ping))) }
    #expect(pause(rig.ask(first, .ping)) == 500)
    #expect(pause(rig.ask(second, .ping)) == 500)
    #expect(isPong(rig.ask(other, .ping)))
    for _ in 0..<10 { #expect(isPong(rig.ask(unlimited, .ping))) }
  }

  @Test("reconnecting does not reset the rates of the user and the address")
  func returning() throws {
    let rig = rig(isDemo: false) {
      $0.userMessagesPerSecondMax = 2
      $0.addressMessagesPerSecondMax = 100
    }
    let (first, _) = try rig.connectNative("ada", from: Self.here)
    while isPong(rig.ask(first, .ping)) {}
    rig.close(first)
    rig.pass(milliseconds: 250)
    let (second, _) = try rig.connectNative("ada", from: Self.here)
    #expect(pause(rig.ask(second, .ping)) == 250)
  }

  @Test("a client that ignores the pause is closed, and may reconnect")
  func flooding() throws {
    let rig = rig { $0.messagesPerSecondMax = 5 }
    let (id, _) = try rig.connectNative(nil)
    var answers = 0
    while rig.closeCodes[id] == nil, answers < 100 {
      _ = rig.ask(id, .ping)
      answers += 1
    }
    #expect(rig.closeCodes[id] == CloseReason.tooFast.rawValue)
    // The number of answered messages equals the number of refusals, the hello included.
    #expect(answers == 20)
    let goodbye = rig.pushes(id).last
    guard case .goodbye(let message)? = goodbye else {
      Issue.record("expected a goodbye, \(String(describing: goodbye)) came")
      return
    }
    #expect(message.reason == "tooFast")
    #expect(message.reconnectAfter.lowerBound >= 1_000)
  }

  @Test("a client that floods without reading is closed once, as too slow")
  func floodingWithoutReading() throws {
    let rig = rig { $0.messagesPerSecondMax = 5 }
    let (id, _) = try rig.connectNative(nil)
    for _ in 1..<20 { _ = rig.ask(id, .ping) }
    #expect(rig.closeCodes[id] == nil)
    rig.queues.bytes[id] = GatewaySettings().queuedBytesMax + 1
    _ = rig.ask(id, .ping)
    #expect(rig.closeCodes[id] == CloseReason.slowReader.rawValue)
    #expect(rig.metrics.closes == [CloseReason.slowReader.rawValue: 1])
  }

  @Test("a user with too many connections, or too many in a short time, is refused")
  func connections() throws {
    let rig = rig(isDemo: false) {
      $0.userConnectionsMax = 2
      $0.userConnectsPerSecondMax = 2
    }
    let (first, _) = try rig.connectNative("ada")
    let (second, _) = try rig.connectNative("ada")
    let third = rig.connect()
    guard
      case .error(let error)? = rig.ask(third, .hello(.init(name: "Ada", token: "ada")))
    else {
      Issue.record("expected an error")
      return
    }
    #expect(error.code == .tooMany)
    #expect(rig.closeCodes[third] == CloseReason.tooMany.rawValue)
    rig.close(first)
    rig.close(second)
    for _ in 0..<2 { rig.close(try rig.connectNative("ada").0) }
    let fourth = rig.connect()
    #expect(pause(rig.ask(fourth, .hello(.init(name: "Ada", token: "ada")))) == 500)
    #expect(rig.closeCodes[fourth] == CloseReason.tooFast.rawValue)
    rig.pass(milliseconds: 500)
    _ = try rig.connectNative("ada")
    _ = try rig.connectNative("ben")
  }

  @Test("a Whaler change over the rate is answered once with the state, when the rate allows it")
  func whaler() throws {
    let rig = rig { $0.messagesPerSecondMax = 2 }
    let id = rig.connectWhaler(pool: nil, token: nil)
    rig.say(id, #"{"messageId":"1","type":"resourceConnection","data":{"resourceId":"n"}}"#)
    func change(_ number: Int) {
      rig.say(
        id,
        #"{"messageId":"c\#(number)","type":"docChange","data":{"resourceId":"n","rev":\#(number),"#
          + #""n":[\#(number),0],"s":["","a"]}}"#)
    }
    for number in 0..<3 { change(number) }
    _ = rig.frames(id)
    for _ in 0..<3 { change(3) }
    rig.pass(milliseconds: 250)
    #expect(rig.frames(id) == [])
    rig.pass(milliseconds: 250)
    let frames = rig.frames(id)
    #expect(frames.count == 1)
    #expect(frames[0].contains("resourceConnectionConf"))
    #expect(frames[0].contains(#""initialState":"aaa","revision":3"#))
    #expect(rig.closeCodes[id] == nil)
  }

  @Test("a Whaler client that exceeds the rate by joining is closed and may reconnect")
  func whalerJoining() throws {
    let rig = rig { $0.messagesPerSecondMax = 1 }
    let id = rig.connectWhaler(pool: nil, token: nil)
    for _ in 0..<3 {
      rig.say(id, #"{"messageId":"1","type":"resourceConnection","data":{"resourceId":"n"}}"#)
    }
    #expect(rig.closeCodes[id] == CloseReason.tooFast.rawValue)
  }

  @Test("requests of an address, and of a user, are answered with 429")
  func requests() {
    let rig = rig(isDemo: false) { $0.userRequestsPerSecondMax = 1 }
    for _ in 0..<2 { #expect(rig.request("GET", "/api/notes", token: "ada").status == 200) }
    let answer = rig.request("GET", "/api/notes", token: "ada")
    #expect(answer.status == 429)
    #expect(answer.body.contains("tooFast"))
    #expect(rig.request("GET", "/api/notes", token: "ben").status == 200)
    rig.pass(milliseconds: 1_000)
    #expect(rig.request("GET", "/api/notes", token: "ada").status == 200)
  }

  @Test("fast typing and rejoining all notes at once do not exceed the rates")
  func wellBehaved() throws {
    let rig = rig { $0.burstSeconds = Limits().burstSeconds }
    for _ in 0..<3 {
      let (id, welcome) = try rig.connectNative(nil, from: Self.here)
      for _ in 0..<welcome.limits.documentsPerConnectionMax {
        #expect(pause(rig.ask(id, .join(.init(documentID: "n")))) == nil)
      }
      for room in 0..<welcome.limits.roomsPerConnectionMax {
        #expect(pause(rig.ask(id, .subscribe(.init(room: "\(room)")))) == nil)
      }
      rig.close(id)
    }
    let (id, _) = try rig.connectNative(nil, from: Self.here)
    rig.ask(id, .join(.init(documentID: "n")))
    for sequence in 1...1_000 {
      #expect(pause(rig.ask(id, insertion(sequence))) == nil)
      rig.pass(milliseconds: 20)
    }
  }
}

@Suite("Remembered users and addresses")
struct UsageBookTests {
  private let allowance = Allowance(
    connects: Rate(perSecond: 1, burst: 1), messages: Rate(perSecond: 1, burst: 10),
    bytes: Rate(perSecond: 0, burst: 0))

  @Test("a user without connections is forgotten when the buckets are full")
  func forgetting() {
    var book = UsageBook<Int>(allowance)
    book.usage(of: 1, now: 0).traffic.take(messages: 10, bytes: 0, allowance, now: 0)
    book.usage(of: 2, now: 0).connections = 1
    _ = book.usage(of: 3, now: 0)
    book.ticked(now: 9_999)
    #expect(book.count == 2)
    book.ticked(now: 19_999)
    #expect(book.count == 1)
    book.usage(of: 2, now: 20_000).connections = 0
    book.ticked(now: 29_999)
    #expect(book.count == 0)
  }

  @Test("the number of remembered users is limited")
  func bound() {
    var book = UsageBook<Int>(allowance, countMax: 100)
    for key in 0..<60 { book.usage(of: key, now: 0).connections = 1 }
    for key in 0..<10_000 {
      book.usage(of: 100 + key, now: Int64(key)).traffic.take(
        messages: 10, bytes: 0, allowance, now: Int64(key))
      #expect(book.count <= 100)
    }
    // Keys with connections are not forgotten for others.
    #expect(book.usage(of: 7, now: 10_000).connections == 1)
    for key in 0..<200 { book.usage(of: 50_000 + key, now: 20_000 + Int64(key)).connections = 1 }
    #expect(book.count <= 100)
  }
}

private let canCount: Bool = {
  #if DEBUG
    false
  #else
    parley_allocation_count() >= 0
  #endif
}()

@Suite("The cost of measuring", .enabled(if: canCount))
struct MeterCostTests {
  @Test("measuring a message allocates no memory")
  func allocations() {
    let allowances = Allowances(Limits())
    var meter = Meter()
    meter.user = Usage()
    meter.address = Usage()
    var refused = 0
    let before = parley_allocation_count()
    for now in 0..<20_000 {
      if meter.draw(messages: 1, bytes: 100, allowances, now: Int64(now)) != nil { refused += 1 }
    }
    #expect(parley_allocation_count() == before)
    // A thousand a second is twice the rate.
    #expect(refused > 0)
  }
}
