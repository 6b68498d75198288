import ParleyGatewayPorts
import Glibc
import ParleyLocks
import ParleyTransportLibwebsockets

/// The thread that ends the process when a loop is stuck, and otherwise feeds the service manager's
/// watchdog.
///
/// It samples each loop for a ``LoopWatch``, which judges the samples.
package final class LoopWatchdog: Sendable {
  private let isOver = Monitor(false)

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - limit: The maximum processor time of one turn; zero for no limit.
  ///   - isStuck: Called when a loop is stuck, with data for a log line.
  init(
    _ pulses: [LoopProgress], limit: Duration, manager: ServiceManager?,
    isStuck: @escaping @Sendable ([(key: String, value: String)]) -> Void
  ) {
    let period = Self.period(limit: limit.milliseconds, manager?.watchdogMicroseconds)
    SystemThread.start { [isOver] in
      var watches = pulses.map { _ in
        LoopWatch(limitMilliseconds: limit.milliseconds, periodMilliseconds: period)
      }
      while true {
        isOver.wait(atMostMilliseconds: period) { $0 }
        if isOver.withLock({ $0 }) { return }
        var areAlive = true
        for (index, pulse) in pulses.enumerated() {
          switch watches[index].judge(Self.sample(pulse)) {
          case .alive: break
          case .silent: areAlive = false
          case .stuck(let reason):
            areAlive = false
            if limit > .zero { isStuck(Self.line(reason, pulse)) }
          }
        }
        if areAlive, let manager, manager.watchdogMicroseconds != nil { manager.feedWatchdog() }
      }
    }
  }

  /// Stops the thread.
  func stop() {
    isOver.change { $0 = true }
  }

  /// Returns the milliseconds between samples: at least twenty samples within the limit, and four
  /// within the watchdog's time.
  package static func period(limit: Int, _ watchdogMicroseconds: Int64?) -> Int {
    var period = limit > 0 ? min(500, max(20, limit / 20)) : 500
    if let watchdogMicroseconds {
      period = min(period, max(20, Int(clamping: watchdogMicroseconds / 4_000)))
    }
    return period
  }

  private static func line(
    _ reason: LoopWatch.Reason, _ pulse: LoopProgress
  ) -> [(key: String, value: String)] {
    let evidence: (key: String, value: String) =
      switch reason {
      case .busy(let milliseconds): ("processorMilliseconds", "\(milliseconds)")
      case .asleep(let milliseconds): ("overdueMilliseconds", "\(milliseconds)")
      }
    return [("at", pulse.stage.words), evidence, ("turn", "\(pulse.turns)")]
  }

  private static func sample(_ pulse: LoopProgress) -> LoopWatch.Sample {
    let thread = pulse.thread
    // The state is read from a file, and wanted only when no turn comes.
    return LoopWatch.Sample(
      time: nanoseconds(CLOCK_MONOTONIC) ?? 0, turns: pulse.turns,
      isWaiting: pulse.stage == .waiting,
      processor: thread.flatMap { nanoseconds($0.clock) },
      state: thread.map { state(of: $0.number) } ?? .unknown)
  }

  private static func nanoseconds(_ clock: clockid_t) -> Int64? {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return nil }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Returns the thread's state from `/proc/self/task/N/stat`.
  private static func state(of thread: Int32) -> LoopWatch.ThreadState {
    guard let text = try? Files.text(at: "/proc/self/task/\(thread)/stat") else { return .unknown }
    return LoopWatch.ThreadState(stat: text)
  }
}

extension LoopWatch.ThreadState {
  /// Parses a line of `/proc/PID/task/TID/stat`. The thread's name in it is in parentheses, and may
  /// contain any character.
  package init(stat: String) {
    guard let end = stat.utf8.lastIndex(of: UInt8(ascii: ")")) else {
      self = .unknown
      return
    }
    switch stat.utf8[end...].dropFirst().first(where: { $0 != UInt8(ascii: " ") }) {
    case UInt8(ascii: "R"): self = .runnable
    case UInt8(ascii: "S"), UInt8(ascii: "D"), UInt8(ascii: "I"): self = .asleep
    default: self = .unknown
    }
  }
}
