import GatewayPorts

/// Work that is done once: answers kept with what they answer, and notes under their makers' ids.
extension SQLStore {
  func reply(to request: OnceRequest) throws(StoreError) -> StoreReply {
    switch request {
    case .answer(let asked, _):
      noteRoomTime(asked.time)
      return .once(try answer(to: asked))
    case .perform(let work, let drafts, let memory):
      let reply = reply(to: work)
      guard reply.isDone else { return reply }
      var elsewhere: [Int] = []
      for (place, draft) in drafts.enumerated() {
        guard let answer = draft.write(reply) else { continue }
        if try !keep(answer, to: draft.request, memory) { elsewhere.append(place) }
      }
      // Another gateway has done these since the answer was looked for: this doing is taken back.
      return elsewhere.isEmpty ? reply : .failed(.answeredElsewhere(elsewhere))
    case .create(let draft, let epoch, let restMax):
      noteRoomTime(draft.time)
      return .once(try create(draft, epoch: epoch, restMax: restMax))
    }
  }

  // MARK: Answers

  private func answer(to asked: KeyedRequest) throws(StoreError) -> OnceReply {
    let found = try first(
      """
      SELECT owner, key, digest, answer, checksum FROM answers
      WHERE owner = $1 AND key = $2 AND expires > $3
      """, asked.owner, asked.key, asked.time
    ) { row throws(StoreError) in try readAnswer(row) }
    guard let found else { return .unanswered }
    return found.digest == hasher.digest(of: asked) ? .answered(found.answer) : .keyReused
  }

  private func readAnswer(
    _ row: Row
  ) throws(StoreError) -> (digest: RecordChecksum, answer: [UInt8]) {
    let answer = row.bytes(3)
    guard let digest = row.withBytes(2, { RecordChecksum($0) }),
      row.withBytes(4, { RecordChecksum($0) })
        == hasher.checksum(ofAnswer: answer, owner: row.text(0), key: row.text(1), digest)
    else { throw .damaged("a kept answer differs from its checksum; \(damageAdvice)") }
    return (digest, answer)
  }

  /// Keeps an answer.
  ///
  /// - Returns: Whether no valid answer was kept before; if another request is about to keep one,
  ///   this waits.
  private func keep(
    _ answer: [UInt8], to asked: KeyedRequest, _ memory: AnswerMemory
  ) throws(StoreError) -> Bool {
    noteRoomTime(asked.time)
    let digest = hasher.digest(of: asked)
    let (expires, overflow) = asked.time.addingReportingOverflow(memory.ageMax)
    let kept = try keep(
      answer, digest, hasher.checksum(ofAnswer: answer, owner: asked.owner, key: asked.key, digest),
      to: asked, until: overflow ? Timestamp.max : expires)
    guard kept else { return false }
    try change(
      """
      DELETE FROM answers WHERE owner = $1 AND number <= (SELECT number FROM answers
        WHERE owner = $1 ORDER BY number DESC LIMIT 1 OFFSET $2)
      """, asked.owner, max(memory.countMax, 0))
    return true
  }

  // MARK: Notes

  private func create(
    _ draft: NoteDraft, epoch: String, restMax: Timestamp
  ) throws(StoreError) -> OnceReply {
    let row = try row(draft.id)
    let origin = try first(
      "SELECT owner, title, deleted, expires FROM note_origins WHERE id = $1", draft.id
    ) { row in
      (
        owner: row.text(0), title: row.text(1), isDeleted: row.integer(2) != 0,
        // Without a time: deleted since the last look.
        expires: row.isNull(3) ? Timestamp.max : Timestamp(row.integer(3))
      )
    }
    if let row {
      guard let origin, origin.owner.utf8.elementsEqual(draft.owner.utf8),
        origin.title.utf8.elementsEqual(draft.title.utf8)
      else { return .taken }
      return .found(row.summary)
    }
    if let origin, origin.isDeleted, origin.expires > draft.time { return .deleted }
    let note = try create(
      draft.id, epoch: epoch, title: draft.title, time: draft.time, folder: draft.folder)
    try change(
      """
      INSERT INTO note_origins (id, owner, title, rest, deleted, expires)
      VALUES ($1, $2, $3, $4, 0, NULL)
      """, draft.id, draft.owner, draft.title, restMax)
    return .created(note)
  }

  // MARK: Housekeeping

  /// Whether notes were deleted whose ids and names do not know yet until when they rest.
  /// Until then, they rest in any case.
  var wantsDating: Bool { upkeep.hasUndatedDeletions && upkeep.isTimeKnown }

  /// Has the ids of deleted notes rest from now on, and the names of removed ones.
  func dateDeletions() throws(StoreError) {
    try dateNames()
    try change(
      """
      UPDATE note_origins SET expires = CASE WHEN rest > $1 THEN $2 ELSE rest + $3 END
      WHERE deleted = 1 AND expires IS NULL
      """, Timestamp.max - max(upkeep.latestTime, 0), Timestamp.max, upkeep.latestTime)
  }

  /// Reads every kept answer.
  func checkAnswers() throws(StoreError) {
    var last = 0
    while true {
      let numbers = try rows(
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
