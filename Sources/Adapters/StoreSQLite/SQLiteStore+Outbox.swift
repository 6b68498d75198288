public import GatewayPorts
import StoreRecords

/// The outbox: events for outside services, in the same file as the changes they report.
extension SQLiteStore {
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
        try releaseDue(target, now: now)
        return .events(try oldest(for: target, limit: limit, bytesMax: bytesMax))
      case .settle(let told, let givenUp, let reason, let now, let drafts):
        try transaction { () throws(StoreError) in
          var isOwn = true
          for event in told where try !holds(event) { isOwn = false }
          if isOwn { for event in told { _ = try remove(event) } }
          for event in givenUp where try remove(event) {
            try bury(DeadLetter(event: event, time: now, reason: reason))
          }
          if isOwn { for draft in drafts { try add(draft) } }
        }
        return .done
      case .deadLetters(let limit): return .deadLetters(try deadLetters(limit: limit))
      }
    } catch {
      return .failed(error)
    }
  }

  /// Returns the state of each queue that may have changed since the last call, and of all at the
  /// first.
  public func takeOutboxChanges() -> [OutboxTarget: OutboxStanding] {
    var standings: [OutboxTarget: OutboxStanding] = [:]
    for target in changedTargets {
      do throws(StoreError) {
        standings[target] = try standing(of: target)
        changedTargets.remove(target)
      } catch {
        // It is asked for again after the next batch.
        continue
      }
    }
    return standings
  }

  // MARK: Adding

  package func add(_ draft: OutboxDraft) throws(StoreError) {
    changedTargets.insert(draft.target)
    if draft.releasesHeld {
      let ofSubject = try sql(
        """
        SELECT subject, type, time, data FROM outbox_held WHERE target = ? AND subject = ? LIMIT 1
        """)
      while let held = try held(ofSubject, draft.target, draft.subject) { try release(held) }
    }
    guard draft.holdMilliseconds <= 0 else { return try hold(draft) }
    try enqueue(draft)
  }

  private func hold(_ draft: OutboxDraft) throws(StoreError) {
    let (due, overflow) = draft.time.addingReportingOverflow(draft.holdMilliseconds)
    try sql(
      """
      INSERT INTO outbox_held (target, subject, type, since, due, time, data)
      VALUES (?1, ?2, ?3, ?4, ?5, ?4, ?6)
      ON CONFLICT (target, subject, type) DO UPDATE SET time = excluded.time, data = excluded.data
      """
    ).run(
      draft.target.rawValue, draft.subject, draft.type, draft.time, overflow ? Int64.max : due,
      Blob(draft.data))
  }

  private func enqueue(_ draft: OutboxDraft) throws(StoreError) {
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

  // MARK: Held back

  private func releaseDue(_ target: OutboxTarget, now: Timestamp) throws(StoreError) {
    // Who takes goes by when the next one is due, and has to be told it anew.
    changedTargets.insert(target)
    func due() throws(StoreError) -> OutboxDraft? {
      let held = "SELECT subject, type, time, data FROM outbox_held"
      if let first = try self.held(
        sql("\(held) WHERE target = ?1 AND due <= ?2 ORDER BY due LIMIT 1"), target, now)
      {
        return first
      }
      // One from further ahead than it is held was kept before the clock was set back. It is due last, so that the
      // last one says whether there are such. A little ahead is what was committed since the caller read its clock.
      return try self.held(
        sql(
          """
          SELECT subject, type, time, data FROM
            (SELECT * FROM outbox_held WHERE target = ?1 ORDER BY due DESC LIMIT 1)
          WHERE since - (due - since) > ?2
          """), target, now)
    }
    // Nothing is written where nothing is due.
    guard try due() != nil else { return }
    try transaction { () throws(StoreError) in
      while let draft = try due() { try release(draft) }
    }
  }

  private func release(_ held: OutboxDraft) throws(StoreError) {
    try sql("DELETE FROM outbox_held WHERE target = ? AND subject = ? AND type = ?").run(
      held.target.rawValue, held.subject, held.type)
    try enqueue(held)
  }

  private func held(
    _ statement: SQLiteStatement, _ target: OutboxTarget, _ which: some StoredValue
  ) throws(StoreError) -> OutboxDraft? {
    try statement.first(target.rawValue, which) { row in
      OutboxDraft(
        target: target, type: row.text(1), subject: row.text(0),
        time: Timestamp(row.integer(2)), data: row.bytes(3))
    }
  }

  // MARK: Reading

  private func oldest(
    for target: OutboxTarget, limit: Int, bytesMax: Int
  ) throws(StoreError) -> [OutboxEvent] {
    let statement = try sql(
      """
      SELECT number, id, type, subject, time, data FROM outbox WHERE target = ?
      ORDER BY number LIMIT ?
      """)
    defer { statement.reset() }
    statement.bind(target.rawValue, max(limit, 1))
    var events: [OutboxEvent] = []
    var bytes = 0
    while try statement.step() {
      let event = Self.event(statement, target)
      bytes += event.data.count
      guard events.isEmpty || bytes <= bytesMax else { break }
      events.append(event)
    }
    return events
  }

  private static func event(_ row: SQLiteStatement, _ target: OutboxTarget) -> OutboxEvent {
    OutboxEvent(
      number: row.integer(0), id: row.text(1), target: target, type: row.text(2),
      subject: row.text(3), time: Timestamp(row.integer(4)), data: row.bytes(5))
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

  private func standing(of target: OutboxTarget) throws(StoreError) -> OutboxStanding {
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

  // MARK: Having done

  /// Whether an event is there.
  private func holds(_ event: OutboxEvent) throws(StoreError) -> Bool {
    try sql("SELECT 1 FROM outbox WHERE target = ? AND number = ? AND id = ?")
      .first(event.target.rawValue, event.number, event.id) { _ in true } ?? false
  }

  /// Removes an event; whether it was there.
  private func remove(_ event: OutboxEvent) throws(StoreError) -> Bool {
    changedTargets.insert(event.target)
    try sql("DELETE FROM outbox WHERE target = ? AND number = ? AND id = ?").run(
      event.target.rawValue, event.number, event.id)
    return connection.changedRows > 0
  }

  private func bury(_ letter: DeadLetter) throws(StoreError) {
    changedTargets.insert(letter.event.target)
    // The oldest of any target may go with it.
    deadLetterCounts = [:]
    try sql(
      """
      INSERT INTO dead_letters (target, place, id, type, subject, time, data, died, reason)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      letter.event.target.rawValue, letter.event.number, letter.event.id, letter.event.type,
      letter.event.subject, letter.event.time, Blob(letter.event.data), letter.time,
      letter.reason.rawValue)
    guard let deadLettersMax = outboxRules?.deadLettersMax else { return }
    try sql(
      """
      DELETE FROM dead_letters WHERE number <=
        (SELECT number FROM dead_letters ORDER BY number DESC LIMIT 1 OFFSET ?)
      """
    ).run(
      max(deadLettersMax, 0))
  }

  private func deadLetters(limit: Int) throws(StoreError) -> [DeadLetter] {
    try sql(
      """
      SELECT place, id, type, subject, time, data, target, died, reason FROM dead_letters
      ORDER BY number DESC LIMIT ?
      """
    ).rows(limit) { (row) throws(StoreError) in
      guard let target = OutboxTarget(rawValue: row.integer(6)),
        let reason = DeadLetter.Reason(rawValue: row.integer(8))
      else { throw .damaged("a dead letter has an unknown target or reason; \(damageAdvice)") }
      return DeadLetter(
        event: Self.event(row, target), time: Timestamp(row.integer(7)), reason: reason)
    }
  }
}
