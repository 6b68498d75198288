import ParleyServer

/// Shows progress on standard error: nothing for two seconds, then at most one line a second.
struct ProgressLines {
  private static let secondsBefore = 2
  private static let secondsBetween = 1

  private var shownAt = Self.seconds + Self.secondsBefore - Self.secondsBetween

  /// Prints the progress, unless the last line was printed less than a second ago.
  mutating func show(_ what: String, _ done: Int, of total: Int, _ unit: String) {
    let now = Self.seconds
    guard now - shownAt >= Self.secondsBetween else { return }
    shownAt = now
    let percent = total > 0 ? done * 100 / total : 100
    Terminal.error("\(what): \(done) of \(total) \(unit), \(percent) %\n")
  }

  private static var seconds: Int { Int(SystemClock().uptime / 1_000) }
}
