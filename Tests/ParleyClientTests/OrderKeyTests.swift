import ParleyClient
import Testing

@Suite("Keys for the order of a list")
struct OrderKeyTests {
  /// A generator whose numbers are the same in every run.
  private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  @Test("lie between their neighbours, and differ", arguments: UInt64(1)...50)
  func between(seed: UInt64) {
    var random = Seeded(state: seed)
    var keys: [String] = []
    for _ in 0..<100 {
      let place = Int.random(in: 0...keys.count, using: &random)
      let key = OrderKey.between(
        place > 0 ? keys[place - 1] : nil, place < keys.count ? keys[place] : nil, using: &random)
      keys.insert(key, at: place)
    }
    let bytes = keys.map { Array($0.utf8) }
    #expect(zip(bytes, bytes.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    #expect(keys.allSatisfy { $0.utf8.count <= 32 })
  }

  @Test("stay short at the ends of a long list, and at one place")
  func lengths() {
    var (last, first) = (OrderKey.between(nil, nil), OrderKey.between(nil, nil))
    for _ in 0..<5_000 {
      last = OrderKey.between(last, nil)
      first = OrderKey.between(nil, first)
    }
    #expect(last.utf8.count <= 8 && first.utf8.count <= 8)
    let low = OrderKey.between(nil, nil)
    var high = OrderKey.between(low, nil)
    for _ in 0..<100 { high = OrderKey.between(low, high) }
    #expect(high.utf8.count <= OrderKey.lengthMax)
    #expect(OrderKey.spread(50) == OrderKey.spread(50).sorted())
  }
}
