import Gateway
import ParleyGatewayPorts
import ParleyGrowthKit
import ParleyOTWorkloads
import Testing

@Suite("Arrays with gaps")
struct GappedArrayTests {
  private final class Item {
    let number: Int
    var place = -1

    init(_ number: Int) { self.number = number }
  }

  /// An array whose items store their slot, and a plain array of the same items, oldest first.
  private struct Pair {
    var gapped = GappedArray<Item?>()
    var plain: [Item] = []

    mutating func add(_ number: Int) {
      let item = Item(number)
      item.place = gapped.append(item)
      plain.append(item)
    }

    mutating func remove(at index: Int) {
      if gapped.remove(at: plain.remove(at: index).place) { place() }
    }

    mutating func closeGaps() {
      if gapped.closeGaps() { place() }
    }

    private func place() {
      for (place, item) in gapped.slots.enumerated() { item?.place = place }
    }

    /// Whether both arrays hold the same items, and gaps do not outnumber elements.
    var agree: Bool {
      gapped.map(\.number) == plain.map(\.number) && gapped.count == plain.count
        && gapped.isEmpty == plain.isEmpty && gapped.slots.count <= 2 * plain.count
        && plain.allSatisfy { gapped.slots[$0.place] === $0 }
    }
  }

  @Test("adding and removing elements has the results of a plain array", arguments: UInt64(1)...40)
  func law(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var pair = Pair()
    // Some seeds fill the array, some empty it.
    let arrivals = Int.random(in: 2...6, using: &random)
    for step in 0..<600 {
      switch Int.random(in: 0..<10, using: &random) {
      case ..<arrivals: pair.add(step)
      case 9 where seed % 4 == 0: pair.closeGaps()
      default:
        guard let index = pair.plain.indices.randomElement(using: &random) else { continue }
        pair.remove(at: index)
      }
      #expect(pair.agree, "seed \(seed), step \(step)")
    }
    while !pair.plain.isEmpty { pair.remove(at: pair.plain.count - 1) }
    #expect(pair.agree && pair.gapped.slots.isEmpty)
  }

  @Test("a walk visits the elements that existed at its beginning, except for removed ones")
  func walk() {
    var pair = Pair()
    for number in 0..<6 { pair.add(number) }
    var met: [Int] = []
    for item in pair.gapped {
      met.append(item.number)
      if !pair.plain.isEmpty { pair.remove(at: 0) }
    }
    #expect(met == Array(0..<6) && pair.gapped.isEmpty)
  }

  @Test("connection ids have a separate gap")
  func connections() {
    var ids = GappedArray<ConnectionID>()
    let places = (UInt64(1)...4).map { ids.append(ConnectionID($0)) }
    #expect(places == [0, 1, 2, 3])
    let hasMoved = ids.remove(at: 1)
    #expect(!hasMoved && ids.map(\.rawValue) == [1, 3, 4] && ids.slots.count == 4)
    let hasClosed = [ids.closeGaps(), ids.closeGaps()]
    #expect(hasClosed == [true, false] && ids.slots.map(\.rawValue) == [1, 3, 4])
  }

  @Test("removing all elements costs a step for each, in any order")
  func growth() {
    let finding = GrowthLaw("empty a hall", size: 2_000) { size in
      size
    } run: { size in
      var pair = Pair()
      for number in 0..<size { pair.add(number) }
      for item in Array(pair.plain.reversed()) where pair.gapped.remove(at: item.place) {
        for (place, item) in pair.gapped.slots.enumerated() { item?.place = place }
      }
    }.check()
    #expect(finding.holds, "\(finding)")
  }
}
