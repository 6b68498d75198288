package import ParleyJSON
import ParleyModel

/// Adding changes, and merging those of one resource.
///
/// A change that may have reached the server is never altered, because its key identifies its
/// bytes. Other changes of the resource are merged:
///
/// | waiting | added | result |
/// | --- | --- | --- |
/// | create | update | the create, with the later fields |
/// | update | update on the same version | one update with the later fields, in the later position |
/// | create and other changes | delete | nothing, unless other changes refer to the resource |
/// | updates | delete | the delete |
extension OutboxMachine {
  package mutating func enqueue(
    _ draft: MutationDraft, key: String, _ turn: inout Turn
  ) throws(OutboxError) {
    guard let json = JSONValue(draft.body), draft.hasFittingBody(json) else { throw .notJSON }
    var draft = draft
    draft.id = canonical(draft.id)
    var entry = Mutation(
      number: lastNumber + 1, key: key, user: user.text, draft: draft, isTried: false,
      state: .waiting)
    let earlier = (changes(of: thing(of: entry))?.numbers ?? []).compactMap { entries[$0] }
    if earlier.contains(where: { $0.draft.kind == .delete }) { throw .deleted }
    if draft.kind == .create, !earlier.isEmpty { throw .exists }
    for name in entry.references {
      let creator = creator(of: name).flatMap { entries[$0] }
      guard alias(of: name) != nil || creator?.owner == user else {
        throw .unknownReference(ResourceID(.temporary(name)))
      }
    }
    switch draft.kind {
    case .create, .action: break
    case .update: if try mergeUpdate(&entry, earlier, &turn) { return }
    case .delete: if try mergeDelete(&entry, earlier, &turn) { return }
    }
    try checkRoom(for: entry.byteCount, entries: 1)
    insert(entry)
    if isHeld(entry.number) { hold(entry.number) }
    turn.put(entry)
    turn.news(.queued(key: key))
  }

  /// Merges an update into earlier changes of its resource.
  ///
  /// - Returns: Whether the update was merged into the create.
  private mutating func mergeUpdate(
    _ entry: inout Mutation, _ earlier: [Mutation], _ turn: inout Turn
  ) throws(OutboxError) -> Bool {
    // After an update that could not be merged into the create, no later one is merged into it.
    if let create = earlier.first(where: { $0.draft.kind == .create && $0.canChange }),
      !earlier.contains(where: { $0.draft.kind == .update }), canMerge(entry, into: create)
    {
      var merged = create
      merged.draft.body = Self.merge(create, entry)
      try checkRoom(for: merged.byteCount - create.byteCount, entries: 0)
      replace(merged)
      // The merged create may refer to resources that the former one did not refer to.
      let waiting = [create.number] + followers(of: [create.number])
      if isHeld(create.number) { waiting.forEach { hold($0) } } else { release(waiting) }
      turn.put(merged)
      turn.news(.queued(key: entry.key))
      turn.news(.merged(key: entry.key, into: create.key))
      return true
    }
    if let update = earlier.last(where: { $0.draft.kind == .update && $0.canChange }),
      Self.areOfOneVersion(update, entry)
    {
      entry.draft.body = Self.merge(update, entry)
      entry.draft.base = update.draft.base
      try checkRoom(for: entry.byteCount - update.byteCount, entries: 0)
      drop(update, into: entry.key, &turn)
    }
    return false
  }

  /// Merges a delete with earlier changes of its resource.
  ///
  /// - Returns: Whether nothing is left to send.
  private mutating func mergeDelete(
    _ entry: inout Mutation, _ earlier: [Mutation], _ turn: inout Turn
  ) throws(OutboxError) -> Bool {
    let create = earlier.first { $0.draft.kind == .create && $0.canChange }
    if let create, let name = create.draft.id.temporaryName, isUnused(name, except: earlier) {
      turn.news(.queued(key: entry.key))
      for entry in earlier { drop(entry, into: nil, &turn) }
      turn.news(.merged(key: entry.key, into: nil))
      return true
    }
    try checkRoom(for: entry.byteCount, entries: 1)
    for update in earlier where update.draft.kind == .update && update.canChange {
      entry.draft.base = update.draft.base
      drop(update, into: entry.key, &turn)
    }
    return false
  }

  /// Whether one request can contain the base version of both changes.
  private static func areOfOneVersion(_ earlier: Mutation, _ later: Mutation) -> Bool {
    guard let first = earlier.draft.base, let second = later.draft.base else { return true }
    return first.isExactly(second)
  }

  private mutating func drop(_ entry: Mutation, into key: String?, _ turn: inout Turn) {
    // Changes that follow it no longer wait for the problem that held it.
    let waiting = held.contains(entry.number) ? followers(of: [entry.number]) : []
    remove(entry.number)
    release(waiting)
    turn.remove(entry.number)
    turn.news(.merged(key: entry.key, into: key))
  }

  /// Whether only the given changes refer to a temporary id, and all of them can still be altered.
  private func isUnused(_ name: String, except own: [Mutation]) -> Bool {
    users(of: name).allSatisfy { number in own.contains { $0.number == number } }
      && own.allSatisfy { !$0.isTried && !$0.isProblem }
  }

  /// Whether all resources that an update refers to are created before the resource itself.
  private func canMerge(_ update: Mutation, into create: Mutation) -> Bool {
    let own = create.draft.id.temporaryName
    return update.references.allSatisfy { name in
      if alias(of: name) != nil { return true }
      // A create cannot contain a reference to the resource that it creates.
      if name == own { return !bodyNames(update).contains(name) }
      guard let number = creator(of: name) else { return true }
      return number < create.number
    }
  }

  private func bodyNames(_ entry: Mutation) -> Set<String> {
    JSONValue(entry.draft.body).map { References.names(in: $0) } ?? []
  }

  private static func merge(_ earlier: Mutation, _ later: Mutation) -> [UInt8] {
    guard let first = JSONValue(earlier.draft.body), let second = JSONValue(later.draft.body)
    else { return later.draft.body }
    return Merging.merge(first, with: second).utf8
  }

  private func checkRoom(for bytes: Int, entries count: Int) throws(OutboxError) {
    guard entries.count + count <= settings.entriesMax, byteCount + bytes <= settings.bytesMax
    else { throw .full(entries: entries.count, bytes: byteCount) }
  }
}

extension Mutation {
  /// Whether the change can be altered: it was never sent and is not a problem.
  package var canChange: Bool { !isTried && !isProblem }
}

extension MutationDraft {
  /// Whether the body has the form that the kind requires.
  package func hasFittingBody(_ json: JSONValue) -> Bool {
    switch kind {
    case .create, .update: json.fields != nil
    case .delete, .action: true
    }
  }
}
