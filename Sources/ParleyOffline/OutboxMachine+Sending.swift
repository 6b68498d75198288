import ParleyJSON

/// Sending in order, and pauses.
extension OutboxMachine {
  /// Sends the first change of each free lane of the current user.
  package mutating func send(now: Int64, _ turn: inout Turn) {
    guard access == .ready else { return }
    // Sort the lanes, so that a run with the same seed is reproducible.
    for name in lanes.keys.filter({ $0.user == user }).sorted(by: { $0.name < $1.name }) {
      if let time = lanes[name]?.retryAt {
        guard time <= now else { continue }
        lanes[name]?.retryAt = nil
      }
      guard let lane = lanes[name], lane.underWay == nil, let number = lane.queue.first,
        var entry = entries[number], isNext(entry)
      else { continue }
      lanes[name]?.underWay = number
      if !entry.isTried {
        // Store the flag before the request leaves: from now on the change's bytes are immutable.
        entry.isTried = true
        firstAttempts.insert(number)
        entries[number] = entry
        turn.put(entry)
      }
      turn.others.append(.send(request(for: entry)))
    }
    for (name, lane) in lanes where lane.queue.isEmpty && lane.underWay == nil {
      lanes[name] = nil
    }
  }

  /// Whether no change of another lane has to be sent first.
  private func isNext(_ entry: Mutation) -> Bool {
    changes(of: thing(of: entry))?.first == entry.number
      && entry.references.allSatisfy { alias(of: $0) != nil }
  }

  /// Returns the request of a change, which is the same for each attempt.
  package func request(for entry: Mutation) -> MutationRequest {
    let body = JSONValue(entry.draft.body).map { References.resolve($0) { alias(of: $0) }.utf8 }
    let id = canonical(entry.draft.id)
    return MutationRequest(
      key: entry.key, user: entry.user, kind: entry.draft.kind, resource: entry.draft.resource,
      id: id.isTemporary ? nil : id, body: body ?? entry.draft.body, base: entry.draft.base)
  }

  /// Returns the current user's creates in a collection that the server may have made, although no
  /// answer has arrived.
  package func unansweredCreates(of resource: String) -> [Mutation] {
    let all = resources[Collection(user: user, resource: resource)]?.changes
    return (all?.numbers ?? []).compactMap { entries[$0] }
      .filter { $0.draft.kind == .create && $0.isTried && !$0.isProblem }
  }

  /// Ends the pauses of unanswered creates in a collection, unless the server requested them.
  package mutating func retryCreates(of resource: String) {
    for entry in unansweredCreates(of: resource) {
      let name = laneName(of: entry)
      guard let lane = lanes[name], lane.queue.first == entry.number, !lane.isBusy else { continue }
      lanes[name]?.retryAt = nil
    }
  }

  // MARK: Pauses

  /// Pauses a lane after the server was unreachable or busy.
  package mutating func pause(
    _ name: LaneName, retryAfter: Int64?, isBusy: Bool = false, now: Int64
  ) {
    guard var lane = lanes[name] else { return }
    lane.isBusy = isBusy
    let doublings = min(lane.failures, 20)
    lane.failures += 1
    let longest = min(settings.pauseMax, settings.pauseMin << Int64(doublings))
    // Randomise between half and the whole pause, so that clients that lost a server together do
    // not reconnect together.
    let shortest = max(1, longest / 2)
    let pause = shortest + Int64(nextChance() % UInt64(max(1, longest - shortest + 1)))
    let asked = min(max(0, retryAfter ?? 0), settings.retryAfterMax)
    lane.retryAt = now + max(pause, asked)
    lanes[name] = lane
  }

  /// Returns the next number of a pseudorandom sequence that starts at the seed (SplitMix64).
  private mutating func nextChance() -> UInt64 {
    chance &+= 0x9e37_79b9_7f4a_7c15
    var mixed = chance
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Requests a wake-up at the end of the earliest pause.
  package mutating func setWake(now: Int64, _ turn: inout Turn) {
    let times = lanes.compactMap { $0.key.user == user ? $0.value.retryAt : nil }
    let next = access == .ready ? times.min() : nil
    guard next != wakeAt else { return }
    wakeAt = next
    turn.others.append(.wake(at: next))
  }
}
