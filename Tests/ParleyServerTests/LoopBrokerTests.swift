import Foundation
import ParleyGatewayPorts
import ParleyLocks
import ParleyServer
import Testing

/// A broker to other machines that a test controls.
private final class StubBroker: ServerBroker {
  struct Calls: Equatable {
    var published: [String] = []
    var followed: [String] = []
    var left: [String] = []
  }

  private let told = Locked(Calls())
  private let news = Locked<[BrokerEvent]>([])

  var all: Calls { told.withLock { $0 } }

  /// Called after events are taken and before they are returned.
  let taken = Locked<(@Sendable () -> Void)?>(nil)

  func bring(_ item: BrokerEvent) { news.withLock { $0.append(item) } }

  func publish(_ topic: String, _ bytes: [UInt8]) { told.withLock { $0.published.append(topic) } }
  func follow(_ topic: String) { told.withLock { $0.followed.append(topic) } }
  func leave(_ topic: String) { told.withLock { $0.left.append(topic) } }

  func takeEvents() -> [BrokerEvent] {
    let found = news.withLock { news in
      defer { news = [] }
      return news
    }
    let body = taken.withLock { $0.take() }
    body?()
    return found
  }

  var state: BrokerState {
    var state = BrokerState()
    state.isConnected = true
    return state
  }

  func stop() {}
}

/// Records the loops that are woken, in order.
private final class Wakes: Sendable {
  private let loops = Locked<[Int]>([])

  func note(_ loop: Int) { loops.withLock { $0.append(loop) } }

  func take() -> [Int] {
    loops.withLock { loops in
      defer { loops = [] }
      return loops
    }
  }
}

@Suite("Hints among the loops of a process")
struct LoopBrokerTests {
  private let wakes = Wakes()
  private let hub: LoopBroker
  private let ends: [any ServerBroker]

  init() {
    let wakes = wakes
    let hub = LoopBroker(count: 3) { wakes.note($0) }
    self.hub = hub
    ends = (0..<3).map { hub.end(of: $0) }
  }

  @Test(
    "hints reach the other followers of their topic unchanged",
    arguments: ["note/a", "note/é", "note/e\u{301}", "note/\0 *.>"])
  func passing(topic: String) {
    ends[0].follow(topic)
    ends[1].follow(topic)
    ends[2].follow("note/another")
    for bytes: [UInt8] in [[], [0, 13, 10], Array(repeating: 255, count: 4_096)] {
      ends[0].publish(topic, bytes)
      #expect(wakes.take() == [1])
      #expect(ends[1].takeEvents() == [.heard(topic: topic, bytes: bytes)])
      #expect(ends[0].takeEvents() == [], "it hears itself")
      #expect(ends[2].takeEvents() == [])
    }
    #expect(ends[0].state.published == 3 && ends[0].state.heard == 3)
    ends[1].leave(topic)
    ends[0].publish(topic, [1])
    #expect(ends[1].takeEvents() == [] && wakes.take() == [])
  }

  @Test("topics that look alike are distinct")
  func exactNames() {
    ends[1].follow("note/é")
    ends[0].publish("note/e\u{301}", [1])
    #expect(ends[1].takeEvents() == [])
  }

  @Test("of two threads that take events, the first one distributes them first")
  func order() {
    let outer = StubBroker()
    hub.connect(to: outer)
    let others = Locked(0)
    outer.bring(.hints(arrive: true))
    outer.taken.withLock { body in
      body = { [hub] in
        outer.bring(.hints(arrive: false))
        Thread.detachNewThread {
          hub.outerHasNews()
          others.withLock { $0 = 1 }
        }
        // Give the other thread time to run first, if it can.
        for _ in 0..<20 where others.withLock({ $0 }) == 0 { poll(nil, 0, 5) }
      }
    }
    hub.outerHasNews()
    while others.withLock({ $0 }) == 0 { poll(nil, 0, 1) }
    for end in ends { #expect(end.takeEvents().last == .hints(arrive: false)) }
  }

  @Test("a loop is woken once for all waiting hints")
  func waking() {
    for end in ends { end.follow("note/a") }
    for _ in 0..<5 { ends[0].publish("note/a", []) }
    #expect(wakes.take().sorted() == [1, 2])
    #expect(ends[1].takeEvents().count == 5)
    ends[2].publish("note/a", [])
    #expect(wakes.take().sorted() == [0, 1])
  }

  @Test(
    "a full mailbox drops hints, and takes them again after it was read",
    arguments: [(0, LoopBroker.countMax), (4_096, LoopBroker.bytesMax / (4_096 + 6 + 64))])
  func bound(size: Int, room: Int) {
    ends[1].follow("note/a")
    let bytes = [UInt8](repeating: 7, count: size)
    for _ in 0..<room + 10 { ends[0].publish("note/a", bytes) }
    #expect(ends[1].state.dropped == ["loop": 10])
    #expect(ends[1].state.heard == room)
    #expect(ends[1].takeEvents().count == room)
    ends[0].publish("note/a", bytes)
    #expect(ends[1].takeEvents().count == 1)
  }

  @Test("the outer broker follows the topics of all loops, and receives the hints of each")
  func outside() {
    let outer = StubBroker()
    outer.bring(.hints(arrive: true))
    hub.connect(to: outer)
    // Events from before the connection are delivered.
    for end in ends { #expect(end.takeEvents() == [.hints(arrive: true)]) }
    ends[0].follow("note/a")
    ends[1].follow("note/a")
    ends[0].leave("note/a")
    ends[0].leave("note/a")
    #expect(outer.all == StubBroker.Calls(followed: ["note/a"]))
    ends[2].publish("note/a", [1])
    #expect(outer.all.published == ["note/a"])
    #expect(ends[1].takeEvents() == [.heard(topic: "note/a", bytes: [1])])
    outer.bring(.heard(topic: "note/a", bytes: [2]))
    outer.bring(.heard(topic: "note/b", bytes: [3]))
    hub.outerHasNews()
    #expect(ends.map { $0.takeEvents() } == [[], [.heard(topic: "note/a", bytes: [2])], []])
    ends[1].leave("note/a")
    #expect(outer.all.left == ["note/a"])
    // Only the last of several states of the connection is delivered.
    for arrive in [false, true, false] { outer.bring(.hints(arrive: arrive)) }
    hub.outerHasNews()
    #expect(ends[2].takeEvents() == [.hints(arrive: false)])
    #expect(ends[0].state.isConnected)
  }

  @Test("without other machines, each loop receives each hint of the others once")
  func alone() {
    hub.reportConnected()
    #expect(Set(wakes.take()) == [0, 1, 2])
    for end in ends {
      #expect(end.takeEvents() == [.hints(arrive: true)])
      #expect(end.takeEvents().isEmpty)
    }
  }

  @Test(
    "requests about the memory of one loop go to that loop, others to any loop",
    arguments: [
      ("GET", "/socket/", "EIO=4&transport=polling", 2), ("POST", "/faye", "", 2),
      ("GET", "/bayeux/handshake", "", 2), ("GET", "/socket", "", nil), ("GET", "/ws", "", nil),
      ("POST", "/api/publish", "", 2), ("POST", "/api/rooms/a/publish", "", 2),
      ("GET", "/api/rooms/a/publications", "", nil), ("POST", "/api/user/login", "", 0),
      ("POST", "/api/user/refresh", "", 0), ("POST", "/api/user/join", "", 0),
      ("POST", "/api/user/forgot", "", 0), ("POST", "/api/user/reset", "", 0),
      ("POST", "/api/user/password", "", 0), ("GET", "/api/user/provider", "", 0),
      ("GET", "/api/user/provider/return", "", 0), ("GET", "/api/user/ways", "", nil),
      ("GET", "/api/search", "q=a", nil),
      ("POST", "/api/connections/\(1 << 56 | 4_194_304)/disconnect", "", 1),
      ("POST", "/api/connections/\(UInt64(1) << 63 | 2 << 56 | 7)/disconnect", "", 2),
      ("POST", "/api/connections/\(3 << 56 | 4_194_304)/disconnect", "", nil),
      ("POST", "/api/connections/x/disconnect", "", nil), ("GET", "/api/notes", "", nil),
    ] as [(String, String, String, Int?)])
  func homes(method: String, path: String, query: String, loop: Int?) {
    let head = RequestHead(method: method, path: path, query: query)
    #expect(Configuration.home(of: head, among: 3) == loop)
  }

  @Test(
    "auto means one loop for each core, from four to sixteen",
    arguments: [(1, 1), (2, 1), (3, 1), (4, 4), (8, 8), (16, 16), (64, 16), (200, 16)])
  func automatic(cores: Int, loops: Int) {
    #expect(Configuration.loops(onCores: cores) == loops)
  }

  @Test("several loops require a shared store")
  func refused() throws {
    var configuration = Configuration()
    try configuration.validate()
    configuration.loops = nil
    try configuration.validate()
    #expect(configuration.loopCount == 1)
    configuration.loops = 2
    let error = #expect(throws: ConfigurationError.self) { try configuration.validate() }
    #expect(error.map { "\($0)".contains("store-url") } ?? false)
    configuration.storeURL = "postgres://parley@db.example.org/parley"
    try configuration.validate()
    #expect(configuration.loopCount == 2)
  }
}
