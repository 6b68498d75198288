public import GatewayPorts
import Hashing
import StoreRecords

/// The outbox: events for outside services, in the same database as the changes they report.
///
/// Numbers come from a sequence, so nobody waits for another's commit to know the next. A commit
/// that is late brings a number that is lower than some that are there; events about one subject
/// keep their order, for who tells of a note or a room has locked its row.
extension PostgresStore {
  /// Keeps what is to be told of a request, within the request's own part of the transaction.
  func recorded(_ reply: StoreReply, to request: StoreRequest) -> StoreReply {
    guard let outboxRules, reply.isDone else { return reply }
    do throws(StoreError) {
      for draft in outboxRules.scribe.drafts(for: request, reply) { try add(draft) }
      return reply
    } catch {
      return .failed(error)
    }
  }

  /// Does a piece of work in a transaction of its own.
  public func perform(_ request: OutboxRequest) -> OutboxReply {
    do throws(StoreError) {
      switch request {
      case .take(let target, let limit, let bytesMax, let now):
        guard try isSender(to: target) else { return .events([]) }
        try releaseDue(target, now: now)
        return .events(
          try reading { () throws(StoreError) in
            try oldest(for: target, limit: limit, bytesMax: bytesMax)
          })
      case .settle(let told, let givenUp, let reason, let now, let drafts):
        try transaction { () throws(StoreError) in
          let isOwn = try hold(told)
          if isOwn { for event in told { _ = try remove(event) } }
          for event in givenUp where try remove(event) {
            bury(DeadLetter(event: event, time: now, reason: reason))
          }
          if isOwn { for draft in drafts { try add(draft) } }
        }
        return .done
      case .deadLetters(let limit):
        return .deadLetters(
          try reading { () throws(StoreError) in try deadLetters(limit: limit) })
      }
    } catch {
      return .failed(error)
    }
  }

  /// Returns the state of each queue that may have changed since the last call, and of all at the
  /// first.
  public func takeOutboxChanges() -> [OutboxTarget: OutboxStanding] {
    guard !changedTargets.isEmpty else { return [:] }
    var standings: [OutboxTarget: OutboxStanding] = [:]
    let targets = changedTargets
    do throws(StoreError) {
      try reading { () throws(StoreError) in
        for target in targets { standings[target] = try standing(of: target) }
      }
      changedTargets = []
    } catch {
      // It is asked for again after the next batch.
      return [:]
    }
    return standings
  }

  /// Whether this store is the one of those that share the database that takes a queue's events, so that
  /// each is told by one node and in order. A lock says so, which falls with the connection; then another
  /// node that asks has it, and tells again what was not settled.
  private func isSender(to target: OutboxTarget) throws(StoreError) -> Bool {
    guard isShared, !sending.contains(target) else { return true }
    let isHeld = try reading { () throws(StoreError) in
      try query(
        "SELECT pg_try_advisory_lock(\(PostgresSchema.outboxLockSpace), \(target.rawValue))"
      ).first?.bool(0) == true
    }
    if isHeld { sending.insert(target) }
    return isHeld
  }

  // MARK: Adding

  package func add(_ draft: OutboxDraft) throws(StoreError) {
    changedTargets.insert(draft.target)
    if draft.releasesHeld {
      let held = try query(
        """
        DELETE FROM parley.outbox_held WHERE target = $1 AND subject = $2
        RETURNING subject, type, time, data, due
        """, draft.target.rawValue, draft.subject)
      try enqueue(held, for: draft.target)
    }
    guard draft.holdMilliseconds <= 0 else { return hold(draft) }
    try enqueue(draft)
  }

  private func hold(_ draft: OutboxDraft) {
    let (due, overflow) = draft.time.addingReportingOverflow(draft.holdMilliseconds)
    change(
      """
      INSERT INTO parley.outbox_held (target, subject, type, since, due, time, data)
      VALUES ($1, $2, $3, $4, $5, $4, $6)
      ON CONFLICT (target, subject, type) DO UPDATE SET time = excluded.time, data = excluded.data
      """, draft.target.rawValue, draft.subject, draft.type, draft.time,
      overflow ? Int64.max : due, Blob(draft.data))
  }

  /// Puts what was held back into its queue, what is due first.
  private func enqueue(_ held: PostgresResult, for target: OutboxTarget) throws(StoreError) {
    let drafts = held.rows { row in
      (
        due: row.integer(4),
        draft: OutboxDraft(
          target: target, type: row.text(1), subject: row.text(0),
          time: Timestamp(row.integer(2)), data: row.bytes(3))
      )
    }
    for held in drafts.sorted(by: { $0.due < $1.due }) { try enqueue(held.draft) }
  }

  private func enqueue(_ draft: OutboxDraft) throws(StoreError) {
    change(
      """
      INSERT INTO parley.outbox (target, id, type, subject, time, data)
      VALUES ($1, $2, $3, $4, $5, $6)
      """, draft.target.rawValue, freshName(), draft.type, draft.subject, draft.time,
      Blob(draft.data))
    try crowdOut(draft.target, now: draft.time)
  }

  /// Gives up the oldest events of a queue that is too long.
  private func crowdOut(_ target: OutboxTarget, now: Timestamp) throws(StoreError) {
    guard let queuedMax = outboxRules?.queuedMax else { return }
    // To count goes through all of a full queue: it is done at first, and for each hundredth part of one.
    let added = (uncounted[target] ?? queuedMax / 100) + 1
    uncounted[target] = added > queuedMax / 100 ? 0 : added
    guard uncounted[target] == 0 else { return }
    let found = try query(
      """
      SELECT coalesce(max(number) - min(number) + 1, 0) FROM parley.outbox WHERE target = $1
      """, target.rawValue)
    // Numbers may have gaps: this is how many there are at most.
    guard let spread = found.first?.integer(0), spread > max(queuedMax, 1) else { return }
    let counted = try query("SELECT count(*) FROM parley.outbox WHERE target = $1", target.rawValue)
    let beyond = (counted.first?.integer(0) ?? 0) - max(queuedMax, 1)
    guard beyond > 0 else { return }
    for event in try oldest(for: target, limit: beyond, bytesMax: .max) where try remove(event) {
      bury(DeadLetter(event: event, time: now, reason: .crowdedOut))
      crowdedOut[target, default: 0] += 1
    }
  }

  // MARK: Held back

  private func releaseDue(_ target: OutboxTarget, now: Timestamp) throws(StoreError) {
    // Who takes goes by when the next one is due, and has to be told it anew.
    changedTargets.insert(target)
    // One from further ahead than it is held was kept before the clock was set back. It is due last, so that the
    // last one says whether there are such. A little ahead is what was committed since the caller read its clock.
    let isAhead = "since - (due::numeric - since) > $2"
    let found = try reading { () throws(StoreError) in
      try query(
        """
        SELECT EXISTS (SELECT 1 FROM parley.outbox_held WHERE target = $1 AND due <= $2),
          (SELECT \(isAhead) FROM parley.outbox_held WHERE target = $1 ORDER BY due DESC LIMIT 1)
        """, target.rawValue, now
      ).first.map { (isDue: $0.bool(0), hasAhead: !$0.isNull(1) && $0.bool(1)) }
    }
    // Nothing is written where nothing is due.
    guard let found, found.isDue || found.hasAhead else { return }
    try transaction { () throws(StoreError) in
      let held = try query(
        """
        DELETE FROM parley.outbox_held
        WHERE target = $1 AND (due <= $2 \(found.hasAhead ? "OR \(isAhead)" : ""))
        RETURNING subject, type, time, data, due
        """, target.rawValue, now)
      try enqueue(held, for: target)
    }
  }

  // MARK: Reading

  private func oldest(
    for target: OutboxTarget, limit: Int, bytesMax: Int
  ) throws(StoreError) -> [OutboxEvent] {
    var events: [OutboxEvent] = []
    var bytes = 0
    for event in try query(
      """
      SELECT number, id, type, subject, time, data FROM
        (SELECT *, sum(octet_length(data)) OVER (ORDER BY number) - octet_length(data) AS before
          FROM (SELECT * FROM parley.outbox WHERE target = $1 ORDER BY number LIMIT $2) AS oldest)
        AS summed
      WHERE before <= $3 ORDER BY number
      """, target.rawValue, max(limit, 1), bytesMax
    ).rows({ Self.event($0, target) }) {
      bytes += event.data.count
      guard events.isEmpty || bytes <= bytesMax else { break }
      events.append(event)
    }
    return events
  }

  private static func event(_ row: PostgresRow, _ target: OutboxTarget) -> OutboxEvent {
    OutboxEvent(
      number: row.integer(0), id: row.text(1), target: target, type: row.text(2),
      subject: row.text(3), time: Timestamp(row.integer(4)), data: row.bytes(5))
  }

  private func standing(of target: OutboxTarget) throws(StoreError) -> OutboxStanding {
    var standing = OutboxStanding()
    let found = try query(
      """
      SELECT (SELECT count(*) FROM parley.outbox WHERE target = $1),
        (SELECT time FROM parley.outbox WHERE target = $1 ORDER BY number LIMIT 1),
        (SELECT min(due) FROM parley.outbox_held WHERE target = $1),
        (SELECT count(*) FROM parley.dead_letters WHERE target = $1)
      """, target.rawValue)
    standing.crowdedOut = crowdedOut[target] ?? 0
    guard let row = found.first else { return standing }
    standing.queued = row.integer(0)
    if !row.isNull(1) { standing.oldest = Timestamp(row.integer(1)) }
    if !row.isNull(2) { standing.nextDue = Timestamp(row.integer(2)) }
    standing.deadLetters = row.integer(3)
    return standing
  }

  // MARK: Having done

  /// Locks events that were told; whether all of them are there, and no other gateway has done with one.
  private func hold(_ events: [OutboxEvent]) throws(StoreError) -> Bool {
    for target in Set(events.map(\.target)) {
      let told = events.filter { $0.target == target }
      let found = try query(
        """
        SELECT id FROM parley.outbox WHERE target = $1 AND number = ANY ($2)
        ORDER BY number FOR UPDATE
        """, target.rawValue, told.map(\.number)
      ).rows { $0.text(0) }
      guard Set(told.map(\.id)).isSubset(of: found) else { return false }
    }
    return true
  }

  /// Removes an event; whether it was there.
  private func remove(_ event: OutboxEvent) throws(StoreError) -> Bool {
    changedTargets.insert(event.target)
    return try query(
      "DELETE FROM parley.outbox WHERE target = $1 AND number = $2 AND id = $3",
      event.target.rawValue, event.number, event.id
    ).changedRows > 0
  }

  private func bury(_ letter: DeadLetter) {
    changedTargets.insert(letter.event.target)
    change(
      """
      INSERT INTO parley.dead_letters (target, place, id, type, subject, time, data, died, reason)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      """, letter.event.target.rawValue, letter.event.number, letter.event.id, letter.event.type,
      letter.event.subject, letter.event.time, Blob(letter.event.data), letter.time,
      letter.reason.rawValue)
    guard let deadLettersMax = outboxRules?.deadLettersMax else { return }
    change(
      """
      DELETE FROM parley.dead_letters WHERE number <= (SELECT number FROM parley.dead_letters
        ORDER BY number DESC LIMIT 1 OFFSET $1)
      """, max(deadLettersMax, 0))
  }

  private func deadLetters(limit: Int) throws(StoreError) -> [DeadLetter] {
    try query(
      """
      SELECT place, id, type, subject, time, data, target, died, reason FROM parley.dead_letters
      ORDER BY number DESC LIMIT $1
      """, max(limit, 0)
    ).rows { (row) throws(StoreError) in
      guard let target = OutboxTarget(rawValue: row.integer(6)),
        let reason = DeadLetter.Reason(rawValue: row.integer(8))
      else { throw .damaged("a dead letter has an unknown target or reason; \(damageAdvice)") }
      return DeadLetter(
        event: Self.event(row, target), time: Timestamp(row.integer(7)), reason: reason)
    }
  }
}
