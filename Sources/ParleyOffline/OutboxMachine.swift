package import ParleyJSON
package import ParleyModel

/// The rules of an ``Outbox`` as a state machine: events in, actions out. It reads no clock, draws
/// no random number and does no I/O.
///
///     enqueue ─▶ waiting ─▶ tried, under way ─▶ done
///                  ▲  ▲            │
///                  │  └── pause ◀──┤ busy, unreachable, no token
///                  └── decision ◀──┘ conflict, refused
///
/// Actions are performed in order. All writes of one event form one ``Action/keep(_:)``, which
/// comes first: if it fails, none of the event has happened, and the machine is restored from the
/// stored state. The same holds when the process is killed between two actions.
package struct OutboxMachine: Sendable {
  /// An input of the machine.
  package enum Event: Sendable {
    /// The app makes a change under a fresh key.
    case enqueue(MutationDraft, key: String)
    case answered(key: String, MutationAnswer)
    /// The requested token has arrived, or no user is signed in.
    case token(isThere: Bool)
    /// The network may be available again.
    case reachable
    /// The server has answered a fetch of a collection, which may contain resources whose creates
    /// are unanswered.
    case fetched(resource: String)
    /// The time requested by ``Action/wake(at:)`` has come.
    case wake
    /// Another user uses the app.
    case user(String)
    /// The app decides on a problem. The fresh key was never used before.
    case decide(key: String, MutationDecision, freshKey: String)
  }

  /// An output of the machine.
  package enum Action: Sendable, Equatable {
    /// Write these to disk in one transaction, synced, before any later action.
    case keep([Write])
    case send(MutationRequest)
    /// Request a new token, then report ``Event/token(isThere:)``.
    case needToken
    /// Report ``Event/wake`` at this time; `nil` for never. It replaces the former wake-up.
    case wake(at: Int64?)
    /// Notify the app of a step of a change.
    case news(News)
  }

  /// A write to disk.
  package enum Write: Sendable, Equatable {
    case put(Mutation)
    case remove(number: Int64)
    case alias(name: String, id: ResourceID)
    case dropAlias(name: String)
    /// The server reported its resource with a conflict: store it.
    case adopted(Mutation, JSONValue)
    /// The server made a change: apply it to the stored resource.
    case applied(Mutation, id: ResourceID, body: [UInt8]?, version: String?)
  }

  /// A step of a change, for the app.
  package enum News: Sendable, Equatable {
    case queued(key: String)
    /// The change was merged into another one; `into` is `nil` if nothing is left to send.
    case merged(key: String, into: String?)
    case done(Mutation, id: ResourceID, body: [UInt8]?, version: String?)
    case problem(key: String)
    case adopted(Mutation, JSONValue)
    case released(key: String, newKey: String)
    case discarded(Mutation)
  }

  /// The state that outlives the process.
  package struct Kept: Sendable, Equatable {
    package var entries: [Mutation] = []
    /// Oldest first.
    package var aliases: [(name: String, id: ResourceID)] = []

    package init(entries: [Mutation] = [], aliases: [(name: String, id: ResourceID)] = []) {
      self.entries = entries
      self.aliases = aliases
    }

    package static func == (one: Self, other: Self) -> Bool {
      one.entries == other.entries && one.aliases.elementsEqual(other.aliases, by: ==)
    }
  }

  /// A collection as seen by one user.
  package struct Collection: Hashable {
    package let user: ExactName
    package let resource: String
  }

  /// A resource of a collection.
  package struct ResourceKey: Hashable {
    package let collection: Collection
    package let id: ResourceID
  }

  /// The changes of a collection. Invariant: it contains at least one change.
  package struct Resource {
    /// All changes of the collection.
    package var changes = SortedNumbers()
    /// The changes of each resource, by the server's id if it is known. No list is empty.
    package var things: [ResourceID: SortedNumbers] = [:]
  }

  /// A temporary id. Invariant: it has a creator, users or a server's id.
  package struct TemporaryName {
    /// The waiting create of the resource.
    package var creator: Int64?
    /// The waiting changes that refer to the id.
    package var users = SortedNumbers()
    /// The server's id.
    package var id: ResourceID?
  }

  package struct LaneName: Hashable {
    package let user: ExactName
    package let name: String
  }

  package struct Lane {
    /// The lane's changes in order, without those that a problem blocks.
    package var queue = SortedNumbers()
    package var underWay: Int64?
    package var retryAt: Int64?
    package var failures = 0
    /// Whether the pause was requested by the server, which has answered.
    package var isBusy = false
  }

  package enum Access { case ready, asking, signedOut }

  package let settings: OutboxSettings
  private(set) var user: ExactName
  package var access = Access.ready
  /// The number of consecutive rejected tokens.
  package var refusedTokens = 0
  package var chance: UInt64

  package var entries: [Int64: Mutation] = [:]
  package var numbers: [String: Int64] = [:]
  package var resources: [Collection: Resource] = [:]
  package var names: [String: TemporaryName] = [:]
  /// The temporary ids whose server's ids are known, oldest first.
  package var aliasOrder: [String] = []
  /// The changes that a problem blocks.
  package var held: Set<Int64> = []
  package var problems = SortedNumbers()
  /// The changes under way that no earlier attempt can have sent.
  package var firstAttempts: Set<Int64> = []
  package var lanes: [LaneName: Lane] = [:]
  package var lastNumber: Int64 = 0
  private(set) var byteCount = 0
  package var wakeAt: Int64?

  /// Creates a machine from the stored state.
  ///
  /// - Parameters:
  ///   - underWay: Keys of changes that were sent and not yet answered when the storage failed.
  ///   - pause: The time before which nothing is sent.
  package init(
    _ kept: Kept = Kept(), user: String, settings: OutboxSettings = OutboxSettings(),
    seed: UInt64, underWay: Set<String> = [], pause: Int64? = nil
  ) {
    self.settings = settings
    self.user = ExactName(user)
    chance = seed
    for (name, id) in kept.aliases {
      names[name, default: TemporaryName()].id = id
      aliasOrder.append(name)
    }
    for entry in kept.entries.sorted(by: { $0.number < $1.number }) {
      insert(entry)
      let lane = LaneName(user: entry.owner, name: entry.draft.lane)
      if underWay.contains(entry.key) { lanes[lane]?.underWay = entry.number }
      if let pause { lanes[lane]?.retryAt = pause }
    }
    for number in entries.keys.sorted() where isHeld(number) { hold(number) }
  }

  /// Handles an event, and returns the actions to perform, in order.
  ///
  /// - Throws: For `enqueue` and `decide`; the state is then unchanged.
  package mutating func handle(_ event: Event, now: Int64) throws(OutboxError) -> [Action] {
    var turn = Turn()
    switch event {
    case .enqueue(let draft, let key): try enqueue(draft, key: key, &turn)
    case .answered(let key, let answer): answered(key, answer, now: now, &turn)
    case .token(let isThere): access = isThere ? .ready : .signedOut
    case .reachable:
      for lane in lanes.keys {
        lanes[lane]?.retryAt = nil
        lanes[lane]?.failures = 0
      }
    case .fetched(let resource): retryCreates(of: resource)
    case .wake: wakeAt = nil
    case .user(let user):
      guard ExactName(user) != self.user else { break }
      self.user = ExactName(user)
      access = .ready
      refusedTokens = 0
    case .decide(let key, let decision, let freshKey):
      try decide(key, decision, freshKey: freshKey, &turn)
    }
    send(now: now, &turn)
    setWake(now: now, &turn)
    return turn.actions
  }

  /// The actions of one event.
  package struct Turn {
    /// The writes in order; `nil` where a later write has replaced one.
    private var writes: [Write?] = []
    /// The indexes in `writes` of stored changes, by their numbers.
    private var places: [Int64: Int] = [:]
    package var others: [Action] = []

    package init() {}

    package var actions: [Action] {
      let writes = writes.compactMap { $0 }
      return (writes.isEmpty ? [] : [.keep(writes)]) + others
    }

    /// Stores a change. Only the last state of a change within one event is written.
    package mutating func put(_ entry: Mutation) {
      if let former = places.updateValue(writes.count, forKey: entry.number) {
        writes[former] = nil
      }
      writes.append(.put(entry))
    }

    package mutating func remove(_ number: Int64) { writes.append(.remove(number: number)) }

    package mutating func write(_ write: Write) { writes.append(write) }

    package mutating func news(_ news: News) { others.append(.news(news)) }
  }

  // MARK: Entries and their indexes

  package func laneName(of entry: Mutation) -> LaneName {
    LaneName(user: entry.owner, name: entry.draft.lane)
  }

  package func collection(of entry: Mutation) -> Collection {
    Collection(user: entry.owner, resource: entry.draft.resource)
  }

  package func thing(of entry: Mutation) -> ResourceKey {
    ResourceKey(collection: collection(of: entry), id: canonical(entry.draft.id))
  }

  /// Returns the waiting changes of a resource; `nil` without any.
  package func changes(of thing: ResourceKey) -> SortedNumbers? {
    resources[thing.collection]?.things[thing.id]
  }

  /// Returns the waiting create of a temporary id's resource.
  package func creator(of name: String) -> Int64? { names[name]?.creator }

  /// Returns the waiting changes that refer to a temporary id.
  package func users(of name: String) -> [Int64] { names[name]?.users.numbers ?? [] }

  /// Returns the server's id for a temporary one, if it is known.
  package func alias(of name: String) -> ResourceID? { names[name]?.id }

  /// Returns the server's id if it is known, and otherwise the id itself.
  package func canonical(_ id: ResourceID) -> ResourceID {
    id.temporaryName.flatMap(alias) ?? id
  }

  package mutating func insert(_ entry: Mutation) {
    let number = entry.number
    entries[number] = entry
    numbers[entry.key] = number
    lastNumber = max(lastNumber, number)
    byteCount += entry.byteCount
    let thing = thing(of: entry)
    resources[thing.collection, default: Resource()].insert(number, of: thing.id)
    if entry.draft.kind == .create, let name = entry.draft.id.temporaryName {
      names[name, default: TemporaryName()].creator = number
    }
    for name in entry.references {
      names[name, default: TemporaryName()].users.insert(number)
    }
    if entry.isProblem {
      problems.insert(number)
    } else {
      lanes[laneName(of: entry), default: Lane()].queue.insert(number)
    }
  }

  package mutating func remove(_ number: Int64) {
    guard let entry = entries.removeValue(forKey: number) else { return }
    numbers[entry.key] = nil
    byteCount -= entry.byteCount
    let thing = thing(of: entry)
    resources[thing.collection]?.remove(number, of: thing.id)
    if resources[thing.collection]?.changes.isEmpty ?? false { resources[thing.collection] = nil }
    if entry.draft.kind == .create, let name = entry.draft.id.temporaryName {
      names[name]?.creator = nil
      dropIfUnused(name)
    }
    for name in entry.references {
      names[name]?.users.remove(number)
      dropIfUnused(name)
    }
    problems.remove(number)
    held.remove(number)
    firstAttempts.remove(number)
    let name = laneName(of: entry)
    lanes[name]?.queue.remove(number)
    if lanes[name]?.underWay == number { lanes[name]?.underWay = nil }
  }

  package mutating func dropIfUnused(_ name: String) {
    guard let known = names[name], known.creator == nil, known.users.isEmpty, known.id == nil
    else { return }
    names[name] = nil
  }

  /// Replaces a change, which retains its position.
  package mutating func replace(_ entry: Mutation) {
    let lane = laneName(of: entry)
    let isUnderWay = lanes[lane]?.underWay == entry.number
    let isHeld = held.contains(entry.number)
    remove(entry.number)
    insert(entry)
    if isUnderWay { lanes[lane]?.underWay = entry.number }
    if isHeld { hold(entry.number) }
  }

  // MARK: Queries of the app

  /// The number of waiting changes, of all users.
  package var count: Int { entries.count }

  /// Returns the current user's changes of a collection, in order, with temporary ids replaced by
  /// the server's ids where they are known.
  package func pending(_ resource: String) -> [Mutation] {
    let all = resources[Collection(user: user, resource: resource)]?.changes
    return (all?.numbers ?? []).compactMap { number in
      guard var entry = entries[number] else { return nil }
      entry.draft.body = request(for: entry).body
      entry.draft.id = canonical(entry.draft.id)
      return entry
    }
  }

  /// The changes that the current user has to decide on, in order.
  package var undecided: [Mutation] {
    problems.numbers.compactMap { entries[$0] }.filter { $0.owner == user }
  }

  /// The changes of the current user, in order.
  ///
  /// - Complexity: O(*n* log *n*) changes.
  package var waiting: [Mutation] {
    entries.values.filter { $0.owner == user }.sorted { $0.number < $1.number }
  }

  package func entry(_ key: String) -> Mutation? { numbers[key].flatMap { entries[$0] } }
}

extension OutboxMachine.Resource {
  package mutating func insert(_ number: Int64, of thing: ResourceID) {
    changes.insert(number)
    things[thing, default: SortedNumbers()].insert(number)
  }

  package mutating func remove(_ number: Int64, of thing: ResourceID) {
    changes.remove(number)
    things[thing]?.remove(number)
    if things[thing]?.isEmpty ?? false { things[thing] = nil }
  }

  /// Moves the changes of a resource to its other id.
  package mutating func move(_ former: ResourceID, to id: ResourceID) {
    for number in things.removeValue(forKey: former)?.numbers ?? [] {
      things[id, default: SortedNumbers()].insert(number)
    }
  }
}

/// A sorted set of numbers.
package struct SortedNumbers: Sendable, Equatable {
  private(set) var numbers: [Int64] = []

  package var isEmpty: Bool { numbers.isEmpty }
  package var first: Int64? { numbers.first }

  /// Returns the index of the first number that is not below the given one.
  private func place(of number: Int64) -> Int {
    var low = 0
    var high = numbers.count
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  package func contains(_ number: Int64) -> Bool {
    let place = place(of: number)
    return place < numbers.count && numbers[place] == number
  }

  package mutating func insert(_ number: Int64) {
    let place = place(of: number)
    if place == numbers.count || numbers[place] != number { numbers.insert(number, at: place) }
  }

  package mutating func remove(_ number: Int64) {
    let place = place(of: number)
    if place < numbers.count, numbers[place] == number { numbers.remove(at: place) }
  }

  /// Returns the numbers above one, ascending.
  package func after(_ number: Int64) -> ArraySlice<Int64> { numbers[place(of: number + 1)...] }

  /// Returns the greatest number below one.
  package func before(_ number: Int64) -> Int64? {
    let place = place(of: number)
    return place == 0 ? nil : numbers[place - 1]
  }
}
