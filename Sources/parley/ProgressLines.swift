import ParleyServer

/// The progress of long work on standard error: nothing in its first seconds, then a line now and then.
struct ProgressLines {
  private static let secondsBefore = 2
  private static let secondsBetween = 1

  private var shownAt = Self.seconds + Self.secondsBefore - Self.secondsBetween

  /// Shows how far the work is, unless a line was shown just before.
  mutating func show(_ what: String, _ done: Int, of total: Int, _ unit: String) {
    let now = Self.seconds
    guard now - shownAt >= Self.secondsBetween else { return }
    shownAt = now
    let percent = total > 0 ? done * 100 / total : 100
    Terminal.error("\(what): \(done) of \(total) \(unit), \(percent) %\n")
  }

  private static var seconds: Int { Int(SystemClock().uptime / 1_000) }
}
