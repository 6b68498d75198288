import CryptoOpenSSL
import Gateway
import GatewayPorts

/// The services that are called, and how.
struct HookSettings: Sendable {
  /// The URL of each target.
  var addresses: [OutboxTarget: HookAddress] = [:]
  /// The schedule of each target.
  var schedules: [OutboxTarget: DeliverySchedule.Settings] = [:]
  /// The time limit for a call, in milliseconds.
  var timeoutMilliseconds = 10_000

  /// Whether there are any receivers.
  var isNeeded: Bool { !addresses.isEmpty }
}

extension Configuration {
  /// The services that are called, and how.
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
    // Services that are called for one event each wait for no other.
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
    // Who is to be pushed to is found out here.
    if hooks.addresses[.push] != nil { hooks.schedules[.followers] = single }
    return hooks
  }

  /// Makes the news that the services get; `nil` if there is none to be called.
  var scribe: WebhookScribe? {
    let hooks = hooks
    guard hooks.isNeeded else { return nil }
    return WebhookScribe(
      clock: SystemClock(),
      events: webhookURL == nil ? [] : Set(webhookEvents.compactMap(WebhookEvent.init)),
      changeMilliseconds: Timestamp(webhookChangeInterval.milliseconds), pushes: pushURL != nil,
      followsRooms: roomEventsURL != nil)
  }

  /// The rules for the store's outbox; `nil` for no events.
  var outboxRules: OutboxRules? {
    scribe.map {
      OutboxRules(
        scribe: $0, queuedMax: webhookQueueMax, deadLettersMax: webhookDeadLettersMax)
    }
  }

  /// Reads the secrets that sign calls.
  ///
  /// - Throws: `JWTKeyError` for a file that holds no usable secret.
  func webhookSecrets(log: (any LogSink)?) throws(JWTKeyError) -> WebhookSecrets {
    try WebhookSecrets(path: webhookSecretFile, log: log)
  }
}
