/// The retry schedule of a store's failed chores.
///
/// The pause doubles with each failure, from a second to ten minutes: a briefly full disk is
/// noticed soon, and an unreadable log is read only a few times an hour.
package struct ChoreRetry {
  private let first: Int64
  private static let longest: Int64 = 600_000

  private var pause: Int64
  /// The uptime in milliseconds of the next attempt; `nil` while no chore has failed.
  private var next: Int64?

  /// - Parameter milliseconds: The pause after the first failure.
  package init(milliseconds: Int64 = 1_000) {
    first = milliseconds
    pause = milliseconds
  }

  /// Records that chores have failed, and schedules the next attempt after the pause.
  ///
  /// - Returns: Whether this is the first failure since the last attempt.
  @discardableResult
  package mutating func failed(at now: Int64) -> Bool {
    guard next == nil else { return false }
    next = now + pause
    pause = min(2 * pause, Self.longest)
    return true
  }

  /// Records that all chores are done, and resets the pause unless a retry is scheduled.
  package mutating func succeeded() {
    guard next == nil else { return }
    pause = first
  }

  /// Returns the milliseconds until the next attempt; `nil` if no attempt is scheduled.
  package func wait(at now: Int64) -> Int? { next.map { Int(max(0, $0 - now)) } }

  /// Whether an attempt is due; if so, it is removed from the schedule.
  package mutating func isDue(at now: Int64) -> Bool {
    guard let next, next <= now else { return false }
    self.next = nil
    return true
  }
}
