/// A histogram of durations for Prometheus.
///
/// A value without synchronisation: a loop's histogram is read on that loop.
public struct Histogram: Sendable {
  /// The upper bounds of the buckets in microseconds, ascending. The last bucket has no bound.
  public let bounds: [Int64]
  /// The number of values in each bucket, not cumulated; one element more than `bounds`.
  public private(set) var counts: [Int]
  /// The sum of all values, in microseconds.
  public private(set) var sum: Int64 = 0

  /// Bounds from 0.1 milliseconds to 10 seconds, about three per decade.
  public static let latencies: [Int64] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
  ]

  /// Creates an empty histogram, by default for latencies.
  public init(bounds: [Int64] = Histogram.latencies) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  /// Counts a value in microseconds. - Complexity: O(*bounds*), starting with the smallest.
  public mutating func record(_ value: Int64) {
    counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
    sum += value
  }

  /// The number of counted values.
  public var count: Int { counts.reduce(0, +) }

  /// Returns the values counted since an earlier copy of this histogram.
  public func since(_ earlier: Histogram) -> Histogram {
    precondition(bounds == earlier.bounds, "histograms with other bounds are not of one history")
    var later = self
    for index in later.counts.indices { later.counts[index] -= earlier.counts[index] }
    later.sum -= earlier.sum
    return later
  }

  /// Adds the values of another histogram.
  public mutating func add(_ other: Histogram) {
    precondition(bounds == other.bounds, "histograms with other bounds cannot be added")
    for index in counts.indices { counts[index] += other.counts[index] }
    sum += other.sum
  }

  /// Returns an approximate quantile in microseconds; `nil` without values.
  ///
  /// Interpolates linearly within a bucket, as Prometheus does; at most the last bound.
  ///
  /// - Parameter share: The quantile, from 0 to 1.
  public func quantile(_ share: Double) -> Int64? {
    let rank = share * Double(count)
    guard count > 0 else { return nil }
    var below = 0
    var lower: Int64 = 0
    for (bound, inside) in zip(bounds, counts) {
      if inside > 0, Double(below + inside) >= rank {
        let part = max(0, rank - Double(below)) / Double(inside)
        return lower + Int64(part * Double(bound - lower))
      }
      below += inside
      lower = bound
    }
    return bounds.last
  }
}
