import ParleyGatewayPorts
import ParleyJSON

/// Requests that are performed once: stored answers by key, and notes by their creators' ids.
struct OnceRules<Store: AnswerTable> {
  let store: Store
  private var notes: NoteRules<Store> { NoteRules(store: store) }
  private var names: NameRules<Store> { NameRules(store: store) }
  private var times: RoomTimes<Store> { RoomTimes(store: store) }

  /// Returns the stored answer to a request; see ``kept(_:_:_:)`` for storing one.
  func answer(_ asked: KeyedRequest) throws(StoreError) -> StoreReply {
    times.note(asked.time)
    return .once(try answer(to: asked))
  }

  /// Stores the answers to a request that was performed.
  ///
  /// - Returns: The reply to the request.
  func kept(
    _ reply: StoreReply, _ drafts: [AnswerDraft], _ retention: AnswerRetention
  ) throws(StoreError) -> StoreReply {
    guard reply.isDone else { return reply }
    var elsewhere: [Int] = []
    for (place, draft) in drafts.enumerated() {
      guard let answer = draft.write(reply) else { continue }
      if try !keep(answer, to: draft.request, retention) { elsewhere.append(place) }
    }
    // Another gateway has stored these answers since the lookup: this request is rolled back.
    return elsewhere.isEmpty ? reply : .failed(.answeredElsewhere(elsewhere))
  }

  // MARK: Answers

  private func answer(to asked: KeyedRequest) throws(StoreError) -> OnceReply {
    let found = try store.first(
      """
      SELECT owner, key, digest, answer, checksum FROM answers
      WHERE owner = $1 AND key = $2 AND expires > $3
      """, asked.owner, asked.key, asked.time
    ) { row throws(StoreError) in try readAnswer(row) }
    guard let found else { return .unanswered }
    return found.digest == store.context.hasher.digest(of: asked)
      ? .answered(found.answer) : .keyReused
  }

  private func readAnswer(
    _ row: Store.Row
  ) throws(StoreError) -> (digest: RecordChecksum, answer: [UInt8]) {
    let answer = row.bytes(3)
    guard let digest = row.withBytes(2, { RecordChecksum($0) }),
      row.withBytes(4, { RecordChecksum($0) })
        == store.context.hasher.checksum(
          ofAnswer: answer, owner: row.text(0), key: row.text(1), digest)
    else { throw .damaged("a stored response differs from its checksum; \(damageAdvice)") }
    return (digest, answer)
  }

  /// Stores an answer.
  ///
  /// - Returns: Whether no valid answer was stored before. Waits for another transaction that is
  ///   storing an answer with this key.
  private func keep(
    _ answer: [UInt8], to asked: KeyedRequest, _ retention: AnswerRetention
  ) throws(StoreError) -> Bool {
    times.note(asked.time)
    let digest = store.context.hasher.digest(of: asked)
    let (expires, overflow) = asked.time.addingReportingOverflow(retention.ageMax)
    let kept = try store.keep(
      answer, digest,
      store.context.hasher.checksum(ofAnswer: answer, owner: asked.owner, key: asked.key, digest),
      to: asked, until: overflow ? Timestamp.max : expires)
    guard kept else { return false }
    try store.change(
      """
      DELETE FROM answers WHERE owner = $1 AND number <= (SELECT number FROM answers
        WHERE owner = $1 ORDER BY number DESC LIMIT 1 OFFSET $2)
      """, asked.owner, max(retention.countMax, 0))
    return true
  }

  // MARK: Notes

  func create(
    _ draft: NoteDraft, epoch: Epoch, restMax: Timestamp
  ) throws(StoreError) -> OnceReply {
    times.note(draft.time)
    let row = try store.row(draft.id)
    let origin = try store.first(
      "SELECT owner, title, deleted, expires FROM note_origins WHERE id = $1", draft.id
    ) { row in
      (
        owner: row.text(0), title: row.text(1), isDeleted: row.integer(2) != 0,
        // NULL: the note was deleted after the last housekeeping.
        expires: row.isNull(3) ? Timestamp.max : Timestamp(row.integer(3))
      )
    }
    if let row {
      guard let origin, origin.owner.isExactly(draft.owner),
        origin.title.isExactly(draft.title)
      else { return .taken }
      return .found(row.summary)
    }
    if let origin, origin.isDeleted, origin.expires > draft.time { return .deleted }
    let note = try notes.create(
      draft.id, epoch: epoch, title: draft.title, time: draft.time, folder: draft.folder,
      kind: draft.kind)
    try store.change(
      """
      INSERT INTO note_origins (id, owner, title, rest, deleted, expires)
      VALUES ($1, $2, $3, $4, 0, NULL)
      """, draft.id, draft.owner, draft.title, restMax)
    return .created(note)
  }

  // MARK: Housekeeping

  /// Whether the reservations of deleted notes' ids and names still need an end. Until it is set,
  /// they remain reserved.
  var wantsDating: Bool {
    store.context.upkeep.hasUndatedDeletions && store.context.upkeep.isTimeKnown
  }

  /// Sets the end of reservations of deleted notes' ids, and of permanently deleted notes' names.
  func dateDeletions() throws(StoreError) {
    try names.dateRemoved()
    try store.change(
      """
      UPDATE note_origins SET expires = CASE WHEN rest > $1 THEN $2 ELSE rest + $3 END
      WHERE deleted = 1 AND expires IS NULL
      """, Timestamp.max - max(store.context.upkeep.latestTime, 0), Timestamp.max,
      store.context.upkeep.latestTime)
  }

  /// Verifies every stored answer.
  func check() throws(StoreError) {
    var last = 0
    while true {
      let numbers = try store.rows(
        """
        SELECT owner, key, digest, answer, checksum, number FROM answers WHERE number > $1
        ORDER BY number LIMIT 500
        """, last
      ) { row throws(StoreError) in
        _ = try readAnswer(row)
        return row.integer(5)
      }
      guard let end = numbers.last else { return }
      last = end
    }
  }
}
