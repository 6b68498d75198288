import ParleyDialectModels
import ParleyJSON
import ParleyTwakeCubits
import Testing

/// A session whose server is a test: frames are written as text.
struct SessionBench {
  var session = TwakeSession(seed: 7)
  var now: Int64 = 0
  var lines: [String] = []
  var events: [DomainEvent] = []
  var wakeAt: Int64?

  mutating func handle(_ event: TwakeSession.Event) {
    for action in session.handle(event, now: now) {
      switch action {
      case .needToken: lines.append("token?")
      case .open: lines.append("open")
      case .send(let bytes): lines.append("> " + String(decoding: bytes, as: UTF8.self))
      case .close: lines.append("close")
      case .state(let state): lines.append("\(state)")
      case .needRoomToken(let room): lines.append("token of \(room)?")
      case .joined(let room): lines.append("joined \(room)")
      case .failed(let error): lines.append("failed: \(error)")
      case .event(let event): events.append(event)
      case .answered(let id, let arguments): lines.append("answer \(id) \(arguments.count)")
      case .wake(let at): wakeAt = at
      }
    }
  }

  /// Passes frames of the server.
  mutating func receive(_ frames: String...) {
    for frame in frames {
      handle(.received(attempt: session.attempt, Array(frame.utf8)))
    }
  }

  /// Removes and returns what the session did.
  mutating func done() -> [String] {
    defer { lines = [] }
    return lines
  }

  static let opening = #"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000}"#

  /// Connects, and authenticates.
  mutating func connect(_ token: String = "t") {
    handle(.start)
    open(token)
  }

  mutating func open(_ token: String = "t") {
    handle(.token(token))
    handle(.opened(attempt: session.attempt))
    receive(Self.opening, #"40{"sid":"x"}"#, #"42["authenticated"]"#)
  }
}

@Suite("The session of a Socket.IO client")
struct TwakeSessionTests {
  @Test("a room is joined with the position of its last event")
  func positions() {
    var bench = SessionBench()
    bench.handle(.join(room: "r"))
    bench.connect()
    #expect(
      bench.done() == [
        "connecting", "token?", "open", "> 40", #"> 42["authenticate",{"token":"t"}]"#, "online",
        "token of r?",
      ])
    bench.handle(.roomToken(room: "r", "k"))
    #expect(
      bench.done() == [#"> 42["realtime:join",{"name":"r","token":"k","position":null}]"#])
    bench.receive(
      #"42["realtime:join:success",{"name":"r","position":{"epoch":"e","offset":4},"recovered":false}]"#
    )
    #expect(bench.done() == ["joined r"])
    #expect(bench.events.isEmpty)
    bench.receive(
      #"42["realtime:event",{"name":"r","data":{"action":"update","message_id":"m","thread_id":"m"},"epoch":"e","offset":5}]"#
    )
    #expect(
      bench.events == [.message(.updated, id: "m", place: "r", thread: "m", content: nil)])
    bench.handle(.ended(attempt: bench.session.attempt, "cut"))
    #expect(bench.done() == ["close", #"waiting("cut")"#])
    bench.now = bench.wakeAt ?? 0
    bench.handle(.wake)
    bench.open()
    _ = bench.done()
    bench.handle(.roomToken(room: "r", nil))
    #expect(
      bench.done() == [
        #"> 42["realtime:join",{"name":"r","position":{"epoch":"e","offset":5}}]"#
      ])
  }

  @Test(
    "events count as missed unless the server has sent all of them",
    arguments: [
      (#""position":{"epoch":"e","offset":9},"recovered":true"#, false),
      (#""position":{"epoch":"f","offset":9},"recovered":false"#, true), ("", true),
    ])
  func missed(fields: String, isMissed: Bool) {
    var bench = SessionBench()
    bench.handle(.join(room: "r"))
    bench.connect()
    bench.handle(.roomToken(room: "r", nil))
    bench.receive(
      #"42["realtime:join:success",{"name":"r","position":{"epoch":"e","offset":4}}]"#)
    bench.handle(.ended(attempt: bench.session.attempt, "cut"))
    bench.handle(.reachable)
    bench.open()
    bench.handle(.roomToken(room: "r", nil))
    let separator = fields.isEmpty ? "" : ","
    bench.receive(#"42["realtime:join:success",{"name":"r"\#(separator)\#(fields)}]"#)
    #expect(bench.events == (isMissed ? [.missed(place: "r")] : []))
  }

  @Test("a token that expires is fetched again; one that is refused at once stops the socket")
  func tokens() {
    var bench = SessionBench()
    bench.connect()
    _ = bench.done()
    bench.receive(#"42["unauthorized",{"message":"expired"}]"#)
    #expect(bench.done() == ["close", "connecting", "token?"])
    bench.handle(.token("u"))
    bench.handle(.opened(attempt: bench.session.attempt))
    bench.receive(SessionBench.opening, "40")
    _ = bench.done()
    bench.receive(#"42["unauthorized",{"message":"expired"}]"#)
    #expect(bench.done() == ["close", "refused(\(TwakeSocketError.unauthorised("expired")))"])
    #expect(bench.wakeAt == nil, "it would connect with the same token")
    bench.handle(.start)
    #expect(bench.done() == ["connecting", "token?"])
    bench.handle(.token(nil))
    #expect(bench.done() == ["refused(\(TwakeSocketError.noToken))"])
  }

  @Test("a token function that does not answer is asked again after a pause")
  func lateToken() throws {
    var bench = SessionBench()
    bench.handle(.start)
    _ = bench.done()
    bench.now = try #require(bench.wakeAt)
    #expect(bench.now == 30_000)
    bench.handle(.wake)
    #expect(bench.done() == [#"waiting("the token function has not answered")"#])
    bench.handle(.token("late"))
    #expect(bench.done().isEmpty, "a pause comes first")
    bench.now = try #require(bench.wakeAt)
    bench.handle(.wake)
    #expect(bench.done() == ["connecting", "token?"])
    bench.handle(.token("t"))
    #expect(bench.done() == ["open"])
  }

  @Test(
    "a peer of another protocol, a broken one and a silent one are left, and tried again",
    arguments: [
      ["<html>"], [#"0{"sid":"s"}"#], ["1"], [""], [SessionBench.opening, "40", "9"],
      [SessionBench.opening, #"44{"message":"no"}"#], [SessionBench.opening, "40", "41"],
      [SessionBench.opening, "40", #"42{}"#], [#"0{"pingInterval":-1,"pingTimeout":1}"#],
    ])
  func peers(frames: [String]) {
    var bench = SessionBench()
    bench.handle(.start)
    bench.handle(.token("t"))
    bench.handle(.opened(attempt: bench.session.attempt))
    _ = bench.done()
    for frame in frames { bench.receive(frame) }
    let lines = bench.done()
    #expect(lines.contains("close") && lines.last?.hasPrefix("waiting(") == true, "\(lines)")
    #expect(bench.wakeAt != nil)
  }

  @Test("a silent server is left after its own interval, and pings are answered")
  func silence() throws {
    var bench = SessionBench()
    bench.connect()
    _ = bench.done()
    bench.now = 25_000
    bench.receive("2")
    #expect(bench.done() == ["> 3"])
    bench.now = try #require(bench.wakeAt)
    #expect(bench.now == 70_000)
    bench.handle(.wake)
    #expect(bench.done().first == "close")
  }

  @Test("pauses double, up to a minute, and end at once when the network is back")
  func pauses() throws {
    var bench = SessionBench()
    bench.handle(.start)
    var pauses: [Int64] = []
    for _ in 0..<12 {
      bench.handle(.token("t"))
      bench.handle(.ended(attempt: bench.session.attempt, "refused"))
      let end = try #require(bench.wakeAt)
      pauses.append(end - bench.now)
      bench.now = end
      bench.handle(.wake)
    }
    for (index, pause) in pauses.enumerated() {
      let longest = min(60_000, Int64(1_000) << Int64(min(index, 10)))
      #expect((longest / 2...longest).contains(pause), "\(pauses)")
    }
    bench.handle(.token("t"))
    bench.handle(.ended(attempt: bench.session.attempt, "refused"))
    _ = bench.done()
    bench.handle(.reachable)
    #expect(bench.done() == ["connecting", "token?"])
  }

  @Test("rooms are distinguished by the bytes of their names, and a refused one is forgotten")
  func rooms() {
    var bench = SessionBench()
    for room in ["e\u{301}", "\u{e9}", "__proto__"] { bench.handle(.join(room: room)) }
    bench.connect()
    #expect(bench.done().filter { $0.hasPrefix("token of") }.count == 3)
    bench.handle(.roomToken(room: "\u{e9}", nil))
    bench.receive("42[\"realtime:join:error\",{\"name\":\"\u{e9}\",\"message\":\"no\"}]")
    #expect(bench.done().last == "failed: the server refused the room: no")
    bench.receive("42[\"realtime:join:success\",{\"name\":\"e\u{301}\"}]")
    #expect(bench.session.isJoined("e\u{301}") && !bench.session.isJoined("\u{e9}"))
    bench.handle(.leave(room: "e\u{301}"))
    #expect(bench.done().last == "> 42[\"realtime:leave\",{\"name\":\"e\u{301}\"}]")
  }

  @Test(
    "frames in any order do not trap, and nothing is sent without a connection")
  func anyFrames() {
    var random = Numbers(seed: 11)
    let frames = [
      SessionBench.opening, "40", "41", "44", "2", "3", "6", "1", #"42["authenticated"]"#,
      #"42["unauthorized"]"#, #"42["realtime:join:success",{"name":"r"}]"#, #"430[]"#, "42[]",
      #"42["realtime:join:error",{}]"#, #"42["realtime:event",{"name":"r","data":1}]"#, "x",
    ]
    for _ in 0..<2_000 {
      var bench = SessionBench()
      var isOpen = false
      for _ in 0..<20 {
        bench.now += Int64(random.below(30_000))
        switch random.below(12) {
        case 0: bench.handle(.start)
        case 1: bench.handle(random.below(4) == 0 ? .stop : .reachable)
        case 2: bench.handle(.token(random.below(5) == 0 ? nil : "t"))
        case 3: bench.handle(.opened(attempt: bench.session.attempt))
        case 4: bench.handle(.ended(attempt: bench.session.attempt, "cut"))
        case 5: bench.handle(.wake)
        case 6: bench.handle(.join(room: "r"))
        case 7: bench.handle(.roomToken(room: "r", nil))
        default: bench.receive(frames[random.below(frames.count)])
        }
        for line in bench.done() {
          if line == "open" { isOpen = true }
          if line == "close" { isOpen = false }
          #expect(isOpen || !line.hasPrefix("> "), "sent without a connection: \(line)")
        }
      }
    }
  }

  /// Seeded numbers (SplitMix64).
  private struct Numbers {
    var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func below(_ bound: Int) -> Int {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
  }
}
