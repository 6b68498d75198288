package import ParleyGatewayPorts

/// The times that work with rooms comes with, and which of them is believed: what has expired by then
/// may go. A clock that is ahead for a while removes nothing that has not expired.
package struct RoomClock {
  /// The newest time, or an earlier one if the clock was set back since.
  package private(set) var time: Timestamp = 0
  /// A time that the clock has been past for a while without being set back.
  package private(set) var believed: Timestamp = 0
  /// Whether there may be publications of a time when the clock was ahead.
  package private(set) var hasPublicationsAhead = true
  /// The time that is believed next; `nil` before any work with rooms.
  private var nextBelieved: Timestamp?
  /// The time of the last search for what has expired.
  private var swept: Timestamp = 0

  /// Milliseconds that the clock goes past a time before that is believed.
  private static let beliefMilliseconds: Timestamp = 3_600_000

  package init() {}

  /// Takes note of a time.
  ///
  /// - Parameter newest: The newest time of any room, asked for at the first.
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

  /// Whether rooms are to be looked through for publications from a time when the clock was ahead.
  package var wantsRedating: Bool { hasPublicationsAhead && time > 0 }

  /// Whether it is time to look for what has expired; reading hides it in any case.
  package var wantsSweep: Bool { believed - swept >= 60_000 }

  package mutating func redated() { hasPublicationsAhead = false }

  package mutating func haveSwept() { swept = believed }
}
