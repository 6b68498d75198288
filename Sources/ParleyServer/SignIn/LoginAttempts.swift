import GatewayPorts

/// Counts logins that failed, so that guessing takes for ever.
///
/// Counted by user and address together: who guesses from elsewhere locks nobody out. And by address
/// alone, for guesses that go through many users.
package struct LoginAttempts {
  private struct Count {
    var failures: Int
    /// Until when nothing is tried, in milliseconds of uptime.
    var closedUntil: Int64
    var lastFailure: Int64
  }

  /// So many may fail before it slows down.
  private static let freeForUser = 5
  private static let freeForAddress = 50
  private static let waitMillisecondsMax: Int64 = 300_000
  private static let waitForAddressMax: Int64 = 10_000
  /// After this long without a failure all is forgotten.
  private static let memoryMilliseconds: Int64 = 900_000
  private static let countsMax = 20_000
  /// Milliseconds between looks for those that are forgotten, while there is no room.
  private static let lookMilliseconds: Int64 = 1_000

  private var counts: [String: Count] = [:]
  private var nextLook: Int64 = .min

  /// Nothing has failed yet.
  package init() {}

  /// Milliseconds until another login may be tried; 0 for now. An address of IPv6 counts with its network, for a
  /// subscriber has as many as they like.
  package func wait(address: String, user: String, now: Int64) -> Int64 {
    [Self.key(address, user), Self.key(address, nil)].map { key in
      counts[key].map { max(0, $0.closedUntil - now) } ?? 0
    }.max() ?? 0
  }

  /// A login has failed.
  ///
  /// - Parameter user: `nil` for what counts by address alone.
  package mutating func failed(address: String, user: String?, now: Int64) {
    if let user {
      count(
        Self.key(address, user), free: Self.freeForUser, waitMax: Self.waitMillisecondsMax, now: now
      )
    }
    // This machine's own may be a proxy, behind which everybody is.
    if !Configuration.isLoopback(address) {
      count(
        Self.key(address, nil), free: Self.freeForAddress, waitMax: Self.waitForAddressMax,
        now: now)
    }
  }

  /// A login has succeeded.
  package mutating func succeeded(address: String, user: String) {
    counts[Self.key(address, user)] = nil
  }

  /// Whether one more may be counted. If not, those who guess are many: who is counted already goes on to be.
  private mutating func hasRoom(now: Int64) -> Bool {
    if counts.count < Self.countsMax { return true }
    // Not with each failure: it goes through all of them.
    guard now >= nextLook else { return false }
    nextLook = now + Self.lookMilliseconds
    counts = counts.filter { now - $0.value.lastFailure < Self.memoryMilliseconds }
    return counts.count < Self.countsMax
  }

  private mutating func count(_ key: String, free: Int, waitMax: Int64, now: Int64) {
    guard counts[key] != nil || hasRoom(now: now) else { return }
    var count = counts[key] ?? Count(failures: 0, closedUntil: 0, lastFailure: now)
    if now - count.lastFailure >= Self.memoryMilliseconds { count.failures = 0 }
    count.failures += 1
    count.lastFailure = now
    let excess = count.failures - free
    if excess >= 0 {
      count.closedUntil = now + min(waitMax, 1_000 << Int64(min(excess, 20)))
    }
    counts[key] = count
  }

  private static func key(_ address: String, _ user: String?) -> String {
    let place = IPAddress(address).map { "\($0.subscriber)" } ?? address
    return user.map { "\(place) \($0)" } ?? place
  }
}
