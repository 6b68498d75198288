import GatewayPorts
import StoreRecords

/// Work that is done once: answers kept with what they answer, and notes under their makers' ids.
extension SQLiteStore {
  func reply(to request: OnceRequest) throws(StoreError) -> StoreReply {
    switch request {
    case .answer(let asked, _):
      noteRoomTime(asked.time)
      return .once(try answer(to: asked))
    case .perform(let work, let drafts, let memory):
      let reply = reply(to: work)
      guard reply.isDone else { return reply }
      for draft in drafts {
        guard let answer = draft.write(reply) else { continue }
        try keep(answer, to: draft.request, memory)
      }
      return reply
    case .create(let draft, let epoch, let restMax):
      noteRoomTime(draft.time)
      return .once(try create(draft, epoch: epoch, restMax: restMax))
    }
  }

  // MARK: Answers

  private func answer(to asked: KeyedRequest) throws(StoreError) -> OnceReply {
    let found = try sql(
      """
      SELECT owner, key, digest, answer, checksum FROM answers
      WHERE owner = ? AND key = ? AND expires > ?
      """
    ).first(asked.owner, asked.key, asked.time) {
      row throws(StoreError) in try readAnswer(row)
    }
    guard let found else { return .unanswered }
    return found.digest == hasher.digest(of: asked) ? .answered(found.answer) : .keyReused
  }

  private func readAnswer(
    _ row: SQLiteStatement
  ) throws(StoreError) -> (digest: RecordChecksum, answer: [UInt8]) {
    let answer = row.bytes(3)
    guard let digest = row.withBytes(2, { RecordChecksum($0) }),
      row.withBytes(4, { RecordChecksum($0) })
        == hasher.checksum(ofAnswer: answer, owner: row.text(0), key: row.text(1), digest)
    else { throw .damaged("a kept answer differs from its checksum; \(damageAdvice)") }
    return (digest, answer)
  }

  private func keep(
    _ answer: [UInt8], to asked: KeyedRequest, _ memory: AnswerMemory
  ) throws(StoreError) {
    noteRoomTime(asked.time)
    let digest = hasher.digest(of: asked)
    let (expires, overflow) = asked.time.addingReportingOverflow(memory.ageMax)
    // An answer that has expired may still be there under the key.
    try sql(
      """
      INSERT OR REPLACE INTO answers (owner, key, digest, answer, checksum, expires)
      VALUES (?, ?, ?, ?, ?, ?)
      """
    ).run(
      asked.owner, asked.key, digest, answer,
      hasher.checksum(ofAnswer: answer, owner: asked.owner, key: asked.key, digest),
      overflow ? Timestamp.max : expires)
    try sql(
      """
      DELETE FROM answers WHERE owner = ?1 AND number <=
        (SELECT number FROM answers WHERE owner = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)
      """
    ).run(asked.owner, max(memory.countMax, 0))
  }

  // MARK: Notes

  private func create(
    _ draft: NoteDraft, epoch: String, restMax: Timestamp
  ) throws(StoreError) -> OnceReply {
    let origin = try sql("SELECT owner, title, deleted, expires FROM note_origins WHERE id = ?")
      .first(draft.id) { row in
        (
          owner: row.text(0), title: row.text(1), isDeleted: row.integer(2) != 0,
          // Without a time: deleted since the last look.
          expires: row.isNull(3) ? Timestamp.max : Timestamp(row.integer(3))
        )
      }
    if let row = try row(draft.id) {
      guard let origin, origin.owner.utf8.elementsEqual(draft.owner.utf8),
        origin.title.utf8.elementsEqual(draft.title.utf8)
      else { return .taken }
      return .found(row.summary)
    }
    if let origin, origin.isDeleted, origin.expires > draft.time { return .deleted }
    let note = try create(
      draft.id, epoch: epoch, title: draft.title, time: draft.time, folder: draft.folder)
    try sql(
      """
      INSERT OR REPLACE INTO note_origins (id, owner, title, rest, deleted, expires)
      VALUES (?, ?, ?, ?, 0, NULL)
      """
    ).run(draft.id, draft.owner, draft.title, restMax)
    return .created(note)
  }

  // MARK: Housekeeping

  /// Whether notes were deleted whose ids do not know yet until when they rest.
  /// Until then, such an id rests in any case.
  var wantsDating: Bool { hasUndatedDeletions && isTimeKnown }

  /// Has the ids of deleted notes rest from now on.
  func dateDeletions() throws(StoreError) {
    try sql("UPDATE note_origins SET expires = rest + ? WHERE deleted = 1 AND expires IS NULL").run(
      latestTime)
    hasUndatedDeletions = false
  }

  /// Removes some of what has expired.
  ///
  /// - Returns: Whether that was all.
  func removeExpiredAnswers() throws(StoreError) -> Bool {
    try sql(
      """
      DELETE FROM answers WHERE number IN
        (SELECT number FROM answers WHERE expires <= ? ORDER BY expires LIMIT 500)
      """
    ).run(believedRoomTime)
    var isDone = connection.changedRows == 0
    try sql(
      """
      DELETE FROM note_origins WHERE id IN
        (SELECT id FROM note_origins WHERE deleted = 1 AND expires <= ? LIMIT 500)
      """
    ).run(believedRoomTime)
    isDone = isDone && connection.changedRows == 0
    return isDone
  }

  /// Reads every kept answer.
  func checkAnswers(_ findings: inout StoreFindings) {
    do throws(StoreError) {
      var last = 0
      while true {
        let numbers = try sql(
          """
          SELECT owner, key, digest, answer, checksum, number FROM answers WHERE number > ?
          ORDER BY number LIMIT 500
          """
        ).rows(last) {
          row throws(StoreError) in
          _ = try readAnswer(row)
          return row.integer(5)
        }
        guard let end = numbers.last else { return }
        last = end
      }
    } catch {
      findings.add(nil, error)
    }
  }
}
