package import Gateway
import GatewayPorts
import JSON
import SocketMessages
import WebSocketFrames

/// A gateway with one room and its subscribers, from one seed: they publish, drop, come back; the
/// process dies, commits fail. Then everything heals, and what must hold is checked.
package struct RoomSimulation {
  /// A broken requirement, with the seed that shows it again.
  package struct Violation: Error, CustomStringConvertible {
    package let seed: UInt64
    package let what: String
    package var description: String { "seed \(seed): \(what)" }
  }

  private struct Seat {
    var twin: RoomTwin
    var link: SimulatedLink?
  }

  private static let room = "room"

  private let seed: UInt64
  private let settings: GatewaySettings
  private let steps: Int
  private var random: SimulationRandom
  private let clock = VirtualClock()
  private let store = MemoryStore()
  private var seats: [Seat]
  private var gateway: Gateway
  private var generation = 0
  private var storeQueue: [(ticket: StoreTicket, request: StoreRequest)] = []
  private var completions: [(ticket: StoreTicket, reply: StoreReply)] = []
  private var nextConnection: UInt64 = 1

  package init(seed: UInt64, clients: Int, steps: Int, settings: GatewaySettings) {
    self.seed = seed
    self.settings = settings
    self.steps = steps
    random = SimulationRandom(seed: seed)
    seats = (0..<clients).map { Seat(twin: RoomTwin(name: "c\($0)", room: Self.room)) }
    gateway = Self.makeGateway(settings, clock, generation: 0)
  }

  private static func makeGateway(
    _ settings: GatewaySettings, _ clock: VirtualClock, generation: Int
  ) -> Gateway {
    Gateway(
      settings: settings,
      surroundings: Gateway.Surroundings(
        clock: clock, names: SeededNames(prefix: "g\(generation)-"), tokens: PlainTokens(),
        log: NoLog(), queuedBytes: { _ in 0 }))
  }

  /// Runs, heals, and checks.
  ///
  /// - Throws: `Violation`.
  package mutating func run() throws {
    do {
      for _ in 0..<steps { try step() }
      try heal()
    } catch let violation as Violation {
      throw violation
    } catch {
      throw Violation(seed: seed, what: "\(error)")
    }
    try check()
  }

  private mutating func step() throws {
    let seat = random.below(seats.count)
    switch random.below(24) {
    case 0, 1, 2: try publish(seat)
    case 3...9: deliverUp(seat)
    case 10...16: try deliverDown(seat)
    case 17, 18: storeWorks()
    case 19, 20: storeReports()
    case 21: if seats[seat].link == nil { try connect(seat) }
    case 22: try tick(Int64(random.below(400)))
    default: fault(seat)
    }
  }

  private mutating func fault(_ seat: Int) {
    switch random.below(10) {
    case 0...4: disconnect(seat)
    case 5, 6: store.commitsToFail = 1
    case 7, 8: clock.set(aheadBy: random.clockOffset())
    default: kill()
    }
  }

  private mutating func publish(_ seat: Int) throws {
    let messages = try seats[seat].twin.publish(now: clock.uptime)
    seats[seat].link?.upstream += messages
  }

  private mutating func tick(_ milliseconds: Int64) throws {
    clock.advance(milliseconds: milliseconds)
    gateway.ticked()
    perform()
    for seat in seats.indices where seats[seat].twin.wakeAt ?? .max <= clock.uptime {
      let messages = try seats[seat].twin.wake(now: clock.uptime)
      seats[seat].link?.upstream += messages
      if seats[seat].twin.hasHungUp { disconnect(seat) }
    }
  }

  private mutating func connect(_ seat: Int) throws {
    let id = ConnectionID(nextConnection)
    nextConnection += 1
    gateway.opened(id, as: .native)
    var link = SimulatedLink(id: id)
    link.upstream = try seats[seat].twin.connected(now: clock.uptime)
    seats[seat].link = link
    perform()
  }

  private mutating func disconnect(_ seat: Int, tellGateway: Bool = true) {
    guard let link = seats[seat].link else { return }
    seats[seat].link = nil
    seats[seat].twin.disconnected(now: clock.uptime)
    guard tellGateway else { return }
    gateway.closed(link.id)
    perform()
  }

  private mutating func deliverUp(_ seat: Int) {
    guard let link = seats[seat].link, !link.upstream.isEmpty else { return }
    let message = seats[seat].link?.upstream.removeFirst() ?? []
    message.withUnsafeBytes { gateway.received(link.id, message: $0, kind: .text) }
    perform()
  }

  private mutating func deliverDown(_ seat: Int) throws {
    guard let item = seats[seat].link?.popDownstream() else { return }
    switch item {
    case .close: disconnect(seat)
    case .fragment: break
    case .message(let payload):
      var twin = seats[seat].twin
      let now = clock.uptime
      let answers = try payload.withUnsafeBytes { try twin.receive($0, now: now) }
      seats[seat].twin = twin
      seats[seat].link?.upstream += answers
    }
  }

  private mutating func perform() {
    for action in gateway.takeActions() {
      switch action {
      case .send(let frame, let id):
        guard let seat = seats.firstIndex(where: { $0.link?.id == id }) else { continue }
        seats[seat].link?.push(.frame(frame))
      case .close(let id, let code, _):
        guard let seat = seats.firstIndex(where: { $0.link?.id == id }) else { continue }
        seats[seat].link?.push(.close(code))
      case .respond: break
      case .store(let ticket, let request): storeQueue.append((ticket, request))
      case .forget, .publish, .follow, .leave: break
      }
    }
  }

  private mutating func storeWorks() {
    guard !storeQueue.isEmpty else { return }
    let count = 1 + random.below(storeQueue.count)
    let batch = storeQueue[..<count]
    let replies = store.perform(batch.map(\.request))
    for (item, reply) in zip(batch, replies) { completions.append((item.ticket, reply)) }
    storeQueue.removeFirst(count)
  }

  private mutating func storeReports() {
    let reported = completions
    completions = []
    for completion in reported { gateway.stored(completion.ticket, reply: completion.reply) }
    perform()
  }

  private mutating func kill() {
    for seat in seats.indices { disconnect(seat, tellGateway: false) }
    storeQueue = []
    completions = []
    store.restart()
    generation += 1
    gateway = Self.makeGateway(settings, clock, generation: generation)
  }

  private mutating func heal() throws {
    store.commitsToFail = 0
    for _ in 0..<2_000 {
      for seat in seats.indices {
        if seats[seat].link == nil { try connect(seat) }
        deliverUp(seat)
        try deliverDown(seat)
      }
      storeWorks()
      storeReports()
      try tick(100)
      if isAtRest { return }
    }
    throw violation("the clients do not come to rest, or see ghosts")
  }

  /// Whether nothing is under way, and everybody sees everybody and nobody else.
  private var isAtRest: Bool {
    let everybody = Set(seats.compactMap(\.twin.clientID))
    return storeQueue.isEmpty && completions.isEmpty && gateway.isSettled
      && seats.allSatisfy { seat in
        guard let link = seat.link else { return false }
        return link.upstream.isEmpty && link.downstream.isEmpty && seat.twin.isSettled
          && seat.twin.present == everybody
      }
  }

  // MARK: What must hold

  private func check() throws {
    let log = store.rooms.publications(of: Self.room)
    guard log.map(\.offset) == Array(1..<(log.count + 1)) else {
      throw violation("the offsets of the log have gaps")
    }
    guard Set(log.map(\.data)).count == log.count else {
      throw violation("a key was published twice")
    }
    for (index, seat) in seats.enumerated() {
      let twin = seat.twin
      guard twin.position?.offset == log.count else {
        throw violation("client \(index) is not at the head")
      }
      let seen = twin.sightings.map(\.offset)
      guard zip(seen, seen.dropFirst()).allSatisfy({ $0 < $1 }) else {
        throw violation("client \(index) saw a publication twice, or out of order")
      }
      for sighting in twin.sightings
      where !log.indices.contains(sighting.offset - 1)
        || log[sighting.offset - 1].data.utf8 != sighting.data
      {
        throw violation("client \(index) saw another publication at \(sighting.offset)")
      }
      let known = Set(seen).union(twin.gaps.flatMap { Array($0) })
      guard known.count == log.count else {
        throw violation("client \(index) missed a publication and was not told")
      }
      for key in twin.published
      where !log.contains(where: { $0.data.utf8 == Array("\"\(key)\"".utf8) }) {
        throw violation("\(key) was answered and is not in the log")
      }
    }
  }

  private func violation(_ what: String) -> Violation { Violation(seed: seed, what: what) }
}
