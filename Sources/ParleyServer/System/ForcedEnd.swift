public import GatewayPorts
import Glibc
import Locks

/// Ends the process without asking anything of a thread, a disk or a reader of the log.
public enum ForcedEnd {
  /// The exit codes of a process that was ended by force.
  public enum ExitCode {
    /// A stop in good order took longer than it may.
    public static let stopTookTooLong: Int32 = 3
    /// The loop was stuck.
    public static let loopIsStuck: Int32 = 4
  }

  /// The time limit for writing the last log line.
  private static let lineMilliseconds = 1_000

  /// Ends the process after so many milliseconds, unless it has ended by then.
  ///
  /// - Parameter data: called at the end, for the line in the log.
  public static func arm(
    afterMilliseconds limit: Int, log: any LogSink,
    data: @escaping @Sendable () -> [(key: String, value: String)]
  ) {
    SystemThread.start {
      Monitor(()).wait(atMostMilliseconds: limit) { _ in false }
      now(ExitCode.stopTookTooLong, log, "ended by force", data())
    }
  }

  /// Ends the process with a last line in the log; without it, if the line cannot be written.
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
