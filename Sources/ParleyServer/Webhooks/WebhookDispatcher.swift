import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts
import ParleyHTTPClientCurl
import ParleyLocks

/// Delivers the events in the outbox to external services.
///
///     StoreThread ─▶ changed ─▶ schedule ─▶ take, send, settle
///                                  ▲              │
///                                  └── answers ◀──┘
///
/// Each target has its own schedule, and delays no other. Events that are not settled when the
/// thread ends are sent again after the next start.
struct WebhookDispatcher {
  /// Finds the receivers of a publication, and calls back; returns `false` if no loop is running.
  typealias Resolver =
    @Sendable (PublicationExport, @escaping @Sendable ([OutboxDraft]?) -> Void) -> Bool

  /// Milliseconds between checks of queues that other nodes add to.
  private static let lookMilliseconds: Int64 = 1_000

  private let settings: HookSettings
  private var secrets: WebhookSecrets
  private let client: CurlClient
  private let inbox: WebhookInbox
  private let store: StoreThread
  private let resolve: Resolver
  private let log: any LogSink
  private let clock = SystemClock()
  private var schedules: [OutboxTarget: DeliverySchedule]
  /// The push notifications for the publication whose followers were found.
  private var drafts: [OutboxDraft] = []
  private var overflowed = 0
  /// Events to be removed from the store, counted once the store has done so.
  private var settling: [OutboxTarget: Settling] = [:]

  private struct Settling {
    let delivered: [OutboxEvent]
    let givenUp: [OutboxEvent]
    let reason: DeadLetter.Reason
  }

  /// Runs on a separate thread until the inbox is stopped. Nothing is sent before the inbox has
  /// received the state of the queues.
  ///
  /// - Parameters:
  ///   - isShared: Whether other nodes change the queues, which are then checked periodically.
  ///   - resolve: Finds the followers of rooms.
  static func start(
    _ settings: HookSettings, secrets: WebhookSecrets, inbox: WebhookInbox, store: StoreThread,
    isShared: Bool, resolve: @escaping Resolver, log: any LogSink
  ) {
    SystemThread.start {
      // `work` releases all library handles before it returns. They must not be released while the
      // process exits and the libraries release their own state.
      work(
        settings, secrets: secrets, inbox: inbox, store: store, isShared: isShared,
        resolve: resolve, log: log)
      inbox.hasStopped()
    }
  }

  @inline(never)
  private static func work(
    _ settings: HookSettings, secrets: WebhookSecrets, inbox: WebhookInbox, store: StoreThread,
    isShared: Bool, resolve: @escaping Resolver, log: any LogSink
  ) {
    var dispatcher = WebhookDispatcher(
      settings, secrets: secrets, inbox: inbox, store: store, resolve: resolve, log: log)
    dispatcher.run(isShared: isShared)
  }

  private init(
    _ settings: HookSettings, secrets: WebhookSecrets, inbox: WebhookInbox, store: StoreThread,
    resolve: @escaping Resolver, log: any LogSink
  ) {
    self.settings = settings
    self.secrets = secrets
    client = CurlClient(waker: inbox.waker)
    self.inbox = inbox
    self.store = store
    self.resolve = resolve
    self.log = log
    schedules = settings.schedules.mapValues { DeliverySchedule($0) }
  }

  private mutating func run(isShared: Bool) {
    var lookAt: Int64? = isShared ? clock.uptime : nil
    while let items = inbox.take() {
      for item in items { read(item) }
      let now = clock.uptime
      if let end = lookAt, end <= now {
        lookAt = now + Self.lookMilliseconds
        for target in OutboxTarget.allCases { schedules[target]?.look(now: now) }
      }
      for target in OutboxTarget.allCases { act(target) }
      let wakeAt = (schedules.values.compactMap(\.wakeAt) + [lookAt].compactMap(\.self)).min()
      for (key, outcome) in client.wait(
        atMostMilliseconds: wakeAt.map { $0 - clock.uptime })
      {
        guard let target = OutboxTarget(rawValue: key) else { continue }
        if case .failed(let reason) = outcome { note(reason, target) }
        if case .answered(let status, _) = outcome, !(200...299).contains(status) {
          note("answered with \(status)", target)
        }
        answered(target, DeliverySchedule.Answer(outcome))
      }
    }
  }

  // MARK: Events

  private mutating func read(_ item: WebhookInbox.Item) {
    let (now, timeOfDay) = (clock.uptime, clock.now)
    switch item {
    case .changed(let all):
      let queueStates = all.filter { $0.key != .mail }
      inbox.count { metrics in metrics.queueStates.merge(queueStates) { $1 } }
      for (target, standing) in queueStates {
        schedules[target]?.changed(standing, now: now, timeOfDay: timeOfDay)
      }
      noteCrowding()
    case .taken(let target, let reply):
      guard case .events(let events) = reply else {
        note("the store cannot be read", target)
        schedules[target]?.taken(nil, now: now)
        return
      }
      schedules[target]?.taken(events, now: now)
    case .settled(let target, let reply):
      let isDone = reply == .done
      if isDone, target == .followers { drafts = [] }
      if isDone { countSettled(target) } else { note("the store cannot be written", target) }
      schedules[target]?.settled(isDone, now: now)
    case .resolved(let drafts):
      self.drafts = drafts ?? []
      answered(.followers, drafts == nil ? .failed(retryAfterSeconds: nil) : .accepted)
    }
  }

  private mutating func answered(_ target: OutboxTarget, _ answer: DeliverySchedule.Answer) {
    if target != .followers { inbox.count { $0.count(answer.word) } }
    let wasFailing = schedules[target]?.isFailing ?? false
    let (now, timeOfDay) = (clock.uptime, clock.now)
    schedules[target]?.answered(
      answer, now: now, timeOfDay: timeOfDay, chance: Double.random(in: 0..<1))
    if wasFailing, answer == .accepted {
      log.write(.notice, "calls succeed again", [("target", target.word)])
    }
  }

  // MARK: Actions

  private mutating func act(_ target: OutboxTarget) {
    let now = clock.uptime
    while let action = schedules[target]?.next(now: now) {
      switch action {
      case .take(let limit):
        store.submit(
          .take(
            target, limit: limit, bytesMax: settings.schedules[target]?.bytesMax ?? 0,
            now: clock.now)
        ) { [inbox] in inbox.put(.taken(target, $0)) }
      case .send(let events): send(events, to: target)
      case .settle(let delivered, let givenUp, let reason):
        settling[target] = Settling(delivered: delivered, givenUp: givenUp, reason: reason)
        store.submit(
          .settle(
            delivered: delivered, givenUp: givenUp, reason, now: clock.now,
            adding: drafts(for: target))
        ) { [inbox] in inbox.put(.settled(target, $0)) }
      }
    }
  }

  private mutating func countSettled(_ target: OutboxTarget) {
    guard let settled = settling.removeValue(forKey: target) else { return }
    if target != .followers {
      inbox.count { metrics in
        metrics.count(settled.delivered, as: "told")
        metrics.count(settled.givenUp, as: settled.reason.word)
      }
    }
    guard !settled.givenUp.isEmpty else { return }
    log.write(
      .error, "events given up",
      [
        ("target", target.word), ("events", "\(settled.givenUp.count)"),
        ("reason", settled.reason.word),
      ])
  }

  private func drafts(for target: OutboxTarget) -> [OutboxDraft] {
    target == .followers ? drafts : []
  }

  private mutating func send(_ events: [OutboxEvent], to target: OutboxTarget) {
    if target == .followers {
      find(events)
    } else if let address = settings.addresses[target] {
      secrets.refresh(now: clock.now)
      client.start(
        HookRequest(events, for: target).call(
          address, seconds: clock.now / 1_000, signer: secrets.signer,
          timeoutMilliseconds: settings.timeoutMilliseconds), key: target.rawValue)
    }
  }

  /// Requests the offline followers of a publication; the result is put into the inbox.
  private func find(_ events: [OutboxEvent]) {
    guard let event = events.first, let news = PublicationExport(json: event.data) else {
      // The event does not have the format of this program, so it cannot be delivered.
      inbox.put(.resolved([]))
      return
    }
    if !resolve(news, { [inbox] in inbox.put(.resolved($0)) }) { inbox.put(.resolved(nil)) }
  }

  // MARK: Log

  /// Logs a failed call: as a warning at first, as `debug` until calls succeed again.
  private func note(_ reason: String, _ target: OutboxTarget) {
    let isFirst = !(schedules[target]?.isFailing ?? false)
    log.write(
      isFirst ? .warning : .debug, "call failed", [("target", target.word), ("reason", reason)])
  }

  private mutating func noteCrowding() {
    let total = inbox.metrics.overflowed
    guard total > overflowed else { return }
    log.write(
      .error, "events given up",
      [("events", "\(total - overflowed)"), ("reason", DeadLetter.Reason.queueFull.word)])
    overflowed = total
  }
}
