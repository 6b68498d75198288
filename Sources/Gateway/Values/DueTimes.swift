package import ParleyGatewayPorts

/// The times at which work that depends on ages is done, such as removing old deleted notes.
package struct DueTimes {
  /// Milliseconds from one to the next, and before the first.
  private let pause: Int64
  /// Milliseconds that the wall clock may differ from the uptime since the last one.
  private static let driftMax: Int64 = 60_000

  private var last: (now: Timestamp, uptime: Int64)?

  /// Begins to count.
  ///
  /// - Parameter pause: milliseconds; ten minutes unless said otherwise.
  package init(pause: Int64 = 600_000) { self.pause = pause }

  /// Whether the work is done now.
  package mutating func isDue(now: Timestamp, uptime: Int64) -> Bool {
    guard let last else {
      self.last = (now, uptime)
      return false
    }
    guard uptime - last.uptime >= pause else { return false }
    self.last = (now, uptime)
    // A clock that was set in between is trusted when it has run for a while: a clock that was wrong for a
    // moment would delete notes too early.
    return abs((now - last.now) - (uptime - last.uptime)) <= Self.driftMax
  }
}
