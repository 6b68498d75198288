/// The severity of a log line.
public enum LogLevel: Int, Sendable, Comparable {
  case trace, debug, info, notice, warning, error

  /// Orders by number.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The destination of log lines. A line is a fixed message with data beside it; never users' text
/// or tokens.
public protocol LogSink: Sendable {
  /// Lines below this level are not made.
  var level: LogLevel { get }
  /// Writes one line.
  func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)])
}
