#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A monotonic clock, for back-off, pings and saving.
public protocol ClientTime: Sendable {
  /// Milliseconds since an arbitrary start.
  var now: Int64 { get }

  /// Waits until a time, or until the task is cancelled.
  func wait(until time: Int64) async
}

/// The system's clock, which continues while the device sleeps.
public struct SystemTime: ClientTime {
  private let start = ContinuousClock.now

  /// Creates a clock that starts at 0.
  public init() {}

  /// Milliseconds since the clock was created.
  public var now: Int64 {
    let passed = start.duration(to: .now).components
    return passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
  }

  /// Waits until a time, or until the task is cancelled.
  public func wait(until time: Int64) async {
    try? await ContinuousClock().sleep(until: start + .milliseconds(time), tolerance: nil)
  }
}

extension SystemTime {
  /// The device's clock, in seconds since 1970.
  static var seconds: Int {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int(now.tv_sec)
  }
}
