package import ParleyGatewayPorts

/// Metrics of calls to external services.
package struct HookMetrics: Sendable {
  /// The state of each queue.
  package var queueStates: [OutboxTarget: OutboxQueueState] = [:]
  /// The number of calls, by outcome.
  package var calls: [String: Int] = [:]
  /// The number of events that left a queue, by outcome.
  package var events: [String: Int] = [:]

  /// The number of events given up because a queue was full.
  package var overflowed: Int { queueStates.values.reduce(0) { $0 + $1.overflowed } }

  mutating func count(_ answer: String) { calls[answer, default: 0] += 1 }

  mutating func count(_ events: [OutboxEvent], as outcome: String) {
    guard !events.isEmpty else { return }
    self.events[outcome, default: 0] += events.count
  }
}

extension OutboxTarget {
  /// The name in metrics and log lines.
  var word: String {
    switch self {
    case .webhook: "webhook"
    case .push: "push"
    case .rooms: "rooms"
    case .followers: "followers"
    case .mail: "mail"
    }
  }
}

extension DeadLetter.Reason {
  /// The name in metrics and listings.
  var word: String {
    switch self {
    case .tooOld: "tooOld"
    case .unwanted: "unwanted"
    case .queueFull: "crowdedOut"
    }
  }
}
