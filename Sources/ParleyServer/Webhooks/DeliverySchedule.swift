package import GatewayPorts

/// Schedules the calls to one target: when to send, retry and give up.
///
///     quiet ─▶ gathering ─▶ taking ─▶ sending ─▶ settling ─▶ gathering …
///                  ▲                     │ not taken
///                  └────── pausing ◀─────┘
///
/// One call is under way at a time, with the oldest events: so the order is kept, and a receiver who
/// takes nothing is asked about the same ones, after longer and longer pauses. Times are
/// milliseconds of uptime unless they are called times of day.
package struct DeliverySchedule: Sendable {
  /// Settings of the operator.
  package struct Settings: Sendable, Equatable {
    /// Events in one call, at most.
    package var eventsMax = 100
    /// Bytes of their data, of more than one, at most.
    package var bytesMax = 1 << 20
    /// From the first event until the call, for others to join it.
    package var gatherMilliseconds: Int64 = 1_000
    /// The first pause, which doubles from then on.
    package var pauseMin: Int64 = 1_000
    /// The longest pause.
    package var pauseMax: Int64 = 300_000
    /// Undelivered events that are older are given up.
    package var ageMax: Int64 = 86_400_000

    /// The defaults.
    package init() {}
  }

  /// An action for the owner.
  package enum Action: Sendable, Equatable {
    /// Take the oldest events; then ``taken(_:now:)``.
    case take(limit: Int)
    /// Send these; then ``answered(_:now:timeOfDay:chance:)``.
    case send([OutboxEvent])
    /// Have done with these; then ``settled(_:now:)``.
    case settle(told: [OutboxEvent], givenUp: [OutboxEvent], DeadLetter.Reason)
  }

  /// The outcome of a call.
  package enum Answer: Sendable, Equatable {
    /// The receiver has taken the events.
    case accepted
    /// The receiver wants none of them, now or later.
    case unwanted
    /// The receiver finds fault with the call itself: perhaps with one event in it.
    case faulted
    /// The receiver asks for a retry, after `Retry-After` seconds if given.
    case failed(retryAfterSeconds: Int?)
  }

  private struct Settlement: Equatable {
    var told: [OutboxEvent] = []
    var givenUp: [OutboxEvent] = []
    var reason = DeadLetter.Reason.tooOld
    /// The end of the pause, in milliseconds.
    var pauseEnd: Int64
  }

  private enum State: Equatable {
    /// Nothing waits. Next: `gathering`.
    case quiet
    /// Something waits, and more may come. Next: `taking`.
    case gathering(until: Int64)
    /// Next: `ready`, `quiet`, `gathering` or `pausing`.
    case taking
    /// Next: `sending`.
    case ready([OutboxEvent])
    /// Next: `unsettled` or `pausing`.
    case sending([OutboxEvent])
    /// Next: `settling`.
    case unsettled(Settlement, from: Int64)
    /// Next: `pausing`, or `unsettled` again if the disk does not take it.
    case settling(Settlement)
    /// Next: `taking`.
    case pausing(until: Int64)
  }

  /// However long the receiver wants to be left alone, it is asked again after an hour.
  private static let retryAfterMax: Int64 = 3_600_000

  private let settings: Settings
  private var state = State.quiet
  /// The time at which the next event that is held back is due.
  private var dueAt: Int64?
  /// Whether something has come since events were taken last.
  private var hasNews = false
  /// Calls that failed since the last one that did not.
  private var failures = 0
  /// The number of events that are sent one by one, since one of them has a fault.
  private var singles = 0

  /// Makes a schedule for a queue that is empty as far as is known.
  package init(_ settings: Settings) { self.settings = settings }

  /// The time of the next action if no other event comes first; `nil` for never.
  package var wakeAt: Int64? {
    switch state {
    case .quiet: dueAt
    case .gathering(let end): min(end, dueAt ?? end)
    case .pausing(let end), .unsettled(_, let end): end
    case .ready: 0
    case .taking, .sending, .settling: nil
    }
  }

  /// Whether calls fail at the moment.
  package var isFailing: Bool { failures > 0 }

  // MARK: Events

  /// The queue's state has changed.
  package mutating func changed(
    _ standing: OutboxStanding, now: Int64, timeOfDay: Timestamp
  ) {
    dueAt = standing.nextDue.map { now + max($0 - timeOfDay, 0) }
    guard standing.queued > 0 else { return }
    hasNews = true
    switch state {
    case .quiet:
      state = .gathering(until: now + settings.gatherMilliseconds)
      fallthrough
    case .gathering:
      if standing.queued >= settings.eventsMax { state = .gathering(until: now) }
    case .taking, .ready, .sending, .unsettled, .settling, .pausing: break
    }
  }

  /// The queue's state may have changed, for others work with it.
  package mutating func look(now: Int64) {
    guard case .quiet = state else { return }
    state = .gathering(until: now)
  }

  /// Events were taken; `nil` if the store could not.
  package mutating func taken(_ events: [OutboxEvent]?, now: Int64) {
    guard case .taking = state else { return }
    guard let events else {
      failures += 1
      state = .pausing(until: now + settings.pauseMin)
      return
    }
    if !events.isEmpty {
      state = .ready(events)
    } else if hasNews {
      state = .gathering(until: now + settings.gatherMilliseconds)
    } else {
      state = .quiet
    }
  }

  /// Notes the outcome of a call.
  ///
  /// - Parameter chance: from 0 up to 1, so that not all senders retry at the same time.
  package mutating func answered(
    _ answer: Answer, now: Int64, timeOfDay: Timestamp, chance: Double
  ) {
    guard case .sending(let events) = state else { return }
    switch answer {
    case .accepted:
      succeed(events)
      state = .unsettled(Settlement(told: events, pauseEnd: now), from: now)
    case .unwanted:
      succeed(events)
      state = .unsettled(
        Settlement(givenUp: events, reason: .unwanted, pauseEnd: now), from: now)
    case .faulted:
      // Which one has the fault is seen when each is sent by itself: until then none is too old.
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

  /// The pause after a number of failures: from half of what doubling gives up to all of it.
  package static func pause(
    after failures: Int, _ settings: Settings, chance: Double
  ) -> Int64 {
    let doublings = min(max(failures - 1, 0), 40)
    let (product, overflow) = settings.pauseMin.multipliedReportingOverflow(by: 1 << doublings)
    let whole = overflow ? settings.pauseMax : min(product, settings.pauseMax)
    return whole / 2 + Int64(Double(whole - whole / 2) * chance)
  }

  /// Events were done with; `false` if the store could not.
  package mutating func settled(_ isDone: Bool, now: Int64) {
    guard case .settling(let settlement) = state else { return }
    if isDone {
      state = .pausing(until: settlement.pauseEnd)
    } else {
      // Not sent again for that: only the disk is in the way.
      state = .unsettled(settlement, from: now + settings.pauseMin)
    }
  }

  // MARK: Actions

  /// Returns the next action; `nil` until an event or ``wakeAt``.
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
      return .settle(told: settlement.told, givenUp: settlement.givenUp, settlement.reason)
    case .taking, .sending, .settling: return nil
    }
  }

  private mutating func take() -> Action {
    hasNews = false
    dueAt = nil
    state = .taking
    return .take(limit: singles > 0 ? 1 : settings.eventsMax)
  }
}
