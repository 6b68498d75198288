import Glibc

/// The maximum processor time of one turn of an event loop.
///
/// This limit is absolute, while a ``GrowthLaw`` is relative: even linear work for a message of the
/// maximum size may be too much in one turn. The thread's processor time is measured, and the
/// minimum of some repetitions is used, so that other programs do not count.
public enum TurnTime {
  /// The maximum milliseconds of a turn.
  public static let millisecondsMax = 20.0

  /// The estimated milliseconds for the largest message from which it is measured itself. The
  /// estimate is extrapolated from a small message.
  public static let doubtful = millisecondsMax / 2

  /// The environment variable that selects work to be measured at the largest size without an
  /// estimate: everything with `PARLEY_HANDLING_TIMES=1`, which takes minutes, or work whose name
  /// contains the value.
  private static let wanted = getenv("PARLEY_HANDLING_TIMES").map { String(cString: $0) }

  /// Whether work is measured at the largest size without an estimate.
  public static let isFull = wanted != nil

  /// Whether work of this name is measured.
  public static func isWanted(_ name: String) -> Bool {
    guard let wanted, wanted != "1" else { return true }
    return name.contains(wanted)
  }

  /// Whether the limit is asserted: only in an optimised build without a sanitizer.
  public static let isAsserted: Bool = {
    #if DEBUG
      false
    #else
      !GrowthLaw.isInstrumented
    #endif
  }()

  /// The divisor of the largest size that gives the size of a small message. Without assertions,
  /// small messages only show that the work succeeds.
  public static let smallDivisor = isAsserted ? 16 : 64

  /// The maximum repetitions of work that exceeds the limit.
  private static let repetitionsMax = 4

  /// Returns the minimum milliseconds that work takes.
  ///
  /// The work is repeated up to four times while it exceeds the limit.
  ///
  /// - Parameter work: Runs on a new input, and returns the nanoseconds of its longest turn.
  public static func milliseconds(_ work: () -> UInt64) -> Double {
    var least = work()
    for _ in 0..<repetitionsMax where isAsserted && Double(least) > millisecondsMax * 1e6 {
      least = min(least, work())
    }
    return Double(least) / 1e6
  }
}
