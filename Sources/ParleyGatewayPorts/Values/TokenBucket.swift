/// A rate limit: an average per second, and a burst after a pause.
public struct Rate: Sendable, Hashable {
  /// The average amount per second; 0 disables the limit.
  public var perSecond: Int
  /// The maximum amount at once, after a pause.
  public var burst: Int

  /// Creates a rate from an average and a burst.
  public init(perSecond: Int, burst: Int) {
    self.perSecond = perSecond
    self.burst = burst
  }

  /// Creates a rate whose burst is the average amount of some seconds.
  public init(perSecond: Int, burstSeconds: Int) {
    self.init(perSecond: perSecond, burst: perSecond * burstSeconds)
  }
}

/// The usage of a rate limit (token bucket). The bucket holds a burst and refills at the rate.
///
/// In any *t* seconds, at most `rate.perSecond` · *t* + `rate.burst` are drawn with `draw` if no
/// single amount exceeds the burst. Amounts are computed exactly, in integers. A larger amount can
/// be drawn when the bucket is full. The bucket is then negative, so that later draws wait longer
/// and the average holds. The rate is passed to each call, so that a bucket takes two words of
/// memory. A new bucket is full.
public struct TokenBucket: Sendable, Hashable {
  /// The amount missing in the bucket, in thousandths, because times in milliseconds and rates per
  /// second then need no division.
  private var missing: Int64 = 0
  /// The time of the last update, in milliseconds of uptime.
  private var time: Int64 = 0

  /// Creates a full bucket.
  public init() {}

  /// Returns the amount missing at a later time.
  private func missing(at rate: Rate, now: Int64) -> Int64 {
    guard missing > 0, now > time else { return missing }
    let (back, isOver) = (now - time).multipliedReportingOverflow(by: Int64(rate.perSecond))
    return isOver ? 0 : max(0, missing - back)
  }

  /// Returns the milliseconds until an amount can be drawn, provided that nothing else is drawn
  /// before; 0 if it can be drawn now.
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
  /// - Returns: 0 if the amount was drawn; otherwise the milliseconds to wait.
  public mutating func draw(_ count: Int, at rate: Rate, now: Int64) -> Int64 {
    let wait = wait(for: count, at: rate, now: now)
    if wait == 0 { take(count, at: rate, now: now) }
    return wait
  }

  /// Whether the bucket is full, so that it can be discarded.
  public func isFull(at rate: Rate, now: Int64) -> Bool {
    rate.perSecond <= 0 || missing(at: rate, now: now) == 0
  }
}
