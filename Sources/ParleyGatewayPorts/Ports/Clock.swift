/// The gateway's source of time. It is injected, so that a simulation controls the time.
public protocol Clock {
  /// The wall-clock time, for times that people read.
  var now: Timestamp { get }
  /// Monotonic milliseconds, for time-outs.
  var uptime: Int64 { get }
  /// Monotonic microseconds since an arbitrary origin, for measurements.
  var microseconds: Int64 { get }
}

extension Clock {
  /// The uptime in microseconds, with the precision of ``uptime``.
  public var microseconds: Int64 { uptime * 1_000 }
}
