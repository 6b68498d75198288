/// Times that a store waits.
package struct StoreTimeouts: Sendable {
  /// Milliseconds that one answer may take.
  package var answer: Int64 = 30_000
  /// Milliseconds for which an idle transaction may hold rows that other nodes wait for.
  package var holding: Int64 = 250
  /// Milliseconds of reconnecting before requests fail.
  package var reconnecting: Int64 = 10_000
  /// Milliseconds for which a former process of the same store may still hold its lock.
  package var opening: Int64 = 5_000
  /// Milliseconds between looks at the settings on which the promise of the database rests.
  package var looking: Int64 = 60_000

  /// The usual times.
  package init() {}
}
