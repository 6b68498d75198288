import ParleyGatewayPorts
import ParleyOTWorkloads
import ParleyServer
import Testing

@Suite("The schedule of calls to services")
struct DeliveryScheduleTests {
  private static let settings: DeliverySchedule.Settings = {
    var settings = DeliverySchedule.Settings()
    settings.eventsMax = 3
    settings.gatherMilliseconds = 100
    settings.pauseMin = 1_000
    settings.pauseMax = 10_000
    settings.ageMax = 60_000
    return settings
  }()

  private var schedule = DeliverySchedule(settings)

  private func events(_ numbers: ClosedRange<Int>, time: Timestamp = 0) -> [OutboxEvent] {
    numbers.map {
      OutboxEvent(
        number: $0, id: "e\($0)", target: .webhook, type: "t", subject: "s", time: time, data: [])
    }
  }

  private mutating func wait(_ queued: Int, nextDue: Timestamp? = nil, now: Int64 = 0) {
    schedule.changed(
      OutboxQueueState(queued: queued, nextDue: nextDue), now: now, timeOfDay: now)
  }

  /// Checks that the schedule takes events and sends them.
  private mutating func send(_ sent: [OutboxEvent], now: Int64, limit: Int = 3) {
    #expect(schedule.next(now: now) == .take(limit: limit))
    schedule.taken(sent, now: now)
    #expect(schedule.next(now: now) == .send(sent))
    #expect(schedule.next(now: now) == nil, "one call at a time")
  }

  private mutating func answer(
    _ answer: DeliverySchedule.Answer, now: Int64, timeOfDay: Timestamp? = nil,
    chance: Double = 0
  ) {
    schedule.answered(answer, now: now, timeOfDay: timeOfDay ?? now, chance: chance)
  }

  @Test("the first event waits for further ones, and is sent together with them")
  mutating func gathering() {
    #expect(schedule.wakeAt == nil && schedule.next(now: 0) == nil)
    wait(1)
    #expect(schedule.wakeAt == 100)
    wait(2, now: 50)
    #expect(schedule.next(now: 99) == nil)
    send(events(1...2), now: 100)
    answer(.accepted, now: 120)
    #expect(
      schedule.next(now: 120) == .settle(delivered: events(1...2), givenUp: [], .tooOld))
    schedule.settled(true, now: 125)
    #expect(schedule.next(now: 125) == .take(limit: 3))
    schedule.taken([], now: 126)
    #expect(schedule.wakeAt == nil && schedule.next(now: 1_000) == nil)
  }

  @Test("enough events for one call are sent at once")
  mutating func fullBatch() {
    wait(1)
    wait(3, now: 10)
    #expect(schedule.next(now: 10) == .take(limit: 3))
  }

  @Test("an event added during an empty read is not lost")
  mutating func newsMeanwhile() {
    wait(1)
    _ = schedule.next(now: 100)
    wait(1, now: 101)
    schedule.taken([], now: 102)
    #expect(schedule.next(now: 202) == .take(limit: 3))
  }

  @Test("a deferred event is read when it is due")
  mutating func due() {
    wait(0, nextDue: 5_000, now: 1_000)
    #expect(schedule.wakeAt == 5_000 && schedule.next(now: 4_999) == nil)
    #expect(schedule.next(now: 5_000) == .take(limit: 3))
  }

  @Test("pauses double up to the maximum, with a random part")
  mutating func pauses() {
    let whole = (1...6).map { DeliverySchedule.pause(after: $0, Self.settings, chance: 1) }
    #expect(whole == [1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
    let half = (1...5).map { DeliverySchedule.pause(after: $0, Self.settings, chance: 0) }
    #expect(half == [500, 1_000, 2_000, 4_000, 5_000])
    #expect(DeliverySchedule.pause(after: .max, Self.settings, chance: 0.5) == 7_500)
  }

  @Test("the same events are sent again after each failure, and success resets the pause")
  mutating func failures() {
    wait(2)
    send(events(1...2), now: 100)
    answer(.failed(retryAfterSeconds: nil), now: 200)
    #expect(schedule.isFailing && schedule.wakeAt == 700)
    wait(5, now: 300)
    #expect(schedule.next(now: 699) == nil, "news does not shorten a pause")
    send(events(1...3), now: 700)
    answer(.failed(retryAfterSeconds: nil), now: 700)
    #expect(schedule.wakeAt == 1_700)
    send(events(1...3), now: 1_700)
    answer(.accepted, now: 1_700)
    #expect(!schedule.isFailing)
    _ = schedule.next(now: 1_700)
    schedule.settled(true, now: 1_700)
    send(events(4...5), now: 1_700)
    answer(.failed(retryAfterSeconds: nil), now: 2_000)
    #expect(schedule.wakeAt == 2_500)
  }

  @Test("a receiver can request a longer pause, up to a maximum")
  mutating func retryAfter() {
    wait(1)
    send(events(1...1), now: 100)
    answer(.failed(retryAfterSeconds: 30), now: 100)
    #expect(schedule.wakeAt == 30_100)
    send(events(1...1), now: 30_100)
    answer(.failed(retryAfterSeconds: .max), now: 30_100)
    #expect(schedule.wakeAt == 3_630_100)
  }

  @Test("an event that the receiver rejects is discarded at once")
  mutating func unwanted() {
    wait(1)
    send(events(1...1), now: 100)
    answer(.unwanted, now: 100)
    #expect(
      schedule.next(now: 100) == .settle(delivered: [], givenUp: events(1...1), .unwanted))
  }

  @Test("only events of failed calls can expire")
  mutating func tooOld() {
    wait(2)
    let sent = events(1...1, time: 0) + events(2...2, time: 1_000)
    send(sent, now: 100)
    answer(.failed(retryAfterSeconds: nil), now: 100, timeOfDay: 60_999)
    #expect(
      schedule.next(now: 100) == .settle(delivered: [], givenUp: [sent[0]], .tooOld))
    schedule.settled(true, now: 101)
    #expect(schedule.wakeAt == 600, "the pause is not shorter for that")
  }

  @Test("a faulted call is repeated event by event")
  mutating func faults() {
    wait(3)
    send(events(1...3), now: 100)
    answer(.faulted, now: 100, timeOfDay: .max)
    send(events(1...1), now: 600, limit: 1)
    answer(.accepted, now: 600)
    #expect(schedule.next(now: 600) == .settle(delivered: events(1...1), givenUp: [], .tooOld))
    schedule.settled(true, now: 600)
    send(events(2...2), now: 600, limit: 1)
    answer(.faulted, now: 600, timeOfDay: 60_000)
    #expect(schedule.next(now: 600) == .settle(delivered: [], givenUp: events(2...2), .tooOld))
    schedule.settled(true, now: 600)
    send(events(3...3), now: 1_600, limit: 1)
    answer(.accepted, now: 1_600)
    _ = schedule.next(now: 1_600)
    schedule.settled(true, now: 1_600)
    // All events of the failed call were sent one by one, so the next call has several again.
    send(events(4...6), now: 1_600)
  }

  @Test("a delivered event is not sent again if its removal cannot be stored")
  mutating func settlingFails() {
    wait(1)
    send(events(1...1), now: 100)
    answer(.accepted, now: 100)
    _ = schedule.next(now: 100)
    schedule.settled(false, now: 110)
    #expect(schedule.wakeAt == 1_110 && schedule.next(now: 500) == nil)
    #expect(schedule.next(now: 1_110) == .settle(delivered: events(1...1), givenUp: [], .tooOld))
  }

  @Test("a store that cannot be read is read again later")
  mutating func takingFails() {
    wait(1)
    _ = schedule.next(now: 100)
    schedule.taken(nil, now: 100)
    #expect(schedule.wakeAt == 1_100)
    #expect(schedule.next(now: 1_100) == .take(limit: 3))
  }

  @Test(arguments: 1...200)
  func `each event is delivered or discarded, once and in order, for any answers`(seed: Int) {
    var rng = SplitMix64(seed: UInt64(seed))
    var schedule = DeliverySchedule(Self.settings)
    var queue: [OutboxEvent] = []
    var ended: [Int] = []
    var made = 0
    var now: Int64 = 0
    while ended.count < 40 {
      if made < 40, Bool.random(using: &rng) {
        made += 1
        queue += events(made...made, time: now)
        schedule.changed(OutboxQueueState(queued: queue.count), now: now, timeOfDay: now)
      }
      guard let action = schedule.next(now: now) else {
        now = max(now + 1, schedule.wakeAt ?? now)
        continue
      }
      switch action {
      case .take(let limit):
        let isReadable = Int.random(in: 0..<9, using: &rng) > 0
        schedule.taken(isReadable ? Array(queue.prefix(limit)) : nil, now: now)
      case .send(let events):
        #expect(events == Array(queue.prefix(events.count)), "seed \(seed)")
        let answers: [DeliverySchedule.Answer] = [
          .accepted, .accepted, .unwanted, .faulted, .failed(retryAfterSeconds: nil),
        ]
        now += Int64.random(in: 0..<20_000, using: &rng)
        schedule.answered(
          answers.randomElement(using: &rng) ?? .accepted, now: now, timeOfDay: now,
          chance: Double.random(in: 0..<1, using: &rng))
      case .settle(let delivered, let givenUp, _):
        let isWritable = Int.random(in: 0..<9, using: &rng) > 0
        if isWritable {
          let done = (delivered + givenUp).map(\.number)
          ended += done
          queue.removeAll { done.contains($0.number) }
        }
        schedule.settled(isWritable, now: now)
        if isWritable {
          schedule.changed(OutboxQueueState(queued: queue.count), now: now, timeOfDay: now)
        }
      }
    }
    #expect(ended == Array(1...40), "seed \(seed)")
  }
}
