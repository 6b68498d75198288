/// Counts durations in buckets that are at most 1/64 of their value wide.
struct Histogram {
  private static let fractionBits = 6
  private var buckets = [UInt32](repeating: 0, count: 64 << fractionBits)
  private(set) var count = 0
  private(set) var longest: UInt64 = 0

  mutating func add(_ nanoseconds: UInt64) {
    count += 1
    longest = max(longest, nanoseconds)
    buckets[Self.bucket(nanoseconds)] += 1
  }

  /// Returns the duration in milliseconds that the fraction `part` of all durations does not
  /// exceed.
  func milliseconds(_ part: Double) -> Double {
    guard count > 0 else { return 0 }
    let rank = max(1, Int((Double(count) * part).rounded(.up)))
    var seen = 0
    for (index, number) in buckets.enumerated() where number > 0 {
      seen += Int(number)
      if seen >= rank { return Double(Self.upperBound(index)) / 1_000_000 }
    }
    return Double(longest) / 1_000_000
  }

  private static func bucket(_ value: UInt64) -> Int {
    let exponent = 63 - (value | 1 << fractionBits).leadingZeroBitCount
    let shift = exponent - fractionBits
    return shift << fractionBits + Int(value >> shift)
  }

  private static func upperBound(_ bucket: Int) -> UInt64 {
    let shift = max(0, bucket >> fractionBits - 1)
    let fraction = UInt64(bucket - shift << fractionBits)
    return (fraction + 1) << shift - 1
  }
}
