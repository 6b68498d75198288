public import ParleyGatewayPorts
import ParleyLocks

/// A broker's connection that cannot be made, or has broken.
public struct BrokerFailure: Error {
  /// Why.
  public let reason: String

  /// Makes a failure.
  public init(reason: String) { self.reason = reason }
}

/// The work of a broker's thread beside its connection: it reconnects after pauses that grow, and
/// logs once that hints do not arrive.
public struct BrokerThread {
  /// The form of hints.
  public let frame: HintFrame
  /// The queues between the thread and a loop.
  public let queues: HintQueues
  private let address: String
  private let log: any LogSink
  private var pause = Pause()
  /// Whether a failure was logged since hints arrived last.
  private var hasComplained = false

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - queues: Ended when the thread has.
  ///   - frame: The form of hints.
  ///   - address: The broker's address, as the log may show it.
  ///   - log: Told when hints stop arriving, and when they arrive again.
  ///   - work: Sends and hears until the connection breaks, or the queues are to end.
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

  /// Takes note that hints arrive.
  public mutating func cameUp() {
    pause = Pause()
    queues.hintsChanged(arrive: true)
    guard hasComplained else { return }
    hasComplained = false
    log.write(.notice, "hints between nodes arrive again", [("broker", address)])
  }

  /// Takes note that they do not.
  public mutating func wentDown(_ reason: String) {
    queues.hintsChanged(arrive: false)
    guard !hasComplained else { return }
    hasComplained = true
    log.write(
      .warning, "no hints between nodes; the store is looked at instead",
      [("broker", address), ("reason", reason)])
  }
}
