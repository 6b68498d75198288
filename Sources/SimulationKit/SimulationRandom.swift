package import OTCore

/// SplitMix64 (Steele, Lea, Flood, 2014): small, fast, and the same everywhere.
package struct SimulationRandom: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to `bound`.
  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  /// Whether something that happens in so many percent of cases happens now.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// Letters of one to four bytes, marks that combine, line ends of two scalars.
  private static let pieces = [
    "a", "b", " ", "\n", "é", "e\u{301}", "漢", "👍🏽", "👩‍👩‍👧", "\r\n", "\u{e000}", "𝄞", "xyz",
  ]

  /// An edit as somebody types it: mostly short, now and then several places at once.
  ///
  /// - Parameter mark: Goes before what is inserted: something that is found again.
  package mutating func edit(
    of length: Int, marking mark: (inout SimulationRandom) -> String = { _ in "" }
  ) -> TextOperation {
    var operation = TextOperation()
    var left = length
    for _ in 0...(chance(15) ? 2 : 0) {
      let kept = below(left + 1)
      operation.retain(kept)
      left -= kept
      let deletesFirst = chance(20)
      let deleted = chance(35) ? min(left, 1 + below(4)) : 0
      if deletesFirst { operation.delete(deleted) }
      if deleted == 0 || chance(30) {
        operation.insert(mark(&self) + Self.pieces[below(Self.pieces.count)])
      }
      if !deletesFirst { operation.delete(deleted) }
      left -= deleted
    }
    operation.retain(left)
    return operation
  }
}
