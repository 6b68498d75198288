import Glibc

/// Work whose cost may grow at most in proportion to its input.
///
/// The same work is done at a size and at eight times that size, and the thread's own processor
/// time is compared: linear work costs 8 times as much, quadratic work 64 times. Up to 16 times is
/// accepted, which leaves room for caches and allocators. Waiting, and other programs on the same
/// machine, take no processor time of this thread.
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
/// The larger size should be one that the work meets in use, such as a limit: below it the part
/// that grows too fast may hide behind the part that does not. Work that is over sooner than
/// ``millisecondsMin`` is repeated, at the larger size an eighth as often.
public struct GrowthLaw: Sendable, CustomStringConvertible {
  /// The ratio of the two input sizes.
  public static let factor = 8
  /// The largest accepted ratio of processor times, larger input to smaller: 16, and 32 with a sanitizer.
  public static let ratioMax = isInstrumented ? 32.0 : 16.0
  /// Whether a sanitizer is compiled in, whose shadow of the memory no cache holds at the larger size.
  static let isInstrumented =
    dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
  /// The least processor time that is measured at the smaller size.
  public static let millisecondsMin: UInt64 = 20

  /// The number of measurements after which a law counts as broken: so many that neighbours on the
  /// machine, who come and go, cannot spoil all of them.
  public static let attemptsMax = 20

  /// The work's name, for tables and failures.
  public let name: String
  /// The smaller of both sizes.
  public let size: Int
  /// Prepares inputs of a size, and returns what does the work on them in turn, so many times, and
  /// says how many nanoseconds that took.
  private let begin: @Sendable (_ size: Int, _ inputs: Int) -> (_ repetitions: Int) -> UInt64

  /// Work that leaves its input as it was, so that one input serves all repetitions.
  ///
  /// - Parameters:
  ///   - size: The smaller of both sizes, in a unit of the caller's choice.
  ///   - prepare: Makes an input of a size. Not measured.
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

  /// Work that changes its input: each repetition gets one of its own.
  ///
  /// - Parameters:
  ///   - size: The smaller of both sizes, in a unit of the caller's choice.
  ///   - prepare: Makes an input of a size. Not measured.
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

  /// Measures at both sizes, and again while the growth is too large, up to ``attemptsMax`` times.
  ///
  /// Programs beside this one empty the caches that the smaller input fits in and the larger does
  /// not. Growth beyond the law shows in every attempt.
  public func check() -> GrowthFinding {
    var best = measured()
    for _ in 1..<Self.attemptsMax where !best.holds {
      let again = measured()
      if again.ratio < best.ratio { best = again }
    }
    return best
  }

  private func measured() -> GrowthFinding {
    // As many small inputs as are as large as the large one: both fill the caches alike.
    let measureSmall = begin(size, Self.factor)
    // Warms up what is made once, and finds how often to repeat.
    var repetitions = Self.factor
    var small = measureSmall(repetitions)
    let wanted = Self.millisecondsMin * 1_000_000
    while small < wanted {
      repetitions = max(
        repetitions + 1,
        min(repetitions * 8, Int(wanted * 5 / 4 / max(1, small / UInt64(repetitions)))))
      small = measureSmall(repetitions)
    }
    // A repetition takes longer at the larger size: fewer of them are as exact.
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
  /// The smaller of both sizes.
  public let size: Int
  /// Repetitions of the work that both times are for.
  public let repetitions: Int
  /// Nanoseconds at the smaller size, all repetitions together.
  public let small: UInt64
  /// Nanoseconds at the larger size, reckoned for as many repetitions.
  public let large: UInt64

  /// The ratio of processor times, larger size to smaller.
  public var ratio: Double { Double(large) / Double(max(1, small)) }

  /// Whether the cost grew at most in proportion to the size, within the accepted margin.
  public var holds: Bool { ratio <= GrowthLaw.ratioMax }

  /// The measurement in one line.
  public var description: String {
    let times = Double(Int(ratio * 10)) / 10
    return "\(name): \(GrowthLaw.factor) times \(size) takes \(times) times the processor time, "
      + "\(large / 1_000) after \(small / 1_000) µs (\(repetitions) repetitions); "
      + "expected at most \(Int(GrowthLaw.ratioMax)) times"
  }
}
