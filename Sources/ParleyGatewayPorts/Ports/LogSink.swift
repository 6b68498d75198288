/// The severity of a log line.
public enum LogLevel: Int, Sendable, Comparable {
  case trace, debug, info, notice, warning, error

  /// Orders levels by severity.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The destination of log lines. A line is a constant message with data; never users' text or
/// tokens.
public protocol LogSink: Sendable {
  /// The minimum level: lines below it are not created.
  var level: LogLevel { get }
  /// Writes one line.
  func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)])
}
