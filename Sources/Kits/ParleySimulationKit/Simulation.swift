import Gateway
import ParleyGatewayPorts
import OTCore
import SocketMessages

/// A whole gateway with its store, network and clients, in one process and from one seed.
///
/// Each step picks one possible next event: a user types, a message arrives, the store finishes a
/// batch, a connection breaks, the process dies. At the end all faults are repaired, and the
/// invariants are checked (`Simulation+Check.swift`). The same seed gives the same run, byte by
/// byte.
package struct Simulation {
  /// A violated requirement, with the seed that reproduces it.
  package struct Violation: Error, CustomStringConvertible {
    package let seed: UInt64
    package let what: String
    package var description: String { "seed \(seed): \(what)" }
  }

  /// The report of a run without violations.
  package struct Report: Sendable, Equatable {
    /// The counts of events.
    package var tally: Tally
    /// A hash of all transferred bytes in order, which is the same for the same seed.
    package var fingerprint: UInt64
    /// The number of entries in all logs at the end.
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

  /// A client and its connection. (A class, since copying it in each step would be slow.)
  final class Seat {
    let documentID: DocumentID
    let client: Client
    var link: SimulatedLink?

    init(documentID: DocumentID, client: Client) {
      self.documentID = documentID
      self.client = client
    }
  }

  /// The queued bytes of connections, which a gateway reads while it works.
  final class Network {
    var queuedBytes: [ConnectionID: Int] = [:]
  }

  let plan: Plan
  let seed: UInt64
  var random: SimulationRandom
  /// The first node's clock. All nodes have the same uptime.
  let clock = VirtualClock()
  let store: MemoryStore
  var seats: [Seat] = []
  /// Connections that only the gateway treats as open.
  var ghosts: [SimulatedLink] = []
  var marks = Marks()
  var tally = Tally()
  var fingerprint = FNV1a()
  /// Receives a description of each event.
  package var trace: ((String) -> Void)?

  /// The nodes: one, or several on one log.
  var nodes: [Node] = []
  /// Hints in transit to nodes.
  var hints: [(node: Int, topic: String, bytes: [UInt8])] = []
  /// Batches that nodes no longer wait for, which the store may still perform.
  var lateStatements: [[StoreRequest]] = []
  var nextConnection: UInt64 = 1
  /// Programs that write over HTTP.
  var writers: [SimulatedWriter] = []
  var nextRequest: UInt64 = 1
  /// Responses that must never occur, recorded where no error can be thrown.
  var mistakes: [String] = []
  /// The number of gateways created.
  var generation = 0
  var lostTails = 0
  /// Marks that may be lost with their author's process, which had not stored them.
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
    // The first commit creates the documents, and must not be lost.
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
            ownNote: plan.makesNotes && index % 3 != 2 ? "own-\(index)" : nil,
            formats: index < plan.riches))
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

  /// Runs the plan, repairs all faults, and checks the requirements.
  @discardableResult
  package mutating func run() throws(Violation) -> Report {
    do {
      for _ in 0..<plan.steps {
        try step()
        // A turn of the loop handles one event or several.
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
    case 16, 17:
      random.chance(50) ? performStoreRequests(for: anyNode()) : storeReports(to: anyNode())
    default:
      advance(milliseconds: Int64(random.below(500)))
      try tick()
      haunt()
      if seats[seat].link == nil { connect(seat) }
    }
  }

  private mutating func type(_ seat: Int) throws {
    guard let document = seats[seat].client.document else { return }
    // Swap the marks out of `self`: a copy would be large.
    var marks = Marks()
    swap(&marks, &self.marks)
    defer { swap(&marks, &self.marks) }
    let marksBefore = marks.seats.count
    var operation = random.edit(of: document.scalarCount) { random in
      random.chance(70) ? marks.next(for: seat) : ""
    }
    switch seats[seat].client {
    case .native(let client):
      // A native client's edit does not need a connection.
      var edit = RichOperation(operation)
      if let kind = client.shownKind { edit = try random.formatted(operation, in: kind) }
      operation = edit.text
      let messages = try client.edit(edit, now: clock.uptime)
      settle(seat, client, sending: messages)
    case .whaler(let client):
      // Without a connection, this client would lose the edit.
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

  /// Adds transferred bytes to the fingerprint.
  mutating func condense(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes { fingerprint.combine(byte) }
  }
}
