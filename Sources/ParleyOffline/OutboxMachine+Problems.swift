import ParleyJSON

/// Conflicts and refusals, the changes that wait behind them, and decisions.
///
/// A problem blocks later changes of the same resource; a failed create also blocks changes that
/// refer to its resource. All other changes continue.
extension OutboxMachine {
  /// Marks changes as problems, and holds the changes that follow them.
  ///
  /// - Complexity: O(*n* log *n*) in the number of these changes and their followers.
  package mutating func stop(_ stopped: [Mutation], _ turn: inout Turn) {
    for entry in stopped {
      replace(entry)
      turn.put(entry)
      turn.news(.problem(key: entry.key))
    }
    // Begin with the last change, because removing from the end of a lane is cheap.
    for number in followers(of: stopped.map(\.number)).reversed() { hold(number) }
  }

  package mutating func hold(_ number: Int64) {
    guard let entry = entries[number], !entry.isProblem else { return }
    held.insert(number)
    lanes[laneName(of: entry)]?.queue.remove(number)
  }

  /// Whether a problem blocks the change until it is decided on.
  package func isHeld(_ number: Int64) -> Bool {
    guard let entry = entries[number], !entry.isProblem else { return false }
    if let before = changes(of: thing(of: entry))?.before(number), isStuck(before) { return true }
    return entry.references.contains { creator(of: $0).map(isStuck) ?? false }
  }

  private func isStuck(_ number: Int64) -> Bool {
    held.contains(number) || entries[number]?.isProblem ?? false
  }

  /// Returns the changes that cannot be sent before the given ones, in order.
  ///
  /// - Complexity: O(*n* log *n*) in the number of changes found.
  package func followers(of numbers: [Int64]) -> [Int64] {
    var found: Set<Int64> = []
    var open = numbers
    // For each resource, the first change whose later changes have all been found.
    var firsts: [ResourceKey: Int64] = [:]
    while let number = open.popLast() {
      guard let entry = entries[number] else { continue }
      let thing = thing(of: entry)
      let first = firsts[thing] ?? .max
      if number < first {
        firsts[thing] = number
        for follower in changes(of: thing)?.after(number) ?? [] {
          if found.insert(follower).inserted { open.append(follower) }
          if follower >= first { break }
        }
      }
      if entry.draft.kind == .create, let name = entry.draft.id.temporaryName {
        for follower in users(of: name) where found.insert(follower).inserted {
          open.append(follower)
        }
      }
    }
    return found.sorted()
  }

  // MARK: Decisions

  package mutating func decide(
    _ key: String, _ decision: MutationDecision, freshKey: String, _ turn: inout Turn
  ) throws(OutboxError) {
    guard let number = numbers[key], var entry = entries[number], entry.isProblem,
      entry.owner == user
    else { throw .notUndecided }
    let waiting = followers(of: [number])
    switch decision {
    case .discard: discard(entry, &turn)
    case .retry:
      let former = entry.draft.base
      entry.key = freshKey
      if case .conflict(_, let version?) = entry.state, former != nil {
        entry.draft.base = version
        try again(&entry, &turn)
        rebase(thing(of: entry), from: former, to: version, &turn)
      } else {
        try again(&entry, &turn)
      }
    case .send(let body, let base):
      guard let json = JSONValue(body), entry.draft.hasFittingBody(json) else { throw .notJSON }
      let former = entry.draft.base
      entry.draft.body = body
      entry.draft.base = base
      entry.key = freshKey
      try again(&entry, &turn)
      rebase(thing(of: entry), from: former, to: base, &turn)
    }
    release(waiting)
  }

  /// Releases the changes that no problem blocks any longer.
  ///
  /// - Parameter numbers: Ascending, so that a change is checked before those that wait for it.
  package mutating func release(_ numbers: [Int64]) {
    for number in numbers where held.remove(number) != nil {
      guard let entry = entries[number] else { continue }
      if isHeld(number) {
        held.insert(number)
      } else {
        lanes[laneName(of: entry), default: Lane()].queue.insert(number)
      }
    }
  }

  /// Makes a problem a waiting change again, in its former position and under its new key.
  private mutating func again(_ entry: inout Mutation, _ turn: inout Turn) throws(OutboxError) {
    guard let former = entries[entry.number] else { return }
    for name in entry.references where alias(of: name) == nil {
      guard let number = creator(of: name), number < entry.number else {
        throw .unknownReference(ResourceID(.temporary(name)))
      }
    }
    guard byteCount + entry.byteCount - former.byteCount <= settings.bytesMax else {
      throw .full(entries: entries.count, bytes: byteCount)
    }
    entry.isTried = false
    entry.state = .waiting
    remove(entry.number)
    insert(entry)
    if isHeld(entry.number) { hold(entry.number) }
    turn.put(entry)
    turn.news(.released(key: former.key, newKey: entry.key))
  }

  private mutating func discard(_ entry: Mutation, _ turn: inout Turn) {
    guard entry.draft.kind == .create, let name = entry.draft.id.temporaryName else {
      forget([entry], &turn)
      return
    }
    let own = changes(of: thing(of: entry))?.numbers ?? []
    forget([entry] + own.filter { $0 != entry.number }.compactMap { entries[$0] }, &turn)
    refuse(users(of: name), .missingReference, &turn)
  }

  private mutating func forget(_ forgotten: [Mutation], _ turn: inout Turn) {
    for entry in forgotten {
      turn.remove(entry.number)
      turn.news(.discarded(entry))
    }
    // Begin with the last change, because removing from the end of the indexes is cheap.
    for entry in forgotten.reversed() { remove(entry.number) }
  }
}
