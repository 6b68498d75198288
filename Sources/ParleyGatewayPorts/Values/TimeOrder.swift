/// Times of successive events, robust against changes of the machine's clock.
///
/// Clocks are occasionally set back a little, and a later event should not appear earlier than the
/// one before. But a clock that was once far ahead by mistake must not move all later times there.
/// So a time is raised to that of the event before, by at most ``adjustmentMax``.
///
///     clock      10:00   10:01   10:00:50   17:30 (a mistake)   10:02   10:03
///     recorded   10:00   10:01   10:01      17:30               10:02   10:03
public enum TimeOrder {
  /// Maximum milliseconds by which a time is raised to that of the event before.
  public static let adjustmentMax: Timestamp = 60_000

  /// Returns the time to record for an event that follows another.
  public static func following(_ earlier: Timestamp, _ time: Timestamp) -> Timestamp {
    isSetBack(from: earlier, to: time) ? time : max(earlier, time)
  }

  /// Whether the time decreased by more than ``adjustmentMax``, so that the earlier time was a mistake.
  public static func isSetBack(from earlier: Timestamp, to time: Timestamp) -> Bool {
    guard earlier > time else { return false }
    let (difference, overflow) = earlier.subtractingReportingOverflow(time)
    return overflow || difference > adjustmentMax
  }
}
