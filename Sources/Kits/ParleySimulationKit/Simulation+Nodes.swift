import Gateway
import ParleyGatewayPorts

/// Several nodes on one log, and what goes wrong between them.
extension Simulation {
  /// A node: its gateway, its clock, and its line to the store.
  final class Node {
    var gateway: Gateway
    let clock: VirtualClock
    let network: Network
    let store: MemoryStoreHandle
    var storeQueue: [(ticket: StoreTicket, request: StoreRequest)] = []
    var completions: [(ticket: StoreTicket, reply: StoreReply)] = []
    /// Steps until a draining process dies.
    var stepsToDeath: Int?
    /// Whether its process is stopped.
    var isFrozen = false
    /// The topics whose hints come to it.
    var topics: Set<String> = []

    init(gateway: Gateway, clock: VirtualClock, network: Network, store: MemoryStoreHandle) {
      self.gateway = gateway
      self.clock = clock
      self.network = network
      self.store = store
    }

    /// Whether nothing is under way but a look at the heads.
    var isAtRest: Bool {
      completions.isEmpty && gateway.isSettled
        && storeQueue.allSatisfy { if case .heads = $0.request { true } else { false } }
    }

    /// Its memory is gone.
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

  /// A node picked by chance.
  mutating func anyNode() -> Int { nodes.count > 1 ? random.below(nodes.count) : 0 }

  /// The node that a client connects to; `nil` if all are stopped.
  mutating func nodeToConnect() -> Int? {
    guard nodes.count > 1 else { return 0 }
    let moving = nodes.indices.filter { !nodes[$0].isFrozen }
    return moving.isEmpty ? nil : moving[random.below(moving.count)]
  }

  /// Time passes, everywhere alike. (Mutating, or all of this would be copied for it.)
  mutating func advance(milliseconds: Int64) {
    for node in nodes { node.clock.advance(milliseconds: milliseconds) }
  }

  // MARK: Hints

  /// A node publishes: each other node that follows may hear of it, once, twice, late, or never.
  mutating func publish(_ bytes: [UInt8], under topic: String, from sender: Int) {
    for node in nodes.indices where node != sender && nodes[node].topics.contains(topic) {
      guard !random.chance(plan.hintsLostPercent) else {
        tally[.hintsLost] += 1
        continue
      }
      hints.append((node, topic, bytes))
      if random.chance(10) { hints.append((node, topic, bytes)) }
      // Of another cluster, or of another time.
      if random.chance(2) { hints.append((node, topic, Array(String(random.below(999)).utf8))) }
    }
  }

  /// A hint arrives, any of those under way; the store does a late statement.
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
    // More nodes have more to do.
    if random.chance(20) { storeWorks(for: anyNode()) }
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

  /// Breaks a node's line to the store: its requests have no known outcome, and some are done later.
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

  /// A node's process has died, and another has its place. The store may do yet what it was asked.
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

  /// A standby takes the store's place that did not have the newest commits. The nodes continue.
  mutating func failOver(losingCommits wanted: Int) {
    tally[.failovers] += 1
    // What was under way to the former store is never done.
    lateStatements = []
    for node in nodes.indices {
      breakLine(of: node)
    }
    lateStatements = []
    let lost = min(wanted, store.keptCommitCount - firstCommits)
    if lost > 0 { lose(lost) } else { store.failOver() }
  }

  /// All lines work again, and no node is stopped.
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
  /// Whether it is the answer to a commit that was made.
  var isCommit: Bool {
    switch self {
    case .done, .appended: true
    default: false
    }
  }
}

extension Tally {
  /// Adds what a gateway has counted about other nodes.
  mutating func add(_ metrics: GatewayMetrics) {
    self[.racesLost] += metrics.racesLost
    self[.entriesAdopted] += metrics.entriesAdopted
    self[.changesResubmitted] += metrics.changesResubmitted
    self[.changesFenced] += metrics.changesFenced
    self[.sessionsBegun] += metrics.sessionsBegun
    self[.unknownOutcomes] += metrics.unknownOutcomes
  }
}
