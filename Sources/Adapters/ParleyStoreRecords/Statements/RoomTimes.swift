import ParleyGatewayPorts

/// The clock by which publications and kept answers expire.
struct RoomTimes<Store: SQLConnection> {
  let store: Store

  /// Records the time of work with rooms, and with answers.
  func note(_ now: Timestamp) {
    store.context.noteTime(now)
    var clock = store.context.upkeep.roomClock
    clock.note(now) {
      // At first, what the last run knew; nothing if that cannot be read.
      let newest = try? store.first("SELECT coalesce(max(time), 0) FROM rooms") { $0.integer(0) }
      return Timestamp((newest ?? nil) ?? 0)
    }
    store.context.upkeep.roomClock = clock
  }

  /// Makes publications from a time when the clock was ahead expire as if they were published now.
  ///
  /// - Complexity: O(*n*) rooms; once for each opening, and each time the clock is set back.
  func redatePublicationsAhead() throws(StoreError) {
    let now = store.context.upkeep.roomClock.time
    for room in try store.rows(
      "SELECT number FROM rooms WHERE time > $1 ORDER BY number", now + TimeOrder.pullMax,
      read: { $0.integer(0) })
    {
      try redate(room: room, now: now)
    }
  }

  func redate(room: Int, now: Timestamp) throws(StoreError) {
    // Rows that expire before their own time were redated before. The time itself stays, since
    // clients know it.
    for table in ["publications", "publication_keys"] {
      try store.change(
        """
        UPDATE \(table) SET expires = $2 + (expires - time)
        WHERE room = $1 AND time > $3 AND expires > time
        """, room, now, now + TimeOrder.pullMax)
    }
  }
}
