import ParleyOTWorkloads

extension SplitMix64 {
  /// A whole number within the range.
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  /// True once in so many times.
  mutating func once(in count: Int) -> Bool { number(1...count) == 1 }
}
