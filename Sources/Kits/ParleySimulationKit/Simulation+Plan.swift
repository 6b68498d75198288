package import Gateway
import SocketMessages

extension Simulation {
  /// The plan of a run.
  package struct Plan: Sendable {
    /// Clients that speak `parley.v1`.
    package var natives = 2
    /// Clients of the Whaler family.
    package var whalers = 2
    /// Documents; the clients are dealt out among them.
    package var documents = 1
    /// Steps before everything heals.
    package var steps = 300
    /// Of a thousand steps, those in which one of `faults` happens.
    package var faultPermille = 0
    /// The faults that may occur. A fault listed twice occurs twice as often.
    package var faults: [Fault] = []
    /// Programs that write over HTTP; at several nodes alone.
    package var writers = 0
    /// Gateways, which share a log if there are several.
    package var nodes = 1
    /// Of a hundred hints, those that are lost.
    package var hintsLostPercent = 20
    /// Whether native clients need tokens, which end soon.
    package var usesTokens = false
    /// Whether some native clients make a note of their own over the socket, with each connection.
    package var makesNotes = false
    /// The gateway's settings; small windows make rare paths common.
    package var settings = GatewaySettings()

    package init() {}
  }

  /// A fault.
  package enum Fault: Sendable, Hashable, CaseIterable {
    /// A line breaks; what was under way on it is lost.
    case disconnect
    /// A line breaks for the client alone: to the gateway it looks open, and some of what was under
    /// way may still arrive.
    case halfOpen
    /// A reader takes nothing for a while.
    case stall
    /// The process dies: its memory is gone, the store is as it was last synced.
    case kill
    /// The process is asked to go down: it refuses changes, says goodbye, and dies a little later.
    case drain
    /// A commit fails before anything is written.
    case failCommit
    /// A commit is written, and its sync fails.
    case failSync
    /// Commits fail until space returns.
    case fillDisk
    /// The log forgets its oldest part, as retention asks.
    case compact
    /// The process dies, and the disk had lied: the newest commits are gone.
    case loseTail
    /// The wall clock is set ahead or back by hours.
    case setClock
    /// A client's process dies, perhaps in the middle of its work; another restores what is on its
    /// disk.
    case killClient
    /// A client's disk takes nothing, or takes it again.
    case fillClientDisk
    /// A client's process dies, and the next one does not know who it was.
    case forgetClaim
    // Of several nodes alone.
    /// A node stops, or continues; the store does what it was asked all the same.
    case freeze
    /// A node loses its line to the store, or regains it.
    case cut
    /// The store does a batch of a node's, and the answer is lost.
    case loseAnswer
    /// A node's line to the store breaks: what is under way on it has no known outcome, and may be done
    /// later.
    case breakLine
  }
}

extension Simulation.Plan {
  /// A plan with everything that can go wrong, drawn from the seed: other crowds, windows, and
  /// mixtures of faults for each.
  package static func everything(seed: UInt64) -> Self {
    // Not the run's own generator, so that a plan can grow without changing all runs.
    var random = SimulationRandom(seed: seed ^ 0x7061_726c_6579_0001)
    var plan = Self()
    plan.natives = 2 + random.below(3)
    plan.whalers = random.below(3)
    plan.documents = 1 + random.below(2)
    plan.steps = 300 + random.below(900)
    plan.faultPermille = 5 + random.below(35)
    // Faults of every run, of a long life with slow readers, and of a short one.
    let common: [Simulation.Fault] = [.failCommit, .failSync, .fillDisk, .halfOpen, .stall]
    let long: [Simulation.Fault] = [.stall, .stall, .stall, .compact, .compact]
    let short: [Simulation.Fault] = [.disconnect, .disconnect, .kill, .drain, .compact]
    let life = random.below(3)
    let possible = common + (life < 2 ? long : []) + (life > 0 ? short : [])
    plan.faults = possible.filter { _ in random.chance(70) } + [.halfOpen]
    // Where tails are lost, less can be checked: most runs check the promises that no honest disk
    // breaks.
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
    // What was typed offline soon has more places than one change may.
    if random.chance(25) { plan.settings.limits.operationComponentsMax = 3 + random.below(6) }
    // Just enough at once to say hello and to join.
    if random.chance(20) {
      plan.settings.limits.messagesPerSecondMax = 1 + random.below(3)
      plan.settings.limits.burstSeconds = 2
      plan.makesNotes = false
    }
    // A turn's work is done after a few components.
    if random.chance(50) { plan.settings.turnWorkMax = 1 + random.below(200) }
    return plan
  }
}

extension Simulation.Plan {
  /// A plan with everything that can go wrong, for several nodes on one log, whose clients come to any
  /// of them.
  package static func everything(seed: UInt64, nodes: Int) -> Self {
    var plan = everything(seed: seed)
    guard nodes > 1 else { return plan }
    var random = SimulationRandom(seed: seed ^ 0x7061_726c_6579_0002)
    plan.nodes = nodes
    plan.natives += random.below(2)
    // What a disk of one's own does; a server of a log says what it did, or nothing.
    plan.faults.removeAll { $0 == .failSync }
    let ofNodes: [Simulation.Fault] = [
      .freeze, .freeze, .cut, .loseAnswer, .loseAnswer, .breakLine,
    ]
    plan.faults += ofNodes.filter { _ in random.chance(75) }
    // They come to another node mostly.
    plan.faults += [.disconnect, .halfOpen]
    if random.chance(30) { plan.faultPermille *= 3 }
    plan.hintsLostPercent = [0, 20, 20, 100][random.below(4)]
    plan.writers = random.below(3)
    return plan
  }
}

extension GatewaySettings {
  /// Small windows and queues, so that catching up, trimming and resyncing happen all the time.
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
