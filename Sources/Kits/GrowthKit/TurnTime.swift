import Glibc

/// The processor time that one turn of a loop may take.
///
/// Absolute, where a ``GrowthLaw`` is relative: work in proportion to a message of the largest size may still be
/// too much at once. It is measured as the thread's own processor time, the least of some repetitions, so that other
/// programs on the same machine do not count.
public enum TurnTime {
  /// The milliseconds that a turn may take for the largest message.
  public static let millisecondsMax = 20.0

  /// Whether the largest sizes are wanted, which take minutes: `PARLEY_HANDLING_TIMES` is set.
  public static let isFull = getenv("PARLEY_HANDLING_TIMES") != nil

  /// Whether the bound is asserted: at the largest sizes, in an optimised build without a sanitizer.
  public static let isAsserted: Bool = {
    #if DEBUG
      false
    #else
      isFull && !GrowthLaw.isInstrumented
    #endif
  }()

  /// The share of the largest size that inputs have. Where nothing is asserted, small inputs show that the work is done.
  public static let sizeDivisor = isAsserted ? 1 : 64

  /// The milliseconds that a turn may take for inputs of this share.
  public static let bound = millisecondsMax / Double(sizeDivisor)

  /// Repetitions of work that takes more than the bound.
  private static let repetitionsMax = 4

  /// The least milliseconds that work takes.
  ///
  /// It is repeated only while it takes more than the bound, for at most four times more.
  ///
  /// - Parameter work: Does the work on an input of its own, and returns the nanoseconds of its longest turn.
  public static func milliseconds(_ work: () -> UInt64) -> Double {
    var least = work()
    for _ in 0..<repetitionsMax where isAsserted && Double(least) > bound * 1e6 {
      least = min(least, work())
    }
    return Double(least) / 1e6
  }
}
