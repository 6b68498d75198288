import ParleyGatewayPorts

/// Counts failed attempts, such as logins, and delays further ones.
///
/// Attempts count by user and address together, so that guesses from elsewhere do not lock out a
/// user; and by address alone, to limit guesses at many users. An attempt is reserved when it
/// begins, so sending many at once allows no more guesses than waiting for each response.
///
///     begin ─▶ 0 ─▶ … ─▶ failed, succeeded or cancelled
///       └────▶ milliseconds to wait
package struct LoginAttempts {
  /// An address for counting; IPv6 addresses count by their first 64 bits, a subscriber's network.
  private enum Place: Hashable, Sendable {
    case address(IPAddress)
    /// A text that is not an address.
    case text(String)

    init(_ address: String) {
      self = IPAddress(address).map { .address($0.subscriber) } ?? .text(address)
    }

    /// Whether attempts also count by the address alone. False for loopback, which may be the
    /// address of a local proxy and so of all its clients.
    var countsAlone: Bool {
      switch self {
      case .address(let address): !address.isLoopback
      case .text: true
      }
    }
  }

  private struct Key: Hashable, Sendable {
    let place: Place
    /// The user; `nil` for attempts that count by the address alone.
    let user: String?

    /// The number of failures after which further attempts are delayed.
    var freeCount: Int {
      user == nil ? LoginAttempts.freeForAddress : LoginAttempts.freeForUser
    }

    var waitMax: Int64 {
      user == nil ? LoginAttempts.waitForAddressMax : LoginAttempts.waitMillisecondsMax
    }
  }

  private struct Count {
    var failures = 0
    /// The uptime in milliseconds until which attempts are rejected.
    var closedUntil: Int64
    var lastFailure: Int64
  }

  /// Failures of a user from one address after which further attempts are delayed.
  package static let freeForUser = 5
  /// Failures of an address after which further attempts are delayed.
  package static let freeForAddress = 50
  private static let waitMillisecondsMax: Int64 = 300_000
  private static let waitForAddressMax: Int64 = 10_000
  /// Milliseconds without a failure after which earlier failures no longer count.
  private static let memoryMilliseconds: Int64 = 900_000
  /// Maximum counts. A new count replaces the oldest of the address with the most counts.
  private static let countsMax = 20_000
  /// Milliseconds to wait while current attempts could use up the remaining free failures.
  private static let waitForOthers: Int64 = 1_000

  private var counts: [Key: Count] = [:]
  private var ages = HolderQueues<Place, Key>()
  /// The number of current attempts; limited by the queues in which they wait.
  private var pending: [Key: Int] = [:]

  /// Creates an empty table.
  package init() {}

  /// Begins an attempt, unless it must be delayed.
  ///
  /// - Parameters:
  ///   - address: The client's address.
  ///   - user: The user; `nil` for an attempt that counts by address alone.
  ///   - now: Milliseconds of uptime.
  /// - Returns: The milliseconds to wait, or 0: the attempt has begun, and must end with
  ///   ``failed(address:user:now:)``, ``succeeded(address:user:)`` or ``cancelled(address:user:)``.
  package mutating func begin(address: String, user: String?, now: Int64) -> Int64 {
    let keys = Self.keys(address, user)
    let milliseconds = keys.map { wait(of: $0, now: now) }.max() ?? 0
    if milliseconds == 0 { for key in keys { pending[key, default: 0] += 1 } }
    return milliseconds
  }

  private func wait(of key: Key, now: Int64) -> Int64 {
    let count = counts[key].flatMap { isForgotten($0, now: now) ? nil : $0 }
    if let count, count.closedUntil > now { return count.closedUntil - now }
    let pending = pending[key] ?? 0
    // After the free failures, only one attempt at a time.
    let isFree = (count?.failures ?? 0) + pending < key.freeCount
    return isFree || pending == 0 ? 0 : Self.waitForOthers
  }

  /// Returns the milliseconds until attempts are possible after failures, without beginning one.
  package func wait(address: String, user: String?, now: Int64) -> Int64 {
    Self.keys(address, user).map { key in counts[key].map { max(0, $0.closedUntil - now) } ?? 0 }
      .max() ?? 0
  }

  /// Ends an attempt that has failed.
  package mutating func failed(address: String, user: String?, now: Int64) {
    for key in Self.keys(address, user) {
      release(key)
      count(key, now: now)
    }
  }

  /// Ends an attempt that has succeeded, and discards this user's failures from this address.
  package mutating func succeeded(address: String, user: String?) {
    for key in Self.keys(address, user) {
      release(key)
      if key.user != nil { forget(key) }
    }
  }

  /// Ends an attempt that was not made, or that was not a guess.
  package mutating func cancelled(address: String, user: String?) {
    for key in Self.keys(address, user) { release(key) }
  }

  private mutating func release(_ key: Key) {
    guard let count = pending[key] else { return }
    pending[key] = count > 1 ? count - 1 : nil
  }

  private mutating func count(_ key: Key, now: Int64) {
    if counts[key] == nil, counts.count >= Self.countsMax, let oldest = ages.oldestOfLargest {
      forget(oldest.element)
    }
    var count = counts[key] ?? Count(closedUntil: 0, lastFailure: now)
    if isForgotten(count, now: now) { count.failures = 0 }
    count.failures += 1
    count.lastFailure = now
    let excess = count.failures - key.freeCount
    if excess >= 0 {
      count.closedUntil = now + min(key.waitMax, 1_000 << Int64(min(excess, 20)))
    }
    counts[key] = count
    ages.remove(key, of: key.place)
    ages.append(key, of: key.place)
  }

  private mutating func forget(_ key: Key) {
    counts[key] = nil
    ages.remove(key, of: key.place)
  }

  private func isForgotten(_ count: Count, now: Int64) -> Bool {
    now - count.lastFailure >= Self.memoryMilliseconds
  }

  private static func keys(_ address: String, _ user: String?) -> [Key] {
    let place = Place(address)
    var keys: [Key] = []
    if let user { keys.append(Key(place: place, user: user)) }
    if place.countsAlone { keys.append(Key(place: place, user: nil)) }
    return keys
  }
}
