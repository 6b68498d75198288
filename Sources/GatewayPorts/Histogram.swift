/// How often a duration fell below each of some bounds, as Prometheus counts it.
///
/// A plain value: what counts on a loop is read on that loop.
public struct Histogram: Sendable {
  /// The upper bounds of the buckets in microseconds, ascending; beyond the last is one bucket more.
  public let bounds: [Int64]
  /// How many values fell into each bucket and not into an earlier one; one more than `bounds`.
  public private(set) var counts: [Int]
  /// All values together, in microseconds.
  public private(set) var sum: Int64 = 0

  /// From a tenth of a millisecond to ten seconds, about three bounds a decade.
  public static let latencies: [Int64] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
  ]

  /// Makes an empty histogram.
  public init(bounds: [Int64] = Histogram.latencies) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  /// Counts a value in microseconds. - Complexity: O(*bounds*), and the small ones come first.
  public mutating func record(_ value: Int64) {
    counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
    sum += value
  }
}
