public import ParleyGatewayPorts
import Glibc
import ParleyLocks

/// Ends the process without waiting for other threads, a disk or a reader of the log.
public enum ForcedEnd {
  /// The exit codes of a forced end.
  public enum ExitCode {
    /// An orderly stop exceeded its time limit.
    public static let stopTookTooLong: Int32 = 3
    /// A loop was stuck.
    public static let loopIsStuck: Int32 = 4
  }

  /// The time limit for writing the last log line.
  private static let lineMilliseconds = 1_000

  /// Ends the process after a time limit, unless it has ended before.
  ///
  /// - Parameter data: Called at the time limit, for the data of the log line.
  public static func arm(
    afterMilliseconds limit: Int, log: any LogSink,
    data: @escaping @Sendable () -> [(key: String, value: String)]
  ) {
    SystemThread.start {
      Monitor(()).wait(atMostMilliseconds: limit) { _ in false }
      now(ExitCode.stopTookTooLong, log, "ended by force", data())
    }
  }

  /// Ends the process with a last log line, or without it if writing takes too long.
  static func now(
    _ code: Int32, _ log: any LogSink, _ message: String, _ data: [(key: String, value: String)]
  ) -> Never {
    let isWritten = Monitor(false)
    SystemThread.start {
      log.write(.error, message, data)
      isWritten.change { $0 = true }
    }
    isWritten.wait(atMostMilliseconds: lineMilliseconds) { $0 }
    _exit(code)
  }
}
