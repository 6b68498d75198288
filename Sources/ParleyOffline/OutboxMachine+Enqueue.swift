package import ParleyJSON
import ParleyModel

/// Adding changes, and merging those of one thing.
///
/// A change that may have reached the server is never altered, for its key stands for its bytes. Of
/// the others of one thing:
///
/// | there waits | comes | becomes |
/// | --- | --- | --- |
/// | create | update | the create, with the later fields |
/// | update | update on the same version | one update with the later fields, in the later place |
/// | create, and what was done to the thing | delete | nothing, unless others refer to the thing |
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

  /// Merges an update and earlier changes of its thing.
  ///
  /// - Returns: Whether it became part of the create.
  private mutating func mergeUpdate(
    _ entry: inout Mutation, _ earlier: [Mutation], _ turn: inout Turn
  ) throws(OutboxError) -> Bool {
    // Past an update that could not become part of the create, no later one does either.
    if let create = earlier.first(where: { $0.draft.kind == .create && $0.canChange }),
      !earlier.contains(where: { $0.draft.kind == .update }), canMerge(entry, into: create)
    {
      var merged = create
      merged.draft.body = Self.merge(create, entry)
      try checkRoom(for: merged.byteCount - create.byteCount, entries: 0)
      replace(merged)
      // It may name other things now than it did.
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

  /// Merges a delete and earlier changes of its thing.
  ///
  /// - Returns: Whether nothing is left to do.
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

  /// Whether one request can say on which version both were made.
  private static func areOfOneVersion(_ earlier: Mutation, _ later: Mutation) -> Bool {
    guard let first = earlier.draft.base, let second = later.draft.base else { return true }
    return ExactName(first) == ExactName(second)
  }

  private mutating func drop(_ entry: Mutation, into key: String?, _ turn: inout Turn) {
    // Changes behind it need not wait for what it waited for.
    let waiting = held.contains(entry.number) ? followers(of: [entry.number]) : []
    remove(entry.number)
    release(waiting)
    turn.remove(entry.number)
    turn.news(.merged(key: entry.key, into: key))
  }

  /// Whether nothing but some changes of a thing names it.
  private func isUnused(_ name: String, except own: [Mutation]) -> Bool {
    users(of: name).allSatisfy { number in own.contains { $0.number == number } }
      && own.allSatisfy { !$0.isTried && !$0.isProblem }
  }

  /// Whether everything that an update names is made before the thing that it would become part of.
  private func canMerge(_ update: Mutation, into create: Mutation) -> Bool {
    let own = create.draft.id.temporaryName
    return update.references.allSatisfy { name in
      if alias(of: name) != nil { return true }
      // A thing that names itself cannot do so in its own create.
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
  /// Whether the server cannot have seen it.
  package var canChange: Bool { !isTried && !isProblem }
}

extension MutationDraft {
  /// Whether the body is of the form that the kind asks for.
  package func hasFittingBody(_ json: JSONValue) -> Bool {
    switch kind {
    case .create, .update: json.fields != nil
    case .delete, .action: true
    }
  }
}
