/// Retry intervals for rejected clients, spread evenly so that they do not all return at once.
///
/// The intervals follow the multiples of the golden ratio, which fill a range evenly without a
/// source of randomness.
package struct RetryInterval: Sendable {
  private let milliseconds: ClosedRange<Int>
  private var position: UInt32 = 0

  /// Creates intervals within a range, by default of 1 to 5 seconds.
  package init(milliseconds: ClosedRange<Int> = 1_000...5_000) { self.milliseconds = milliseconds }

  /// Returns the interval for the next client, in milliseconds.
  package mutating func next() -> Int {
    // 2³² divided by the golden ratio.
    position &+= 2_654_435_769
    let width = UInt64(milliseconds.upperBound - milliseconds.lowerBound + 1)
    return milliseconds.lowerBound + Int((UInt64(position) * width) >> 32)
  }
}
