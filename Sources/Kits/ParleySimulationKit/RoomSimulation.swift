package import Gateway
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// Gateways with one room and its subscribers, from one seed. Clients publish, disconnect and
/// resume, or leave for good; processes die, and commits fail. Nodes on one store are disconnected
/// from it or paused, and hints between them are lost. At the end all faults are repaired, and the
/// invariants are checked.
package struct RoomSimulation {
  /// A violated requirement, with the seed that reproduces it.
  package typealias Violation = Simulation.Violation

  /// The plan of a run.
  package struct Plan: Sendable {
    /// The number of subscribers, which connect to any node.
    package var clients = 2
    /// The number of steps before all faults are repaired.
    package var steps = 400
    /// The number of gateways on one store.
    package var nodes = 1
    /// The percentage of hints between nodes that are lost.
    package var hintsLostPercent = 20
    /// Whether a standby that lacks the newest commits may replace the store.
    package var losesTails = false
    /// Whether the last client leaves for good before the faults are repaired.
    package var hasLeaver = false
    /// The settings of the gateways.
    package var settings = GatewaySettings()

    package init() {}

    /// Returns a plan that depends on the seed: number of clients, limits and losses.
    package static func everything(seed: UInt64, nodes: Int) -> Self {
      var plan = Self()
      plan.nodes = nodes
      plan.clients = 2 + Int(seed % 4)
      // Some limits are so small that gaps occur all the time.
      plan.settings.roomRetention = RoomRetention(
        publicationsMax: [4, 20, 1_000, 0][Int(seed % (nodes > 1 ? 4 : 3))], ageMax: 86_400_000)
      plan.settings.recoveryMax = seed % 2 == 0 ? 6 : 1_000
      plan.settings.presenceGraceMilliseconds = seed % 5 == 0 ? 0 : 800
      plan.hintsLostPercent = [0, 20, 20, 60, 100][Int(seed / 3 % 5)]
      plan.losesTails = nodes > 1 && seed / 7 % 3 == 0
      // Among several nodes, a bound value whose commit is done late may stay until a restart.
      plan.hasLeaver = nodes == 1 && plan.clients > 2 && seed / 11 % 3 == 0
      return plan
    }
  }

  private struct Seat {
    var client: SimulatedRoomClient
    var link: SimulatedLink?
    /// Whether the client has left for good.
    var isGone = false
    /// The connection at which the client knew that a value of an offset is bound to it.
    var held: [Int: ConnectionID] = [:]
  }

  /// A gateway, its connection to the store, and its hints.
  private struct Node {
    var gateway: Gateway
    var presence: CountedPresence
    let clock: VirtualClock
    let store: MemoryStoreHandle
    var storeQueue: [(ticket: StoreTicket, request: StoreRequest)] = []
    var completions: [(ticket: StoreTicket, reply: StoreReply)] = []
    var topics: Set<String> = []
    var isFrozen = false
    /// Connections that ended while the node was paused.
    var ended: [ConnectionID] = []

    /// Whether no work is pending except for reading heads and blocks.
    var isAtRest: Bool {
      completions.isEmpty && gateway.isSettled
        && storeQueue.allSatisfy {
          switch $0.request {
          case .room(.heads), .room(.ending), .people(.blocks), .heads: true
          default: false
          }
        }
    }
  }

  private struct Hint {
    let node: Int
    let topic: String
    let bytes: [UInt8]
    let sent: Int64
  }

  private static let room: RoomName = "room"
  private static let topic = "room/room"

  private let seed: UInt64
  private let plan: Plan
  private var random: SimulationRandom
  private let store: MemoryStore
  private var seats: [Seat]
  private var nodes: [Node] = []
  private var generation = 0
  private var hints: [Hint] = []
  /// The current percentage of hints that are lost.
  private var hintsLostPercent: Int
  /// The maximum delay of a received hint so far.
  private var hintDelayMax: Int64 = 0
  private var lateStatements: [[StoreRequest]] = []
  private var nextConnection: UInt64 = 1
  /// The time at which each client without a connection lost its last one.
  private var goneAt: [String: Int64] = [:]
  /// Publications that failovers have lost.
  private var lost: [Publication] = []
  private var lostTails = 0
  /// Since when each value, by the offset of its last change, has been expired for a node.
  private var expiredSince: [Int: Int64] = [:]
  /// The counts of events.
  package private(set) var tally = Tally()

  package init(seed: UInt64, plan: Plan) {
    self.seed = seed
    self.plan = plan
    random = SimulationRandom(seed: seed)
    hintsLostPercent = plan.hintsLostPercent
    store = MemoryStore(isShared: plan.nodes > 1)
    seats = (0..<plan.clients).map {
      Seat(
        client: SimulatedRoomClient(
          name: "c\($0)", room: Self.room.text, followsValues: $0.isMultiple(of: 2)))
    }
    for _ in 0..<plan.nodes {
      let clock = VirtualClock()
      let (gateway, presence) = makeGateway(clock)
      nodes.append(
        Node(gateway: gateway, presence: presence, clock: clock, store: MemoryStoreHandle(store)))
    }
  }

  private mutating func makeGateway(_ clock: VirtualClock) -> (Gateway, CountedPresence) {
    defer { generation += 1 }
    var settings = plan.settings
    settings.sharesStore = plan.nodes > 1
    // Pages of a few values, so that changes come between them.
    settings.valuePageBytes = 16
    var people = PeopleHandlers.standard(settings)
    let presence = CountedPresence(graceMilliseconds: settings.presenceGraceMilliseconds)
    people.presence = presence
    let gateway = Gateway(
      settings: settings,
      dependencies: Gateway.Dependencies(
        clock: clock, names: SeededNames(prefix: "g\(generation)-"), tokens: PlainTokens(),
        log: NoLog(), people: people, queuedBytes: { _ in 0 }))
    if plan.nodes > 1 { gateway.hintsChanged(arrive: plan.hintsLostPercent < 100) }
    return (gateway, presence)
  }

  private var now: Int64 { nodes[0].clock.uptime }

  /// Runs the plan, repairs all faults, and checks the invariants.
  @discardableResult
  package mutating func run() throws(Violation) -> Simulation.Report {
    do {
      for _ in 0..<plan.steps { try step() }
      try heal()
    } catch let violation as Violation {
      throw violation
    } catch {
      throw self.violation("\(error)")
    }
    try check()
    for client in seats.map(\.client) {
      tally[.conditionsLost] += client.refused.intersection(client.conditions.keys).count
      tally[.headsLost] += client.refused.intersection(client.heads.keys).count
    }
    let log = store.rooms.publications(of: Self.room)
    var fingerprint = FNV1a()
    for publication in log {
      fingerprint.combine(UInt64(bitPattern: publication.time))
      for byte in (publication.data?.utf8 ?? []) + (publication.values?.utf8 ?? []) {
        fingerprint.combine(byte)
      }
    }
    return Simulation.Report(
      tally: tally, fingerprint: fingerprint.value, revisions: log.count)
  }

  private mutating func step() throws {
    if nodes.count > 1 { try stepAmongNodes() }
    let seat = random.below(seats.count)
    switch random.below(24) {
    case 0, 1, 2: try publish(seat)
    case 3...9: deliverUp(seat)
    case 10...16: try deliverDown(seat)
    case 17, 18: try performStoreRequests(for: anyNode())
    case 19, 20: storeReports(to: anyNode())
    case 21: if seats[seat].link == nil, !seats[seat].isGone { try connect(seat) }
    case 22: try tick(Int64(random.below(400)))
    default: fault(seat)
    }
  }

  private mutating func anyNode() -> Int { nodes.count > 1 ? random.below(nodes.count) : 0 }

  private mutating func fault(_ seat: Int) {
    if nodes.count > 1, random.chance(40) { return faultAmongNodes() }
    switch random.below(10) {
    case 0...4: disconnect(seat)
    case 5, 6: store.commitsToFail = 1
    case 7, 8: nodes[anyNode()].clock.set(aheadBy: random.clockOffset())
    default: kill(anyNode())
    }
  }

  private mutating func publish(_ seat: Int) throws {
    let messages = try seats[seat].client.publish(now: now)
    seats[seat].link?.upstream += messages
  }

  private mutating func tick(_ milliseconds: Int64) throws {
    for node in nodes.indices { nodes[node].clock.advance(milliseconds: milliseconds) }
    for node in nodes.indices where !nodes[node].isFrozen {
      nodes[node].gateway.ticked()
      perform(node)
      try checkGhosts(at: node)
    }
    for seat in seats.indices where seats[seat].client.wakeAt ?? .max <= now {
      let messages = try seats[seat].client.wake(now: now)
      seats[seat].link?.upstream += messages
      if seats[seat].client.hasHungUp { disconnect(seat) }
    }
  }

  private mutating func connect(_ seat: Int) throws {
    let moving = nodes.indices.filter { !nodes[$0].isFrozen }
    guard !moving.isEmpty else { return }
    let node = moving.count > 1 ? moving[random.below(moving.count)] : moving[0]
    let id = ConnectionID(nextConnection)
    nextConnection += 1
    nodes[node].gateway.opened(id, as: .native)
    var link = SimulatedLink(id: id, node: node)
    link.upstream = try seats[seat].client.connected(now: now)
    seats[seat].link = link
    perform(node)
  }

  private mutating func disconnect(_ seat: Int, tellGateway: Bool = true) {
    guard let link = seats[seat].link else { return }
    seats[seat].link = nil
    seats[seat].client.disconnected(now: now)
    if let id = seats[seat].client.clientID { goneAt[id] = now }
    guard tellGateway else { return }
    guard !nodes[link.node].isFrozen else {
      nodes[link.node].ended.append(link.id)
      return
    }
    nodes[link.node].gateway.closed(link.id)
    perform(link.node)
  }

  private mutating func deliverUp(_ seat: Int) {
    guard let link = seats[seat].link, !link.upstream.isEmpty, !nodes[link.node].isFrozen else {
      return
    }
    let message = seats[seat].link?.upstream.removeFirst() ?? []
    message.withUnsafeBytes {
      nodes[link.node].gateway.received(link.id, message: $0, kind: .text)
    }
    perform(link.node)
  }

  private mutating func deliverDown(_ seat: Int) throws {
    guard let item = seats[seat].link?.popDownstream() else { return }
    switch item {
    case .close(let code):
      if code.rawValue == CloseReason.rejoin.rawValue { tally[.rejoinCloses] += 1 }
      disconnect(seat)
    case .fragment: break
    case .message(let payload):
      var client = seats[seat].client
      let now = now
      let answers = try payload.withUnsafeBytes { try client.receive($0, now: now) }
      for offset in client.takeHeld() { seats[seat].held[offset] = seats[seat].link?.id }
      seats[seat].client = client
      seats[seat].link?.upstream += answers
    }
  }

  private mutating func perform(_ node: Int) {
    for action in nodes[node].gateway.takeActions() {
      switch action {
      case .send(let frame, let id): push(.frame(frame), to: id)
      case .broadcast(let frame, let ids):
        for id in ids { push(.frame(frame), to: id) }
      case .close(let id, let code, _): push(.close(code), to: id)
      case .respond, .search, .gather, .forget, .admit, .count: break
      case .store(let ticket, let request):
        if case .room(.page(_, .since, _, _, _, _)) = request { tally[.historyReads] += 1 }
        nodes[node].storeQueue.append((ticket, request))
      case .publish(let topic, let bytes): publish(bytes, under: topic, from: node)
      case .follow(let topic): nodes[node].topics.insert(topic)
      case .leave(let topic): nodes[node].topics.remove(topic)
      }
    }
  }

  private mutating func push(_ item: SimulatedLink.Downstream, to id: ConnectionID) {
    guard let seat = seats.firstIndex(where: { $0.link?.id == id }) else { return }
    seats[seat].link?.push(item)
  }

  private mutating func performStoreRequests(for node: Int) throws {
    let queue = nodes[node].storeQueue
    guard !queue.isEmpty else { return }
    let count = 1 + random.below(queue.count)
    let batch = queue[..<count]
    let head = store.rooms.publications(of: Self.room).count
    let values = store.rooms.values(of: Self.room)
    let replies = nodes[node].store.perform(batch.map(\.request))
    try checkDeletions(after: head, values)
    for (item, reply) in zip(batch, replies) {
      nodes[node].completions.append((item.ticket, reply))
    }
    nodes[node].storeQueue.removeFirst(count)
  }

  private mutating func storeReports(to node: Int) {
    guard !nodes[node].isFrozen else { return }
    let reported = nodes[node].completions
    nodes[node].completions = []
    for completion in reported {
      nodes[node].gateway.stored(completion.ticket, reply: completion.reply)
    }
    perform(node)
  }

  private mutating func kill(_ node: Int) {
    tally[.kills] += 1
    for seat in seats.indices where seats[seat].link?.node == node {
      disconnect(seat, tellGateway: false)
    }
    if nodes.count > 1 {
      let asked = nodes[node].storeQueue.map(\.request)
      if !asked.isEmpty, random.chance(50) { lateStatements.append(asked) }
    } else {
      store.restart()
    }
    nodes[node].storeQueue = []
    nodes[node].completions = []
    nodes[node].topics = []
    nodes[node].ended = []
    nodes[node].isFrozen = false
    nodes[node].store.isCut = false
    nodes[node].store.answersToLose = 0
    (nodes[node].gateway, nodes[node].presence) = makeGateway(nodes[node].clock)
  }

  // MARK: Several nodes

  private mutating func publish(_ bytes: [UInt8], under topic: String, from sender: Int) {
    for node in nodes.indices where node != sender && nodes[node].topics.contains(topic) {
      guard !random.chance(hintsLostPercent) else {
        tally[.hintsLost] += 1
        continue
      }
      let hint = Hint(node: node, topic: topic, bytes: bytes, sent: now)
      hints.append(hint)
      if random.chance(10) { hints.append(hint) }
      // A hint of another cluster, or an incomplete hint.
      if random.chance(2) {
        hints.append(
          Hint(
            node: node, topic: topic, bytes: Array(bytes.dropLast(1 + random.below(9))), sent: now))
        hints.append(
          Hint(
            node: node, topic: topic,
            bytes: Array(#"{"n":"x","t":1,"published":\#(random.below(99))}"#.utf8), sent: now))
      }
    }
  }

  private mutating func stepAmongNodes() throws {
    if !hints.isEmpty, random.chance(50) { hear(random.below(hints.count)) }
    if !lateStatements.isEmpty, random.chance(3) { doLateStatement() }
    if random.chance(20) { try performStoreRequests(for: anyNode()) }
    if random.chance(20) { storeReports(to: anyNode()) }
  }

  private mutating func hear(_ place: Int) {
    let hint = hints.remove(at: place)
    guard !nodes[hint.node].isFrozen else { return }
    tally[.hintsHeard] += 1
    hintDelayMax = max(hintDelayMax, now - hint.sent)
    nodes[hint.node].gateway.heard(hint.topic, hint.bytes)
    perform(hint.node)
  }

  private mutating func doLateStatement() {
    _ = store.perform(lateStatements.remove(at: random.below(lateStatements.count)))
  }

  private mutating func faultAmongNodes() {
    let node = anyNode()
    switch random.below(plan.losesTails ? 6 : 5) {
    case 0, 1:
      if nodes[node].isFrozen { thaw(node) } else { nodes[node].isFrozen = true }
    case 2: nodes[node].store.isCut.toggle()
    case 3:
      nodes[node].store.answersToLose = 1
      tally[.answersLost] += 1
    case 4: breakLine(of: node)
    default: failOver()
    }
  }

  private mutating func thaw(_ node: Int) {
    nodes[node].isFrozen = false
    let ended = nodes[node].ended
    nodes[node].ended = []
    for id in ended { nodes[node].gateway.closed(id) }
    perform(node)
  }

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

  /// Replaces the store by a standby that lacks the newest commits.
  private mutating func failOver() {
    for node in nodes.indices { breakLine(of: node) }
    lateStatements = []
    let before = store.rooms.publications(of: Self.room)
    store.restart(losingCommits: min(1 + random.below(3), store.keptCommitCount))
    let after = store.rooms.publications(of: Self.room)
    guard after.count < before.count else { return }
    lost += before[after.count...]
    lostTails += 1
    tally[.lostTails] += 1
  }

  private mutating func heal() throws {
    store.commitsToFail = 0
    // A person is hidden temporarily if three confirmations in a row are lost.
    if hintsLostPercent < 100 { hintsLostPercent = min(hintsLostPercent, 10) }
    for node in nodes.indices {
      if nodes[node].isFrozen { thaw(node) }
      nodes[node].store.isCut = false
      nodes[node].store.answersToLose = 0
    }
    while !lateStatements.isEmpty { doLateStatement() }
    if plan.hasLeaver {
      disconnect(seats.count - 1)
      seats[seats.count - 1].isGone = true
      tally[.clientsGoneForGood] += 1
    }
    // Losses, and what other nodes have published, are detected by reading heads. Nothing else happens
    // in these rounds.
    let quietRounds = nodes.count > 1 ? 25 : 0
    var quietRoundsLeft = quietRounds
    var head = 0
    for _ in 0..<2_000 {
      for seat in seats.indices {
        if seats[seat].link == nil, !seats[seat].isGone { try connect(seat) }
        deliverUp(seat)
        try deliverDown(seat)
      }
      while !hints.isEmpty { hear(random.below(hints.count)) }
      for node in nodes.indices {
        try performStoreRequests(for: node)
        storeReports(to: node)
      }
      try tick(100)
      try checkLifetimes()
      let newest = store.rooms.publications(of: Self.room).count
      if newest != head { quietRoundsLeft = quietRounds }
      head = newest
      guard isAtRest else { continue }
      guard quietRoundsLeft > 0 else { return }
      quietRoundsLeft -= 1
    }
    let busy = nodes.indices.filter { !nodes[$0].isAtRest }
    let restless = seats.indices.filter { seat in
      guard !seats[seat].isGone else { return false }
      guard let link = seats[seat].link else { return true }
      return !link.upstream.isEmpty || !link.downstream.isEmpty || !seats[seat].client.isSettled
    }
    let blind = seats.indices.filter { seat in
      seats[seat].link.map { seats[seat].client.present != everybody(at: $0.node) } ?? false
    }
    throw violation(
      "the clients do not come to rest, or see ghosts: clients \(restless), nodes \(busy), "
        + "and clients \(blind) do not see all people; values of clients that are gone: "
        + "\(valuesOfTheGone)")
  }

  /// Whether no work is pending, and each client sees exactly the connected people.
  private var isAtRest: Bool {
    nodes.allSatisfy(\.isAtRest) && valuesOfTheGone == 0 && expiredSince.isEmpty
      && seats.allSatisfy { seat in
        guard !seat.isGone else { return true }
        guard let link = seat.link else { return false }
        return link.upstream.isEmpty && link.downstream.isEmpty && seat.client.isSettled
          && seat.client.present == everybody(at: link.node)
      }
  }

  /// Returns the people that clients of a node must see.
  private func everybody(at node: Int) -> Set<String> {
    Set(
      seats.filter { !$0.isGone && (plan.hintsLostPercent < 100 || $0.link?.node == node) }
        .compactMap(\.client.clientID))
  }

  /// The number of values that are bound to clients without a connection.
  private var valuesOfTheGone: Int {
    let connected = Set(seats.filter { $0.link != nil }.compactMap(\.client.clientID))
    return store.rooms.values(of: Self.room).values.values
      .count { value in value.holder.map { !connected.contains($0) } ?? false }
  }

  // MARK: Invariants

  /// Verifies that a node shows a person without a connection for at most six seconds, in addition
  /// to the grace period.
  private func checkGhosts(at node: Int) throws {
    let connected = Set(seats.filter { $0.link != nil }.compactMap(\.client.clientID))
    let boundary =
      now - 6_000 - plan.settings.presenceGraceMilliseconds
      - hintDelayMax - 400
    for person in nodes[node].presence.present(in: Self.room)
    where !connected.contains(person.personID.text) {
      // A client that lost its connection before it received its id has no recorded time.
      guard let gone = goneAt[person.personID.text] else { continue }
      // A paused node handles ended connections in a separate turn.
      guard gone > boundary else {
        throw violation(
          "node \(node) shows \(person.personID), who is gone since \(gone), at \(now)")
      }
    }
  }

  /// Verifies that expired values are deleted in time, while there are no faults.
  private mutating func checkLifetimes() throws {
    let clocks = nodes.map(\.clock.now).max() ?? 0
    let values = store.rooms.values(of: Self.room).values.values
    let expired = values.filter { $0.expiry.map { $0.time <= clocks } ?? false }.map(\.offset)
    expiredSince = expiredSince.filter { expired.contains($0.key) }
    for offset in expired {
      let since = expiredSince[offset, default: now]
      expiredSince[offset] = since
      guard now - since <= Self.deletionMax else {
        throw violation("the value of offset \(offset) is expired since \(since), at \(now)")
      }
    }
  }

  /// Maximum milliseconds until an expired value is deleted, with those of the simulated store.
  private static let deletionMax: Int64 = 6_000

  /// Verifies the server's own publications, which delete values that have ended.
  ///
  /// - Parameters:
  ///   - head: The offset before these publications.
  ///   - values: The values at that offset.
  private mutating func checkDeletions(after head: Int, _ values: RoomValues) throws {
    var values = values
    for publication in store.rooms.publications(of: Self.room).dropFirst(head) {
      let operations = publication.values.flatMap(ValueOperation.list) ?? []
      if publication.senderID == nil, publication.data == nil {
        for operation in operations {
          guard let value = values[operation.name], value.expiry != nil || value.holder != nil
          else {
            throw violation("the server deleted a value without an end at \(publication.offset)")
          }
          tally[value.holder == nil ? .valuesExpired : .valuesReleased] += 1
          // On several nodes, a node may take a client for gone whose hints were lost.
          let isHeld = seats.contains { seat in
            seat.link != nil && seat.held[value.offset] == seat.link?.id
          }
          guard nodes.count > 1 || !isHeld else {
            throw violation("the value of offset \(value.offset) was deleted beside its client")
          }
        }
      }
      // The holder of a value does not matter here, only that there is one.
      try? values.apply(
        ValueChange(operations),
        at: ValueOrigin(
          offset: publication.offset, time: publication.time, client: Self.someHolder))
    }
  }

  private static let someHolder = "a client"

  private func check() throws(Violation) {
    let log = store.rooms.publications(of: Self.room)
    guard log.map(\.offset) == Array(1..<(log.count + 1)) else {
      throw violation("the offsets of the log have gaps")
    }
    let keys = log.compactMap { $0.senderID ?? $0.data?.string }
    // The server's own publications have neither data nor a sender.
    let own = log.count { $0.senderID == nil && $0.data == nil }
    guard lostTails > 0 || Set(keys).count + own == log.count else {
      throw violation("a key was published twice")
    }
    try checkValues(log)
    if lostTails == 0, seats.contains(where: { !$0.isGone && $0.client.position?.epoch != "first" })
    {
      throw violation("a history was given up of which nothing was lost")
    }
    for (index, seat) in seats.enumerated() {
      let client = seat.client
      // A client without values is not sent publications without data.
      let seenLast = client.values != nil ? log.last : log.last { $0.data != nil }
      let offset = client.position?.offset ?? (seat.isGone ? 0 : -1)
      guard offset <= log.count, seat.isGone || offset >= seenLast?.offset ?? 0 else {
        throw violation("client \(index) is not at the head")
      }
      for sighting in client.sightings {
        if log.indices.contains(sighting.offset - 1),
          log[sighting.offset - 1].data?.utf8 ?? [] == sighting.data
        {
          continue
        }
        guard
          lost.contains(where: {
            $0.offset == sighting.offset && $0.data?.utf8 ?? [] == sighting.data
          })
        else { throw violation("client \(index) saw another publication at \(sighting.offset)") }
      }
      // After lost commits there is a new epoch, in which offsets repeat.
      guard lostTails == 0 else { continue }
      let seen = client.sightings.map(\.offset)
      guard zip(seen, seen.dropFirst()).allSatisfy({ $0 < $1 }) else {
        throw violation("client \(index) saw a publication twice, or out of order")
      }
      let known = Set(seen).union(client.gaps.flatMap { Array($0) })
      let meant = Set(log.filter { client.values != nil || $0.data != nil }.map(\.offset))
      guard seat.isGone || known.isSuperset(of: meant), known.allSatisfy({ $0 <= log.count }) else {
        throw violation("client \(index) missed a publication and was not told")
      }
      for key in client.published where !keys.contains(where: { $0.isExactly(key) }) {
        throw violation("\(key) was answered and is not in the log")
      }
      for key in client.refused where keys.contains(where: { $0.isExactly(key) }) {
        throw violation("\(key) was refused and is in the log")
      }
      guard seat.isGone || client.published.union(client.refused) == client.keys else {
        throw violation("client \(index) does not know what has become of its publications")
      }
    }
  }

  /// Verifies that the store and all clients have the fold of the log, and that each condition held.
  private func checkValues(_ log: [Publication]) throws(Violation) {
    var conditions: [ExactName: Int] = [:]
    var heads: [ExactName: RoomPosition] = [:]
    for seat in seats {
      for (key, offset) in seat.client.conditions { conditions[ExactName(key)] = offset }
      for (key, head) in seat.client.heads { heads[ExactName(key)] = head }
    }
    var fold = RoomValues()
    for publication in log {
      guard let operations = publication.values.flatMap(ValueOperation.list) else { continue }
      let turn = fold[SimulatedRoomClient.turn]?.offset ?? 0
      if let key = publication.senderID, let required = conditions[ExactName(key)],
        required != turn
      {
        throw violation("\(key) was accepted at \(publication.offset) against its condition")
      }
      if let key = publication.senderID, let head = heads[ExactName(key)],
        head.offset + 1 != publication.offset
      {
        throw violation("\(key) was accepted at \(publication.offset), and not behind \(head)")
      }
      do throws(ValueRefusal) {
        try fold.apply(
          ValueChange(operations),
          at: ValueOrigin(
            offset: publication.offset, time: publication.time, client: Self.someHolder))
      } catch {
        throw violation("the log has a change that does not fit: \(error)")
      }
    }
    let stored = store.rooms.values(of: Self.room)
    guard fold.totals == stored.totals, Self.contents(of: fold) == Self.contents(of: stored) else {
      throw violation("the store's values differ from the fold of the log")
    }
    // A loss that no node noticed leaves clients with what was lost, until they read the values again.
    guard lostTails == 0 else { return }
    let expected = fold.values.mapValues(\.value)
    for (index, seat) in seats.enumerated() {
      guard !seat.isGone, let values = seat.client.values, values != expected else { continue }
      throw violation("client \(index) has other values than the log")
    }
  }

  /// Returns values without what the log does not say: who holds them, and the clocks of their ends.
  private static func contents(of values: RoomValues) -> [ValueName: RoomValue] {
    values.values.mapValues { value in
      var value = value
      value.expiry?.time = 0
      if value.holder != nil { value.holder = someHolder }
      return value
    }
  }

  private func violation(_ what: String) -> Violation { Violation(seed: seed, what: what) }
}
