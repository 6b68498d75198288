import Gateway
import ParleyGatewayPorts

/// The values of the counters at one moment.
struct ActivitySample {
  /// The moment, in microseconds of a monotonic clock.
  var time: Int64 = 0
  var messagesReceived = 0
  var framesSent = 0
  var changes = 0
  var connectionsOpened = 0
  var processorSeconds = 0.0
  var commit = Histogram()
  var acknowledgement = Histogram()
  var broadcast = Histogram()
}

extension ActivitySample {
  /// Samples the counters of gateway, store and process.
  init(_ metrics: GatewayMetrics, _ store: StoreMetrics, time: Int64) {
    self.time = time
    messagesReceived = metrics.messagesReceived
    framesSent = metrics.framesSent
    changes = metrics.changesAccepted
    connectionsOpened = metrics.connectionsOpened
    processorSeconds = ProcessMetrics.processorSecondsNow()
    commit = store.batch
    acknowledgement = metrics.acknowledgement
    broadcast = metrics.broadcast
  }
}

/// Samples of the last ten seconds, from which current rates are computed.
struct RecentActivity {
  private static let samplesMax = 10
  private static let spacing: Int64 = 1_000_000

  /// Oldest first, a second or more apart.
  private var samples: [ActivitySample] = []

  /// Adds a sample if the last one is at least a second old. Beyond ten, the oldest is removed.
  mutating func tick(now: Int64, _ sample: () -> ActivitySample) {
    if let last = samples.last, now - last.time < Self.spacing { return }
    if samples.count == Self.samplesMax { samples.removeFirst() }
    samples.append(sample())
  }

  /// The base of current rates: the oldest sample, about ten seconds old; `nil` before the first.
  var earliest: ActivitySample? { samples.first }
}
