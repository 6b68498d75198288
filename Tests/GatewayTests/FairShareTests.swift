import ParleyGatewayPorts
import ParleyOTWorkloads
import Testing

@Suite("Fair shares of a capacity")
struct FairShareTests {
  @Test("holders that take all they can leave the next one an equal share", arguments: 1...60)
  func newcomer(count: Int) {
    var shares = FairShares<Int>(capacity: 10_000)
    // All strangers take in rounds, so that they compete at the same time.
    var isTaken = true
    while isTaken {
      isTaken = false
      for limitedClient in 0..<count where shares.take(1, for: limitedClient) == nil {
        isTaken = true
      }
    }
    let fair = 10_000 / (count + 1)
    for limitedClient in 0..<count { #expect(abs(shares.amount(of: limitedClient) - fair) <= 1) }
    #expect(10_000 - shares.held >= fair)
    #expect(shares.take(fair / 2, for: count) == nil)
  }

  @Test("the first holder can take at most half")
  func first() {
    var shares = FairShares<String>(capacity: 32)
    while shares.take(1, for: "first") == nil {}
    #expect(shares.amount(of: "first") == 16)
    #expect(shares.take(1, for: "first") == .overShare)
    #expect(shares.take(1, for: "second") == nil)
  }

  @Test("the last slot is reserved for a new holder")
  func last() {
    var shares = FairShares<Int>(capacity: 8)
    for limitedClient in 0..<8 { #expect(shares.take(1, for: limitedClient) == nil) }
    #expect(shares.take(1, for: 9) == .full)
    #expect(shares.take(1, for: nil) == .full)
    shares.give(1, for: 3)
    #expect(shares.take(1, for: 9) == nil)
  }

  @Test("a released amount can be taken again, and is counted once", arguments: 1...100)
  func law(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var shares = FairShares<Int>(capacity: 1 + Int(random.next() % 2_000))
    var taken: [(amount: Int, key: Int?)] = []
    for _ in 0..<600 {
      if random.next() % 3 == 0, !taken.isEmpty {
        let one = taken.remove(at: Int(random.next() % UInt64(taken.count)))
        shares.give(one.amount, for: one.key)
      } else {
        let amount = Int(random.next() % 200)
        let key: Int? = random.next() % 8 == 0 ? nil : Int(random.next() % 10)
        let before = shares.held
        let own = key.map { shares.amount(of: $0) } ?? 0
        let refusal = shares.refusal(of: amount, for: key)
        #expect(shares.take(amount, for: key) == refusal)
        if refusal == nil { taken.append((amount, key)) }
        if refusal == .full { #expect(before + amount > shares.capacity) }
        if refusal == .overShare { #expect(own + amount > shares.capacity - before - amount) }
      }
      #expect(shares.held == taken.reduce(0) { $0 + $1.amount })
      #expect(shares.held <= shares.capacity)
      for key in 0..<10 {
        #expect(
          shares.amount(of: key) == taken.lazy.filter { $0.key == key }.reduce(0) { $0 + $1.amount }
        )
      }
    }
    for one in taken { shares.give(one.amount, for: one.key) }
    #expect(shares.held == 0 && shares.holderCount == 0)
  }

  @Test("a capacity of 0 limits nothing")
  func disabled() {
    var shares = FairShares<Int>(capacity: 0)
    #expect(shares.take(1 << 40, for: 1) == nil)
    shares.give(1 << 40, for: 1)
    #expect(shares.held == 0)
  }
}
