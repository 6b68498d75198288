package import ParleyGatewayPorts

/// A rate limit for each kind of log line, since any client may cause lines: twenty at once, then
/// one a second.
///
/// A kind is a level and a fixed message. Levels below `info` have no limit: an operator enables
/// them to see every line.
package struct LogLimits {
  private struct Kind: Hashable {
    let level: LogLevel
    let message: String
  }

  private struct Usage {
    var bucket = TokenBucket()
    /// Lines dropped since the last line that was written.
    var leftOut = 0
  }

  private static let rate = Rate(perSecond: 1, burst: 20)
  /// The maximum number of limited kinds. Messages are fixed, so there are far fewer.
  private static let kindsMax = 1_000

  private var usages: [Kind: Usage] = [:]

  /// Creates limits with full buckets.
  package init() {}

  /// Counts a line against the limit of its kind.
  ///
  /// - Returns: The number of lines of this kind dropped since the last one; `nil` to drop this one.
  package mutating func take(_ level: LogLevel, _ message: String, now: Int64) -> Int? {
    guard level >= .info else { return 0 }
    let kind = Kind(level: level, message: message)
    guard usages[kind] != nil || usages.count < Self.kindsMax else { return 0 }
    var usage = usages[kind] ?? Usage()
    let isTaken = usage.bucket.draw(1, at: Self.rate, now: now) == 0
    let leftOut = usage.leftOut
    usage.leftOut = isTaken ? 0 : leftOut + 1
    usages[kind] = usage
    return isTaken ? leftOut : nil
  }
}
