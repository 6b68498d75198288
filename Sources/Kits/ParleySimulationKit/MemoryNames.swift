import ParleyGatewayPorts

/// Names of published notes, in memory.
struct MemoryNames {
  /// A name and its note; `owner` is `nil` for a permanently deleted note.
  private struct Entry {
    var published: PublicName
    var owner: ObjectIdentifier?
    /// `nil` while the note is published, then the end of the reservation; 0 while unknown.
    var rests: Timestamp?
  }

  private var entries: [Entry] = []

  /// - Parameter note: Returns a note and its summary; `nil` if the note does not exist.
  mutating func reply(
    to request: NameRequest,
    note: (DocumentID) -> (owner: ObjectIdentifier, summary: NoteSummary)?
  ) throws(StoreError) -> NameReply {
    switch request {
    case .publish(let draft, let limits):
      guard let note = note(draft.note) else { throw .unknownDocument }
      return publish(draft, of: note.owner, limits)
    case .withdraw(let id, let now):
      guard let owner = note(id)?.owner else { throw .unknownDocument }
      date(now)
      let published = name(of: owner)
      rest(owner, until: now + PublicName.reservedMilliseconds)
      return .withdrawn(published)
    case .of(let id):
      guard let note = note(id) else { return .name(nil, in: nil) }
      return .name(name(of: note.owner), in: note.summary.folder)
    case .open(let name):
      guard let entry = entries.first(where: { $0.rests == nil && $0.published.name == name }),
        let note = note(entry.published.note), note.owner == entry.owner
      else { return .unknown }
      return .note(entry.published, title: note.summary.title)
    case .list:
      let shown = entries.filter {
        $0.rests == nil && note($0.published.note)?.owner == $0.owner
      }
      return .names(
        shown.map(\.published).sorted {
          $0.name.text.utf8.lexicographicallyPrecedes($1.name.text.utf8)
        })
    }
  }

  private mutating func publish(
    _ draft: PublicName, of owner: ObjectIdentifier, _ limits: PublicName.Limits
  ) -> NameReply {
    let now = draft.createdAt
    date(now)
    entries.removeAll { $0.rests.map { $0 <= now } ?? false }
    let former = name(of: owner)
    if let former, former.name == draft.name { return .published(former) }
    if let found = entries.first(where: { $0.published.name == draft.name }), found.owner != owner {
      return found.rests.map { .resting(until: $0) } ?? .taken
    }
    entries.removeAll { $0.published.name == draft.name }
    let ofMaker = draft.maker.isEmpty ? 0 : entries.count { $0.published.maker == draft.maker }
    guard entries.count(where: { $0.owner == owner }) < limits.ofNote, ofMaker < limits.ofMaker,
      entries.count < limits.overall
    else { return .tooMany }
    rest(owner, until: now + PublicName.reservedMilliseconds)
    var published = draft
    published.id = former?.id ?? draft.id
    entries.append(Entry(published: published, owner: owner))
    return .published(published)
  }

  /// Withdraws the names of a permanently deleted note.
  mutating func remove(_ owner: ObjectIdentifier) {
    rest(owner, until: 0)
    for place in entries.indices where entries[place].owner == owner { entries[place].owner = nil }
  }

  private mutating func rest(_ owner: ObjectIdentifier, until time: Timestamp) {
    for place in entries.indices
    where entries[place].owner == owner && entries[place].rests == nil {
      entries[place].rests = time
    }
  }

  /// Sets the end of the reservation of deleted notes' names.
  private mutating func date(_ now: Timestamp) {
    for place in entries.indices where entries[place].rests == 0 {
      entries[place].rests = now + PublicName.reservedMilliseconds
    }
  }

  private func name(of owner: ObjectIdentifier) -> PublicName? {
    entries.first { $0.owner == owner && $0.rests == nil }?.published
  }
}
