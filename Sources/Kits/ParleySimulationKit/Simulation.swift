import Gateway
import ParleyGatewayPorts
import OTCore
import SocketMessages

/// A whole gateway with its store, its network and its clients, in one process, from one seed.
///
/// Each step picks one event that could happen next: a user types, one message arrives somewhere,
/// the store finishes a batch, a line breaks, the process dies. Afterwards everything heals, and
/// the invariants are checked (`Simulation+Check.swift`). The same seed gives the same run, to the
/// byte.
package struct Simulation {
  /// A broken requirement, with the seed that shows it again.
  package struct Violation: Error, CustomStringConvertible {
    package let seed: UInt64
    package let what: String
    package var description: String { "seed \(seed): \(what)" }
  }

  /// The report of a run without a violation.
  package struct Report: Sendable, Equatable {
    /// The counts of events.
    package var tally: Tally
    /// Condenses every byte that travelled, in order: the same for the same seed.
    package var fingerprint: UInt64
    /// Entries in all logs at the end.
    package var revisions: Int
  }

  enum Client {
    case native(SimulatedClient)
    case whaler(SimulatedWhalerClient)

    var document: Document? {
      switch self {
      case .native(let client): client.document
      case .whaler(let client): client.document
      }
    }

    var isSettled: Bool {
      switch self {
      case .native(let client): client.isSettled
      case .whaler(let client): client.document != nil && client.isSettled
      }
    }
  }

  /// A client and its line. (By reference: each step looks at some, and would copy them.)
  final class Seat {
    let documentID: DocumentID
    let client: Client
    var link: SimulatedLink?

    init(documentID: DocumentID, client: Client) {
      self.documentID = documentID
      self.client = client
    }
  }

  /// The gateway's actions on the network while it works.
  final class Network {
    var queuedBytes: [ConnectionID: Int] = [:]
  }

  let plan: Plan
  let seed: UInt64
  var random: SimulationRandom
  /// The first node's clock; every one's uptime is the same.
  let clock = VirtualClock()
  let store: MemoryStore
  var seats: [Seat] = []
  /// Lines that stand for the gateway alone.
  var ghosts: [SimulatedLink] = []
  var marks = Marks()
  var tally = Tally()
  var fingerprint = FNV1a()
  /// Receives a description of each event.
  package var trace: ((String) -> Void)?

  /// The nodes: one, or several on one log.
  var nodes: [Node] = []
  /// Hints on their way to nodes.
  var hints: [(node: Int, topic: String, bytes: [UInt8])] = []
  /// Statements that nodes no longer wait for, which the store may still do.
  var lateStatements: [[StoreRequest]] = []
  var nextConnection: UInt64 = 1
  /// Programs that write over HTTP.
  var writers: [SimulatedWriter] = []
  var nextRequest: UInt64 = 1
  /// Answers that must not have been given, noted where nothing can be thrown.
  var mistakes: [String] = []
  /// Gateways made.
  var generation = 0
  var lostTails = 0
  /// Marks that died unkept with their author's process, or may have been sent by it.
  var unkept: Set<Int> = []
  let firstCommits: Int

  package init(plan: Plan, seed: UInt64) {
    self.plan = plan
    self.seed = seed
    random = SimulationRandom(seed: seed)
    store = MemoryStore(isShared: plan.nodes > 1)
    let ids: [DocumentID] = (0..<plan.documents).map { "note-\($0)" }
    let now = clock.now
    _ = store.perform(
      ids.map { .create(id: $0, epoch: "first-\($0)", title: $0.text, time: now) })
    // The first commit is no part of the tail that a disk may lose: from here on there is one.
    firstCommits = store.commitCount
    for index in 0..<plan.nodes { addNode(clock: index == 0 ? clock : VirtualClock()) }
    for index in 0..<(plan.natives + plan.whalers) {
      let id = ids[index % ids.count]
      let client: Client =
        index < plan.natives
        ? .native(
          SimulatedClient(
            name: "native-\(index)", documentID: id.text, usesTokens: plan.usesTokens,
            takesNumbers: index % 2 == 0,
            ownNote: plan.makesNotes && index % 3 != 2 ? "own-\(index)" : nil))
        : .whaler(SimulatedWhalerClient(name: "whaler-\(index)", resourceID: id.text))
      seats.append(Seat(documentID: id, client: client))
    }
    addWriters(to: ids)
  }

  mutating func makeGateway(clock: VirtualClock, network: Network) -> Gateway {
    defer { generation += 1 }
    var settings = plan.settings
    if plan.usesTokens { settings.isDemo = false }
    let gateway = Gateway(
      settings: settings,
      dependencies: Gateway.Dependencies(
        clock: clock, names: SeededNames(prefix: "g\(generation)-"), tokens: PlainTokens(),
        log: NoLog(), authenticator: plan.usesTokens ? TimedTokens() : nil,
        queuedBytes: { network.queuedBytes[$0, default: 0] },
        queuedBytesBound: { network.queuedBytes.values.max() ?? 0 }))
    if plan.nodes > 1 { gateway.hintsChanged(arrive: plan.hintsLostPercent < 100) }
    return gateway
  }

  /// Runs the plan, heals everything, and checks.
  @discardableResult
  package mutating func run() throws(Violation) -> Report {
    do {
      for _ in 0..<plan.steps {
        try step()
        // A turn of the loop is one event or several.
        if random.chance(60) { endTurn(of: anyNode()) }
      }
      try heal()
    } catch let violation as Violation {
      throw violation
    } catch {
      throw violation("\(error)")
    }
    if let mistake = mistakes.first { throw violation(mistake) }
    try check()
    return report()
  }

  private mutating func step() throws {
    for node in nodes.indices {
      guard let left = nodes[node].stepsToDeath else { continue }
      nodes[node].stepsToDeath = left - 1
      if left == 0 { kill(node, losingCommits: 0) }
    }
    if nodes.count > 1 { stepAmongNodes() }
    if !plan.faults.isEmpty, random.below(1_000) < plan.faultPermille {
      return fault(plan.faults[random.below(plan.faults.count)])
    }
    let seat = random.below(seats.count)
    switch random.below(20) {
    case 0, 1, 2: try type(seat)
    case 3: random.chance(80) ? try type(seat) : try sendAgain(seat)
    case 4, 5, 6, 7, 8, 9: deliverUp(seat)
    case 10, 11, 12, 13, 14, 15: try deliverDown(seat)
    case 16, 17: random.chance(50) ? storeWorks(for: anyNode()) : storeReports(to: anyNode())
    default:
      advance(milliseconds: Int64(random.below(500)))
      try tick()
      haunt()
      if seats[seat].link == nil { connect(seat) }
    }
  }

  private mutating func type(_ seat: Int) throws {
    guard let document = seats[seat].client.document else { return }
    // Taken out of here meanwhile: a copy would grow with all that was typed.
    var marks = Marks()
    swap(&marks, &self.marks)
    defer { swap(&marks, &self.marks) }
    let marksBefore = marks.seats.count
    let operation = random.edit(of: document.scalarCount) { random in
      random.chance(70) ? marks.next(for: seat) : ""
    }
    switch seats[seat].client {
    case .native(let client):
      // First the edit: it happens without a line, too.
      let messages = try client.edit(operation, now: clock.uptime)
      settle(seat, client, sending: messages)
    case .whaler(let client):
      // Without a line such a client would lose what is typed.
      guard seats[seat].link != nil else { return marks.takeBack(to: marksBefore) }
      let message = try client.edit(operation)
      if let message { seats[seat].link?.upstream.append(message) }
    }
    marks.note(operation, on: document)
    trace?("client \(seat) types")
  }

  private mutating func sendAgain(_ seat: Int) throws {
    guard case .native(let client) = seats[seat].client, seats[seat].link != nil else { return }
    let messages = try client.sendAgain(now: clock.uptime)
    settle(seat, client, sending: messages)
  }

  func report() -> Report {
    var total = tally
    for case .native(let client) in seats.map(\.client) { total.add(client.tally) }
    for writer in writers { total.add(writer.tally) }
    for node in nodes { total.add(node.gateway.metrics) }
    for case .whaler(let client) in seats.map(\.client) { total[.whalerResyncs] += client.resyncs }
    total[.runsWithSeveralLostTails] = lostTails > 1 ? 1 : 0
    let revisions = Set(seats.map(\.documentID)).reduce(0) {
      $0 + (store.log(of: $1)?.count ?? 0)
    }
    return Report(tally: total, fingerprint: fingerprint.value, revisions: revisions)
  }

  /// Adds sent bytes to the fingerprint.
  mutating func condense(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes { fingerprint.combine(byte) }
  }
}
