import ParleyGatewayPorts

/// The minimum time between two commits of a document, which batches changes for a crowd.
///
/// Each commit costs a message to every follower. When hundreds of authors each wait for their own
/// change, commits follow each other as fast as messages can be written, with few changes each.
/// This overloads the followers' processors, and their slowness makes the commits smaller still. So
/// a commit begins at the earliest one millisecond per hundred followers after the last one began.
/// If all authors of the last commit have written again, it begins at once, so that a few authors
/// who answer each other are not delayed.
struct BroadcastPacer {
  /// The time at which the last commit began, in microseconds.
  private var began: Int64 = 0
  /// Authors of the last delivered commit who have not written since.
  private var expected: ExactSet = []

  /// Records the start of a commit.
  mutating func begin(at now: Int64) { began = now }

  /// Records the delivery of a commit to followers.
  ///
  /// - Complexity: O(*n*) entries.
  mutating func sent(_ entries: ArraySlice<LogEntry>) {
    expected.removeAll()
    for entry in entries { expected.insert(entry.client) }
  }

  /// Records a change by an author.
  mutating func wrote(_ author: String) { expected.remove(author) }

  /// Returns the milliseconds until the next commit may begin; `nil` if it may now.
  ///
  /// - Parameter perMillisecond: The number of followers for each millisecond of the pause.
  func pause(at now: Int64, followers: Int, perMillisecond: Int) -> Int? {
    let least = min(followers / max(1, perMillisecond), Self.millisecondsMax)
    guard least > 0, !expected.isEmpty else { return nil }
    let left = began + Int64(least) * 1_000 - now
    return left > 0 ? Int((left + 999) / 1_000) : nil
  }

  /// The maximum pause between two commits, for any number of followers.
  private static let millisecondsMax = 50
}
