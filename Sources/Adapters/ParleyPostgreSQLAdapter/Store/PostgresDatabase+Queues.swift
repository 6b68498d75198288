package import ParleyGatewayPorts
import ParleyStoreRecords

/// The outbox: events for external services, in the same database as the changes that they report.
///
/// Numbers come from a sequence, so commits do not wait for each other. A late commit may therefore
/// add an event with a lower number than existing ones. Events about one subject are in order,
/// since the row of its note or room is locked while they are written.
extension PostgresDatabase: QueueTable {
  private var events: EventRules<PostgresDatabase> { EventRules(store: self) }

  /// Whether this store sends a queue's events, among the stores that share the database. So one
  /// node sends each event, in order. An advisory lock decides, which ends with the connection;
  /// then the next node that asks takes over, and resends events that were not settled.
  package func isSender(to target: OutboxTarget) throws(StoreError) -> Bool {
    guard isShared, !sending.contains(target) else { return true }
    let isHeld = try reading { () throws(StoreError) in
      try first(
        "SELECT pg_try_advisory_lock(\(PostgresSchema.outboxLockSpace), \(target.rawValue))"
      ) { $0.bool(0) } == true
    }
    if isHeld { sending.insert(target) }
    return isHeld
  }

  package func enqueue(_ draft: OutboxDraft) throws(StoreError) {
    change(
      """
      INSERT INTO parley.outbox (target, id, type, subject, time, data)
      VALUES ($1, $2, $3, $4, $5, $6)
      """, draft.target.rawValue, freshName(), draft.type, draft.subject, draft.time,
      Blob(draft.data))
    try crowdOut(draft.target, now: draft.time)
  }

  /// Moves the oldest events of a queue to the dead letters until the queue is short enough.
  private func crowdOut(_ target: OutboxTarget, now: Timestamp) throws(StoreError) {
    guard target != .mail, let queuedMax = context.outboxRules?.queuedMax else { return }
    // Counting reads the whole queue, so it is done first, and then after each 1% of the maximum.
    let added = (uncounted[target] ?? queuedMax / 100) + 1
    uncounted[target] = added > queuedMax / 100 ? 0 : added
    guard uncounted[target] == 0 else { return }
    let found = try first(
      "SELECT coalesce(max(number) - min(number) + 1, 0) FROM outbox WHERE target = $1",
      target.rawValue
    ) { $0.integer(0) }
    // Numbers may have gaps, so this is an upper bound.
    guard let spread = found, spread > max(queuedMax, 1) else { return }
    let counted = try first("SELECT count(*) FROM outbox WHERE target = $1", target.rawValue) {
      $0.integer(0)
    }
    let beyond = (counted ?? 0) - max(queuedMax, 1)
    guard beyond > 0 else { return }
    for event in try events.oldest(for: target, limit: beyond, bytesMax: .max)
    where try events.remove(event) {
      try events.bury(DeadLetter(event: event, time: now, reason: .queueFull))
      overflowed[target, default: 0] += 1
    }
  }

  package func standing(of target: OutboxTarget) throws(StoreError) -> OutboxQueueState {
    var standing = OutboxQueueState()
    let found = try first(
      """
      SELECT (SELECT count(*) FROM parley.outbox WHERE target = $1),
        (SELECT time FROM parley.outbox WHERE target = $1 ORDER BY number LIMIT 1),
        (SELECT min(due) FROM parley.outbox_held WHERE target = $1),
        (SELECT count(*) FROM parley.dead_letters WHERE target = $1)
      """, target.rawValue, read: { $0 })
    standing.overflowed = overflowed[target] ?? 0
    guard let row = found else { return standing }
    standing.queued = row.integer(0)
    if !row.isNull(1) { standing.oldest = Timestamp(row.integer(1)) }
    if !row.isNull(2) { standing.nextDue = Timestamp(row.integer(2)) }
    standing.deadLetters = row.integer(3)
    return standing
  }

  /// Locks sent events. Returns whether all are still queued, so that no other gateway has settled
  /// one.
  package func holds(_ events: [OutboxEvent]) throws(StoreError) -> Bool {
    for target in Set(events.map(\.target)) {
      let delivered = events.filter { $0.target == target }
      let found = try rows(
        """
        SELECT id FROM parley.outbox WHERE target = $1 AND number = ANY ($2)
        ORDER BY number FOR UPDATE
        """, target.rawValue, delivered.map(\.number)
      ) { $0.text(0) }
      guard Set(delivered.map(\.id)).isSubset(of: found) else { return false }
    }
    return true
  }

  package func noteRefused(_ target: OutboxTarget) { overflowed[target, default: 0] += 1 }

  /// Does nothing: dead letters are counted by each query.
  package func noteBuried() {}
}
