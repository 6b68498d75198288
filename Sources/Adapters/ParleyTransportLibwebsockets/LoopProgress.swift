import CParleyLibwebsocketsShim

/// The progress of a transport's loop, readable from other threads.
///
/// The loop writes a few words of memory in each turn and each callback, without locks.
package final class LoopProgress: @unchecked Sendable {
  // Unchecked: the words behind the handle are atomic.

  /// A kind of the loop's work. It contains no client data.
  package enum Stage: Int32, Sendable, CaseIterable {
    case starting
    case waiting
    case sockets
    case message
    case request
    case opening
    case mailbox
    case replies
    case tick
    case sweep
    case turnEnd
    case writing
    case ending

    /// The stage as text.
    package var words: String {
      switch self {
      case .starting: "starting"
      case .waiting: "waiting for events"
      case .sockets: "reading from sockets"
      case .message: "a message"
      case .request: "a request"
      case .opening: "a connection that opened"
      case .mailbox: "work from other threads"
      case .replies: "replies of the store"
      case .tick: "a tick"
      case .sweep: "the sweep over connections"
      case .turnEnd: "the end of a turn"
      case .writing: "writing to sockets"
      case .ending: "ending"
      }
    }
  }

  /// The system's identifiers of the loop's thread.
  package struct ThreadName: Sendable {
    /// The number under `/proc/self/task`.
    package var number: Int32
    /// The clock of its processor time, for `clock_gettime`.
    package var clock: Int32
  }

  let handle: OpaquePointer

  init() {
    guard let handle = parley_pulse_create() else { preconditionFailure("no memory for a pulse") }
    self.handle = handle
  }

  deinit { parley_pulse_destroy(handle) }

  /// The number of turns so far.
  package var turns: UInt64 { parley_pulse_turns(handle) }

  /// The loop's current stage.
  package var stage: Stage { Stage(rawValue: parley_pulse_stage(handle)) ?? .starting }

  /// The loop's thread; `nil` before it has started and after it has ended.
  package var thread: ThreadName? {
    let number = parley_pulse_thread(handle)
    return number == 0 ? nil : ThreadName(number: number, clock: parley_pulse_clock(handle))
  }

  /// Enters a stage, and returns the former one.
  @discardableResult
  func enter(_ stage: Stage) -> Stage {
    Stage(rawValue: parley_pulse_enter(handle, stage.rawValue)) ?? .starting
  }
}
