package import ParleyJSON

/// The outbox's part of a store: changes, the server's ids, and stored resources.
extension OfflineStore {
  /// Returns the outbox's state as the last process stored it.
  package func kept() throws(OfflineStoreError) -> OutboxMachine.Kept {
    try perform { (file) throws(OfflineStoreError) in
      var kept = OutboxMachine.Kept()
      let rows = try file.query("SELECT * FROM mutation ORDER BY number").rows { MutationRow($0) }
      for row in rows { kept.entries.append(try row.mutation()) }
      let aliases = try file.query("SELECT name, thing FROM alias ORDER BY place")
        .rows { (name: $0.text(0), id: ResourceID(key: $0.text(1))) }
      for alias in aliases {
        guard let id = alias.id else { throw .damaged("an id that cannot be read") }
        kept.aliases.append((alias.name, id))
      }
      return kept
    }
  }

  /// Performs the machine's writes in one transaction, synced when this returns.
  package func write(_ writes: [OutboxMachine.Write]) throws(OfflineStoreError) {
    try transaction { (file) throws(OfflineStoreError) in
      for write in writes {
        switch write {
        case .put(let entry): try MutationRow.put(entry, in: file)
        case .remove(let number):
          try file.query("DELETE FROM mutation WHERE number = ?").run(.integer(number))
        case .alias(let name, let id):
          try file.query("INSERT OR REPLACE INTO alias (name, thing) VALUES (?, ?)")
            .run(.text(name), .text(id.key))
        case .dropAlias(let name):
          try file.query("DELETE FROM alias WHERE name = ?").run(.text(name))
        case .adopted(let entry, let theirs):
          let collection = Collection(user: entry.user, resource: entry.draft.resource)
          try Self.put(theirs, entry.draft.id, of: collection, in: file)
        case .applied(let entry, let id, let body, _):
          try Self.apply(entry, to: id, answer: body, in: file)
        }
      }
    }
  }

  /// Applies a change that the server made to the stored resource and to the list of all resources.
  private static func apply(
    _ entry: Mutation, to id: ResourceID, answer: [UInt8]?, in file: SQLiteFile
  ) throws(OfflineStoreError) {
    let collection = Collection(user: entry.user, resource: entry.draft.resource)
    let former = try item(id, of: collection, in: file)
    guard
      let item = CachedItem.after(entry.draft, id: id, answer: answer, former: former)
    else { return }
    switch item {
    case .removed:
      try remove(id, of: collection, in: file)
    case .value(let json):
      try put(json, id, of: collection, in: file)
      guard entry.draft.kind == .create else { return }
      guard var things = try listing("", of: collection, in: file), !things.contains(id) else {
        return
      }
      things.append(id)
      try put(things, as: "", of: collection, in: file)
    }
  }
}

/// The state of a resource after a change.
package enum CachedItem {
  case value(JSONValue)
  case removed

  /// Returns the state of a stored resource after a change that the server made; `nil` if unknown.
  package static func after(
    _ draft: MutationDraft, id: ResourceID, answer: [UInt8]?, former: JSONValue?
  ) -> CachedItem? {
    let answer = answer.flatMap { JSONValue($0) }.flatMap { $0.fields == nil ? nil : $0 }
    switch draft.kind {
    case .delete: return .removed
    case .action: return nil
    case .create, .update:
      guard let sent = JSONValue(draft.body) else { return nil }
      var json: JSONValue
      if draft.kind == .create {
        json = sent
      } else if let former {
        json = Merging.merge(former, with: sent)
      } else if let answer, answer.fields?["id"] != nil {
        json = answer
      } else {
        return nil
      }
      if let answer { json = Merging.merge(json, with: answer) }
      let own = JSONValue(JSONFields([.init("id", id.json)]))
      return .value(Merging.merge(json, with: own))
    }
  }
}

/// A row of the table of changes.
private struct MutationRow: Sendable {
  package let number: Int64
  package let texts: [String?]
  package let body: [UInt8]
  package let isTried: Bool
  package let status: Int64
  package let theirs: [UInt8]?

  package init(_ row: SQLiteQuery) {
    number = row.integer(0)
    texts = [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15].map { row.optionalText($0) }
    body = row.bytes(8)
    isTried = row.integer(10) != 0
    status = row.integer(12)
    theirs = row.optionalBytes(14)
  }

  package func mutation() throws(OfflineStoreError) -> Mutation {
    guard let key = texts[0], let user = texts[1], let lane = texts[2],
      let kind = Self.kind(texts[3], texts[4]), let resource = texts[5],
      let id = texts[6].flatMap({ ResourceID(key: $0) }),
      let state = Self.state(texts[8], status, texts[9], theirs, texts[10]),
      JSONValue(body) != nil
    else { throw .damaged("a waiting change that cannot be read") }
    let draft = MutationDraft(kind, resource, id, body: body, base: texts[7], lane: lane)
    return Mutation(
      number: number, key: key, user: user, draft: draft, isTried: isTried, state: state)
  }

  private static func kind(_ name: String?, _ action: String?) -> MutationKind? {
    switch name {
    case "create": .create
    case "update": .update
    case "delete": .delete
    case "action": action.map { .action($0) }
    default: nil
    }
  }

  private static func state(
    _ name: String?, _ status: Int64, _ reason: String?, _ theirs: [UInt8]?, _ version: String?
  ) -> Mutation.State? {
    switch name {
    case "waiting": .waiting
    case "conflict": .conflict(theirs: theirs, version: version)
    case "refused": .refused(.status(Int(status), reason: reason))
    case "missing": .refused(.missingReference)
    case "unknown": .refused(.unknownID)
    default: nil
    }
  }

  package static func put(_ entry: Mutation, in file: SQLiteFile) throws(OfflineStoreError) {
    let draft = entry.draft
    let (kind, action): (String, String?) =
      switch draft.kind {
      case .create: ("create", nil)
      case .update: ("update", nil)
      case .delete: ("delete", nil)
      case .action(let name): ("action", name)
      }
    var state = "waiting"
    var status: Int64 = 0
    var (reason, version): (String?, String?)
    var theirs: [UInt8]?
    switch entry.state {
    case .waiting: break
    case .conflict(let json, let number): (state, theirs, version) = ("conflict", json, number)
    case .refused(.status(let number, let words)):
      (state, status, reason) = ("refused", Int64(number), words)
    case .refused(.missingReference): state = "missing"
    case .refused(.unknownID): state = "unknown"
    }
    try file.query(
      """
      INSERT OR REPLACE INTO mutation
        (number, key, user, lane, kind, action, resource, thing, body, base, tried,
         state, status, reason, theirs, version)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      .integer(entry.number), .text(entry.key), .text(entry.user), .text(draft.lane), .text(kind),
      .optional(action), .text(draft.resource), .text(draft.id.key), .bytes(draft.body),
      .optional(draft.base), .integer(entry.isTried ? 1 : 0), .text(state), .integer(status),
      .optional(reason), .optional(theirs), .optional(version))
  }
}
