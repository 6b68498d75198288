import ParleyGatewayPorts
import ParleyOTWorkloads
import Testing

@Suite("Queues of many holders")
struct QueueTests {
  @Test("a linked queue keeps the order of an array", arguments: UInt64(1)...20)
  func linked(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var queue = LinkedQueue<Int>()
    var oracle: [Int] = []
    for number in 0..<500 {
      switch random.below(4) {
      case 0, 1:
        queue.append(number)
        oracle.append(number)
      case 2: #expect(queue.popFirst() == (oracle.isEmpty ? nil : oracle.removeFirst()))
      default:
        let removed = random.below(number + 1)
        #expect(queue.remove(removed) == oracle.contains(removed))
        oracle.removeAll { $0 == removed }
      }
      #expect(queue.first == oracle.first && queue.count == oracle.count)
    }
    while let next = queue.popFirst() { #expect(next == oracle.removeFirst()) }
    #expect(oracle.isEmpty)
  }

  @Test("the oldest element of the largest holder is found", arguments: UInt64(1)...20)
  func largest(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var queues = HolderQueues<Int, Int>()
    var oracle: [Int: [Int]] = [:]
    for number in 0..<500 {
      let holder = random.below(6)
      if random.below(3) > 0 {
        queues.append(number, of: holder)
        oracle[holder, default: []].append(number)
      } else if let element = oracle[holder]?.first {
        queues.remove(element, of: holder)
        oracle[holder]?.removeFirst()
      }
      let most = oracle.values.map(\.count).max() ?? 0
      #expect(queues.largestCount == most)
      let found = queues.oldestOfLargest
      if most == 0 {
        #expect(found == nil)
      } else if let found {
        #expect(oracle[found.holder]?.count == most)
        #expect(oracle[found.holder]?.first == found.element)
      } else {
        Issue.record("no holder was found among \(oracle.count)")
      }
    }
  }

  @Test("holders take turns, so an element waits for one element of each other holder")
  func turns() {
    var queue = FairQueue<Int, String>(capacity: 64, countMaxOfStranger: 8)
    for number in 0..<40 { _ = queue.append("flood \(number)", for: 1) }
    #expect(queue.count == 8)
    for limitedClient in 2...5 {
      #expect(queue.append("\(limitedClient)", for: limitedClient) == nil)
    }
    let order = (0..<6).map { _ in queue.popFirst() }
    #expect(order == ["flood 0", "2", "3", "4", "5", "flood 1"])
  }

  @Test("40 holders with all that they can have leave a slot for the next one")
  func newcomer() {
    var queue = FairQueue<Int, Int>(capacity: 256, countMaxOfStranger: 8)
    for _ in 0..<8 {
      for limitedClient in 1...40 { _ = queue.append(limitedClient, for: limitedClient) }
    }
    #expect(queue.append(41, for: 41) == nil)
    let turns = (0..<41).map { _ in queue.popFirst() }
    #expect(turns.contains(41))
  }

  @Test("a slot is in use until its work is done or removed")
  func slots() {
    var queue = FairQueue<Int, Int>(capacity: 16, countMaxOfStranger: 2)
    for number in 1...2 { #expect(queue.append(number, for: 1) == nil) }
    #expect(queue.append(3, for: 1) == .overShare)
    #expect(queue.popFirst() == 1)
    #expect(queue.append(3, for: 1) == .overShare)
    queue.finish(for: 1)
    #expect(queue.append(3, for: 1) == nil)
    #expect(queue.remove(for: 1) { $0 == 3 } == 3)
    #expect(queue.remove(for: 1) { $0 == 3 } == nil)
    #expect(queue.append(4, for: 1) == nil)
    #expect([queue.popFirst(), queue.popFirst(), queue.popFirst()] == [2, 4, nil])
  }

  @Test("retry intervals differ, and fill their range evenly")
  func intervals() {
    var retries = RetryInterval(milliseconds: 1_000...5_000)
    let intervals = (0..<100).map { _ in retries.next() }
    #expect(Set(intervals).count == 100)
    #expect(intervals.allSatisfy { (1_000...5_000).contains($0) })
    for part in 0..<10 {
      let range = 1_000 + part * 400..<1_400 + part * 400
      #expect((8...12).contains(intervals.count(where: range.contains)))
    }
  }
}
