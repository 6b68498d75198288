import Glibc

/// Work whose cost must grow at most linearly with its input.
///
/// The same work is measured at a size and at eight times that size, in processor time of the
/// thread. Linear work takes 8 times as long, quadratic work 64 times. Up to 16 times is accepted,
/// which allows for caches and allocators. Waiting and other programs do not count as processor
/// time of this thread.
///
///     let law = GrowthLaw("build", size: 4_000) { size in
///       size
///     } run: { size in
///       var operation = TextOperation()
///       for _ in 0..<size { operation.insert("a"); operation.retain(1) }
///     }
///     let finding = law.check()
///     #expect(finding.holds, "\(finding)")
///
/// The larger size should occur in use, such as a limit: at smaller sizes, linear parts may hide a
/// quadratic part. Work that takes less than ``millisecondsMin`` is repeated, at the larger size an
/// eighth as often.
public struct GrowthLaw: Sendable, CustomStringConvertible {
  /// The ratio of the two input sizes.
  public static let factor = 8
  /// The maximum ratio of processor times, larger size to smaller: 16, and 32 with a sanitizer.
  public static let ratioMax = isInstrumented ? 32.0 : 16.0
  /// Whether a sanitizer is enabled, whose shadow memory exceeds the caches at the larger size.
  static let isInstrumented =
    dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
  /// The minimum processor time of a measurement at the smaller size.
  public static let millisecondsMin: UInt64 = 20

  /// The maximum measurements before a law counts as broken. There are many, since other programs
  /// may disturb most of them.
  public static let attemptsMax = 20

  /// The work's name, for tables and failures.
  public let name: String
  /// The smaller of the two sizes.
  public let size: Int
  /// A function that prepares inputs of a size. It returns a function that runs the work on them in
  /// turn for a number of repetitions, and returns the nanoseconds.
  private let begin: @Sendable (_ size: Int, _ inputs: Int) -> (_ repetitions: Int) -> UInt64

  /// Creates a law for work that does not change its input, so that inputs are reused.
  ///
  /// - Parameters:
  ///   - size: The smaller of the two sizes, in any unit.
  ///   - prepare: Creates an input of a size. Not measured.
  ///   - run: The work.
  public init<Input>(
    _ name: String, size: Int, prepare: @escaping @Sendable (Int) -> Input,
    run: @escaping @Sendable (Input) -> Void
  ) {
    self.name = name
    self.size = size
    begin = { size, count in
      let inputs = (0..<count).map { _ in prepare(size) }
      return { repetitions in
        let start = ThreadClock.nanoseconds
        for repetition in 0..<repetitions { run(inputs[repetition % count]) }
        return ThreadClock.nanoseconds - start
      }
    }
  }

  /// Creates a law for work that changes its input, so that each repetition needs a new one.
  ///
  /// - Parameters:
  ///   - size: The smaller of the two sizes, in any unit.
  ///   - prepare: Creates an input of a size. Not measured.
  ///   - change: The work.
  public init<Input>(
    _ name: String, size: Int, prepareEach prepare: @escaping @Sendable (Int) -> Input,
    change: @escaping @Sendable (inout Input) -> Void
  ) {
    self.name = name
    self.size = size
    begin = { size, count in
      { repetitions in
        var sum: UInt64 = 0
        for first in stride(from: 0, to: repetitions, by: count) {
          var inputs = (first..<min(first + count, repetitions)).map { _ in prepare(size) }
          let start = ThreadClock.nanoseconds
          for index in inputs.indices { change(&inputs[index]) }
          sum += ThreadClock.nanoseconds - start
        }
        return sum
      }
    }
  }

  /// The work's name.
  public var description: String { name }

  /// Measures both sizes; repeats this while the growth is too large, up to ``attemptsMax`` times.
  ///
  /// Other programs empty the caches, which only the smaller input fits. Growth that really
  /// violates the law occurs in every attempt.
  public func check() -> GrowthFinding {
    var best = measured()
    for _ in 1..<Self.attemptsMax where !best.holds {
      let again = measured()
      if again.ratio < best.ratio { best = again }
    }
    return best
  }

  private func measured() -> GrowthFinding {
    // Use as many small inputs as fill the caches like the large one.
    let measureSmall = begin(size, Self.factor)
    // Initialize caches, and find the number of repetitions.
    var repetitions = Self.factor
    var small = measureSmall(repetitions)
    let wanted = Self.millisecondsMin * 1_000_000
    while small < wanted {
      repetitions = max(
        repetitions + 1,
        min(repetitions * 8, Int(wanted * 5 / 4 / max(1, small / UInt64(repetitions)))))
      small = measureSmall(repetitions)
    }
    // A repetition takes longer at the larger size, so fewer are needed for the same precision.
    let fewer = max(1, repetitions / Self.factor)
    let measureLarge = begin(size * Self.factor, 1)
    let large = measureLarge(fewer) * UInt64(repetitions) / UInt64(fewer)
    return GrowthFinding(
      name: name, size: size, repetitions: repetitions, small: small, large: large)
  }
}

/// The processor time that work took at two sizes.
public struct GrowthFinding: Sendable, CustomStringConvertible {
  /// The work's name.
  public let name: String
  /// The smaller of the two sizes.
  public let size: Int
  /// The number of repetitions in both times.
  public let repetitions: Int
  /// Nanoseconds of all repetitions at the smaller size.
  public let small: UInt64
  /// Nanoseconds at the larger size, scaled to the same number of repetitions.
  public let large: UInt64

  /// The ratio of processor times, larger size to smaller.
  public var ratio: Double { Double(large) / Double(max(1, small)) }

  /// Whether the cost grew at most in proportion to the size, within the accepted margin.
  public var holds: Bool { ratio <= GrowthLaw.ratioMax }

  /// The measurement as one line of text.
  public var description: String {
    let times = Double(Int(ratio * 10)) / 10
    return "\(name): \(GrowthLaw.factor) times \(size) takes \(times) times the processor time, "
      + "\(large / 1_000) after \(small / 1_000) µs (\(repetitions) repetitions); "
      + "expected at most \(Int(GrowthLaw.ratioMax)) times"
  }
}
