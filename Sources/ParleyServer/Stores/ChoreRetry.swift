/// The times at which a store's chores are tried again that have failed.
///
/// The pause doubles with each failure, from a second to ten minutes: a disk that is full for a moment is noticed soon,
/// and a log that stays unreadable is read a few times an hour.
package struct ChoreRetry {
  private let first: Int64
  private static let longest: Int64 = 600_000

  private var pause: Int64
  /// The uptime in milliseconds of the next attempt; `nil` while nothing has failed.
  private var next: Int64?

  /// - Parameter milliseconds: The pause after the first failure.
  package init(milliseconds: Int64 = 1_000) {
    first = milliseconds
    pause = milliseconds
  }

  /// Takes note that chores have failed, which are tried again after the pause.
  ///
  /// - Returns: Whether they had not failed since the last attempt.
  @discardableResult
  package mutating func failed(at now: Int64) -> Bool {
    guard next == nil else { return false }
    next = now + pause
    pause = min(2 * pause, Self.longest)
    return true
  }

  /// Takes note that all chores are done.
  package mutating func succeeded() {
    guard next == nil else { return }
    pause = first
  }

  /// Milliseconds until the next attempt; `nil` while nothing has failed.
  package func wait(at now: Int64) -> Int? { next.map { Int(max(0, $0 - now)) } }

  /// Whether chores are to be tried again now. If so, they count as not failed.
  package mutating func isDue(at now: Int64) -> Bool {
    guard let next, next <= now else { return false }
    self.next = nil
    return true
  }
}
