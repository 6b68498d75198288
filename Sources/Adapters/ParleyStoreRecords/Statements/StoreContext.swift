package import ParleyGatewayPorts

/// State that the rules of one store share beside its database: checksums, due work, and settings.
package final class StoreContext {
  package var hasher = RecordHasher()
  package var upkeep = MaintenanceSchedule()

  /// The part of a long log that housekeeping keeps; all of it if `nil`.
  package var retention: Retention?
  /// Whether texts are folded on another connection.
  package var foldsBeside = false

  /// Rules for outside events; with `nil` none is recorded.
  package var outboxRules: OutboxRules?
  /// Queues whose state may have changed since it was last reported.
  package var changedTargets = Set(OutboxTarget.allCases)

  package init() {}

  /// Records the time that a request came with.
  package func noteTime(_ time: Timestamp) {
    upkeep.latestTime = TimeOrder.following(upkeep.latestTime, time)
    upkeep.isTimeKnown = true
  }

  /// Records the housekeeping that a note's row asks for.
  package func noteDue(_ row: DocumentRow) {
    if row.needsSnapshot { upkeep.unsnapped.insert(row.id) }
    if let retention, retention.isOverlong(row) { upkeep.overlong.insert(row.id) }
  }
}
