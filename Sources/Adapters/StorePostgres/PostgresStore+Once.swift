import GatewayPorts
import StoreRecords

/// Work that is done once: answers kept with what they answer, and notes under their makers' ids.
extension PostgresStore {
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
    let found = try query(
      """
      SELECT owner, key, digest, answer, checksum FROM parley.answers
      WHERE owner = $1 AND key = $2 AND expires > $3
      """, asked.owner, asked.key, asked.time)
    guard let row = found.first else { return .unanswered }
    let (digest, answer) = try readAnswer(row)
    return digest == hasher.digest(of: asked) ? .answered(answer) : .keyReused
  }

  func readAnswer(
    _ row: PostgresRow
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
  /// - Returns: Whether there was none that is still valid; if somebody is about to keep one, this waits.
  private func keep(
    _ answer: [UInt8], to asked: KeyedRequest, _ memory: AnswerMemory
  ) throws(StoreError) -> Bool {
    noteRoomTime(asked.time)
    let digest = hasher.digest(of: asked)
    let (expires, overflow) = asked.time.addingReportingOverflow(memory.ageMax)
    // An answer that has expired may still be there under the key.
    change(
      "DELETE FROM parley.answers WHERE owner = $1 AND key = $2 AND expires <= $3", asked.owner,
      asked.key, asked.time)
    let kept = try query(
      """
      INSERT INTO parley.answers (owner, key, digest, answer, checksum, expires)
      VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (owner, key) DO NOTHING RETURNING number
      """, asked.owner, asked.key, digest, Blob(answer),
      hasher.checksum(ofAnswer: answer, owner: asked.owner, key: asked.key, digest),
      overflow ? Timestamp.max : expires)
    guard kept.first != nil else { return false }
    change(
      """
      DELETE FROM parley.answers WHERE owner = $1 AND number <= (SELECT number FROM parley.answers
        WHERE owner = $1 ORDER BY number DESC LIMIT 1 OFFSET $2)
      """, asked.owner, max(memory.countMax, 0))
    return true
  }

  // MARK: Notes

  private func create(
    _ draft: NoteDraft, epoch: String, restMax: Timestamp
  ) throws(StoreError) -> OnceReply {
    let row = try row(draft.id)
    let origin = try query(
      "SELECT owner, title, deleted, expires FROM parley.note_origins WHERE id = $1", draft.id
    ).first
    if let row {
      guard let origin, origin.text(0).utf8.elementsEqual(draft.owner.utf8),
        origin.text(1).utf8.elementsEqual(draft.title.utf8)
      else { return .taken }
      return .found(row.summary)
    }
    // Without a time: deleted since the last look.
    if let origin, origin.integer(2) != 0,
      origin.isNull(3) || Timestamp(origin.integer(3)) > draft.time
    {
      return .deleted
    }
    let note = try create(
      draft.id, epoch: epoch, title: draft.title, time: draft.time, folder: draft.folder)
    change(
      """
      INSERT INTO parley.note_origins (id, owner, title, rest, deleted, expires)
      VALUES ($1, $2, $3, $4, 0, NULL)
      """, draft.id, draft.owner, draft.title, restMax)
    return .created(note)
  }

  // MARK: Housekeeping

  /// Whether notes were deleted whose ids do not know yet until when they rest.
  /// Until then, such an id rests in any case.
  var wantsDating: Bool { hasUndatedDeletions && isTimeKnown }

  /// Has the ids of deleted notes rest from now on.
  func dateDeletions() {
    change(
      """
      UPDATE parley.note_origins SET expires =
        least(rest::numeric + $1, 9223372036854775807)::bigint
      WHERE deleted = 1 AND expires IS NULL
      """, latestTime)
  }
}
