/// A rate limit: an average per second, and a burst after a quiet time.
public struct Rate: Sendable, Hashable {
  /// The average amount per second; 0 for no limit.
  public var perSecond: Int
  /// The amount at once, after a quiet time.
  public var burst: Int

  /// Makes a rate.
  public init(perSecond: Int, burst: Int) {
    self.perSecond = perSecond
    self.burst = burst
  }

  /// A rate whose burst is the amount of some seconds.
  public init(perSecond: Int, burstSeconds: Int) {
    self.init(perSecond: perSecond, burst: perSecond * burstSeconds)
  }
}

/// Usage of a rate limit: a bucket that holds a burst, and fills at the rate.
///
/// In any time *t* (seconds), the drawn amount is at most `rate.perSecond` · *t* + `rate.burst`, in whole
/// numbers without rounding. An amount larger than a whole bucket waits until it is full, and then leaves a
/// debt, so that the average still holds. The rate is handed in with each call: a bucket is two words, and
/// an unused bucket is full.
public struct TokenBucket: Sendable, Hashable {
  /// The amount missing in the bucket, in thousandths: with times in milliseconds and rates in
  /// seconds nothing has to be divided.
  private var missing: Int64 = 0
  /// The time of the last update, in milliseconds of uptime.
  private var time: Int64 = 0

  /// A full bucket.
  public init() {}

  /// Returns the amount missing at a later time.
  private func missing(at rate: Rate, now: Int64) -> Int64 {
    guard missing > 0, now > time else { return missing }
    let (back, isOver) = (now - time).multipliedReportingOverflow(by: Int64(rate.perSecond))
    return isOver ? 0 : max(0, missing - back)
  }

  /// Milliseconds until an amount could be drawn if nothing else is drawn; 0 for now, and never one more
  /// than it takes.
  public func wait(for count: Int, at rate: Rate, now: Int64) -> Int64 {
    guard rate.perSecond > 0 else { return 0 }
    let room = Int64(rate.burst) * 1_000 - missing(at: rate, now: now)
    let lack = Int64(min(count, rate.burst)) * 1_000 - room
    let perSecond = Int64(rate.perSecond)
    return lack <= 0 ? 0 : (lack + perSecond - 1) / perSecond
  }

  /// Draws an amount, even if the bucket holds less.
  public mutating func take(_ count: Int, at rate: Rate, now: Int64) {
    guard rate.perSecond > 0 else { return }
    missing = missing(at: rate, now: now) + Int64(count) * 1_000
    time = max(time, now)
  }

  /// Draws an amount if the bucket holds it.
  ///
  /// - Returns: 0 if it did; else the milliseconds to wait, and nothing was drawn.
  public mutating func draw(_ count: Int, at rate: Rate, now: Int64) -> Int64 {
    let wait = wait(for: count, at: rate, now: now)
    if wait == 0 { take(count, at: rate, now: now) }
    return wait
  }

  /// Whether the bucket is full, and can be forgotten.
  public func isFull(at rate: Rate, now: Int64) -> Bool {
    rate.perSecond <= 0 || missing(at: rate, now: now) == 0
  }
}
