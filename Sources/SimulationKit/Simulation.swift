package import Gateway
import GatewayPorts
import OTCore
import SocketMessages

/// A whole gateway with its store, its network and its clients, in one process, from one seed.
///
/// Each step picks one thing that could happen next: somebody types, one message arrives
/// somewhere, the store finishes a batch, a line breaks, the process dies. Afterwards everything
/// heals, and what must hold is checked (`Simulation+Check.swift`). The same seed gives the same
/// run, to the byte.
package struct Simulation {
  /// What a run is made of.
  package struct Plan: Sendable {
    /// Clients that speak `parley.v1`.
    package var natives = 2
    /// Clients of the Whaler family.
    package var whalers = 2
    /// Documents; the clients are dealt out among them.
    package var documents = 1
    /// Steps before everything heals.
    package var steps = 300
    /// Percent of steps in which one of `faults` happens.
    package var faultPercent = 0
    /// What may go wrong.
    package var faults: [Fault] = []
    /// The gateway's settings; small windows make rare paths common.
    package var settings = GatewaySettings()

    package init() {}
  }

  /// What can go wrong.
  package enum Fault: Sendable, Hashable, CaseIterable {
    /// A line breaks; what was under way on it is lost.
    case disconnect
    /// A reader takes nothing for a while.
    case stall
    /// The process dies: its memory is gone, the store stands as it was last synced.
    case kill
    /// One commit fails.
    case failCommit
    /// Commits fail until space returns.
    case fillDisk
    /// The process dies, and the disk had lied: the newest commits are gone. Once in a run.
    case loseTail
  }

  /// What did not hold, with the seed that shows it again.
  package struct Violation: Error, CustomStringConvertible {
    package let seed: UInt64
    package let what: String
    package var description: String { "seed \(seed): \(what)" }
  }

  enum Client {
    case native(NativeTwin)
    case whaler(WhalerTwin)

    var document: Document? {
      switch self {
      case .native(let twin): twin.document
      case .whaler(let twin): twin.document
      }
    }

    var isSettled: Bool {
      switch self {
      case .native(let twin): twin.isSettled
      case .whaler(let twin): twin.document != nil && twin.isSettled
      }
    }
  }

  struct Seat {
    let documentID: DocumentID
    var client: Client
    var link: SimulatedLink?
  }

  let plan: Plan
  let seed: UInt64
  var random: SimulationRandom
  let clock = VirtualClock()
  let store = MemoryStore()
  var seats: [Seat] = []
  /// Commits that a lying disk took back.
  var hasLostTail = false

  private var gateway: Gateway
  private let network: Network
  private var storeQueue: [(ticket: StoreTicket, request: StoreRequest)] = []
  private var completions: [(ticket: StoreTicket, reply: StoreReply)] = []
  private var nextConnection: UInt64 = 1
  private var generation = 0
  private let firstCommits: Int

  /// What the gateway asks of the network while it works.
  private final class Network {
    var queuedBytes: [ConnectionID: Int] = [:]
  }

  package init(plan: Plan, seed: UInt64) {
    self.plan = plan
    self.seed = seed
    random = SimulationRandom(seed: seed)
    network = Network()
    gateway = Self.makeGateway(plan: plan, clock: clock, network: network, generation: 0)
    let ids = (0..<plan.documents).map { "note-\($0)" }
    let now = clock.now
    _ = store.perform(
      ids.map { .create(id: $0, epoch: "first-\($0)", title: $0, time: now) })
    // The first commit is no part of the tail that a disk may lose: from here on there is one.
    firstCommits = store.commitCount
    for index in 0..<(plan.natives + plan.whalers) {
      let id = ids[index % ids.count]
      let client: Client =
        index < plan.natives
        ? .native(NativeTwin(name: "native-\(index)", documentID: id))
        : .whaler(WhalerTwin(name: "whaler-\(index)", resourceID: id))
      seats.append(Seat(documentID: id, client: client))
    }
  }

  private static func makeGateway(
    plan: Plan, clock: VirtualClock, network: Network, generation: Int
  ) -> Gateway {
    Gateway(
      settings: plan.settings,
      surroundings: Gateway.Surroundings(
        clock: clock, names: SeededNames(prefix: "g\(generation)-"), tokens: PlainTokens(),
        log: NoLog(), queuedBytes: { network.queuedBytes[$0, default: 0] }))
  }

  // MARK: Running

  /// Runs the plan, heals everything, and checks.
  ///
  /// - Throws: `Violation`.
  package mutating func run() throws {
    do {
      for _ in 0..<plan.steps { try step() }
      try heal()
    } catch let violation as Violation {
      throw violation
    } catch {
      throw Violation(seed: seed, what: "\(error)")
    }
    try check()
  }

  private mutating func step() throws {
    if !plan.faults.isEmpty, random.chance(plan.faultPercent) {
      return fault(plan.faults[random.below(plan.faults.count)])
    }
    let seat = random.below(seats.count)
    switch random.below(10) {
    case 0, 1: try type(seat)
    case 2, 3, 4: deliverUp(seat)
    case 5, 6, 7: try deliverDown(seat)
    case 8: random.chance(50) ? storeWorks() : storeReports()
    default:
      clock.advance(milliseconds: Int64(random.below(500)))
      gateway.ticked()
      perform()
      if seats[seat].link == nil { connect(seat) }
    }
  }

  private mutating func type(_ seat: Int) throws {
    guard let length = seats[seat].client.document?.scalarCount else { return }
    let operation = random.edit(of: length)
    var messages: [[UInt8]] = []
    switch seats[seat].client {
    case .native(var twin):
      messages = try twin.edit(operation)
      seats[seat].client = .native(twin)
    case .whaler(var twin):
      // Without a line such a client would lose what is typed.
      guard seats[seat].link != nil else { return }
      messages = try twin.edit(operation).map { [$0] } ?? []
      seats[seat].client = .whaler(twin)
    }
    seats[seat].link?.upstream += messages
  }

  // MARK: The network

  private mutating func connect(_ seat: Int) {
    let id = ConnectionID(nextConnection)
    nextConnection += 1
    var link = SimulatedLink(id: id)
    switch seats[seat].client {
    case .native(var twin):
      gateway.opened(id, as: .native)
      link.upstream = twin.connected()
      seats[seat].client = .native(twin)
    case .whaler(var twin):
      gateway.opened(id, as: .whaler(pool: nil))
      link.upstream = [twin.connect()]
      seats[seat].client = .whaler(twin)
    }
    seats[seat].link = link
    perform()
  }

  private mutating func disconnect(_ seat: Int, tellGateway: Bool = true) {
    guard let link = seats[seat].link else { return }
    seats[seat].link = nil
    network.queuedBytes[link.id] = nil
    switch seats[seat].client {
    case .native(var twin):
      twin.disconnected()
      seats[seat].client = .native(twin)
    case .whaler(var twin):
      twin.disconnected()
      seats[seat].client = .whaler(twin)
    }
    if tellGateway {
      gateway.closed(link.id)
      perform()
    }
  }

  private mutating func deliverUp(_ seat: Int) {
    guard let link = seats[seat].link, !link.upstream.isEmpty else { return }
    let message = seats[seat].link?.upstream.removeFirst() ?? []
    message.withUnsafeBytes { gateway.received(link.id, message: $0, kind: .text) }
    perform()
  }

  private mutating func deliverDown(_ seat: Int) throws {
    guard let link = seats[seat].link, !link.isStalled else { return }
    guard let item = seats[seat].link?.popDownstream() else { return }
    switch item {
    case .close: disconnect(seat)
    case .frame(let frame):
      let payload = Array(frame.payload)
      let answers: [[UInt8]]
      switch seats[seat].client {
      case .native(var twin):
        answers = try payload.withUnsafeBytes { try twin.receive($0) }
        seats[seat].client = .native(twin)
      case .whaler(var twin):
        answers = try payload.withUnsafeBytes { try twin.receive($0) }.map { [$0] } ?? []
        seats[seat].client = .whaler(twin)
      }
      seats[seat].link?.upstream += answers
      let bytes = seats[seat].link?.downstreamBytes ?? 0
      network.queuedBytes[link.id] = bytes
      if bytes == 0 {
        gateway.drained(link.id)
        perform()
      }
    }
  }

  private mutating func perform() {
    for action in gateway.takeActions() {
      switch action {
      case .send(let frame, let id):
        guard let seat = seats.firstIndex(where: { $0.link?.id == id }) else { continue }
        seats[seat].link?.push(.frame(frame))
        network.queuedBytes[id] = seats[seat].link?.downstreamBytes
      case .close(let id, let code, _):
        guard let seat = seats.firstIndex(where: { $0.link?.id == id }) else { continue }
        seats[seat].link?.push(.close(code))
      case .respond: break
      case .store(let ticket, let request): storeQueue.append((ticket, request))
      }
    }
  }

  // MARK: The store

  private mutating func storeWorks() {
    guard !storeQueue.isEmpty else { return }
    // A batch takes what has come so far, or less.
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

  // MARK: Faults

  private mutating func fault(_ fault: Fault) {
    let seat = random.below(seats.count)
    switch fault {
    case .disconnect: disconnect(seat)
    case .stall: seats[seat].link?.isStalled.toggle()
    case .kill: kill(losingCommits: 0)
    case .failCommit: store.commitsToFail = 1
    case .fillDisk: store.isDiskFull.toggle()
    case .loseTail:
      guard !hasLostTail else { return }
      hasLostTail = true
      kill(losingCommits: 1 + random.below(4))
    }
  }

  private mutating func kill(losingCommits lost: Int) {
    for seat in seats.indices { disconnect(seat, tellGateway: false) }
    storeQueue = []
    completions = []
    network.queuedBytes = [:]
    store.restart(losingCommits: min(lost, store.keptCommitCount - firstCommits))
    generation += 1
    gateway = Self.makeGateway(
      plan: plan, clock: clock, network: network, generation: generation)
  }

  /// Ends all faults and lets everything come to rest.
  private mutating func heal() throws {
    store.commitsToFail = 0
    store.isDiskFull = false
    for seat in seats.indices { seats[seat].link?.isStalled = false }
    // Far more rounds than any backlog of such a run can need.
    for _ in 0..<5_000 {
      for seat in seats.indices {
        if seats[seat].link == nil { connect(seat) }
        deliverUp(seat)
        try deliverDown(seat)
      }
      storeWorks()
      storeReports()
      clock.advance(milliseconds: 100)
      gateway.ticked()
      perform()
      if isAtRest { return }
    }
    throw Violation(seed: seed, what: "the clients do not come to rest")
  }

  private var isAtRest: Bool {
    storeQueue.isEmpty && completions.isEmpty && gateway.isSettled
      && seats.allSatisfy { seat in
        guard let link = seat.link else { return false }
        return link.upstream.isEmpty && link.downstream.isEmpty && seat.client.isSettled
      }
  }
}
