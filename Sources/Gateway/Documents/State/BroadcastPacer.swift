import ParleyGatewayPorts

/// The least time between two commits of a document, so that a crowd is notified in rounds.
///
/// Each commit is a message to every follower. Where hundreds write, and each waits for its own change,
/// commits would follow each other as fast as messages can be written, with a few changes each: that fills
/// the followers' processors, and the less they keep up the fewer changes a commit holds. So a commit waits
/// for a millisecond for each hundred followers since the one before began, unless all who wrote in that
/// one have written again: then no other change is expected, and a few authors who answer each other do not
/// wait.
struct BroadcastPacer {
  /// The time at which the last commit began, in microseconds.
  private var began: Int64 = 0
  /// The authors of the last commit sent to followers who have not written since.
  private var expected: ExactSet = []

  /// A commit begins.
  mutating func begin(at now: Int64) { began = now }

  /// Followers receive a commit.
  ///
  /// - Complexity: O(*n*) entries.
  mutating func sent(_ entries: ArraySlice<LogEntry>) {
    expected.removeAll()
    for entry in entries { expected.insert(entry.client) }
  }

  /// An author has written.
  mutating func wrote(_ author: String) { expected.remove(author) }

  /// Returns the milliseconds until the next commit may begin; `nil` if it may now.
  ///
  /// - Parameter perMillisecond: The followers for whom the time between two commits is a millisecond.
  func pause(at now: Int64, followers: Int, perMillisecond: Int) -> Int? {
    let least = min(followers / max(1, perMillisecond), Self.millisecondsMax)
    guard least > 0, !expected.isEmpty else { return nil }
    let left = began + Int64(least) * 1_000 - now
    return left > 0 ? Int((left + 999) / 1_000) : nil
  }

  /// The longest time between two commits, for however many followers.
  private static let millisecondsMax = 50
}
