public import ParleyGatewayPorts
import ParleyLocks

/// The failure of a broker's connection.
public struct BrokerFailure: Error {
  /// The reason, for the log.
  public let reason: String

  /// Creates a failure with a reason.
  public init(reason: String) { self.reason = reason }
}

/// The part of a broker's thread that is independent of its connection: it reconnects with
/// increasing delays, and logs each outage once.
public struct BrokerThread {
  /// The encoding of hints.
  public let frame: HintFrame
  /// The queues between the thread and the server's loop.
  public let queues: HintQueues
  private let address: String
  private let log: any LogSink
  private var pause = Pause()
  /// Whether the current outage was logged.
  private var hasComplained = false

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - queues: The queues, which are notified when the thread has ended.
  ///   - frame: The encoding of hints.
  ///   - address: The broker's address, without secrets, for the log.
  ///   - log: Receives a line when hints stop arriving, and when they arrive again.
  ///   - work: Sends and receives hints until the connection breaks or the queues are stopped.
  public static func start(
    _ queues: HintQueues, _ frame: HintFrame, address: String, log: any LogSink,
    work: @escaping @Sendable (inout BrokerThread) throws(BrokerFailure) -> Void
  ) {
    SystemThread.start {
      var thread = Self(frame: frame, queues: queues, address: address, log: log)
      while !queues.isStopping {
        do throws(BrokerFailure) {
          try work(&thread)
        } catch {
          thread.wentDown(error.reason)
          queues.wait(atMostMilliseconds: thread.pause.next())
        }
      }
      queues.haveStopped()
    }
  }

  /// Records that hints arrive, and logs the end of an outage.
  public mutating func cameUp() {
    pause = Pause()
    queues.hintsChanged(arrive: true)
    guard hasComplained else { return }
    hasComplained = false
    log.write(.notice, "hints between nodes arrive again", [("broker", address)])
  }

  /// Records that hints do not arrive, and logs the start of an outage.
  public mutating func wentDown(_ reason: String) {
    queues.hintsChanged(arrive: false)
    guard !hasComplained else { return }
    hasComplained = true
    log.write(
      .warning, "no hints between nodes; the store is looked at instead",
      [("broker", address), ("reason", reason)])
  }
}
