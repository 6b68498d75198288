package import ParleyGatewayPorts
import Glibc

/// The machine's clocks.
package struct SystemClock: Clock {
  package init() {}

  package var now: Timestamp { Self.microseconds(CLOCK_REALTIME) / 1_000 }
  package var uptime: Int64 { microseconds / 1_000 }
  package var microseconds: Int64 { Self.microseconds(CLOCK_MONOTONIC) }

  private static func microseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
