package import ParleyGatewayPorts

/// Counts the recorded refusals of each address, so that guessed passwords do not fill the audit
/// log.
package struct RefusalCounter {
  /// Milliseconds for which refusals are counted together.
  package static let windowMilliseconds: Int64 = 3_600_000
  /// Maximum recorded refusals of one address in this time.
  package static let countMaxOfEach = 10
  /// Maximum recorded refusals of all addresses in this time.
  package static let countMax = 200

  private var start: Int64?
  private var count = 0
  private var counts: [LimitedClient: Int] = [:]

  package init() {}

  /// The decision about a refusal.
  package enum Verdict: Equatable {
    case recorded
    /// Recorded, as the last one of this address or of all addresses for a while.
    case recordedLast
    case dropped
  }

  /// Counts a refusal. An address without limits counts only towards the total.
  package mutating func count(_ client: LimitedClient?, uptime: Int64) -> Verdict {
    if uptime - (start ?? .min / 2) >= Self.windowMilliseconds {
      start = uptime
      count = 0
      counts = [:]
    }
    let own = client.map { counts[$0, default: 0] } ?? 0
    guard count < Self.countMax, own < Self.countMaxOfEach else { return .dropped }
    count += 1
    if let client { counts[client] = own + 1 }
    return count == Self.countMax || own + 1 == Self.countMaxOfEach ? .recordedLast : .recorded
  }
}
