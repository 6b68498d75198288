package import ParleyGatewayPorts

/// A connection to a store that contains queues of events for external services.
package protocol QueueTable: EventTable {
  /// Whether this store is the one that sends a queue's events.
  func isSender(to target: OutboxTarget) throws(StoreError) -> Bool

  /// Adds an event to its queue. If the queue is full, its oldest events become dead letters.
  func enqueue(_ draft: OutboxDraft) throws(StoreError)

  /// Whether all sent events are still queued, so that no other gateway has settled one.
  func holds(_ events: [OutboxEvent]) throws(StoreError) -> Bool

  func standing(of target: OutboxTarget) throws(StoreError) -> OutboxQueueState

  /// Counts an event that was not added.
  func noteRefused(_ target: OutboxTarget)
}

/// The outbox: events for external services, committed together with the changes that they report.
package struct QueueRules<Store: QueueTable> {
  let store: Store
  private var events: EventRules<Store> { EventRules(store: store) }

  package init(store: Store) { self.store = store }

  /// Records the events of a request, within the request's part of the transaction.
  package func recorded(_ reply: StoreReply, to request: StoreRequest) -> StoreReply {
    guard let outboxRules = store.context.outboxRules, reply.isDone else { return reply }
    do throws(StoreError) {
      for draft in outboxRules.recorder.drafts(for: request, reply) { try add(draft) }
      return reply
    } catch {
      return .failed(error)
    }
  }

  /// Performs an outbox request in a separate transaction.
  package func reply(to request: OutboxRequest) -> OutboxReply {
    do throws(StoreError) {
      switch request {
      case .take(let target, let limit, let bytesMax, let now):
        guard try store.isSender(to: target) else { return .events([]) }
        try releaseDue(target, now: now)
        return .events(
          try store.reading { () throws(StoreError) in
            try events.oldest(for: target, limit: limit, bytesMax: bytesMax)
          })
      case .settle(let delivered, let givenUp, let reason, let now, let drafts):
        try store.transaction { () throws(StoreError) in
          let isOwn = try store.holds(delivered)
          if isOwn { for event in delivered { _ = try events.remove(event) } }
          for event in givenUp where try events.remove(event) {
            try events.bury(DeadLetter(event: event, time: now, reason: reason))
          }
          if isOwn { for draft in drafts { try add(draft) } }
        }
        return .done
      case .deadLetters(let limit):
        return .deadLetters(
          try store.reading { () throws(StoreError) in try deadLetters(limit: limit) })
      }
    } catch {
      return .failed(error)
    }
  }

  /// Returns the state of each queue that may have changed since the last call; at the first call,
  /// of all queues.
  package func changedStandings() -> [OutboxTarget: OutboxQueueState] {
    guard !store.context.changedTargets.isEmpty else { return [:] }
    do throws(StoreError) {
      let queueStates = try store.reading { () throws(StoreError) in
        var queueStates: [OutboxTarget: OutboxQueueState] = [:]
        for target in store.context.changedTargets {
          queueStates[target] = try store.standing(of: target)
        }
        return queueStates
      }
      store.context.changedTargets = []
      return queueStates
    } catch {
      // The next batch calls this again.
      return [:]
    }
  }

  // MARK: Adding

  func add(_ draft: OutboxDraft) throws(StoreError) {
    store.context.changedTargets.insert(draft.target)
    if draft.target == .mail, try !hasRoom(forMailTo: draft.subject) {
      return store.noteRefused(draft.target)
    }
    if draft.releasesHeld { try release("subject = $2", draft.subject, for: draft.target) }
    guard draft.holdMilliseconds <= 0 else { return try hold(draft) }
    try store.enqueue(draft)
  }

  private func hold(_ draft: OutboxDraft) throws(StoreError) {
    let (due, overflow) = draft.time.addingReportingOverflow(draft.holdMilliseconds)
    try store.change(
      """
      INSERT INTO outbox_held (target, subject, type, since, due, time, data)
      VALUES ($1, $2, $3, $4, $5, $4, $6)
      ON CONFLICT (target, subject, type) DO UPDATE SET time = excluded.time, data = excluded.data
      """, draft.target.rawValue, draft.subject, draft.type, draft.time,
      overflow ? Int64.max : due, Blob(draft.data))
  }

  /// Whether one more message of mail can wait, for this recipient and overall.
  private func hasRoom(forMailTo recipient: String) throws(StoreError) -> Bool {
    guard let rules = store.context.outboxRules else { return false }
    let counts = try store.rows(
      """
      SELECT count(*), coalesce(sum(CASE WHEN subject = $2 THEN 1 ELSE 0 END), 0)
      FROM (SELECT subject FROM outbox WHERE target = $1
        UNION ALL SELECT subject FROM outbox_held WHERE target = $1) AS waiting
      """, OutboxTarget.mail.rawValue, recipient
    ) { (all: $0.integer(0), ofRecipient: $0.integer(1)) }
    guard let counts = counts.first else { return true }
    return counts.all < rules.mailMax && counts.ofRecipient < rules.mailMaxOfRecipient
  }

  // MARK: Delayed events

  private func releaseDue(_ target: OutboxTarget, now: Timestamp) throws(StoreError) {
    // The sender sleeps until the next event is due, and must be notified of a changed time.
    store.context.changedTargets.insert(target)
    // An event whose hold ends later than its hold time from now was stored before the clock was
    // set back. It is due last, so the last event shows whether such events exist. Events committed
    // since the caller read its clock may start slightly later than `now`.
    let isAhead = "since - (CAST(due AS numeric) - since) > $2"
    let found = try store.reading { () throws(StoreError) in
      try store.rows(
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
    // Do not begin a write transaction if nothing is due.
    guard !found.isEmpty else { return }
    try store.transaction { () throws(StoreError) in
      try release(
        "(due <= $2 \(found.contains(true) ? "OR \(isAhead)" : ""))", now, for: target)
    }
  }

  /// Moves held events into their queue, in the order of their due times.
  private func release(
    _ condition: String, _ value: any StoredValue, for target: OutboxTarget
  ) throws(StoreError) {
    let held = try store.rows(
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
    for held in held.sorted(by: { $0.due < $1.due }) { try store.enqueue(held.draft) }
  }

  // MARK: Dead letters

  private func deadLetters(limit: Int) throws(StoreError) -> [DeadLetter] {
    try store.rows(
      """
      SELECT place, id, type, subject, time, data, target, died, reason FROM dead_letters
      ORDER BY number DESC LIMIT $1
      """, max(limit, 0)
    ) { row throws(StoreError) in
      guard let target = OutboxTarget(rawValue: row.integer(6)),
        let reason = DeadLetter.Reason(rawValue: row.integer(8))
      else { throw .damaged("a dead letter has an unknown target or reason; \(damageAdvice)") }
      return DeadLetter(
        event: EventRules<Store>.event(row, target), time: Timestamp(row.integer(7)), reason: reason
      )
    }
  }
}
