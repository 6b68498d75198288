import Glibc

/// The processor time that one turn of a loop may take.
///
/// Absolute, where a ``GrowthLaw`` is relative: work in proportion to a message of the largest size may still be
/// too much at once. It is measured as the thread's own processor time, the least of some repetitions, so that other
/// programs on the same machine do not count.
public enum TurnTime {
  /// The milliseconds that a turn may take.
  public static let millisecondsMax = 20.0

  /// The milliseconds that a turn would take for the largest message, by a small one, from which the largest is
  /// measured.
  public static let doubtful = millisecondsMax / 2

  /// The setting by which work is measured in the largest size without a look at a small one: all of it with
  /// `PARLEY_HANDLING_TIMES=1`, which takes minutes, or work whose name contains the value.
  private static let wanted = getenv("PARLEY_HANDLING_TIMES").map { String(cString: $0) }

  /// Whether all is measured in the largest size.
  public static let isFull = wanted != nil

  /// Whether something is measured.
  public static func isWanted(_ name: String) -> Bool {
    guard let wanted, wanted != "1" else { return true }
    return name.contains(wanted)
  }

  /// Whether the bound is asserted: in an optimised build without a sanitizer.
  public static let isAsserted: Bool = {
    #if DEBUG
      false
    #else
      !GrowthLaw.isInstrumented
    #endif
  }()

  /// The share of the largest size that a small message has. Where nothing is asserted, it shows that the work is done.
  public static let smallDivisor = isAsserted ? 16 : 64

  /// Repetitions of work that takes more than the bound.
  private static let repetitionsMax = 4

  /// The least milliseconds that work takes.
  ///
  /// It is repeated only while it takes more than the bound, for at most four times more.
  ///
  /// - Parameter work: Does the work on an input of its own, and returns the nanoseconds of its longest turn.
  public static func milliseconds(_ work: () -> UInt64) -> Double {
    var least = work()
    for _ in 0..<repetitionsMax where isAsserted && Double(least) > millisecondsMax * 1e6 {
      least = min(least, work())
    }
    return Double(least) / 1e6
  }
}
