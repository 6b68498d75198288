/// Responses of the server.
extension OutboxMachine {
  package mutating func answered(
    _ key: String, _ answer: MutationAnswer, now: Int64, _ turn: inout Turn
  ) {
    guard let number = numbers[key], var entry = entries[number], !entry.isProblem else { return }
    let name = laneName(of: entry)
    if lanes[name]?.underWay == number { lanes[name]?.underWay = nil }
    let isFirst = firstAttempts.remove(number) != nil
    switch answer {
    case .unauthorised, .noToken, .notSent, .unreachable: break
    case .done, .conflict, .refused, .busy: if entry.owner == user { refusedTokens = 0 }
    }
    switch answer {
    case .done(let id, let body, let version):
      lanes[name]?.failures = 0
      done(entry, id: id, body: body, version: version, &turn)
    case .conflict(let theirs, let version):
      lanes[name]?.failures = 0
      entry.draft.id = canonical(entry.draft.id)
      entry.state = .conflict(theirs: theirs, version: version)
      stop([entry], &turn)
      // Lists show the change over the server's present resource, and the next change is based on
      // it.
      if let theirs = entry.reported {
        turn.write(.adopted(entry, theirs))
        turn.news(.adopted(entry, theirs))
      }
    case .refused(let status, let reason):
      lanes[name]?.failures = 0
      entry.state = .refused(.status(status, reason: reason))
      stop([entry], &turn)
    case .unauthorised:
      guard entry.owner == user else { break }
      // Pause before the next attempt if a newly fetched token is rejected, too.
      if refusedTokens > 0 { pause(name, retryAfter: nil, now: now) }
      refusedTokens += 1
      guard access == .ready else { break }
      access = .asking
      turn.others.append(.needToken)
    case .noToken:
      takeBack(entry, ifFirst: isFirst, &turn)
      if entry.owner == user { access = .signedOut }
    case .notSent:
      takeBack(entry, ifFirst: isFirst, &turn)
      pause(name, retryAfter: nil, now: now)
    case .busy(let retryAfter): pause(name, retryAfter: retryAfter, isBusy: true, now: now)
    case .unreachable: pause(name, retryAfter: nil, now: now)
    }
  }

  /// Allows merging a change again, because no attempt has sent it.
  private mutating func takeBack(
    _ entry: Mutation, ifFirst isFirst: Bool, _ turn: inout Turn
  ) {
    guard isFirst else { return }
    var entry = entry
    entry.isTried = false
    entries[entry.number] = entry
    turn.put(entry)
  }

  private mutating func done(
    _ entry: Mutation, id: ResourceID?, body: [UInt8]?, version: String?, _ turn: inout Turn
  ) {
    let former = thing(of: entry)
    let isCreate = entry.draft.kind == .create
    let real = isCreate ? id.map(canonical) : nil
    let known = real ?? canonical(entry.draft.id)
    remove(entry.number)
    turn.remove(entry.number)
    if isCreate, let name = entry.draft.id.temporaryName {
      if let real, !real.isTemporary {
        learn(name, real, of: former, &turn)
      } else {
        refuse(users(of: name), .unknownID, &turn)
      }
    }
    if let version, isCreate || entry.draft.base != nil {
      rebase(
        ResourceKey(collection: collection(of: entry), id: known),
        from: entry.draft.base, to: version, &turn)
    }
    var made = entry
    made.draft.body = request(for: entry).body
    turn.write(.applied(made, id: known, body: body, version: version))
    turn.news(.done(made, id: known, body: body, version: version))
    dropAliases(&turn)
  }

  /// Records the server's id of a resource, and moves the resource's changes to it.
  private mutating func learn(
    _ name: String, _ id: ResourceID, of former: ResourceKey, _ turn: inout Turn
  ) {
    names[name, default: TemporaryName()].id = id
    aliasOrder.append(name)
    resources[former.collection]?.move(former.id, to: id)
    turn.write(.alias(name: name, id: id))
  }

  package mutating func refuse(_ numbers: [Int64], _ reason: MutationRefusal, _ turn: inout Turn) {
    let refused = numbers.compactMap { number -> Mutation? in
      guard var entry = entries[number], !entry.isProblem else { return nil }
      entry.state = .refused(reason)
      return entry
    }
    stop(refused, &turn)
  }

  /// Rebases waiting changes of a resource after a change of this device has created a new version.
  package mutating func rebase(
    _ thing: ResourceKey, from base: String?, to version: String?, _ turn: inout Turn
  ) {
    for number in changes(of: thing)?.numbers ?? [] {
      guard var entry = entries[number], entry.canChange, entry.draft.base == base,
        entry.draft.kind == .update || entry.draft.kind == .delete
      else { continue }
      entry.draft.base = version
      entries[number] = entry
      turn.put(entry)
    }
  }

  /// Forgets the oldest unused server's id when more than `aliasesMax` are known.
  private mutating func dropAliases(_ turn: inout Turn) {
    guard aliasOrder.count > settings.aliasesMax else { return }
    guard let index = aliasOrder.firstIndex(where: { users(of: $0).isEmpty }) else { return }
    let name = aliasOrder.remove(at: index)
    names[name]?.id = nil
    dropIfUnused(name)
    turn.write(.dropAlias(name: name))
  }
}
