import Glibc

/// The delays between attempts to connect: exponential up to two seconds, and random.
struct Pause {
  private var milliseconds: Int64 = 50

  /// Returns the next delay in milliseconds.
  mutating func next() -> Int64 {
    defer { milliseconds = min(milliseconds * 2, 2_000) }
    return milliseconds / 2 + Int64.random(in: 0...milliseconds / 2)
  }
}

/// Returns the microseconds of the monotonic clock.
public func monotonicMicroseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}
