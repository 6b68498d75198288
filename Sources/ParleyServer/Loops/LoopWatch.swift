/// Decides from samples of a loop's thread whether the loop is stuck, without a clock or I/O.
///
/// A healthy loop has a turn at each of its ticks, four per second. Without a turn, evidence
/// accumulates from sample to sample; a sample adds at most ``creditMax``. So a stopped process, a
/// suspended machine or a clock that jumped adds one sample's worth and proves nothing. A thread
/// without a processor uses no processor time.
///
///     a turn                                         all evidence is reset
///     no turn, processor time has grown              burned += the growth
///     no turn, asleep where it waits for events      overdue += the time: a tick was due
///     no turn, asleep elsewhere                      absent += the time
///
/// `burned` or `overdue` at the limit is ``Verdict/stuck(_:)``. `absent` at the limit is only
/// ``Verdict/silent``: the thread waits for something outside, such as the disk with the page's
/// files or a reader of the log, which ending the process would not fix.
package struct LoopWatch: Sendable {
  /// The state of the loop's thread.
  package enum ThreadState: Sendable {
    /// Running, or ready to run.
    case runnable
    /// Waiting for an event, a lock or a disk.
    case asleep
    /// Stopped, traced, or unknown.
    case unknown
  }

  /// A sample of a loop's thread at one moment.
  package struct Sample: Sendable {
    /// Nanoseconds of a monotonic clock.
    package var time: Int64
    /// The number of the loop's turns so far.
    package var turns: UInt64
    /// Whether the thread is at the point of its turn where it waits for events.
    package var isWaiting: Bool
    /// The thread's processor time in nanoseconds; `nil` if it is unknown.
    package var processor: Int64?
    /// The state of the thread.
    package var state: ThreadState

    /// Creates a sample.
    package init(
      time: Int64, turns: UInt64, isWaiting: Bool, processor: Int64?, state: ThreadState
    ) {
      self.time = time
      self.turns = turns
      self.isWaiting = isWaiting
      self.processor = processor
      self.state = state
    }
  }

  /// The verdict after one sample.
  package enum Verdict: Equatable, Sendable {
    /// The loop has turns, or the evidence against it is below the limit.
    case alive
    /// The thread has been asleep within a turn for longer than the limit.
    case silent
    /// The process should end.
    case stuck(Reason)
  }

  /// The evidence for a stuck loop.
  package enum Reason: Equatable, Sendable {
    /// A single turn has used this much processor time of the thread.
    case busy(milliseconds: Int64)
    /// Timers have been due for this long while the thread sleeps.
    case asleep(milliseconds: Int64)
  }

  /// Nanoseconds of evidence after which the loop is stuck.
  package let limit: Int64
  /// Maximum nanoseconds of evidence that one sample adds.
  package let creditMax: Int64

  private var last: Sample?
  private var burned: Int64 = 0
  private var overdue: Int64 = 0
  private var absent: Int64 = 0

  /// Creates a watch without samples.
  ///
  /// - Parameters:
  ///   - limitMilliseconds: The maximum time of a turn.
  ///   - periodMilliseconds: The time between samples. A sample adds at most twice that time.
  package init(limitMilliseconds: Int, periodMilliseconds: Int) {
    limit = Int64(limitMilliseconds) * 1_000_000
    creditMax = 2 * Int64(periodMilliseconds) * 1_000_000
  }

  /// Judges the next sample together with the last one.
  package mutating func judge(_ sample: Sample) -> Verdict {
    defer { last = sample }
    guard let last, last.turns == sample.turns else {
      (burned, overdue, absent) = (0, 0, 0)
      return .alive
    }
    let elapsed = credit(sample.time - last.time)
    if let before = last.processor, let now = sample.processor {
      burned += min(credit(now - before), elapsed)
    }
    // Asleep in both samples, at the same point, and without a turn in between.
    if sample.state == .asleep, last.state == .asleep, sample.isWaiting == last.isWaiting {
      if sample.isWaiting { overdue += elapsed } else { absent += elapsed }
    }
    if burned >= limit { return .stuck(.busy(milliseconds: burned / 1_000_000)) }
    if overdue >= limit { return .stuck(.asleep(milliseconds: overdue / 1_000_000)) }
    return absent >= limit ? .silent : .alive
  }

  private func credit(_ nanoseconds: Int64) -> Int64 { min(max(0, nanoseconds), creditMax) }
}
