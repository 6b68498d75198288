import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts

/// The external services to call, and the settings of the calls.
struct HookSettings: Sendable {
  /// The URL of each target.
  var addresses: [OutboxTarget: HookAddress] = [:]
  /// The schedule of each target.
  var schedules: [OutboxTarget: DeliverySchedule.Settings] = [:]
  /// The time limit for a call, in milliseconds.
  var timeoutMilliseconds = 10_000

  /// Whether any service is configured.
  var isNeeded: Bool { !addresses.isEmpty }
}

extension Configuration {
  /// The external services to call, and the settings of the calls.
  var hooks: HookSettings {
    var hooks = HookSettings()
    hooks.timeoutMilliseconds = webhookTimeout.milliseconds
    var schedule = DeliverySchedule.Settings()
    schedule.eventsMax = webhookBatchMax
    schedule.bytesMax = webhookBatchBytesMax
    schedule.gatherMilliseconds = Int64(webhookBatchDelay.milliseconds)
    schedule.pauseMin = Int64(webhookRetryMin.milliseconds)
    schedule.pauseMax = Int64(webhookRetryMax.milliseconds)
    schedule.ageMax = Int64(webhookGiveUpAge.milliseconds)
    // Services that receive one event per call need not wait for more events.
    var single = schedule
    single.eventsMax = 1
    single.gatherMilliseconds = 0
    let urls: [(OutboxTarget, String?, DeliverySchedule.Settings)] = [
      (.webhook, webhookURL, schedule), (.push, pushURL, single), (.rooms, roomEventsURL, single),
    ]
    for (target, url, schedule) in urls {
      guard let address = url.flatMap(HookAddress.init) else { continue }
      hooks.addresses[target] = address
      hooks.schedules[target] = schedule
    }
    // The server itself finds the receivers of push notifications.
    if hooks.addresses[.push] != nil { hooks.schedules[.followers] = single }
    return hooks
  }

  /// The schedule of messages to the mail server.
  var mailSchedule: DeliverySchedule.Settings {
    var schedule = DeliverySchedule.Settings()
    schedule.eventsMax = 1
    schedule.gatherMilliseconds = 0
    schedule.pauseMin = Int64(mail.retryMin.milliseconds)
    schedule.pauseMax = Int64(mail.retryMax.milliseconds)
    schedule.ageMax = Int64(mail.giveUpAge.milliseconds)
    return schedule
  }

  /// The recorder of events for the services; `nil` if neither a service nor mail is configured.
  var recorder: WebhookRecorder? {
    let hooks = hooks
    guard hooks.isNeeded || mailServer != nil else { return nil }
    var recorder = WebhookRecorder(
      clock: SystemClock(),
      events: webhookURL == nil ? [] : Set(webhookEvents.compactMap(WebhookEvent.init)),
      changeMilliseconds: Timestamp(webhookChangeInterval.milliseconds), pushes: pushURL != nil,
      followsRooms: roomEventsURL != nil)
    recorder.values = webhookValues.compactMap { WebhookValueRule($0) }
    return recorder
  }

  /// The rules for the store's outbox; `nil` if no events are recorded.
  var outboxRules: OutboxRules? {
    recorder.map {
      OutboxRules(
        recorder: $0, queuedMax: webhookQueueMax, deadLettersMax: webhookDeadLettersMax,
        mailMax: mail.queueMax, mailMaxOfRecipient: mail.recipientMax)
    }
  }

  /// Reads the secrets with which calls are signed.
  ///
  /// - Throws: `JWTKeyError` if the file contains no usable secret.
  func webhookSecrets(log: (any LogSink)?) throws(JWTKeyError) -> WebhookSecrets {
    try WebhookSecrets(path: webhookSecretFile, log: log)
  }
}
