package import ParleyGatewayPorts

/// A clock that stops until it is moved.
package final class VirtualClock: Clock {
  package private(set) var uptime: Int64 = 0
  /// The wall clock begins at 2026-01-01T00:00:00Z.
  package var now: Timestamp { 1_767_225_600_000 + uptime + offset }
  /// Milliseconds by which it was set ahead, or back.
  private var offset: Timestamp = 0

  package init() {}

  /// Moves time on.
  package func advance(milliseconds: Int64) { uptime += milliseconds }

  /// Sets the wall clock ahead or back, within ten hours of what is right.
  package func set(aheadBy milliseconds: Int64) {
    offset = min(max(milliseconds, -Self.offsetMax), Self.offsetMax)
  }

  /// Less than half of what publications' keys are remembered for: those are kept by the wall clock.
  package static let offsetMax: Int64 = 10 * 3_600_000
}

/// Names drawn from the simulation's own seed, so that a run can be repeated.
package final class SeededNames: NameSource {
  private var count = 0
  private let prefix: String

  package init(prefix: String) { self.prefix = prefix }

  package func next() -> String {
    count += 1
    return "\(prefix)\(count)"
  }
}

/// Tokens that anyone could forge, and that no client of a simulation does.
package struct PlainTokens: ResumeTokens {
  package init() {}

  package func token(for client: String) -> String { "token of \(client)" }

  package func isValid(_ token: String, for client: String) -> Bool {
    token == self.token(for: client)
  }
}

/// A log that keeps nothing.
package struct NoLog: LogSink {
  package let level = LogLevel.error

  package init() {}

  package func write(
    _ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]
  ) {}
}

/// Tokens that say whose they are and when they end.
package struct TimedTokens: Authenticator {
  /// A token without an end.
  package static let endless = "whaler 0"

  package init() {}

  /// A token for one native client.
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
