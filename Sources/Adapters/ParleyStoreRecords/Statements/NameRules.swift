import ParleyGatewayPorts
import ParleyJSON

/// The maximum expired reservations that one request deletes.
private let restedMax = 100

/// Names under which notes are published. A withdrawn name rests: it remains reserved for its note
/// for a while.
///
/// A name belongs to a note by the note's number, which is never reused. So a deleted note, or a
/// new note with the same id, does not release the name. `rests` is NULL while the note is
/// published, then the time at which the reservation ends, or 0 while its start is unknown.
struct NameRules<Store: NoteTable> {
  let store: Store

  func reply(to request: NameRequest) throws(StoreError) -> NameReply {
    switch request {
    case .publish(let draft, let limits): return try publish(draft, limits)
    case .withdraw(let note, let now):
      // Lock the note's row, so that no other request publishes it meanwhile.
      let row = try store.existingRow(note)
      store.context.noteTime(now)
      let name = try name(of: row)
      try rest(row.number, from: now)
      return .withdrawn(name)
    case .of(let note):
      guard let row = try store.row(note) else { return .name(nil, in: nil) }
      return .name(try name(of: row), in: row.folder)
    case .open(let name):
      let found = try store.first(
        Self.selectNames + " WHERE n.name = $1 AND n.rests IS NULL", name.text
      ) { (name: Self.name($0), title: $0.text(5)) }
      return found.map { .note($0.name, title: $0.title) } ?? .unknown
    case .list:
      return .names(
        try store.rows(Self.selectNames + " WHERE n.rests IS NULL ORDER BY n.name") {
          Self.name($0)
        })
    }
  }

  private func publish(
    _ draft: PublicName, _ limits: PublicName.Limits
  ) throws(StoreError) -> NameReply {
    let row = try store.existingRow(draft.note)
    let now = draft.createdAt
    store.context.noteTime(now)
    try removeRested(now: now)
    let former = try name(of: row)
    if let former, former.name == draft.name { return .published(former) }
    let found = try store.first(
      "SELECT document, rests FROM public_names WHERE name = $1" + store.locking, draft.name.text
    ) { (document: $0.integer(0), rests: $0.isNull(1) ? nil : Timestamp($0.integer(1))) }
    if let found {
      // Some names whose reservation has ended may not be deleted yet.
      if found.document == row.number || found.rests.map({ $0 > 0 && $0 <= now }) ?? false {
        try store.change("DELETE FROM public_names WHERE name = $1", draft.name.text)
      } else {
        if let rests = found.rests, rests > 0 { return .resting(until: rests) }
        let isKept = found.rests == nil ? try isNote(found.document) : false
        return isKept ? .taken : .resting(until: now + PublicName.reservedMilliseconds)
      }
    }
    guard try hasRoom(for: draft, of: row.number, limits) else { return .tooMany }
    var published = draft
    published.id = former?.id ?? draft.id
    // Two gateways may publish one name at once: the first inserted row wins.
    let made = try store.changedRows(
      """
      INSERT INTO public_names (name, id, document, maker, created, rests)
      VALUES ($1, $2, $3, $4, $5, NULL) ON CONFLICT (name) DO NOTHING
      """, draft.name.text, published.id, row.number, draft.maker, now)
    guard made > 0 else { return .taken }
    try rest(row.number, from: now, except: draft.name)
    return .published(published)
  }

  /// Withdraws the names under which a note is published, except for one.
  private func rest(
    _ document: Int, from now: Timestamp, except name: ReadableName? = nil
  ) throws(StoreError) {
    try store.change(
      "UPDATE public_names SET rests = $1 WHERE document = $2 AND rests IS NULL AND name <> $3",
      now + PublicName.reservedMilliseconds, document, name?.text ?? "")
  }

  /// Withdraws the names of a permanently deleted note. The request has no time, so
  /// ``dateRemoved()`` sets the end of their reservation later.
  func rest(of document: Int) throws(StoreError) {
    try store.change(
      "UPDATE public_names SET rests = 0 WHERE document = $1 AND rests IS NULL", document)
    store.context.upkeep.hasUndatedDeletions = true
    store.context.upkeep.isTimeKnown = false
  }

  /// Sets the end of the reservation of deleted notes' names. Earlier versions of the program
  /// delete notes without withdrawing names.
  func dateRemoved() throws(StoreError) {
    try store.change(
      """
      UPDATE public_names SET rests = $1 WHERE rests = 0 OR rests IS NULL
        AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.number = document)
        AND NOT EXISTS (SELECT 1 FROM deleted_documents d WHERE d.number = document)
      """, max(store.context.upkeep.latestTime, 0) + PublicName.reservedMilliseconds)
  }

  /// Whether a note exists, or is deleted and can be restored.
  private func isNote(_ document: Int) throws(StoreError) -> Bool {
    try store.first(
      """
      SELECT 1 FROM documents WHERE number = $1
      UNION ALL SELECT 1 FROM deleted_documents WHERE number = $1
      """, document
    ) { _ in true } ?? false
  }

  /// Verifies every name.
  func check(_ findings: inout StoreFindings) throws(StoreError) {
    let names = try store.rows(
      "SELECT name, document FROM public_names WHERE rests IS NULL ORDER BY document"
    ) { (name: $0.text(0), document: $0.integer(1)) }
    var last: Int?
    for (name, document) in names {
      if (try? ReadableName(name)).map({ $0.text.isExactly(name) }) != true {
        findings.add(nil, "a note is published under what is no name; \(damageAdvice)")
      }
      if document == last {
        findings.add(nil, "a note is published under two names; withdraw its name")
      }
      last = document
    }
  }

  private func hasRoom(
    for draft: PublicName, of document: Int, _ limits: PublicName.Limits
  ) throws(StoreError) -> Bool {
    if try count("document = $1", document, upTo: limits.ofNote) >= limits.ofNote { return false }
    if !draft.maker.isEmpty,
      try count("maker = $1", draft.maker, upTo: limits.ofMaker) >= limits.ofMaker
    {
      return false
    }
    return try count("created <= $1", Timestamp.max, upTo: limits.overall) < limits.overall
  }

  /// Returns the number of names under a condition, at most `limit`; 0 if `limit` is `Int.max`.
  private func count(
    _ condition: String, _ value: any StoredValue, upTo limit: Int
  ) throws(StoreError) -> Int {
    guard limit < .max else { return 0 }
    return try store.first(
      """
      SELECT count(*) FROM (SELECT 1 FROM public_names WHERE \(condition) LIMIT $2) AS counted
      """, value, limit
    ) { $0.integer(0) } ?? 0
  }

  private func removeRested(now: Timestamp) throws(StoreError) {
    try store.change(
      """
      DELETE FROM public_names WHERE name IN (SELECT name FROM public_names
        WHERE rests > 0 AND rests <= $1 ORDER BY rests LIMIT \(restedMax)\(store.skippingLocked))
      """, now)
  }

  /// Returns the name under which a note is published.
  private func name(of row: DocumentRow) throws(StoreError) -> PublicName? {
    try store.first(
      Self.selectNames + " WHERE n.document = $1 AND n.rests IS NULL", row.number
    ) { Self.name($0) }
  }

  private static var selectNames: String {
    """
    SELECT n.id, n.name, d.id, n.maker, n.created, d.title FROM public_names n
    JOIN documents d ON d.number = n.document
    """
  }

  private static func name(_ row: Store.Row) -> PublicName {
    PublicName(
      id: row.text(0), name: ReadableName(stored: row.text(1)), note: row.name(2),
      maker: row.text(3), createdAt: Timestamp(row.integer(4)))
  }
}
