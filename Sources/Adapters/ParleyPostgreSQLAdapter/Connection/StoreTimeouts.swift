/// The timeouts of a store.
package struct StoreTimeouts: Sendable {
  /// The maximum milliseconds until a reply.
  package var answer: Int64 = 30_000
  /// The maximum milliseconds for which an idle transaction may lock rows.
  package var holding: Int64 = 250
  /// The milliseconds of reconnecting after which requests fail.
  package var reconnecting: Int64 = 10_000
  /// The milliseconds for which to wait for the lock of an earlier process of the same store.
  package var opening: Int64 = 5_000
  /// The milliseconds between checks of the settings on which the database's durability depends.
  package var looking: Int64 = 60_000

  /// Creates the default timeouts.
  package init() {}
}
