import Gateway
import ParleyGatewayPorts
import OTCore

/// The work of the store, the faults, and their repair.
extension Simulation {
  // MARK: The store

  mutating func performStoreRequests(for node: Int) {
    let queue = nodes[node].storeQueue
    guard !queue.isEmpty else { return }
    // A batch contains some or all of the pending requests.
    let batch = queue[..<(1 + random.below(queue.count))]
    let requests = batch.map(\.request)
    let commits = store.commitCount
    let replies = nodes[node].store.perform(requests)
    count(requests, hasCommitted: store.commitCount > commits)
    for (item, reply) in zip(batch, replies) {
      nodes[node].completions.append((item.ticket, reply))
    }
    nodes[node].storeQueue.removeFirst(batch.count)
  }

  private mutating func count(_ batch: [StoreRequest], hasCommitted: Bool) {
    var appends = 0
    for request in batch {
      switch request {
      case .load: tally[.documentLoads] += 1
      case .entries: tally[.historyReads] += 1
      case .renewEpoch where hasCommitted: tally[.epochRenewals] += 1
      case .append(_, _, let entries, _) where hasCommitted:
        appends += 1
        tally[.commits] += 1
        if entries.count > 1 { tally[.commitsOfSeveralChanges] += 1 }
      default: break
      }
    }
    if appends > 1 { tally[.commitsOfSeveralDocuments] += 1 }
    trace?(
      "the store does \(batch.map(Self.words(for:)).joined(separator: ", ")): "
        + (hasCommitted ? "committed" : "nothing committed"))
  }

  private static func words(for request: StoreRequest) -> String {
    switch request {
    case .append(let id, _, let entries, _):
      "append(\(id), \(entries.map { "\($0.revision): \($0.client)/\($0.sequence)" }))"
    case .load(let id, _): "load(\(id))"
    case .entries(let id, let after, let through, _): "entries(\(id), \(after), \(through))"
    case .renewEpoch(let id, let old, let new): "renewEpoch(\(id), \(old), \(new))"
    default: "another request"
    }
  }

  mutating func storeReports(to node: Int) {
    guard !nodes[node].isFrozen else { return }
    let reported = nodes[node].completions
    nodes[node].completions = []
    if !reported.isEmpty { trace?("the store reports \(reported.count)") }
    for completion in reported {
      nodes[node].gateway.stored(completion.ticket, reply: completion.reply)
    }
    perform(node)
  }

  // MARK: Faults

  mutating func fault(_ fault: Fault) {
    let seat = random.below(seats.count)
    trace?("fault: \(fault)")
    switch fault {
    case .disconnect:
      if seats[seat].link != nil { tally[.disconnects] += 1 }
      disconnect(seat)
    case .halfOpen:
      if seats[seat].link != nil { tally[.halfOpenConnections] += 1 }
      disconnect(seat, .haunting)
    case .stall:
      tally[.stalls] += 1
      seats[seat].link?.isStalled.toggle()
    case .kill: kill(anyNode(), losingCommits: 0)
    case .drain:
      let node = anyNode()
      guard nodes[node].stepsToDeath == nil, !nodes[node].isFrozen else { return }
      tally[.drains] += 1
      nodes[node].gateway.drain()
      if random.chance(70) { nodes[node].gateway.closeAll(reconnectAfter: 0...100) }
      perform(node)
      nodes[node].stepsToDeath = random.below(40)
    case .failCommit:
      tally[.failedAppends] += 1
      store.commitsToFail = 1
    case .failSync:
      tally[.failedSyncs] += 1
      store.syncsToFail = 1
    case .fillDisk:
      if !store.isDiskFull { tally[.fullDisks] += 1 }
      store.isDiskFull.toggle()
    case .compact: compact(seats[seat].documentID)
    case .loseTail:
      if nodes.count > 1 { return failOver(losingCommits: 1 + random.below(4)) }
      kill(0, losingCommits: 1 + random.below(4))
    case .setClock:
      tally[.clockJumps] += 1
      nodes[anyNode()].clock.set(aheadBy: random.clockOffset())
    case .freeze, .cut, .loseAnswer, .breakLine: faultAmongNodes(fault)
    case .killClient:
      guard case .native(let client) = seats[seat].client else { return }
      if random.chance(50) {
        // The process dies during its next actions.
        client.actionsToDeath = random.below(4)
      } else {
        revive(seat)
      }
    case .fillClientDisk:
      guard case .native(let client) = seats[seat].client else { return }
      client.isDiskFull.toggle()
    case .forgetClaim:
      guard case .native = seats[seat].client else { return }
      tally[.claimsForgotten] += 1
      revive(seat, forgettingClaim: true)
    }
  }

  /// Ends a client's process, and starts another one from the contents of its disk.
  mutating func revive(_ seat: Int, forgettingClaim: Bool = false) {
    guard case .native = seats[seat].client else { return }
    trace?("client \(seat) dies")
    tally[.clientKills] += 1
    disconnect(seat, random.chance(50) ? .noticed : .haunting)
    guard case .native(let client) = seats[seat].client else { return }
    restart(client, of: seat, keepsFirst: false, forgettingClaim: forgettingClaim)
  }

  mutating func restart(
    _ client: SimulatedClient, of seat: Int, keepsFirst: Bool, forgettingClaim: Bool = false
  ) {
    let unconfirmed = client.restart(
      keepsFirst: keepsFirst, forgetsClaim: forgettingClaim, now: clock.uptime)
    guard let unconfirmed else { return }
    // The newest edits may be lost with the process, including their deletions.
    let before = Set(Marks.marks(in: unconfirmed.text.text))
    var after = Set(Marks.marks(in: client.document?.text ?? ""))
    let typed = Set(Marks.marks(in: unconfirmed.lost))
    after.formIntersection(typed)
    let gone = typed.subtracting(after)
    if !gone.isEmpty { tally[.clientKillsWithUnkeptText] += 1 }
    unkept.formUnion(gone.subtracting(before))
  }

  /// Returns a token for a client, which often expires soon.
  mutating func makeToken(for seat: Int) -> String {
    let lasts = random.chance(70) ? Int64(random.below(4_000)) : 3_600_000
    return TimedTokens.token(for: "user-\(seat)", until: clock.now + lasts)
  }

  private mutating func compact(_ id: DocumentID) {
    guard !store.isDiskFull, let head = store.log(of: id)?.count, head > 1 else { return }
    // Mostly retain half of the log; otherwise retain only the newest entry.
    let through = random.chance(70) ? head / 2 : head - 1
    tally[.compactions] += 1
    _ = store.perform([.compact(id: id, through: through)])
  }

  mutating func kill(_ node: Int, losingCommits wanted: Int) {
    tally[.kills] += 1
    tally.add(nodes[node].gateway.metrics)
    if nodes[node].completions.contains(where: { $0.reply.isCommit }) {
      tally[.killsBetweenWriteAndAnswer] += 1
    }
    if nodes[node].storeQueue.contains(where: \.request.isWriting) {
      tally[.killsBeforeWrite] += 1
    }
    for seat in seats.indices where seats[seat].link?.node == node { disconnect(seat, .nobody) }
    for ghost in ghosts where ghost.node == node { tally[.messagesDropped] += ghost.messageCount }
    ghosts.removeAll { $0.node == node }
    if nodes.count > 1 { return restart(node) }
    nodes[node].forget()
    let lost = min(wanted, store.keptCommitCount - firstCommits)
    if lost > 0 {
      lose(lost)
    } else if store.restart(findsUnsynced: random.chance(50)) {
      tally[.failedSyncsFoundAtRestart] += 1
    }
    // A process never starts within the millisecond in which another one ends.
    advance(milliseconds: 1)
    nodes[node].gateway = makeGateway(clock: nodes[node].clock, network: nodes[node].network)
  }

  mutating func lose(_ commits: Int) {
    let before = heads
    if nodes.count > 1 {
      store.failOver(losingCommits: commits)
    } else {
      store.restart(losingCommits: commits)
    }
    let after = heads
    trace?("lost: \(before) → \(after)")
    let lost = zip(before, after).reduce(0) { $0 + $1.0 - $1.1 }
    guard lost > 0 else { return }
    lostTails += 1
    tally[.lostTails] += 1
    tally[.lostChanges] += lost
    for (seat, head) in zip(seats, after) {
      if case .native(let client) = seat.client {
        tally[.lostChangesSeen] += max(0, client.revision - head)
      }
    }
  }

  /// The head revision of each seat's document.
  private var heads: [Int] { seats.map { store.log(of: $0.documentID)?.count ?? 0 } }

  // MARK: Healing

  /// Ends all faults, and runs until no work is pending.
  mutating func heal() throws {
    trace?("everything heals")
    healNodes()
    for node in nodes.indices where nodes[node].stepsToDeath != nil {
      kill(node, losingCommits: 0)
    }
    store.commitsToFail = 0
    store.syncsToFail = 0
    store.isDiskFull = false
    while !ghosts.isEmpty { layGhost(at: 0) }
    hints = []
    for seat in seats.indices {
      seats[seat].link?.isStalled = false
      guard case .native(let client) = seats[seat].client else { continue }
      client.isDiskFull = false
      client.actionsToDeath = nil
    }
    // Losses are detected by reading heads. Nothing else happens in these rounds.
    var quietRoundsLeft = nodes.count > 1 ? 25 : 0
    // This maximum is far more than any backlog needs.
    for _ in 0..<5_000 {
      for seat in seats.indices {
        if seats[seat].link == nil { connect(seat) }
        deliverUp(seat)
        try deliverDown(seat)
      }
      for writer in writers where writer.asked.isEmpty { ask(writer) }
      for node in nodes.indices {
        performStoreRequests(for: node)
        storeReports(to: node)
        endTurn(of: node)
      }
      advance(milliseconds: 100)
      try tick()
      guard isAtRest else { continue }
      guard quietRoundsLeft > 0 else { return }
      quietRoundsLeft -= 1
    }
    let restless = seats.indices.filter {
      seats[$0].link?.messageCount != 0 || !seats[$0].client.isSettled
    }
    let busy = nodes.indices.filter { !nodes[$0].isAtRest }
    let unanswered = writers.indices.filter { !writers[$0].isAtRest }
    throw violation(
      "the clients do not come to rest: clients \(restless), nodes \(busy), "
        + "writers \(unanswered)")
  }

  private var isAtRest: Bool {
    nodes.allSatisfy(\.isAtRest) && writers.allSatisfy(\.isAtRest)
      && seats.indices.allSatisfy { seat in
        seats[seat].link?.messageCount == 0 && seats[seat].client.isSettled
      }
  }
}
