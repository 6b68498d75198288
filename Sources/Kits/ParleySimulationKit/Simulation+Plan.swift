package import Gateway
import SocketMessages

extension Simulation {
  /// The plan of a run.
  package struct Plan: Sendable {
    /// The number of clients that use `parley.v1`.
    package var natives = 2
    /// The number of these that know formatting: the first ones.
    package var riches = 0
    /// The number of clients of the Whaler family.
    package var whalers = 2
    /// The number of documents, among which the clients are distributed.
    package var documents = 1
    /// The number of steps before all faults are repaired.
    package var steps = 300
    /// The permille of steps in which one of `faults` occurs.
    package var faultPermille = 0
    /// The faults that may occur. A fault listed twice occurs twice as often.
    package var faults: [Fault] = []
    /// The number of programs that write over HTTP; only with several nodes.
    package var writers = 0
    /// The number of gateways, which share a log if there are several.
    package var nodes = 1
    /// The percentage of hints that are lost.
    package var hintsLostPercent = 20
    /// Whether native clients need tokens, many of which expire soon.
    package var usesTokens = false
    /// Whether some native clients create another note over the socket on each connection.
    package var makesNotes = false
    /// The settings of the gateways. Small limits make rare paths common.
    package var settings = GatewaySettings()

    package init() {}
  }

  /// A fault that a simulation injects.
  package enum Fault: Sendable, Hashable, CaseIterable {
    /// A connection breaks, and its messages in transit are lost.
    case disconnect
    /// A connection breaks only for the client. To the gateway it appears open, and some messages
    /// in transit may still arrive.
    case halfOpen
    /// A client stops reading for a while.
    case stall
    /// The process dies. Its memory is lost, and the store has the synced commits.
    case kill
    /// The process is asked to stop: it rejects changes, says goodbye, and dies a little later.
    case drain
    /// A commit fails before any write.
    case failCommit
    /// A commit is written, but its sync fails.
    case failSync
    /// Commits fail until the disk has space again.
    case fillDisk
    /// The oldest part of the log is compacted.
    case compact
    /// The process dies, and the disk has lost the newest commits, whose sync it had reported.
    case loseTail
    /// The wall clock is set ahead or back by hours.
    case setClock
    /// A client's process dies, possibly during its work. The next one starts from its disk.
    case killClient
    /// A client's disk becomes full, or has space again.
    case fillClientDisk
    /// A client's process dies, and the next one does not know its client id.
    case forgetClaim
    // The following faults need several nodes.
    /// A node is paused or resumed. The store still performs its requests.
    case freeze
    /// A node loses its connection to the store, or regains it.
    case cut
    /// The store performs a batch of a node, but the reply is lost.
    case loseAnswer
    /// A node's connection to the store breaks: the outcome of its requests is unknown, and they
    /// may be performed later.
    case breakLine
  }
}

extension Simulation.Plan {
  /// Returns a plan with all kinds of faults, which depends on the seed: number of clients, limits
  /// and mixture of faults.
  package static func everything(seed: UInt64) -> Self {
    // A separate generator, so that a changed plan does not change the random choices of all runs.
    var random = SimulationRandom(seed: seed ^ 0x7061_726c_6579_0001)
    var plan = Self()
    plan.natives = 2 + random.below(3)
    plan.whalers = random.below(3)
    plan.documents = 1 + random.below(2)
    plan.steps = 300 + random.below(900)
    plan.faultPermille = 5 + random.below(35)
    // Faults of all runs, of long runs with slow clients, and of short runs.
    let common: [Simulation.Fault] = [.failCommit, .failSync, .fillDisk, .halfOpen, .stall]
    let long: [Simulation.Fault] = [.stall, .stall, .stall, .compact, .compact]
    let short: [Simulation.Fault] = [.disconnect, .disconnect, .kill, .drain, .compact]
    let life = random.below(3)
    let possible = common + (life < 2 ? long : []) + (life > 0 ? short : [])
    plan.faults = possible.filter { _ in random.chance(70) } + [.halfOpen]
    // Fewer requirements can be checked if commits are lost, so most runs do without this fault.
    if life > 0, random.chance(35) { plan.faults += [.loseTail, .loseTail] }
    if random.chance(40) { plan.faults += [.setClock, .setClock] }
    if random.chance(50) { plan.faults += [.killClient, .killClient, .fillClientDisk] }
    plan.usesTokens = random.chance(30)
    plan.makesNotes = random.chance(50)
    if random.chance(50) { plan.faults += [.forgetClaim] }
    plan.settings = .tight
    plan.settings.followersPerMillisecond = seed % 3 == 0 ? 1 : 100
    plan.settings.windowEntries = [3, 8, 30][random.below(3)]
    plan.settings.lagRevisionsMax = [5, 60, 10_000][random.below(3)]
    if random.chance(20) { plan.settings.queuedBytesMax = 1_200 }
    if random.chance(20) { plan.settings.waitingMax = 1 }
    // Text typed offline soon has more components than one change may contain.
    if random.chance(25) { plan.settings.limits.operationComponentsMax = 3 + random.below(6) }
    // The minimum burst: a hello and a join.
    if random.chance(20) {
      plan.settings.limits.messagesPerSecondMax = 1 + random.below(3)
      plan.settings.limits.burstSeconds = 2
      plan.makesNotes = false
    }
    // The work of a turn ends after a few components.
    if random.chance(50) { plan.settings.turnWorkMax = 1 + random.below(200) }
    if random.chance(40) {
      plan.riches = 1 + random.below(plan.natives)
      // A letter with attributes has up to four components, and no part is smaller.
      let componentsMax = plan.settings.limits.operationComponentsMax
      plan.settings.limits.operationComponentsMax = max(4, componentsMax)
    }
    return plan
  }
}

extension Simulation.Plan {
  /// Returns a plan with all kinds of faults for several nodes on one log, and clients of any node.
  package static func everything(seed: UInt64, nodes: Int) -> Self {
    var plan = everything(seed: seed)
    guard nodes > 1 else { return plan }
    var random = SimulationRandom(seed: seed ^ 0x7061_726c_6579_0002)
    plan.nodes = nodes
    plan.natives += random.below(2)
    // This fault only affects a local disk: a database server reports the outcome, or nothing.
    plan.faults.removeAll { $0 == .failSync }
    let ofNodes: [Simulation.Fault] = [
      .freeze, .freeze, .cut, .loseAnswer, .loseAnswer, .breakLine,
    ]
    plan.faults += ofNodes.filter { _ in random.chance(75) }
    // More disconnects, after which clients mostly connect to another node.
    plan.faults += [.disconnect, .halfOpen]
    if random.chance(30) { plan.faultPermille *= 3 }
    plan.hintsLostPercent = [0, 20, 20, 100][random.below(4)]
    plan.writers = random.below(3)
    return plan
  }
}

extension GatewaySettings {
  /// Small limits, so that catching up, trimming and resyncing occur all the time.
  package static var tight: Self {
    var settings = Self()
    settings.windowEntries = 8
    settings.laggingBytes = 600
    settings.catchUpBytes = 400
    settings.lagRevisionsMax = 60
    settings.idleDocumentMilliseconds = 1_000
    return settings
  }
}
