import ParleyGatewayPorts
import ParleyHTTPClientCurl
import ParleyLocks

/// Hands the messages in the outbox to the mail server, one after the other.
///
///     StoreThread ─▶ changed ─▶ schedule ─▶ take, send, settle
///                                  ▲              │
///                                  └── outcome ◀──┘
///
/// A message that the mail server does not take yet is delayed in the same commit that takes it from
/// the queue, so that it holds up no other. If the mail server cannot be used, all messages wait.
/// A message that is not settled when the thread ends is sent again after the next start.
struct MailDispatcher {
  /// Milliseconds between checks of a queue that other nodes add to.
  private static let lookMilliseconds: Int64 = 1_000

  private let server: MailServer
  private let settings: DeliverySchedule.Settings
  private let mailer: CurlMailer
  private let inbox: WebhookInbox
  private let store: StoreThread
  private let log: any LogSink
  private let clock = SystemClock()
  private var schedule: DeliverySchedule
  /// The message that is being sent.
  private var current: (event: OutboxEvent, mail: QueuedMail)?
  /// The delayed message that replaces the one that is settled.
  private var delayed: [OutboxDraft] = []
  /// The outcome of the message that is settled, for the metrics.
  private var outcome = ""
  private var isExpired = false
  private var refused = 0

  /// Runs on a separate thread until the inbox is stopped.
  ///
  /// - Parameter isShared: Whether other nodes change the queue, which is then checked periodically.
  static func start(
    _ server: MailServer, _ settings: DeliverySchedule.Settings, inbox: WebhookInbox,
    store: StoreThread, isShared: Bool, log: any LogSink
  ) {
    SystemThread.start {
      // `work` releases all library handles before it returns. They must not be released while the
      // process exits and the libraries release their own state.
      work(server, settings, inbox: inbox, store: store, isShared: isShared, log: log)
      inbox.hasStopped()
    }
  }

  @inline(never)
  private static func work(
    _ server: MailServer, _ settings: DeliverySchedule.Settings, inbox: WebhookInbox,
    store: StoreThread, isShared: Bool, log: any LogSink
  ) {
    var dispatcher = MailDispatcher(server, settings, inbox: inbox, store: store, log: log)
    dispatcher.run(isShared: isShared)
  }

  private init(
    _ server: MailServer, _ settings: DeliverySchedule.Settings, inbox: WebhookInbox,
    store: StoreThread, log: any LogSink
  ) {
    self.server = server
    self.settings = settings
    mailer = CurlMailer(waker: inbox.waker)
    self.inbox = inbox
    self.store = store
    self.log = log
    schedule = DeliverySchedule(settings)
  }

  private mutating func run(isShared: Bool) {
    var lookAt: Int64? = isShared ? clock.uptime : nil
    while let items = inbox.take() {
      for item in items { read(item) }
      let now = clock.uptime
      if let end = lookAt, end <= now {
        lookAt = now + Self.lookMilliseconds
        schedule.look(now: now)
      }
      while let action = schedule.next(now: clock.uptime) { perform(action) }
      let wakeAt = [schedule.wakeAt, lookAt].compactMap(\.self).min()
      if let outcome = mailer.wait(atMostMilliseconds: wakeAt.map { $0 - clock.uptime }) {
        ended(outcome)
      }
    }
  }

  private mutating func read(_ item: WebhookInbox.Item) {
    switch item {
    case .changed(let queueStates):
      guard let standing = queueStates[.mail] else { return }
      inbox.count { $0.queueStates[.mail] = standing }
      schedule.changed(standing, now: clock.uptime, timeOfDay: clock.now)
      if standing.overflowed > refused {
        log.write(
          .error, "mail not queued",
          [("messages", "\(standing.overflowed - refused)"), ("reason", "too many messages wait")])
        refused = standing.overflowed
      }
    case .taken(_, .events(let events)): schedule.taken(events, now: clock.uptime)
    case .taken:
      log.write(.warning, "mail not sent", [("reason", "the store cannot be read")])
      schedule.taken(nil, now: clock.uptime)
    case .settled(_, let reply):
      if reply == .done {
        delayed = []
        countSettled()
      } else {
        log.write(.warning, "mail not settled", [("reason", "the store cannot be written")])
      }
      schedule.settled(reply == .done, now: clock.uptime)
    case .resolved: break
    }
  }

  private mutating func perform(_ action: DeliverySchedule.Action) {
    switch action {
    case .take:
      store.submit(.take(.mail, limit: 1, bytesMax: settings.bytesMax, now: clock.now)) {
        [inbox] in inbox.put(.taken(.mail, $0))
      }
    case .send(let events): send(events)
    case .settle(let delivered, let givenUp, let reason):
      if !givenUp.isEmpty { outcome = isExpired || reason == .tooOld ? "tooOld" : "refused" }
      store.submit(
        .settle(
          delivered: delivered, givenUp: givenUp.map(\.withoutMessage),
          isExpired ? .tooOld : reason, now: clock.now, adding: delayed)
      ) { [inbox] in inbox.put(.settled(.mail, $0)) }
    }
  }

  private mutating func send(_ events: [OutboxEvent]) {
    isExpired = false
    guard let event = events.first else { return answered(.accepted, as: "") }
    guard let mail = QueuedMail(event) else { return answered(.unwanted, as: "refused") }
    guard !mail.isExpired(at: clock.now) else {
      isExpired = true
      return answered(.unwanted, as: "tooOld")
    }
    current = (event, mail)
    mailer.start(server.delivery(of: Array(mail.message.utf8), to: mail.recipient))
  }

  private mutating func ended(_ outcome: CurlMailer.Outcome) {
    guard let (event, mail) = current else { return }
    current = nil
    switch outcome {
    case .accepted:
      if schedule.isFailing { log.write(.notice, "mail is sent again", []) }
      answered(.accepted, as: "sent")
    case .postponed(let code):
      log.write(
        .info, "mail postponed", [("code", "\(code)"), ("attempts", "\(mail.attempts + 1)")])
      delay(mail, of: event)
    case .refused(let code):
      log.write(.warning, "mail refused", [("code", "\(code)")])
      answered(.unwanted, as: "refused")
    case .failed(let failure):
      // A warning at first, then `debug` until messages are sent again.
      log.write(
        schedule.isFailing ? .debug : .warning, "mail not sent", [("reason", failure.description)])
      inbox.count { $0.count("failed") }
      answered(.failed(retryAfterSeconds: nil), as: "tooOld")
    }
  }

  /// Delays a message, or gives it up if it would be too old then.
  private mutating func delay(_ mail: QueuedMail, of event: OutboxEvent) {
    var mail = mail
    mail.attempts += 1
    let now = clock.now
    let pause = DeliverySchedule.pause(
      after: mail.attempts, settings, chance: Double.random(in: 0..<1))
    let next = max(now, event.time) + pause
    guard next - event.time < settings.ageMax, !mail.isExpired(at: next) else {
      isExpired = true
      return answered(.unwanted, as: "tooOld")
    }
    delayed = [mail.draft(at: event.time, hold: next - event.time)]
    answered(.accepted, as: "postponed")
  }

  private mutating func answered(_ answer: DeliverySchedule.Answer, as outcome: String) {
    self.outcome = outcome
    schedule.answered(
      answer, now: clock.uptime, timeOfDay: clock.now, chance: Double.random(in: 0..<1))
  }

  private mutating func countSettled() {
    guard !outcome.isEmpty else { return }
    let settled = outcome
    outcome = ""
    inbox.count { $0.count(settled) }
    guard settled == "tooOld" else { return }
    log.write(.error, "mail given up", [("reason", settled)])
  }
}
