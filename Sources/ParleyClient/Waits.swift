/// The reason why a wait ended without an answer of the server. What was waited for may still
/// happen later: edits and publications remain queued.
public enum NoAnswer: Error, Sendable, Hashable {
  /// The client does not connect any more.
  case stopped(StopCause)
  /// There was no connection for the client's `timeout`. The client continues to connect. Contains
  /// the last problem, if there was one; see ``Parley/problem``.
  case unreachable(String?)
  /// The server is connected, but has not answered for four times the client's `timeout`.
  case late
}

extension NoAnswer: CustomStringConvertible {
  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .stopped(let cause): "\(cause)"
    case .unreachable(let problem):
      "expected a connection to the server, there was none within the timeout"
        + (problem.map { ": \($0)" } ?? "") + "; the client still tries"
    case .late: "the server is connected, but does not answer; try again later"
    }
  }
}

/// The callers that wait for the server. Each wait ends at the latest when the connection has
/// stopped, was missing for the timeout, or has brought no answer for four times the timeout.
///
/// Waits end in the order in which they began, so that each costs the same, however many there are.
package struct Waits {
  private struct Wait {
    let since: Int64
    let end: () -> Void
    var reason: NoAnswer?
  }

  /// Milliseconds.
  private let timeout: Int64
  /// The waits by their numbers, in the order in which they began.
  private var waiting: [Int: Wait] = [:]
  private var count = 0
  /// The lowest number of a wait that may not have ended.
  private var first = 1
  /// The time at which the connection was lost; `nil` while there is one.
  private var offlineSince: Int64?

  package init(timeout: Int64, now: Int64) {
    self.timeout = timeout
    offlineSince = now
  }

  /// Starts a wait.
  ///
  /// - Parameters:
  ///   - now: The time, which is no earlier than in former calls.
  ///   - end: Ends the caller's sequence.
  package mutating func begin(now: Int64, _ end: @escaping () -> Void) -> Int {
    count += 1
    waiting[count] = Wait(since: now, end: end)
    return count
  }

  /// Forgets a wait.
  ///
  /// - Returns: Why it was ended; `nil` if it was not.
  package mutating func remove(_ number: Int) -> NoAnswer? {
    waiting.removeValue(forKey: number)?.reason
  }

  package mutating func connectionChanged(isOnline: Bool, now: Int64) {
    if isOnline { offlineSince = nil } else if offlineSince == nil { offlineSince = now }
  }

  /// Returns the next time at which a wait ends.
  ///
  /// - Complexity: O(1) for each wait, over all calls.
  package mutating func deadline() -> Int64? {
    while first <= count {
      if let wait = waiting[first], wait.reason == nil { return end(of: wait) }
      first += 1
    }
    return nil
  }

  private func end(of wait: Wait) -> Int64 {
    let late = wait.since + 4 * timeout
    return offlineSince.map { min(late, max($0, wait.since) + timeout) } ?? late
  }

  /// Ends the waits whose time has passed.
  package mutating func expire(now: Int64, problem: String?) {
    let reason: NoAnswer = offlineSince == nil ? .late : .unreachable(problem)
    while let deadline = deadline(), deadline <= now { finish(first, reason) }
  }

  /// Ends all waits.
  package mutating func end(_ reason: NoAnswer) {
    while deadline() != nil { finish(first, reason) }
  }

  private mutating func finish(_ number: Int, _ reason: NoAnswer) {
    waiting[number]?.reason = reason
    waiting[number]?.end()
  }
}
