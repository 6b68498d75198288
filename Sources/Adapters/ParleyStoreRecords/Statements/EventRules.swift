package import ParleyGatewayPorts

/// A connection to a store that contains queued events.
package protocol EventTable: SQLConnection {
  /// Called when a dead letter is stored.
  func noteBuried()
}

/// Queued events for external services: reading, removing, and moving them to the dead letters.
package struct EventRules<Store: EventTable> {
  let store: Store

  package init(store: Store) { self.store = store }

  package func oldest(
    for target: OutboxTarget, limit: Int, bytesMax: Int
  ) throws(StoreError) -> [OutboxEvent] {
    var events: [OutboxEvent] = []
    var bytes = 0
    for event in try store.rows(
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

  static func event(_ row: Store.Row, _ target: OutboxTarget) -> OutboxEvent {
    OutboxEvent(
      number: row.integer(0), id: row.text(1), target: target, type: row.text(2),
      subject: row.text(3), time: Timestamp(row.integer(4)), data: row.bytes(5))
  }

  /// Removes an event; returns false if it was not queued.
  package func remove(_ event: OutboxEvent) throws(StoreError) -> Bool {
    store.context.changedTargets.insert(event.target)
    return try store.changedRows(
      "DELETE FROM outbox WHERE target = $1 AND number = $2 AND id = $3", event.target.rawValue,
      event.number, event.id) > 0
  }

  package func bury(_ letter: DeadLetter) throws(StoreError) {
    store.context.changedTargets.insert(letter.event.target)
    store.noteBuried()
    try store.change(
      """
      INSERT INTO dead_letters (target, place, id, type, subject, time, data, died, reason)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      """, letter.event.target.rawValue, letter.event.number, letter.event.id, letter.event.type,
      letter.event.subject, letter.event.time, Blob(letter.event.data), letter.time,
      letter.reason.rawValue)
    guard let deadLettersMax = store.context.outboxRules?.deadLettersMax else { return }
    try store.change(
      """
      DELETE FROM dead_letters WHERE number <=
        (SELECT number FROM dead_letters ORDER BY number DESC LIMIT 1 OFFSET $1)
      """, max(deadLettersMax, 0))
  }
}
