import Gateway
import ParleyGatewayPorts
import ParleyLocks

/// The limits of users and addresses, counted over all loops of this process.
final class ProcessLimits: SharedLimits {
  private struct State {
    var users: UsageBook<ExactName>
    var addresses: UsageBook<IPAddress>
  }

  private let state: Monitor<State>
  private let allowances: Allowances

  init(_ allowances: Allowances) {
    self.allowances = allowances
    state = Monitor(
      State(users: UsageBook(allowances.user), addresses: UsageBook(allowances.address)))
  }

  /// Adds to a party's number of connections, which never falls below zero: a connection opened
  /// while the book was full was not counted, but its close is.
  func count(_ connections: Int, of party: LimitedParty) {
    use(party) { usage, _, _ in usage.connections = max(0, usage.connections + connections) }
  }

  func waitToConnect(of party: LimitedParty) -> Int64? {
    use(party) { usage, allowance, now in
      if allowance.connectionsMax > 0, usage.connections >= allowance.connectionsMax { return nil }
      return usage.connects.draw(1, at: allowance.connects, now: now)
    }
  }

  func waitToAsk(of party: LimitedParty) -> Int64 {
    use(party) { usage, allowance, now in
      usage.requests.draw(1, at: allowance.requests, now: now)
    }
  }

  private func use<Result>(
    _ party: LimitedParty, _ body: (Usage, Allowance, Int64) -> Result
  ) -> Result {
    let now = SystemClock().uptime
    return state.withLock { state in
      switch party {
      case .user(let name):
        state.users.ticked(now: now)
        return body(state.users.usage(of: ExactName(name), now: now), allowances.user, now)
      case .address(let address):
        state.addresses.ticked(now: now)
        return body(state.addresses.usage(of: address, now: now), allowances.address, now)
      }
    }
  }
}
