/// A small seeded random generator, the same on every machine (Steele, Lea, Flood, 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number below `bound`: the upper half of a random word times the bound.
  package mutating func below(_ bound: Int) -> Int {
    Int(UInt64(bound).multipliedFullWidth(by: next()).high)
  }

  /// Returns a number from `low` to `high`, inclusive.
  package mutating func between(_ low: Int, _ high: Int) -> Int { low + below(high - low + 1) }

  /// Returns true with a probability of `percent` %.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
