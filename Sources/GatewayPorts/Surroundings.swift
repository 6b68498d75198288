/// Where the gateway gets time from. Handed in, so that a simulation can be its own clock.
public protocol Clock {
  /// The wall clock, for what people read.
  var now: Timestamp { get }
  /// Milliseconds that never go back, for time-outs.
  var uptime: Int64 { get }
  /// Microseconds that never go back, for measuring; from no certain beginning.
  var microseconds: Int64 { get }
}

extension Clock {
  /// As exact as ``uptime``.
  public var microseconds: Int64 { uptime * 1_000 }
}

/// Where the gateway gets unpredictable names from.
public protocol NameSource {
  /// A random name of at least 96 bits, in letters and digits.
  func next() -> String
}

/// Signs the ids of clients, so that nobody resumes as somebody else.
public protocol ResumeTokens {
  /// The token that proves ownership of a client id.
  func token(for client: String) -> String
  /// Whether the token is this client's. Takes the same time for every wrong token.
  func isValid(_ token: String, for client: String) -> Bool
}

/// How severe a log line is.
public enum LogLevel: Int, Sendable, Comparable {
  case trace, debug, info, notice, warning, error

  /// Orders by number.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Where log lines go. A line is a fixed message with data beside it; never users' text or tokens.
public protocol LogSink: Sendable {
  /// Lines below this level are not made.
  var level: LogLevel { get }
  /// Writes one line.
  func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)])
}
