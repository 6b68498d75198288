package import ParleyGatewayPorts

/// The housekeeping that a store knows to be due, and the times that it uses.
package struct MaintenanceSchedule {
  /// Documents whose newest snapshot is far behind their head.
  package var unsnapped: Set<DocumentID> = []
  /// Documents whose logs may be overlong by the retention rule.
  package var overlong: Set<DocumentID> = []
  /// Documents whose snapshot or compaction has failed; ``retry()`` makes them due again.
  package private(set) var postponed: (unsnapped: Set<DocumentID>, overlong: Set<DocumentID>) = (
    [], []
  )
  /// Whether other work has failed and is still due.
  package var hasFailed = false
  /// Whether rows of deleted documents may remain.
  package var hasGarbage = true
  /// The newest time of any request, or an earlier time if the clock was set back since.
  package var latestTime: Timestamp = 0
  /// Whether `latestTime` is from a request after the last deletion. A deletion itself has no time.
  package var isTimeKnown = false
  /// Whether reservations of deleted notes' ids and names may still need an end.
  package var hasUndatedDeletions = true
  /// The clock by which publications expire.
  package var roomClock = RoomClock()
  /// The position of the scan for receipts and likes of publications that no longer exist.
  package var orphanPlace = OrphanPlace()

  /// Assumes that all kinds of work may be due, except work on logs.
  package init() {}

  /// Postpones work that has failed.
  package mutating func postpone(_ order: FoldOrder) {
    switch order {
    case .snapshot(let id): postponed.unsnapped.insert(id)
    case .retention(let id, _): postponed.overlong.insert(id)
    }
  }

  /// Whether any work has failed since the last ``retry()``.
  package var awaitsRetry: Bool {
    hasFailed || !postponed.unsnapped.isEmpty || !postponed.overlong.isEmpty
  }

  /// Makes postponed work due again.
  package mutating func retry() {
    hasFailed = false
    unsnapped.formUnion(postponed.unsnapped)
    overlong.formUnion(postponed.overlong)
    postponed = ([], [])
  }
}
