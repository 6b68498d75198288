import ParleyGatewayPorts
import ParleyLocks

/// The number of connections by address, for all threads that accept or serve them.
///
/// Addresses share the server's connections: one may have as many as remain for all others
/// (``FairShares``), and no more than the limit per address. An address without connections is
/// removed once its connect rate has recovered. If more than `addressesMax` entries remain after a
/// sweep, all addresses without connections are removed.
final class ConnectionCounts: Sendable {
  private struct Entry {
    var count = 0
    var connects = TokenBucket()
  }

  private struct State {
    var shares: FairShares<IPAddress>
    var entries: [IPAddress: Entry] = [:]
    var nextSweep: Int64 = 0
  }

  enum Verdict: Equatable {
    case welcome
    /// The server has its maximum connections.
    case full
    /// The address has its maximum connections, or as many as remain for all others.
    case fullForAddress
    /// The address exceeds its connect rate; contains the milliseconds to wait.
    case tooFast(Int64)
  }

  private let state: Locked<State>
  private let perAddressMax: Int
  private let rate: Rate
  private let isLimited: @Sendable (IPAddress) -> Bool

  private static let addressesMax = 65_536
  private static let sweepMilliseconds: Int64 = 10_000

  init(_ configuration: LibwebsocketsTransport.Configuration) {
    state = Locked(State(shares: FairShares(capacity: configuration.connectionsMax)))
    perAddressMax = configuration.connectionsPerAddressMax
    rate = configuration.connectRatePerAddress
    isLimited = configuration.isLimited
  }

  /// Creates counts with an overall limit, without limits for single addresses.
  init(totalMax: Int) {
    state = Locked(State(shares: FairShares(capacity: totalMax)))
    perAddressMax = 0
    rate = Rate(perSecond: 0, burst: 0)
    isLimited = { _ in false }
  }

  /// Returns the key for counting an address; `nil` if it is not limited.
  private func key(_ address: String) -> IPAddress? {
    guard perAddressMax > 0 || rate.perSecond > 0, let address = IPAddress(address),
      isLimited(address)
    else { return nil }
    return address.subscriber
  }

  /// Returns the key for an address's share of all connections; `nil` without a limit per address.
  private func shareKey(_ key: IPAddress?) -> IPAddress? { perAddressMax > 0 ? key : nil }

  func enter(_ address: String, now: Int64) -> Verdict {
    let key = key(address)
    return state.withLock { enter(&$0, key, now: now) }
  }

  private func enter(_ state: inout State, _ key: IPAddress?, now: Int64) -> Verdict {
    switch state.shares.refusal(of: 1, for: shareKey(key)) {
    case .full: return .full
    case .overShare: return .fullForAddress
    case nil: break
    }
    if let key {
      sweep(&state, now)
      var entry = state.entries[key] ?? Entry()
      if perAddressMax > 0, entry.count >= perAddressMax { return .fullForAddress }
      let wait = entry.connects.draw(1, at: rate, now: now)
      guard wait == 0 else { return .tooFast(wait) }
      entry.count += 1
      state.entries[key] = entry
    }
    let refusal = state.shares.take(1, for: shareKey(key))
    precondition(refusal == nil, "a connection was free a moment ago")
    return .welcome
  }

  /// Moves a connection to another address, unless that has too many connections.
  ///
  /// - Parameter from: The former address, a proxy's, which usually is not limited.
  func move(from: String, to: String, now: Int64) -> Verdict {
    let (former, key) = (key(from), key(to))
    return state.withLock { state in
      // An unlimited address can always take the connection back.
      if former == nil { leave(&state, nil) }
      let verdict = enter(&state, key, now: now)
      if verdict == .welcome, former != nil { leave(&state, former) }
      if verdict != .welcome, former == nil {
        let refusal = state.shares.take(1, for: nil)
        precondition(refusal == nil, "a connection was free a moment ago")
      }
      return verdict
    }
  }

  func leave(_ address: String) {
    let key = key(address)
    state.withLock { leave(&$0, key) }
  }

  private func leave(_ state: inout State, _ key: IPAddress?) {
    state.shares.give(1, for: shareKey(key))
    if let key { state.entries[key]?.count -= 1 }
  }

  private func sweep(_ state: inout State, _ now: Int64) {
    guard now >= state.nextSweep else { return }
    state.nextSweep = now + Self.sweepMilliseconds
    let rate = rate
    state.entries = state.entries.filter {
      $0.value.count > 0 || !$0.value.connects.isFull(at: rate, now: now)
    }
    if state.entries.count > Self.addressesMax {
      state.entries = state.entries.filter { $0.value.count > 0 }
    }
  }
}
