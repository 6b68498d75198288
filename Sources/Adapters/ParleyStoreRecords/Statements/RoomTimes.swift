import ParleyGatewayPorts

/// The clock by which publications and stored answers expire.
struct RoomTimes<Store: SQLConnection> {
  let store: Store

  /// Records the time of a request to a room, or of a request with a key.
  func note(_ now: Timestamp) {
    store.context.noteTime(now)
    var clock = store.context.upkeep.roomClock
    clock.note(now) {
      // Initially the newest time of the previous run; 0 if it cannot be read.
      let newest = try? store.first("SELECT coalesce(max(time), 0) FROM rooms") { $0.integer(0) }
      return Timestamp((newest ?? nil) ?? 0)
    }
    store.context.upkeep.roomClock = clock
  }

  /// Redates publications from when the clock was ahead, so that they expire as if published now.
  ///
  /// - Complexity: O(*n*) rooms, after opening and after each clock set-back.
  func redatePublicationsAhead() throws(StoreError) {
    let now = store.context.upkeep.roomClock.time
    for room in try store.rows(
      "SELECT number FROM rooms WHERE time > $1 ORDER BY number", now + TimeOrder.adjustmentMax,
      read: { $0.integer(0) })
    {
      try redate(room: room, now: now)
    }
  }

  func redate(room: Int, now: Timestamp) throws(StoreError) {
    // Rows that expire before their own time were already redated. The time itself is unchanged,
    // since clients have received it.
    for table in ["publications", "publication_keys"] {
      try store.change(
        """
        UPDATE \(table) SET expires = $2 + (expires - time)
        WHERE room = $1 AND time > $3 AND expires > time
        """, room, now, now + TimeOrder.adjustmentMax)
    }
    try store.change(
      """
      UPDATE room_values SET expires = $2 + lifetime WHERE room = $1 AND expires > $2 + lifetime
      """, room, now)
  }
}
