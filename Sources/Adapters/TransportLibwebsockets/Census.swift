import GatewayPorts
import Locks

/// Counts connections by address, for the two threads.
///
/// An address is forgotten when it has no connection and may open as many as one that was never
/// here. At most `addressesMax` are remembered besides those with connections.
final class Census: Sendable {
  private struct Entry {
    var count = 0
    var connects = TokenBucket()
  }

  private struct State {
    var total = 0
    var entries: [IPAddress: Entry] = [:]
    var nextSweep: Int64 = 0
  }

  enum Verdict: Equatable {
    case welcome
    /// The server has as many connections as it may have.
    case full
    /// The address has.
    case fullForAddress
    /// The address opens them too fast; milliseconds to wait.
    case tooFast(Int64)
  }

  private let state = Locked(State())
  private let totalMax: Int
  private let perAddressMax: Int
  private let rate: Rate
  private let isLimited: @Sendable (IPAddress) -> Bool

  private static let addressesMax = 65_536
  private static let sweepMilliseconds: Int64 = 10_000

  init(_ configuration: LibwebsocketsTransport.Configuration) {
    totalMax = configuration.connectionsMax
    perAddressMax = configuration.connectionsPerAddressMax
    rate = configuration.connectRatePerAddress
    isLimited = configuration.isLimited
  }

  /// Counts them all together, and holds no address to anything.
  init(totalMax: Int) {
    self.totalMax = totalMax
    perAddressMax = 0
    rate = Rate(perSecond: 0, burst: 0)
    isLimited = { _ in false }
  }

  /// The key that an address is counted under; `nil` if it is not limited.
  private func key(_ address: String) -> IPAddress? {
    guard perAddressMax > 0 || rate.perSecond > 0, let address = IPAddress(address),
      isLimited(address)
    else { return nil }
    return address.subscriber
  }

  func enter(_ address: String, now: Int64) -> Verdict {
    let key = key(address)
    return state.withLock { state in
      if totalMax > 0, state.total >= totalMax { return .full }
      if let key {
        sweep(&state, now)
        var entry = state.entries[key] ?? Entry()
        if perAddressMax > 0, entry.count >= perAddressMax { return .fullForAddress }
        let wait = entry.connects.draw(1, at: rate, now: now)
        guard wait == 0 else { return .tooFast(wait) }
        entry.count += 1
        state.entries[key] = entry
      }
      state.total += 1
      return .welcome
    }
  }

  /// Counts a connection under another address than before, unless that has too many.
  func move(from: String, to: String, now: Int64) -> Verdict {
    leave(from)
    let verdict = enter(to, now: now)
    guard verdict != .welcome else { return verdict }
    let key = key(from)
    state.withLock { state in
      state.total += 1
      if let key { state.entries[key, default: Entry()].count += 1 }
    }
    return verdict
  }

  func leave(_ address: String) {
    let key = key(address)
    state.withLock { state in
      state.total -= 1
      if let key { state.entries[key]?.count -= 1 }
    }
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
