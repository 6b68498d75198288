/// Times of things that follow one another, whatever is done to the machine's clock.
///
/// Clocks are set back by a little now and then, and what follows is not to look earlier than what
/// it follows. But a clock that was once far ahead, by a mistake, must not hold all later times up
/// there with it: so an earlier time pulls later ones along by at most ``pullMax``.
///
///     clock      10:00   10:01   10:00:50   17:30 (a mistake)   10:02   10:03
///     recorded   10:00   10:01   10:01      17:30               10:02   10:03
public enum TimeOrder {
  /// Milliseconds by which a time is moved at most, to be no earlier than the one before it.
  public static let pullMax: Timestamp = 60_000

  /// The time to record for what follows something.
  public static func following(_ earlier: Timestamp, _ time: Timestamp) -> Timestamp {
    isSetBack(from: earlier, to: time) ? time : max(earlier, time)
  }

  /// Whether a clock was set back so far that the earlier time must have been a mistake.
  public static func isSetBack(from earlier: Timestamp, to time: Timestamp) -> Bool {
    guard earlier > time else { return false }
    let (difference, overflow) = earlier.subtractingReportingOverflow(time)
    return overflow || difference > pullMax
  }
}
