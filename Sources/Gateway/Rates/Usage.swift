package import ParleyGatewayPorts

/// Rate-limit usage of one user, or one address, over all its connections.
///
/// A reference: each connection holds its user's and its address's, so that a message costs no look
/// into a table.
package final class Usage {
  /// Open connections.
  package var connections = 0 {
    didSet { share?.count(connections - oldValue) }
  }
  package var connects = TokenBucket()
  package var traffic = Traffic()
  package var requests = TokenBucket()

  /// The limits that hold for all gateways of the process; `nil` if this is the only one.
  var share: Share?

  /// A place in limits that several gateways share.
  struct Share {
    let limits: any SharedLimits
    let party: LimitedParty

    func count(_ connections: Int) { limits.count(connections, of: party) }
  }

  package init() {}

  /// Whether it is the same as a new one.
  func isForgettable(_ allowance: Allowance, now: Int64) -> Bool {
    connections == 0 && connects.isFull(at: allowance.connects, now: now)
      && traffic.isForgettable(allowance, now: now)
      && requests.isFull(at: allowance.requests, now: now)
  }
}

/// The usages of all users, or of all addresses, that are known.
///
/// A usage without connections is forgotten soon after its buckets are full again. There are at most
/// `countMax` of them: when one more comes, all that have no connection are forgotten, whatever they have
/// used; if those with connections are too many still, the newcomer is not remembered. A client with so
/// many addresses that this matters is not held by limits of an address in any case.
package struct UsageBook<Key: Hashable> {
  private var usages: [Key: Usage] = [:]
  private let allowance: Allowance
  private let countMax: Int
  /// The time of the next search for expired entries.
  private var nextSweep: Int64 = 0
  /// Until when a search for room would find none.
  private var isFullUntil: Int64 = 0

  private static var sweepMilliseconds: Int64 { 10_000 }

  package init(_ allowance: Allowance, countMax: Int = 65_536) {
    self.allowance = allowance
    self.countMax = countMax
  }

  /// The number of entries.
  package var count: Int { usages.count }

  /// Returns the usage of a user or an address so far.
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

  /// Forgets expired entries, from time to time.
  package mutating func ticked(now: Int64) {
    guard now >= nextSweep, !usages.isEmpty else { return }
    nextSweep = now + Self.sweepMilliseconds
    forget(now)
  }

  private mutating func forget(_ now: Int64) {
    usages = usages.filter { !$0.value.isForgettable(allowance, now: now) }
  }
}
