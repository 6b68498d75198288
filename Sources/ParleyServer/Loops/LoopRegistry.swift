import Gateway
import ParleyGatewayPorts
import ParleyLocks
import ParleyTransportLibwebsockets

/// The registry of a process's loops: it stores the counts of each, and runs work on any of them.
final class LoopRegistry: Sendable {
  /// The counts of one loop, as of its last report.
  struct Report {
    var gateway = GatewaySummary()
    var store = StoreMetrics()
    var refused = RefusedConnections()
    /// The load of the login queue, which only the first loop has; `nil` if missing.
    var logins: LoginThread.Load?
    var connections = 0
  }

  private struct Member {
    let loop: ServerLoop
    let mailbox: LoopMailbox
  }

  private struct State {
    var members: [Member] = []
    var reports: [Report]
  }

  /// The number of loops.
  let count: Int
  private let state: Monitor<State>

  init(count: Int) {
    self.count = count
    state = Monitor(State(reports: Array(repeating: Report(), count: count)))
  }

  /// Adds the next loop.
  func add(_ loop: ServerLoop, _ mailbox: LoopMailbox) {
    state.withLock { $0.members.append(Member(loop: loop, mailbox: mailbox)) }
  }

  /// Releases the loops after they have ended.
  func dissolve() { state.withLock { $0.members = [] } }

  /// Stores the counts of a loop.
  func report(_ report: Report, by loop: Int) { state.withLock { $0.reports[loop] = report } }

  /// Returns the counts of all loops; those of the calling loop are current.
  func reports(with own: Report, of loop: Int) -> [Report] {
    var reports = state.withLock { $0.reports }
    reports[loop] = own
    return reports
  }

  /// Runs `work` on another loop's thread; returns `false` if that thread has ended.
  func post(to loop: Int, _ work: @escaping @Sendable (ServerLoop) -> Void) -> Bool {
    let member = state.withLock { $0.members.indices.contains(loop) ? $0.members[loop] : nil }
    guard let member else { return false }
    return member.mailbox.post { work(member.loop) }
  }
}

extension LoopRegistry.Report {
  /// Adds the counts of another loop.
  mutating func add(_ other: LoopRegistry.Report) {
    gateway.add(other.gateway)
    store.add(other.store)
    refused.add(other.refused)
    logins = logins ?? other.logins
    connections += other.connections
  }
}

extension StoreMetrics {
  /// Adds the metrics of another thread on the same store.
  mutating func add(_ other: StoreMetrics) {
    queued += other.queued
    batches += other.batches
    requests += other.requests
    failures += other.failures
    batch.add(other.batch)
    readsQueued += other.readsQueued
    reads += other.reads
    read.add(other.read)
    state.machines = min(state.machines, other.state.machines)
    state.reconnections += other.state.reconnections
    folds += other.folds
  }
}

extension RefusedConnections {
  /// Adds the counts of another loop.
  mutating func add(_ other: RefusedConnections) {
    full += other.full
    fullForAddress += other.fullForAddress
    tooFast += other.tooFast
    withoutProxyHeader += other.withoutProxyHeader
    idle += other.idle
  }
}
