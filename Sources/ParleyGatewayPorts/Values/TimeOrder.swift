/// Times of events that follow one another, whatever is done to the machine's clock.
///
/// Clocks are set back by a little now and then, and a later event is not to look earlier than the one
/// before. But a clock that was once far ahead, by a mistake, must not move all later times there too: so
/// an earlier time moves later ones by at most ``pullMax``.
///
///     clock      10:00   10:01   10:00:50   17:30 (a mistake)   10:02   10:03
///     recorded   10:00   10:01   10:01      17:30               10:02   10:03
public enum TimeOrder {
  /// Milliseconds by which a time is moved at most, to be no earlier than the one before it.
  public static let pullMax: Timestamp = 60_000

  /// The time to record for an event that follows another.
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
