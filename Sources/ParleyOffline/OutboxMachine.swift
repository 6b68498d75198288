import ParleyJSON
package import ParleyModel

/// The rules of an ``Outbox`` as a state machine: something has happened, here is what to do. It reads
/// no clock, draws no random number and does no I/O.
///
///     enqueue ─▶ waiting ─▶ tried, under way ─▶ done
///                  ▲  ▲            │
///                  │  └── pause ◀──┤ busy, unreachable, no token
///                  └── decision ◀──┘ conflict, refused
///
/// Actions are done in order. Whatever one event keeps is one ``Action/keep(_:)``, the first of its
/// actions: if that fails, nothing has happened, and the machine begins again from what is kept.
/// So it does when the process is killed between any two actions.
package struct OutboxMachine: Sendable {
  /// Something that has happened.
  package enum Event: Sendable {
    /// The app makes a change; the key has never been used.
    case enqueue(MutationDraft, key: String)
    case answered(key: String, MutationAnswer)
    /// The requested token is there, or no user is signed in.
    case token(isThere: Bool)
    /// The network may be back.
    case reachable
    /// The time that ``Action/wake(at:)`` named.
    case wake
    /// Another person uses the app.
    case user(String)
    /// The app decides on a problem; the fresh key has never been used.
    case decide(key: String, MutationDecision, freshKey: String)
  }

  /// Something to do.
  package enum Action: Sendable, Equatable {
    /// Put this on the disk in one step, synced, before anything behind it is done.
    case keep([Write])
    case send(MutationRequest)
    /// Ask for a newer token, then answer with ``Event/token(isThere:)``.
    case needToken
    /// Tell the time when it is this late; `nil` for never. It takes the place of the last one.
    case wake(at: Int64?)
    /// Pass news of a change to the app.
    case news(News)
  }

  /// A step on the disk.
  package enum Write: Sendable, Equatable {
    case put(Mutation)
    case remove(number: Int64)
    case alias(name: String, id: ResourceID)
    case dropAlias(name: String)
    /// A change is on the server: take it over into what is kept of the thing.
    case applied(Mutation, id: ResourceID, body: [UInt8]?, version: String?)
  }

  /// News of a change, for its author.
  package enum News: Sendable, Equatable {
    case queued(key: String)
    /// Another change has taken it in, or nothing is left to do.
    case merged(key: String, into: String?)
    case done(Mutation, id: ResourceID, body: [UInt8]?, version: String?)
    case problem(key: String)
    case released(key: String, newKey: String)
    case discarded(Mutation)
  }

  /// Everything that outlives the process.
  package struct Kept: Sendable, Equatable {
    package var entries: [Mutation] = []
    /// The oldest first.
    package var aliases: [(name: String, id: ResourceID)] = []

    package init(entries: [Mutation] = [], aliases: [(name: String, id: ResourceID)] = []) {
      self.entries = entries
      self.aliases = aliases
    }

    package static func == (one: Self, other: Self) -> Bool {
      one.entries == other.entries && one.aliases.elementsEqual(other.aliases, by: ==)
    }
  }

  /// A collection of a user.
  package struct Collection: Hashable {
    package let user: ExactName
    package let resource: String
  }

  /// A thing of a collection.
  package struct Thing: Hashable {
    package let collection: Collection
    package let id: ResourceID
  }

  /// The changes of a collection. It has some, or is not kept.
  package struct Resource {
    /// All of them.
    package var changes = SortedNumbers()
    /// The mutations of each resource, by the server's id if it is known. No list is empty.
    package var things: [ResourceID: SortedNumbers] = [:]
  }

  /// A temporary id. It has a creator, a user or the server's id, or is not kept.
  package struct TemporaryName {
    /// The create of its thing, while that waits.
    package var creator: Int64?
    /// The changes that name it.
    package var users = SortedNumbers()
    /// The server's id.
    package var id: ResourceID?
  }

  package struct LaneName: Hashable {
    package let user: ExactName
    package let name: String
  }

  package struct Lane {
    /// Changes in order, but for those that a problem holds up.
    package var queue = SortedNumbers()
    package var underWay: Int64?
    package var retryAt: Int64?
    package var failures = 0
  }

  package enum Access { case ready, asking, signedOut }

  package let settings: OutboxSettings
  private(set) var user: ExactName
  package var access = Access.ready
  /// Refusals of the token in a row.
  package var refusedTokens = 0
  package var chance: UInt64

  package var entries: [Int64: Mutation] = [:]
  package var numbers: [String: Int64] = [:]
  package var resources: [Collection: Resource] = [:]
  package var names: [String: TemporaryName] = [:]
  /// The temporary ids whose server's ids are known, the oldest first.
  package var aliasOrder: [String] = []
  /// Changes behind a problem.
  package var held: Set<Int64> = []
  package var problems = SortedNumbers()
  package var lanes: [LaneName: Lane] = [:]
  package var lastNumber: Int64 = 0
  private(set) var byteCount = 0
  package var wakeAt: Int64?

  /// Makes a machine from what is kept.
  ///
  /// - Parameters:
  ///   - underWay: Keys of changes whose answers still come, after a storage has failed.
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

  /// Takes what has happened; returns what to do, in order.
  ///
  /// - Throws: For `enqueue` and `decide`; nothing has changed then.
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
    /// The writes in order; `nil` where a later one has taken the place of one.
    private var writes: [Write?] = []
    /// The places of changes that are kept, by their numbers.
    private var places: [Int64: Int] = [:]
    package var others: [Action] = []

    package init() {}

    package var actions: [Action] {
      let writes = writes.compactMap { $0 }
      return (writes.isEmpty ? [] : [.keep(writes)]) + others
    }

    /// Keeps a change as it is; of one event only the last state of it is written.
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

  package func thing(of entry: Mutation) -> Thing {
    Thing(collection: collection(of: entry), id: canonical(entry.draft.id))
  }

  /// The changes of a thing; `nil` without any.
  package func changes(of thing: Thing) -> SortedNumbers? {
    resources[thing.collection]?.things[thing.id]
  }

  /// The create of a temporary id's thing, while that waits.
  package func creator(of name: String) -> Int64? { names[name]?.creator }

  /// The changes that name a temporary id.
  package func users(of name: String) -> [Int64] { names[name]?.users.numbers ?? [] }

  /// The server's id of a temporary one, if it is known.
  package func alias(of name: String) -> ResourceID? { names[name]?.id }

  /// The server's id, if it is known.
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
    let name = laneName(of: entry)
    lanes[name]?.queue.remove(number)
    if lanes[name]?.underWay == number { lanes[name]?.underWay = nil }
  }

  package mutating func dropIfUnused(_ name: String) {
    guard let known = names[name], known.creator == nil, known.users.isEmpty, known.id == nil
    else { return }
    names[name] = nil
  }

  /// Replaces a change that stays in its place.
  package mutating func replace(_ entry: Mutation) {
    let lane = laneName(of: entry)
    let isUnderWay = lanes[lane]?.underWay == entry.number
    let isHeld = held.contains(entry.number)
    remove(entry.number)
    insert(entry)
    if isUnderWay { lanes[lane]?.underWay = entry.number }
    if isHeld { hold(entry.number) }
  }

  // MARK: What the app may ask

  /// The number of changes that wait, of all users.
  package var count: Int { entries.count }

  /// The changes of the present user in a collection, in order, with the server's ids as far as they are
  /// known.
  package func pending(_ resource: String) -> [Mutation] {
    let all = resources[Collection(user: user, resource: resource)]?.changes
    return (all?.numbers ?? []).compactMap { number in
      guard var entry = entries[number] else { return nil }
      entry.draft.body = request(for: entry).body
      entry.draft.id = canonical(entry.draft.id)
      return entry
    }
  }

  /// The changes that the present user has to decide on, in order.
  package var undecided: [Mutation] {
    problems.numbers.compactMap { entries[$0] }.filter { $0.owner == user }
  }

  /// The changes of the present user, in order.
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

  /// Has the changes of a thing belong to its other id.
  package mutating func move(_ former: ResourceID, to id: ResourceID) {
    for number in things.removeValue(forKey: former)?.numbers ?? [] {
      things[id, default: SortedNumbers()].insert(number)
    }
  }
}

/// Numbers in ascending order, without repetition.
package struct SortedNumbers: Sendable, Equatable {
  private(set) var numbers: [Int64] = []

  package var isEmpty: Bool { numbers.isEmpty }
  package var first: Int64? { numbers.first }

  /// The place of the first number that is not below.
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

  /// The numbers above one, ascending.
  package func after(_ number: Int64) -> ArraySlice<Int64> { numbers[place(of: number + 1)...] }

  /// The greatest number below one.
  package func before(_ number: Int64) -> Int64? {
    let place = place(of: number)
    return place == 0 ? nil : numbers[place - 1]
  }
}
