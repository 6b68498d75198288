package import GatewayPorts

/// The outbox: events for outside services, kept with the changes they report.
extension SQLStore {
  /// Records the events of a request, within the request's own part of the transaction.
  package func recorded(_ reply: StoreReply, to request: StoreRequest) -> StoreReply {
    guard let outboxRules, reply.isDone else { return reply }
    do throws(StoreError) {
      for draft in outboxRules.scribe.drafts(for: request, reply) { try add(draft) }
      return reply
    } catch {
      return .failed(error)
    }
  }

  /// Does a piece of work in a transaction of its own.
  package func reply(to request: OutboxRequest) -> OutboxReply {
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
          let isOwn = try holds(told)
          if isOwn { for event in told { _ = try remove(event) } }
          for event in givenUp where try remove(event) {
            try bury(DeadLetter(event: event, time: now, reason: reason))
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
  package func changedStandings() -> [OutboxTarget: OutboxStanding] {
    guard !changedTargets.isEmpty else { return [:] }
    do throws(StoreError) {
      let standings = try reading { () throws(StoreError) in
        var standings: [OutboxTarget: OutboxStanding] = [:]
        for target in changedTargets { standings[target] = try standing(of: target) }
        return standings
      }
      changedTargets = []
      return standings
    } catch {
      // It is asked for again after the next batch.
      return [:]
    }
  }

  // MARK: Adding

  func add(_ draft: OutboxDraft) throws(StoreError) {
    changedTargets.insert(draft.target)
    if draft.releasesHeld { try release("subject = $2", draft.subject, for: draft.target) }
    guard draft.holdMilliseconds <= 0 else { return try hold(draft) }
    try enqueue(draft)
  }

  private func hold(_ draft: OutboxDraft) throws(StoreError) {
    let (due, overflow) = draft.time.addingReportingOverflow(draft.holdMilliseconds)
    try change(
      """
      INSERT INTO outbox_held (target, subject, type, since, due, time, data)
      VALUES ($1, $2, $3, $4, $5, $4, $6)
      ON CONFLICT (target, subject, type) DO UPDATE SET time = excluded.time, data = excluded.data
      """, draft.target.rawValue, draft.subject, draft.type, draft.time,
      overflow ? Int64.max : due, Blob(draft.data))
  }

  // MARK: Held back

  private func releaseDue(_ target: OutboxTarget, now: Timestamp) throws(StoreError) {
    // The sender waits until the next event is due, and has to be notified of a new time.
    changedTargets.insert(target)
    // One from further ahead than it is held was kept before the clock was set back. It is due last, so that the
    // last one says whether there are such. A little ahead is what was committed since the caller read its clock.
    let isAhead = "since - (CAST(due AS numeric) - since) > $2"
    let found = try reading { () throws(StoreError) in
      try rows(
        """
        SELECT CAST(0 AS bigint)
        WHERE EXISTS (SELECT 1 FROM outbox_held WHERE target = $1 AND due <= $2)
        UNION ALL
        SELECT CAST(1 AS bigint) FROM
          (SELECT * FROM outbox_held WHERE target = $1 ORDER BY due DESC LIMIT 1) AS newest
        WHERE \(isAhead)
        """, target.rawValue, now
      ) { $0.integer(0) == 1 }
    }
    // Nothing is written where nothing is due.
    guard !found.isEmpty else { return }
    try transaction { () throws(StoreError) in
      try release(
        "(due <= $2 \(found.contains(true) ? "OR \(isAhead)" : ""))", now, for: target)
    }
  }

  /// Puts what was held back into its queue, what is due first.
  private func release(
    _ condition: String, _ value: any StoredValue, for target: OutboxTarget
  ) throws(StoreError) {
    let held = try rows(
      """
      DELETE FROM outbox_held WHERE target = $1 AND \(condition)
      RETURNING subject, type, time, data, due
      """, target.rawValue, value
    ) { row in
      (
        due: row.integer(4),
        draft: OutboxDraft(
          target: target, type: row.text(1), subject: row.text(0),
          time: Timestamp(row.integer(2)), data: row.bytes(3))
      )
    }
    for held in held.sorted(by: { $0.due < $1.due }) { try enqueue(held.draft) }
  }

  // MARK: Reading

  package func oldest(
    for target: OutboxTarget, limit: Int, bytesMax: Int
  ) throws(StoreError) -> [OutboxEvent] {
    var events: [OutboxEvent] = []
    var bytes = 0
    for event in try rows(
      """
      SELECT number, id, type, subject, time, data FROM outbox WHERE target = $1 AND number <=
        (SELECT max(number) FROM
          (SELECT number, sum(size) OVER (ORDER BY number) - size AS earlier FROM
            (SELECT number, length(data) AS size FROM outbox
              WHERE target = $1 ORDER BY number LIMIT $2) AS oldest) AS summed
          WHERE earlier <= $3)
      ORDER BY number
      """, target.rawValue, max(limit, 1), bytesMax, read: { Self.event($0, target) })
    {
      bytes += event.data.count
      guard events.isEmpty || bytes <= bytesMax else { break }
      events.append(event)
    }
    return events
  }

  private static func event(_ row: Row, _ target: OutboxTarget) -> OutboxEvent {
    OutboxEvent(
      number: row.integer(0), id: row.text(1), target: target, type: row.text(2),
      subject: row.text(3), time: Timestamp(row.integer(4)), data: row.bytes(5))
  }

  // MARK: Having done

  /// Removes an event; whether it was there.
  package func remove(_ event: OutboxEvent) throws(StoreError) -> Bool {
    changedTargets.insert(event.target)
    return try changedRows(
      "DELETE FROM outbox WHERE target = $1 AND number = $2 AND id = $3", event.target.rawValue,
      event.number, event.id) > 0
  }

  package func bury(_ letter: DeadLetter) throws(StoreError) {
    changedTargets.insert(letter.event.target)
    noteBuried()
    try change(
      """
      INSERT INTO dead_letters (target, place, id, type, subject, time, data, died, reason)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      """, letter.event.target.rawValue, letter.event.number, letter.event.id, letter.event.type,
      letter.event.subject, letter.event.time, Blob(letter.event.data), letter.time,
      letter.reason.rawValue)
    guard let deadLettersMax = outboxRules?.deadLettersMax else { return }
    try change(
      """
      DELETE FROM dead_letters WHERE number <=
        (SELECT number FROM dead_letters ORDER BY number DESC LIMIT 1 OFFSET $1)
      """, max(deadLettersMax, 0))
  }

  private func deadLetters(limit: Int) throws(StoreError) -> [DeadLetter] {
    try rows(
      """
      SELECT place, id, type, subject, time, data, target, died, reason FROM dead_letters
      ORDER BY number DESC LIMIT $1
      """, max(limit, 0)
    ) { row throws(StoreError) in
      guard let target = OutboxTarget(rawValue: row.integer(6)),
        let reason = DeadLetter.Reason(rawValue: row.integer(8))
      else { throw .damaged("a dead letter has an unknown target or reason; \(damageAdvice)") }
      return DeadLetter(
        event: Self.event(row, target), time: Timestamp(row.integer(7)), reason: reason)
    }
  }
}
