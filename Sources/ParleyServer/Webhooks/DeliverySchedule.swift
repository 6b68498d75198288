package import ParleyGatewayPorts

/// Schedules the calls to one target: when to send, retry and give up.
///
///     quiet ─▶ gathering ─▶ taking ─▶ sending ─▶ settling ─▶ gathering …
///                  ▲                     │ not taken
///                  └────── pausing ◀─────┘
///
/// At most one call is in progress, with the oldest events. So events are delivered in order, and a
/// target that rejects them receives the same events again, after increasing pauses. Times are
/// milliseconds of uptime unless a name says time of day.
package struct DeliverySchedule: Sendable {
  /// The operator's settings.
  package struct Settings: Sendable, Equatable {
    /// Maximum events in one call.
    package var eventsMax = 100
    /// Maximum bytes of data in one call; a single event may exceed it.
    package var bytesMax = 1 << 20
    /// Milliseconds from the first event to the call, in which more events may join it.
    package var gatherMilliseconds: Int64 = 1_000
    /// The pause after the first failure, in milliseconds; each further failure doubles it.
    package var pauseMin: Int64 = 1_000
    /// The maximum pause, in milliseconds.
    package var pauseMax: Int64 = 300_000
    /// The age in milliseconds at which undelivered events are given up.
    package var ageMax: Int64 = 86_400_000

    /// Creates the default settings.
    package init() {}
  }

  /// An action for the caller to perform.
  package enum Action: Sendable, Equatable {
    /// Read the oldest events, then call ``taken(_:now:)``.
    case take(limit: Int)
    /// Send these events, then call ``answered(_:now:timeOfDay:chance:)``.
    case send([OutboxEvent])
    /// Remove `delivered` from the queue, move `givenUp` to the dead letters, then call
    /// ``settled(_:now:)``.
    case settle(delivered: [OutboxEvent], givenUp: [OutboxEvent], DeadLetter.Reason)
  }

  /// The outcome of a call to a target.
  package enum Answer: Sendable, Equatable {
    /// The target has accepted the events.
    case accepted
    /// The target does not want the events, now or later.
    case unwanted
    /// The target rejects the call as invalid; a single event may be the cause.
    case faulted
    /// The target requests a retry, after `Retry-After` seconds if given.
    case failed(retryAfterSeconds: Int?)
  }

  private struct Settlement: Equatable {
    var delivered: [OutboxEvent] = []
    var givenUp: [OutboxEvent] = []
    var reason = DeadLetter.Reason.tooOld
    /// The end of the pause that follows, in milliseconds of uptime.
    var pauseEnd: Int64
  }

  private enum State: Equatable {
    /// The queue is empty. Next: `gathering`.
    case quiet
    /// Events are queued, and more may join them. Next: `taking`.
    case gathering(until: Int64)
    /// Next: `ready`, `quiet`, `gathering` or `pausing`.
    case taking
    /// Next: `sending`.
    case ready([OutboxEvent])
    /// Next: `unsettled` or `pausing`.
    case sending([OutboxEvent])
    /// Next: `settling`.
    case unsettled(Settlement, from: Int64)
    /// Next: `pausing`, or `unsettled` again if the store cannot write.
    case settling(Settlement)
    /// Next: `taking`.
    case pausing(until: Int64)
  }

  /// Maximum pause that a target can request by `Retry-After`: an hour.
  private static let retryAfterMax: Int64 = 3_600_000

  private let settings: Settings
  private var state = State.quiet
  /// The uptime at which the next delayed event is due.
  private var dueAt: Int64?
  /// Whether events were queued since the last `take`.
  private var hasNewEvents = false
  /// The number of consecutive failed calls.
  private var failures = 0
  /// The number of events to be sent one by one, since one of them may be invalid.
  private var singles = 0

  /// Creates a schedule for a queue that is assumed to be empty.
  package init(_ settings: Settings) { self.settings = settings }

  /// The time of the next action unless an event comes first; `nil` if only an event causes one.
  package var wakeAt: Int64? {
    switch state {
    case .quiet: dueAt
    case .gathering(let end): min(end, dueAt ?? end)
    case .pausing(let end), .unsettled(_, let end): end
    case .ready: 0
    case .taking, .sending, .settling: nil
    }
  }

  /// Whether the last call has failed.
  package var isFailing: Bool { failures > 0 }

  // MARK: Events

  /// Handles a change of the queue's state.
  package mutating func changed(
    _ standing: OutboxQueueState, now: Int64, timeOfDay: Timestamp
  ) {
    dueAt = standing.nextDue.map { now + max($0 - timeOfDay, 0) }
    guard standing.queued > 0 else { return }
    hasNewEvents = true
    switch state {
    case .quiet:
      state = .gathering(until: now + settings.gatherMilliseconds)
      fallthrough
    case .gathering:
      if standing.queued >= settings.eventsMax { state = .gathering(until: now) }
    case .taking, .ready, .sending, .unsettled, .settling, .pausing: break
    }
  }

  /// Reads the queue if it seems empty: another node may have changed it.
  package mutating func look(now: Int64) {
    guard case .quiet = state else { return }
    state = .gathering(until: now)
  }

  /// Handles the events that were read; `nil` if the store could not read them.
  package mutating func taken(_ events: [OutboxEvent]?, now: Int64) {
    guard case .taking = state else { return }
    guard let events else {
      failures += 1
      state = .pausing(until: now + settings.pauseMin)
      return
    }
    if !events.isEmpty {
      state = .ready(events)
    } else if hasNewEvents {
      state = .gathering(until: now + settings.gatherMilliseconds)
    } else {
      state = .quiet
    }
  }

  /// Handles the outcome of a call.
  ///
  /// - Parameter chance: A random number from 0 up to 1, which spreads the retries of senders.
  package mutating func answered(
    _ answer: Answer, now: Int64, timeOfDay: Timestamp, chance: Double
  ) {
    guard case .sending(let events) = state else { return }
    switch answer {
    case .accepted:
      succeed(events)
      state = .unsettled(Settlement(delivered: events, pauseEnd: now), from: now)
    case .unwanted:
      succeed(events)
      state = .unsettled(
        Settlement(givenUp: events, reason: .unwanted, pauseEnd: now), from: now)
    case .faulted:
      // Each event is sent alone to find the invalid one. Until then, no event is too old.
      singles = max(singles, events.count)
      fail(events.count == 1 ? events : [], nil, now, timeOfDay, chance)
    case .failed(let retryAfterSeconds): fail(events, retryAfterSeconds, now, timeOfDay, chance)
    }
  }

  private mutating func succeed(_ events: [OutboxEvent]) {
    failures = 0
    singles = max(0, singles - events.count)
  }

  private mutating func fail(
    _ events: [OutboxEvent], _ retryAfterSeconds: Int?, _ now: Int64, _ timeOfDay: Timestamp,
    _ chance: Double
  ) {
    failures += 1
    let asked = Int64(clamping: retryAfterSeconds ?? 0).multipliedReportingOverflow(by: 1_000)
    let end =
      now
      + max(
        Self.pause(after: failures, settings, chance: chance),
        min(asked.overflow ? .max : asked.partialValue, Self.retryAfterMax))
    let tooOld = events.filter { timeOfDay - $0.time >= settings.ageMax }
    singles = max(0, singles - tooOld.count)
    state =
      tooOld.isEmpty
      ? .pausing(until: end)
      : .unsettled(Settlement(givenUp: tooOld, reason: .tooOld, pauseEnd: end), from: now)
  }

  /// Returns the pause after a number of failures: a random part of the doubled pause, at least
  /// half.
  package static func pause(
    after failures: Int, _ settings: Settings, chance: Double
  ) -> Int64 {
    let doublings = min(max(failures - 1, 0), 40)
    let (product, overflow) = settings.pauseMin.multipliedReportingOverflow(by: 1 << doublings)
    let whole = overflow ? settings.pauseMax : min(product, settings.pauseMax)
    return whole / 2 + Int64(Double(whole - whole / 2) * chance)
  }

  /// Handles the end of a settlement; `false` if the store could not write it.
  package mutating func settled(_ isDone: Bool, now: Int64) {
    guard case .settling(let settlement) = state else { return }
    if isDone {
      state = .pausing(until: settlement.pauseEnd)
    } else {
      // Settle again, but do not send again: only the store has failed.
      state = .unsettled(settlement, from: now + settings.pauseMin)
    }
  }

  // MARK: Actions

  /// Returns the next action; `nil` to wait for an event or for ``wakeAt``.
  package mutating func next(now: Int64) -> Action? {
    switch state {
    case .quiet:
      guard let dueAt, dueAt <= now else { return nil }
      return take()
    case .gathering(let end):
      guard min(end, dueAt ?? end) <= now else { return nil }
      return take()
    case .pausing(let end):
      guard end <= now else { return nil }
      return take()
    case .ready(let events):
      state = .sending(events)
      return .send(events)
    case .unsettled(let settlement, let start):
      guard start <= now else { return nil }
      state = .settling(settlement)
      return .settle(
        delivered: settlement.delivered, givenUp: settlement.givenUp, settlement.reason)
    case .taking, .sending, .settling: return nil
    }
  }

  private mutating func take() -> Action {
    hasNewEvents = false
    dueAt = nil
    state = .taking
    return .take(limit: singles > 0 ? 1 : settings.eventsMax)
  }
}
