package import ParleyGatewayPorts

/// A clock that advances only when it is told to.
package final class VirtualClock: Clock {
  package private(set) var uptime: Int64 = 0
  /// The wall clock, which begins at 2026-01-01T00:00:00Z.
  package var now: Timestamp { 1_767_225_600_000 + uptime + offset }
  /// Milliseconds by which the wall clock is ahead; negative if it is behind.
  private var offset: Timestamp = 0

  package init() {}

  /// Advances the uptime.
  package func advance(milliseconds: Int64) { uptime += milliseconds }

  /// Sets the wall clock ahead or back, by at most ten hours in total.
  package func set(aheadBy milliseconds: Int64) {
    offset = min(max(milliseconds, -Self.offsetMax), Self.offsetMax)
  }

  /// The maximum offset: less than half the lifetime of publications' keys.
  package static let offsetMax: Int64 = 10 * 3_600_000
}

/// Names that depend only on the prefix, so that runs are reproducible.
package final class SeededNames: NameSource {
  private var count = 0
  private let prefix: String

  package init(prefix: String) { self.prefix = prefix }

  package func next() -> String {
    count += 1
    return "\(prefix)\(count)"
  }
}

/// Tokens without protection against forgery, which no simulated client attempts.
package struct PlainTokens: ResumeTokens {
  package init() {}

  package func token(for client: String) -> String { "token of \(client)" }

  package func isValid(_ token: String, for client: String) -> Bool {
    token == self.token(for: client)
  }
}

/// A log that discards every line.
package struct NoLog: LogSink {
  package let level = LogLevel.error

  package init() {}

  package func write(
    _ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]
  ) {}
}

/// Tokens that consist of a user and an expiry.
package struct TimedTokens: Authenticator {
  /// A token that does not expire.
  package static let endless = "whaler 0"

  package init() {}

  /// Returns a token for a native client.
  package static func token(for user: String, until end: Timestamp) -> String { "\(user) \(end)" }

  package func authenticate(
    _ token: String, now: Timestamp
  ) throws(AuthenticationError) -> Identity {
    let parts = token.split(separator: " ")
    guard parts.count == 2, let end = Timestamp(parts[1]) else { throw .signature }
    if end > 0, end <= now { throw .expired }
    return Identity(
      user: String(parts[0]), expiresAt: end > 0 ? end : nil,
      grants: [Grant(.documents, NamePattern("*"), .all)])
  }
}
