package import GatewayPorts

/// A store's knowledge of the work that is due while no request waits, and of the times that it goes by.
package struct Upkeep {
  /// Documents whose newest snapshot lies far behind their head.
  package var unsnapped: Set<ExactName> = []
  /// Documents whose logs may be longer than what is kept.
  package var overlong: Set<ExactName> = []
  /// Whether rows of deleted documents may be left.
  package var hasGarbage = true
  /// The newest time that anything came with, or an earlier one if the clock was set back since.
  package var latestTime: Timestamp = 0
  /// Whether it came with a request after the last deletion, which says no time itself.
  package var isTimeKnown = false
  /// Whether notes were deleted whose ids do not know yet until when they rest.
  package var hasUndatedDeletions = true
  /// The times of work with rooms.
  package var roomClock = RoomClock()
  /// The place up to which rows of publications that are gone were looked for.
  package var orphanPlace = OrphanPlace()

  /// Knows nothing yet.
  package init() {}
}
