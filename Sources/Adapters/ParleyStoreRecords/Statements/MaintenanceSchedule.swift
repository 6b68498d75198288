package import ParleyGatewayPorts

/// A store's knowledge of the work that is due while no request waits, and of the times that it goes by.
package struct MaintenanceSchedule {
  /// Documents whose newest snapshot lies far behind their head.
  package var unsnapped: Set<DocumentID> = []
  /// Documents whose logs may be longer than what is kept.
  package var overlong: Set<DocumentID> = []
  /// Documents of both kinds whose work has failed, to be due again with ``retry()``.
  package private(set) var postponed: (unsnapped: Set<DocumentID>, overlong: Set<DocumentID>) = (
    [], []
  )
  /// Whether work has failed that is still due.
  package var hasFailed = false
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

  /// Sets work aside that has failed.
  package mutating func postpone(_ order: FoldOrder) {
    switch order {
    case .snapshot(let id): postponed.unsnapped.insert(id)
    case .retention(let id, _): postponed.overlong.insert(id)
    }
  }

  /// Whether work has failed since the last ``retry()``.
  package var awaitsRetry: Bool {
    hasFailed || !postponed.unsnapped.isEmpty || !postponed.overlong.isEmpty
  }

  /// Makes the work due that has failed.
  package mutating func retry() {
    hasFailed = false
    unsnapped.formUnion(postponed.unsnapped)
    overlong.formUnion(postponed.overlong)
    postponed = ([], [])
  }
}
