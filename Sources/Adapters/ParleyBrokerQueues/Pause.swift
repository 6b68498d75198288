import Glibc

/// The pauses between attempts to connect: they grow to two seconds, and are not the same everywhere.
struct Pause {
  private var milliseconds: Int64 = 50

  /// The next pause, in milliseconds.
  mutating func next() -> Int64 {
    defer { milliseconds = min(milliseconds * 2, 2_000) }
    return milliseconds / 2 + Int64.random(in: 0...milliseconds / 2)
  }
}

/// Microseconds since some point in time, of a clock that is never set.
public func monotonicMicroseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}
