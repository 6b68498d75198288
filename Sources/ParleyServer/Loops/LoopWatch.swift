/// Decides from samples of the loop's thread whether the loop is stuck: no clock, no I/O.
///
/// A healthy loop has a turn at each of its ticks, four in a second. While a turn does not come,
/// evidence adds up from sample to sample, and no single sample counts for more than
/// ``creditMax``. So a process that was stopped, a machine that was suspended and a clock that
/// jumped add one sample's worth and prove nothing. A thread that is given no processor burns none.
///
///     a turn                                         all evidence is forgotten
///     no turn, processor time has grown              burned += the growth
///     no turn, asleep where it waits for events      overdue += the time: a tick was due
///     no turn, asleep elsewhere                      absent += the time
///
/// `burned` or `overdue` over the limit is ``Verdict/stuck(_:)``. `absent` over it is
/// ``Verdict/silent`` only: the thread waits for something outside, such as a disk with the page's
/// files or a reader of the log, which an end of the process would not cure.
package struct LoopWatch: Sendable {
  /// The state of the loop's thread.
  package enum ThreadState: Sendable {
    /// Running, or ready to run.
    case runnable
    /// Waiting for an event, a lock or a disk.
    case asleep
    /// Stopped, traced, or not known.
    case unknown
  }

  /// The values read at one moment.
  package struct Sample: Sendable {
    /// Nanoseconds that never go back.
    package var time: Int64
    /// Turns of the loop until now.
    package var turns: UInt64
    /// Whether the thread is where it waits for events.
    package var isWaiting: Bool
    /// The thread's own processor time in nanoseconds; `nil` if the system does not say.
    package var processor: Int64?
    /// The state of the thread.
    package var state: ThreadState

    /// Gathers the values.
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

  /// The judgement of one sample.
  package enum Verdict: Equatable, Sendable {
    /// The loop has turns, or has not been without one for long.
    case alive
    /// The thread has been asleep within a turn for longer than the limit.
    case silent
    /// The process should end.
    case stuck(Reason)
  }

  /// The evidence for a stuck loop.
  package enum Reason: Equatable, Sendable {
    /// A single turn has taken so much of the thread's own processor time.
    case busy(milliseconds: Int64)
    /// Timers have been due for so long, and the thread still sleeps.
    case asleep(milliseconds: Int64)
  }

  /// Nanoseconds of evidence that end the process.
  package let limit: Int64
  /// The most nanoseconds that one sample adds.
  package let creditMax: Int64

  private var last: Sample?
  private var burned: Int64 = 0
  private var overdue: Int64 = 0
  private var absent: Int64 = 0

  /// Makes a watch that has seen nothing.
  ///
  /// - Parameters:
  ///   - limitMilliseconds: what a turn may take.
  ///   - periodMilliseconds: from one sample to the next. A sample counts for at most twice that.
  package init(limitMilliseconds: Int, periodMilliseconds: Int) {
    limit = Int64(limitMilliseconds) * 1_000_000
    creditMax = 2 * Int64(periodMilliseconds) * 1_000_000
  }

  /// Takes the next sample.
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
    // Found asleep twice in a row, and without a turn in between.
    if sample.state == .asleep, last.state == .asleep, sample.isWaiting == last.isWaiting {
      if sample.isWaiting { overdue += elapsed } else { absent += elapsed }
    }
    if burned >= limit { return .stuck(.busy(milliseconds: burned / 1_000_000)) }
    if overdue >= limit { return .stuck(.asleep(milliseconds: overdue / 1_000_000)) }
    return absent >= limit ? .silent : .alive
  }

  private func credit(_ nanoseconds: Int64) -> Int64 { min(max(0, nanoseconds), creditMax) }
}
