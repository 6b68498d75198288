package import ParleyGatewayPorts

/// Rate-limit usage of one user, or one address, over all its connections.
///
/// A reference type: each connection refers to its user's and its address's usage, so that a
/// message needs no lookup.
package final class Usage {
  /// The number of open connections.
  package var connections = 0 {
    didSet { share?.count(connections - oldValue) }
  }
  package var connects = TokenBucket()
  package var traffic = Traffic()
  package var requests = TokenBucket()

  /// The limits shared by all gateways of the process; `nil` if there is only one gateway.
  var share: Share?

  /// The user or address in limits that several gateways share.
  struct Share {
    let limits: any SharedLimits
    let party: LimitedParty

    func count(_ connections: Int) { limits.count(connections, of: party) }
  }

  package init() {}

  /// Whether the usage equals that of a new client.
  func isForgettable(_ allowance: Allowance, now: Int64) -> Bool {
    connections == 0 && connects.isFull(at: allowance.connects, now: now)
      && traffic.isForgettable(allowance, now: now)
      && requests.isFull(at: allowance.requests, now: now)
  }
}

/// The usages of all known users, or of all known addresses.
///
/// A usage without connections is removed soon after its buckets are full again. At the maximum of
/// `countMax`, a new one causes all usages without connections to be removed, whatever their
/// buckets; if there are still too many, the new one is not stored. Address limits could not stop a
/// client with this many addresses anyway.
package struct UsageBook<Key: Hashable> {
  private var usages: [Key: Usage] = [:]
  private let allowance: Allowance
  private let countMax: Int
  /// The time of the next search for expired entries.
  private var nextSweep: Int64 = 0
  /// The uptime until which no search for room is made, since the last one found none.
  private var isFullUntil: Int64 = 0

  private static var sweepMilliseconds: Int64 { 10_000 }

  package init(_ allowance: Allowance, countMax: Int = 65_536) {
    self.allowance = allowance
    self.countMax = countMax
  }

  /// The number of entries.
  package var count: Int { usages.count }

  /// Returns the current usage of a user or an address.
  package mutating func usage(of key: Key, now: Int64) -> Usage {
    if let usage = usages[key] { return usage }
    let usage = Usage()
    if usages.count >= countMax {
      guard now >= isFullUntil else { return usage }
      forget(now)
      if usages.count >= countMax { usages = usages.filter { $0.value.connections > 0 } }
      guard usages.count < countMax else {
        isFullUntil = now + 1_000
        return usage
      }
    }
    usages[key] = usage
    return usage
  }

  /// Removes expired entries, periodically.
  package mutating func ticked(now: Int64) {
    guard now >= nextSweep, !usages.isEmpty else { return }
    nextSweep = now + Self.sweepMilliseconds
    forget(now)
  }

  private mutating func forget(_ now: Int64) {
    usages = usages.filter { !$0.value.isForgettable(allowance, now: now) }
  }
}
