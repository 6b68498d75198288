import Gateway
import ParleyGatewayPorts

/// Several nodes on one log, and the faults between them.
extension Simulation {
  /// A node: its gateway, its clock, and its connection to the store.
  final class Node {
    var gateway: Gateway
    let clock: VirtualClock
    let network: Network
    let store: MemoryStoreHandle
    var storeQueue: [(ticket: StoreTicket, request: StoreRequest)] = []
    var completions: [(ticket: StoreTicket, reply: StoreReply)] = []
    /// The number of steps until a draining process dies.
    var stepsToDeath: Int?
    /// Whether the process is paused.
    var isFrozen = false
    /// The topics whose hints the node receives.
    var topics: Set<String> = []

    init(gateway: Gateway, clock: VirtualClock, network: Network, store: MemoryStoreHandle) {
      self.gateway = gateway
      self.clock = clock
      self.network = network
      self.store = store
    }

    /// Whether no work is pending except for reading heads.
    var isAtRest: Bool {
      completions.isEmpty && gateway.isSettled
        && storeQueue.allSatisfy { if case .heads = $0.request { true } else { false } }
    }

    /// Discards the state that a process loses when it dies.
    func forget() {
      storeQueue = []
      completions = []
      network.queuedBytes = [:]
      stepsToDeath = nil
      isFrozen = false
      topics = []
    }
  }

  mutating func addNode(clock: VirtualClock) {
    let network = Network()
    nodes.append(
      Node(
        gateway: makeGateway(clock: clock, network: network), clock: clock, network: network,
        store: MemoryStoreHandle(store)))
  }

  /// Returns a random node.
  mutating func anyNode() -> Int { nodes.count > 1 ? random.below(nodes.count) : 0 }

  /// Returns a random node that is not paused, to which a client connects; `nil` if all are paused.
  mutating func nodeToConnect() -> Int? {
    guard nodes.count > 1 else { return 0 }
    let moving = nodes.indices.filter { !nodes[$0].isFrozen }
    return moving.isEmpty ? nil : moving[random.below(moving.count)]
  }

  /// Advances the clocks of all nodes. (Mutating, since `self` would be copied otherwise.)
  mutating func advance(milliseconds: Int64) {
    for node in nodes { node.clock.advance(milliseconds: milliseconds) }
  }

  // MARK: Hints

  /// Publishes a hint, which each following node may receive once, twice, late, or never.
  mutating func publish(_ bytes: [UInt8], under topic: String, from sender: Int) {
    for node in nodes.indices where node != sender && nodes[node].topics.contains(topic) {
      guard !random.chance(plan.hintsLostPercent) else {
        tally[.hintsLost] += 1
        continue
      }
      hints.append((node, topic, bytes))
      if random.chance(10) { hints.append((node, topic, bytes)) }
      // A malformed hint, as of another cluster or version.
      if random.chance(2) { hints.append((node, topic, Array(String(random.below(999)).utf8))) }
    }
  }

  /// Delivers a random hint, performs a late statement, and lets nodes work.
  mutating func stepAmongNodes() {
    if !hints.isEmpty, random.chance(30) {
      let hint = hints.remove(at: random.below(hints.count))
      if nodes[hint.node].isFrozen {
        tally[.hintsLost] += 1
      } else {
        tally[.hintsHeard] += 1
        trace?("node \(hint.node) hears \(String(decoding: hint.bytes, as: UTF8.self))")
        nodes[hint.node].gateway.heard(hint.topic, hint.bytes)
        perform(hint.node)
      }
    }
    if !lateStatements.isEmpty, random.chance(3) { doLateStatement() }
    // Several nodes have more work.
    if random.chance(20) { performStoreRequests(for: anyNode()) }
    if random.chance(20) { storeReports(to: anyNode()) }
    if !writers.isEmpty, random.chance(15) { stepWriter() }
  }

  private mutating func doLateStatement() {
    let batch = lateStatements.remove(at: random.below(lateStatements.count))
    tally[.lateStatements] += 1
    trace?("the store does a late batch of \(batch.count)")
    _ = store.perform(batch)
  }

  // MARK: Faults

  mutating func faultAmongNodes(_ fault: Fault) {
    let node = anyNode()
    switch fault {
    case .freeze:
      nodes[node].isFrozen.toggle()
      if nodes[node].isFrozen { tally[.freezes] += 1 }
    case .cut:
      nodes[node].store.isCut.toggle()
      if nodes[node].store.isCut { tally[.cuts] += 1 }
    case .loseAnswer:
      tally[.answersLost] += 1
      nodes[node].store.answersToLose = 1
    case .breakLine:
      tally[.linesBroken] += 1
      breakLine(of: node)
    default: break
    }
  }

  /// Breaks a node's connection to the store. Its requests may be performed later, or never.
  private mutating func breakLine(of node: Int) {
    let queue = nodes[node].storeQueue
    nodes[node].storeQueue = []
    guard !queue.isEmpty else { return }
    if random.chance(70) { lateStatements.append(queue.map(\.request)) }
    for item in queue {
      nodes[node].completions.append(
        (item.ticket, .failed(.unknownOutcome("the line to the store broke"))))
    }
  }

  /// Restarts the process of a node. The store may perform its pending requests later.
  mutating func restart(_ node: Int) {
    let asked = nodes[node].storeQueue.map(\.request)
    if !asked.isEmpty, random.chance(50) { lateStatements.append(asked) }
    nodes[node].forget()
    forgetRequests(of: node)
    nodes[node].store.isCut = false
    nodes[node].store.answersToLose = 0
    advance(milliseconds: 1)
    nodes[node].gateway = makeGateway(clock: nodes[node].clock, network: nodes[node].network)
  }

  /// Replaces the store by a standby that lacks the newest commits. The nodes continue.
  mutating func failOver(losingCommits wanted: Int) {
    tally[.failovers] += 1
    // Requests in transit to the former store are never performed.
    lateStatements = []
    for node in nodes.indices {
      breakLine(of: node)
    }
    lateStatements = []
    let lost = min(wanted, store.keptCommitCount - firstCommits)
    if lost > 0 { lose(lost) } else { store.failOver() }
  }

  /// Repairs all connections, and resumes all nodes.
  mutating func healNodes() {
    guard nodes.count > 1 else { return }
    for node in nodes.indices {
      nodes[node].isFrozen = false
      nodes[node].store.isCut = false
      nodes[node].store.answersToLose = 0
    }
    while !lateStatements.isEmpty { doLateStatement() }
  }
}

extension StoreReply {
  /// Whether this is the reply to a successful commit.
  var isCommit: Bool {
    switch self {
    case .done, .appended: true
    default: false
    }
  }
}

extension Tally {
  /// Adds a gateway's counts of events between nodes.
  mutating func add(_ metrics: GatewayMetrics) {
    self[.racesLost] += metrics.racesLost
    self[.entriesAdopted] += metrics.entriesAdopted
    self[.changesResubmitted] += metrics.changesResubmitted
    self[.changesFenced] += metrics.changesFenced
    self[.sessionsBegun] += metrics.sessionsBegun
    self[.unknownOutcomes] += metrics.unknownOutcomes
  }
}
