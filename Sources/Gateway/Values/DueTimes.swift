package import ParleyGatewayPorts

/// The schedule of work that depends on ages, such as removing old deleted notes.
package struct DueTimes {
  /// Milliseconds between two runs, and before the first.
  private let pause: Int64
  /// Maximum milliseconds by which wall clock and uptime may diverge between two runs.
  private static let driftMax: Int64 = 60_000

  private var last: (now: Timestamp, uptime: Int64)?

  /// Creates a schedule, which starts at the first call of ``isDue(now:uptime:)``.
  ///
  /// - Parameter pause: Milliseconds between two runs; default ten minutes.
  package init(pause: Int64 = 600_000) { self.pause = pause }

  /// Whether the work is due. If so, the next pause begins.
  package mutating func isDue(now: Timestamp, uptime: Int64) -> Bool {
    guard let last else {
      self.last = (now, uptime)
      return false
    }
    guard uptime - last.uptime >= pause else { return false }
    self.last = (now, uptime)
    // If the wall clock was set since the last run, this run is skipped: a clock that is wrong for
    // a moment would delete notes too early.
    return abs((now - last.now) - (uptime - last.uptime)) <= Self.driftMax
  }
}
