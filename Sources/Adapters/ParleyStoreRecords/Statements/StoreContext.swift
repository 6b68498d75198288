package import ParleyGatewayPorts

/// The state that the rules of a store share besides its database: checksums, due work, settings.
package final class StoreContext {
  package var hasher = RecordHasher()
  package var upkeep = MaintenanceSchedule()

  /// The rule for compacting long logs; `nil` disables compaction.
  package var retention: Retention?
  /// Whether texts are folded on a second connection.
  package var foldsOnSecondConnection = false

  /// The rules for recording events; with `nil`, no events are recorded.
  package var outboxRules: OutboxRules?
  /// The queues whose state may have changed since it was last reported.
  package var changedTargets = Set(OutboxTarget.allCases)

  package init() {}

  /// Records the time of a request.
  package func noteTime(_ time: Timestamp) {
    upkeep.latestTime = TimeOrder.following(upkeep.latestTime, time)
    upkeep.isTimeKnown = true
  }

  /// Records the housekeeping that is due for a note's row.
  package func noteDue(_ row: DocumentRow) {
    if row.needsSnapshot { upkeep.unsnapped.insert(row.id) }
    if let retention, retention.isOverlong(row) { upkeep.overlong.insert(row.id) }
  }
}
