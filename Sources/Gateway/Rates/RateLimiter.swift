import ParleyGatewayPorts

/// The rate limits of users and addresses, and their usage over all connections.
struct RateLimiter {
  private let allowances: Allowances
  private let clock: any Clock
  private var users: UsageBook<ExactName>
  private var addresses: UsageBook<IPAddress>
  /// The usage of the address, for each counted connection, including those that carry sessions.
  private var carriers: [ConnectionID: Usage] = [:]
  /// Limits shared with other gateways; `nil` if there are none.
  private let shared: (any SharedLimits)?

  init(_ allowances: Allowances, clock: any Clock, shared: (any SharedLimits)? = nil) {
    self.allowances = allowances
    self.clock = clock
    self.shared = shared
    users = UsageBook(allowances.user)
    addresses = UsageBook(allowances.address)
  }

  // MARK: Usages

  /// Returns the usage of an address; `nil` if the address is not limited.
  private mutating func usage(of address: IPAddress?) -> Usage? {
    guard let address = address?.subscriber else { return nil }
    let usage = addresses.usage(of: address, now: clock.uptime)
    share(usage, of: .address(address))
    return usage
  }

  /// Returns the usage of a user; `nil` without a name, and for guests, who share one name.
  mutating func usage(of identity: Identity) -> Usage? {
    guard !identity.isGuest, !identity.user.isEmpty else { return nil }
    let usage = users.usage(of: ExactName(identity.user), now: clock.uptime)
    share(usage, of: .user(identity.user))
    return usage
  }

  /// Makes a usage count for all gateways of the process.
  private func share(_ usage: Usage, of party: @autoclosure () -> LimitedParty) {
    guard let shared, usage.share == nil else { return }
    usage.share = Usage.Share(limits: shared, party: party())
  }

  /// Returns a meter for the traffic of an address.
  mutating func meter(from address: IPAddress?) -> Meter {
    var meter = Meter()
    meter.address = usage(of: address)
    return meter
  }

  /// Counts a connection towards its address.
  mutating func count(_ id: ConnectionID, from address: IPAddress?) {
    guard let usage = usage(of: address) else { return }
    usage.connections += 1
    carriers[id] = usage
  }

  /// Stops counting a connection that has ended.
  mutating func uncount(_ id: ConnectionID) {
    guard !carriers.isEmpty else { return }
    carriers.removeValue(forKey: id)?.connections -= 1
  }

  /// Removes expired usages, periodically.
  mutating func ticked() {
    let now = clock.uptime
    users.ticked(now: now)
    addresses.ticked(now: now)
  }

  // MARK: Checks

  /// Returns the limit that another connection from an address exceeds. Counts as an attempt.
  mutating func excess(ofConnectingFrom address: IPAddress?) -> Excess? {
    usage(of: address).flatMap {
      excess(
        ofConnecting: $0, allowances.address, .addressConnectionsMax, .addressConnectsPerSecondMax)
    }
  }

  /// Returns the limit that another connection of a user exceeds. Counts as an attempt.
  mutating func excess(ofConnecting identity: Identity) -> Excess? {
    usage(of: identity).flatMap {
      excess(ofConnecting: $0, allowances.user, .userConnectionsMax, .userConnectsPerSecondMax)
    }
  }

  private func excess(
    ofConnecting usage: Usage, _ allowance: Allowance, _ number: RateLimit, _ rate: RateLimit
  ) -> Excess? {
    if let share = usage.share {
      guard let wait = share.limits.waitToConnect(of: share.party) else {
        return Excess(limit: number, retryAfter: nil)
      }
      return wait == 0 ? nil : Excess(limit: rate, retryAfter: Int(wait))
    }
    if allowance.connectionsMax > 0, usage.connections >= allowance.connectionsMax {
      return Excess(limit: number, retryAfter: nil)
    }
    let wait = usage.connects.draw(1, at: allowance.connects, now: clock.uptime)
    return wait == 0 ? nil : Excess(limit: rate, retryAfter: Int(wait))
  }

  /// Returns the limit that a request from an address exceeds; otherwise counts the request.
  mutating func excess(ofRequestFrom address: IPAddress?) -> Excess? {
    usage(of: address).flatMap {
      excess(ofRequest: $0, allowances.address, .addressRequestsPerSecondMax)
    }
  }

  /// Returns the limit that a user's request exceeds; otherwise counts the request.
  mutating func excess(ofRequestBy identity: Identity) -> Excess? {
    usage(of: identity).flatMap {
      excess(ofRequest: $0, allowances.user, .userRequestsPerSecondMax)
    }
  }

  private func excess(
    ofRequest usage: Usage, _ allowance: Allowance, _ limit: RateLimit
  ) -> Excess? {
    let wait =
      usage.share.map { $0.limits.waitToAsk(of: $0.party) }
      ?? usage.requests.draw(1, at: allowance.requests, now: clock.uptime)
    return wait == 0 ? nil : Excess(limit: limit, retryAfter: Int(wait))
  }

  /// Returns the limit that a publication exceeds; otherwise counts it. For publications whose
  /// connection is not counted towards one user.
  mutating func excess(ofPublishingBy identity: Identity, bytes: Int) -> Excess? {
    guard let usage = usage(of: identity) else { return nil }
    let now = clock.uptime
    let wait = usage.traffic.wait(messages: 1, bytes: bytes, allowances.user, now: now)
    guard wait.messages == 0, wait.bytes == 0 else {
      let isOfBytes = wait.bytes > wait.messages
      return Excess(
        limit: isOfBytes ? .userBytesPerSecondMax : .userMessagesPerSecondMax,
        retryAfter: Int(max(wait.bytes, wait.messages)))
    }
    usage.traffic.take(messages: 1, bytes: bytes, allowances.user, now: now)
    return nil
  }
}
