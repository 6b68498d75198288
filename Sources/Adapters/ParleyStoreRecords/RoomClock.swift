package import ParleyGatewayPorts

/// The clock of rooms. Publications expire only by a time that the clock has confirmed for an hour,
/// so a clock that is temporarily ahead removes nothing early.
package struct RoomClock {
  /// The newest time seen, or an earlier time if the clock was set back since.
  package private(set) var time: Timestamp = 0
  /// The confirmed time: the clock exceeded it by an hour without being set back.
  package private(set) var believed: Timestamp = 0
  /// Whether publications may exist with times from when the clock was ahead.
  package private(set) var hasPublicationsAhead = true
  /// The next time to be confirmed; `nil` before the first request to a room.
  private var nextBelieved: Timestamp?
  /// The confirmed time of the last sweep for expired rows.
  private var swept: Timestamp = 0

  /// Milliseconds by which the clock must exceed a time to confirm it.
  private static let beliefMilliseconds: Timestamp = 3_600_000

  package init() {}

  /// Advances the clock by the time of a request.
  ///
  /// - Parameter newest: Returns the newest time of any room; called only for the first request.
  package mutating func note(_ now: Timestamp, newest: () -> Timestamp) {
    let next = nextBelieved ?? newest()
    if TimeOrder.isSetBack(from: max(time, next), to: now) {
      hasPublicationsAhead = true
      believed = min(believed, now)
      swept = min(swept, believed)
      nextBelieved = now
    } else if now - next >= Self.beliefMilliseconds {
      believed = next
      nextBelieved = now
    } else {
      nextBelieved = next
    }
    time = TimeOrder.following(time, now)
  }

  /// Whether publications with times from when the clock was ahead are to be redated.
  package var wantsRedating: Bool { hasPublicationsAhead && time > 0 }

  /// Whether a sweep for expired rows is due. Reads never return expired rows anyway.
  package var wantsSweep: Bool { believed - swept >= 60_000 }

  package mutating func redated() { hasPublicationsAhead = false }

  package mutating func haveSwept() { swept = believed }
}
