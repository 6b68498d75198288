package import ParleyGatewayPorts
import ParleyStoreRecords

/// The outbox: events for external services, in the same file as the changes that they report.
extension SQLiteDatabase: QueueTable {
  private var events: EventRules<SQLiteDatabase> { EventRules(store: self) }

  /// Always true: no other node uses the database.
  package func isSender(to target: OutboxTarget) -> Bool { true }

  package func enqueue(_ draft: OutboxDraft) throws(StoreError) {
    let last = try newest(of: draft.target)
    let number = (last?.number ?? 0) + 1
    try change(
      """
      INSERT INTO outbox (target, number, id, type, subject, time, data)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      """, draft.target.rawValue, number, freshName(), draft.type, draft.subject, draft.time,
      Blob(draft.data))
    try crowdOut(draft.target, last: number, now: draft.time)
  }

  /// Moves the oldest events of a queue to the dead letters until the queue is short enough.
  private func crowdOut(
    _ target: OutboxTarget, last: Int, now: Timestamp
  ) throws(StoreError) {
    guard target != .mail, let queuedMax = context.outboxRules?.queuedMax else { return }
    while let first = try oldest(of: target),
      last - first.number >= max(queuedMax, 1),
      let oldest = try events.oldest(for: target, limit: 1, bytesMax: .max).first
    {
      if try events.remove(oldest) {
        try events.bury(DeadLetter(event: oldest, time: now, reason: .queueFull))
        overflowed[target, default: 0] += 1
      }
    }
  }

  private func oldest(
    of target: OutboxTarget
  ) throws(StoreError) -> (number: Int, time: Timestamp)? {
    try first(
      "SELECT number, time FROM outbox WHERE target = $1 ORDER BY number LIMIT 1", target.rawValue
    ) { ($0.integer(0), Timestamp($0.integer(1))) }
  }

  private func newest(
    of target: OutboxTarget
  ) throws(StoreError) -> (number: Int, time: Timestamp)? {
    try first(
      "SELECT number, time FROM outbox WHERE target = $1 ORDER BY number DESC LIMIT 1",
      target.rawValue
    ) { ($0.integer(0), Timestamp($0.integer(1))) }
  }

  package func standing(of target: OutboxTarget) throws(StoreError) -> OutboxQueueState {
    var standing = OutboxQueueState()
    if let oldest = try oldest(of: target), let newest = try newest(of: target) {
      standing.queued = newest.number - oldest.number + 1
      standing.oldest = oldest.time
    }
    standing.nextDue = try first(
      "SELECT due FROM outbox_held WHERE target = $1 ORDER BY due LIMIT 1", target.rawValue
    ) { Timestamp($0.integer(0)) }
    standing.overflowed = overflowed[target] ?? 0
    if deadLetterCounts[target] == nil {
      deadLetterCounts[target] = try first(
        "SELECT count(*) FROM dead_letters WHERE target = $1", target.rawValue
      ) { $0.integer(0) }
    }
    standing.deadLetters = deadLetterCounts[target] ?? 0
    return standing
  }

  package func holds(_ events: [OutboxEvent]) throws(StoreError) -> Bool {
    for event in events {
      let found = try first(
        "SELECT 1 FROM outbox WHERE target = $1 AND number = $2 AND id = $3", event.target.rawValue,
        event.number, event.id
      ) { _ in true }
      guard found != nil else { return false }
    }
    return true
  }

  package func noteRefused(_ target: OutboxTarget) { overflowed[target, default: 0] += 1 }

  /// Discards all counts: storing a dead letter may delete the oldest one of any target.
  package func noteBuried() { deadLetterCounts = [:] }
}
