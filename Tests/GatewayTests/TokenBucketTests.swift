import ParleyGatewayPorts
import ParleyOTWorkloads
import Testing

@Suite("Token buckets")
struct TokenBucketTests {
  /// An amount drawn at a time.
  private struct Draw {
    var time: Int64
    var count: Int
  }

  /// Draws random amounts, and returns the granted draws.
  private func granted(_ rate: Rate, countMax: Int, _ random: inout SplitMix64) -> [Draw] {
    var bucket = TokenBucket()
    var now = Int64(random.next() % 1_000)
    return (0..<400).compactMap { _ in
      now += Int64(random.next() % 4 == 0 ? random.next() % 3_000 : random.next() % 40)
      let count = 1 + Int(random.next() % UInt64(countMax))
      return bucket.draw(count, at: rate, now: now) == 0 ? Draw(time: now, count: count) : nil
    }
  }

  @Test("in any period a bucket grants at most its rate and a burst", arguments: 1...40)
  func law(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let rate = Rate(
      perSecond: 1 + Int(random.next() % 50), burst: 1 + Int(random.next() % 60))
    let draws = granted(rate, countMax: min(rate.burst, 5), &random)
    #expect(!draws.isEmpty)
    for first in draws.indices {
      var sum = 0
      for draw in draws[first...] {
        sum += draw.count
        let milliseconds = Int(draw.time - draws[first].time)
        #expect(sum * 1_000 <= rate.perSecond * milliseconds + rate.burst * 1_000)
      }
    }
  }

  @Test("an amount larger than a burst counts in full", arguments: 1...20)
  func debt(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let rate = Rate(perSecond: 10, burst: 5)
    let draws = granted(rate, countMax: 40, &random)
    for first in draws.indices {
      var sum = 0
      for draw in draws[first...] {
        let milliseconds = Int(draw.time - draws[first].time)
        // The draws before this one; this draw itself may have any size.
        #expect(sum * 1_000 <= rate.perSecond * milliseconds + 40 * 1_000)
        sum += draw.count
      }
    }
  }

  @Test("the time to wait is exact to the millisecond", arguments: 1...200)
  func exactWait(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let rate = Rate(
      perSecond: 1 + Int(random.next() % 3_000), burst: 1 + Int(random.next() % 60))
    var bucket = TokenBucket()
    var now: Int64 = 5
    for _ in 0..<100 {
      let count = 1 + Int(random.next() % 80)
      let wait = bucket.draw(count, at: rate, now: now)
      if wait > 0 {
        #expect(bucket.wait(for: count, at: rate, now: now + wait - 1) == 1)
        #expect(bucket.wait(for: count, at: rate, now: now + wait) == 0)
      }
      now += Int64(random.next() % 50)
    }
  }

  @Test("a full bucket grants a burst, and is full again after the burst's time")
  func burst() {
    let rate = Rate(perSecond: 10, burstSeconds: 3)
    var bucket = TokenBucket()
    for _ in 0..<30 { #expect(bucket.draw(1, at: rate, now: 0) == 0) }
    #expect(bucket.draw(1, at: rate, now: 0) == 100)
    #expect(!bucket.isFull(at: rate, now: 2_999))
    #expect(bucket.isFull(at: rate, now: 3_000))
    #expect(bucket.wait(for: 30, at: rate, now: .max) == 0)
  }

  @Test("a clock that is set back grants nothing")
  func clockGoesBack() {
    let rate = Rate(perSecond: 1, burst: 1)
    var bucket = TokenBucket()
    #expect(bucket.draw(1, at: rate, now: 1_000) == 0)
    #expect(bucket.draw(1, at: rate, now: 0) == 1_000)
    #expect(bucket.draw(1, at: rate, now: 1_999) == 1)
  }

  @Test("a bucket without a rate has no limit")
  func unlimited() {
    let rate = Rate(perSecond: 0, burst: 0)
    var bucket = TokenBucket()
    for _ in 0..<10 { #expect(bucket.draw(1 << 40, at: rate, now: 0) == 0) }
    #expect(bucket.isFull(at: rate, now: 0))
  }
}
