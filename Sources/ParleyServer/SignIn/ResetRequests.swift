import ParleyGatewayPorts

/// Limits requests for links to new passwords: by address, by account and overall, in each hour.
///
/// An account that has reached its limit, and the limit of all, are not told to the requester: both
/// would say which accounts exist.
package struct ResetRequests {
  /// The outcome of a request.
  package enum Verdict: Equatable {
    case allowed
    /// No message is sent, and the answer is the same.
    case silent
    /// The address has asked too often; milliseconds until the next hour.
    case refused(Int64)
  }

  package static let addressMax = 10
  package static let accountMax = 3
  package static let allMax = 200
  /// Maximum addresses that are counted. Beyond it, requests of further addresses are refused.
  package static let addressesMax = 20_000
  private static let hour: Int64 = 3_600_000

  private var hourEnd: Int64 = 0
  private var byAddress: [String: Int] = [:]
  private var byAccount: [String: Int] = [:]
  private var all = 0

  package init() {}

  /// Counts a request.
  ///
  /// - Parameters:
  ///   - account: The account to which a message would be sent; `nil` for none.
  ///   - now: Milliseconds of uptime.
  package mutating func count(address: String, account: String?, now: Int64) -> Verdict {
    if now >= hourEnd {
      hourEnd = now + Self.hour
      (byAddress, byAccount, all) = ([:], [:], 0)
    }
    let network = IPAddress(address)
    // A local proxy has this address for all of its clients.
    if network?.isLoopback != true {
      let place = network.map { "\($0.subscriber)" } ?? address
      let before = byAddress[place] ?? 0
      guard before < Self.addressMax, before > 0 || byAddress.count < Self.addressesMax else {
        return .refused(hourEnd - now)
      }
      byAddress[place] = before + 1
    }
    guard let account else { return .silent }
    let ofAccount = byAccount[account] ?? 0
    guard ofAccount < Self.accountMax, all < Self.allMax else { return .silent }
    byAccount[account] = ofAccount + 1
    all += 1
    return .allowed
  }
}
