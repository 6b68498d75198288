public import GatewayPorts
import StoreRecords

/// The outbox: events for outside services, in the same file as the changes they report.
extension SQLiteStore {
  /// Does a piece of work in a transaction of its own.
  public func perform(_ request: OutboxRequest) -> OutboxReply { reply(to: request) }

  /// Returns the state of each queue that may have changed since the last call, and of all at the
  /// first.
  public func takeOutboxChanges() -> [OutboxTarget: OutboxStanding] { changedStandings() }

  /// There are no other nodes.
  package func isSender(to target: OutboxTarget) -> Bool { true }

  package func enqueue(_ draft: OutboxDraft) throws(StoreError) {
    let last = try newest(of: draft.target)
    let number = (last?.number ?? 0) + 1
    try sql(
      """
      INSERT INTO outbox (target, number, id, type, subject, time, data)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      draft.target.rawValue, number, freshName(), draft.type, draft.subject, draft.time,
      Blob(draft.data))
    try crowdOut(draft.target, last: number, now: draft.time)
  }

  /// Gives up the oldest events of a queue that is too long.
  private func crowdOut(
    _ target: OutboxTarget, last: Int, now: Timestamp
  ) throws(StoreError) {
    guard let queuedMax = outboxRules?.queuedMax else { return }
    while let first = try oldest(of: target),
      last - first.number >= max(queuedMax, 1),
      let oldest = try oldest(for: target, limit: 1, bytesMax: .max).first
    {
      if try remove(oldest) {
        try bury(DeadLetter(event: oldest, time: now, reason: .crowdedOut))
        crowdedOut[target, default: 0] += 1
      }
    }
  }

  private func oldest(
    of target: OutboxTarget
  ) throws(StoreError) -> (number: Int, time: Timestamp)? {
    try sql("SELECT number, time FROM outbox WHERE target = ? ORDER BY number LIMIT 1")
      .first(target.rawValue) { ($0.integer(0), Timestamp($0.integer(1))) }
  }

  private func newest(
    of target: OutboxTarget
  ) throws(StoreError) -> (number: Int, time: Timestamp)? {
    try sql("SELECT number, time FROM outbox WHERE target = ? ORDER BY number DESC LIMIT 1")
      .first(target.rawValue) { ($0.integer(0), Timestamp($0.integer(1))) }
  }

  package func standing(of target: OutboxTarget) throws(StoreError) -> OutboxStanding {
    var standing = OutboxStanding()
    if let first = try oldest(of: target),
      let last = try newest(of: target)
    {
      standing.queued = last.number - first.number + 1
      standing.oldest = first.time
    }
    standing.nextDue = try integer(
      sql("SELECT due FROM outbox_held WHERE target = ? ORDER BY due LIMIT 1"), target
    ).map { Timestamp($0) }
    standing.crowdedOut = crowdedOut[target] ?? 0
    if deadLetterCounts[target] == nil {
      deadLetterCounts[target] =
        try integer(sql("SELECT count(*) FROM dead_letters WHERE target = ?"), target)
    }
    standing.deadLetters = deadLetterCounts[target] ?? 0
    return standing
  }

  private func integer(
    _ statement: SQLiteStatement, _ target: OutboxTarget
  ) throws(StoreError) -> Int? {
    try statement.first(target.rawValue) { $0.integer(0) }
  }

  package func holds(_ events: [OutboxEvent]) throws(StoreError) -> Bool {
    for event in events {
      let found = try sql("SELECT 1 FROM outbox WHERE target = ? AND number = ? AND id = ?")
        .first(event.target.rawValue, event.number, event.id) { _ in true }
      guard found != nil else { return false }
    }
    return true
  }

  /// The oldest of any target may go with the new one.
  package func noteBuried() { deadLetterCounts = [:] }
}
