/// The gateway's source of time. Handed in, so that a simulation can be its own clock.
public protocol Clock {
  /// The wall clock, for what people read.
  var now: Timestamp { get }
  /// Milliseconds that never go back, for time-outs.
  var uptime: Int64 { get }
  /// Microseconds that never go back, for measuring; from no certain beginning.
  var microseconds: Int64 { get }
}

extension Clock {
  /// The uptime in microseconds, as precise as ``uptime``.
  public var microseconds: Int64 { uptime * 1_000 }
}
