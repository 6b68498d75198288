package import GatewayPorts

/// A rate limit for each kind of log line, since any client may cause lines: twenty at once, then
/// one a second.
///
/// A kind is a level and a fixed message. Lines below `info` are left alone: who asks for them wants all.
package struct LogLimits {
  private struct Kind: Hashable {
    let level: LogLevel
    let message: String
  }

  private struct Usage {
    var bucket = TokenBucket()
    /// Lines that were left out since the last one that was not.
    var leftOut = 0
  }

  private static let rate = Rate(perSecond: 1, burst: 20)
  /// Kinds that are told apart: messages are fixed, so that there are far fewer.
  private static let kindsMax = 1_000

  private var usages: [Kind: Usage] = [:]

  /// Nothing has been written yet.
  package init() {}

  /// Counts a line.
  ///
  /// - Returns: The number of such lines that were left out before it; `nil` if it is left out itself.
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
