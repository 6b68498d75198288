public import ParleyGatewayPorts
import SocketMessages

/// The gateway's metrics, for its operator.
///
/// No metric has a label per document, room or person: the number of labels would grow without
/// bound, and they would reveal the names of notes to readers of the metrics.
public struct GatewayMetrics: Sendable {
  /// Received messages by type, including `unknown` and `malformed`.
  public internal(set) var received: [String: Int] = [:]
  /// Frames queued for connections.
  public internal(set) var framesSent = 0
  /// Changes that have become durable.
  public internal(set) var changesAccepted = 0
  /// Changes that were resent after they had been accepted.
  public internal(set) var changesRepeated = 0
  /// Changes refused, by the code that the client received.
  public internal(set) var changesRefused: [String: Int] = [:]
  /// Followers that were sent the whole text instead of missed changes, by reason.
  public internal(set) var resyncs: [String: Int] = [:]
  /// Connections closed by the gateway, by close code.
  public internal(set) var closes: [UInt16: Int] = [:]
  /// Messages, connections and requests that exceeded a limit, by its name in `welcome`.
  public internal(set) var limited: [String: Int] = [:]
  /// Refused sessions of Socket.IO and Bayeux, by reason.
  public internal(set) var sessionsRefused: [String: Int] = [:]
  /// Sessions without a token that ended for a new session, since the maximum was reached.
  public internal(set) var sessionsReplaced = 0
  /// Sessions that ended because they presented no token before the deadline.
  public internal(set) var sessionsExpired = 0
  /// Commits of documents that lost a race to another node's commit.
  public internal(set) var racesLost = 0
  /// Entries that other nodes have appended to documents in memory.
  public internal(set) var entriesAdopted = 0
  /// Changes that were resubmitted after other nodes' entries.
  public internal(set) var changesResubmitted = 0
  /// Changes that were dropped because their clients had begun newer sessions.
  public internal(set) var changesFenced = 0
  /// Sessions that have begun in shared logs.
  public internal(set) var sessionsBegun = 0
  /// Commits of unknown outcome, since the store's reply was lost.
  public internal(set) var unknownOutcomes = 0
  /// Dropped messages of other nodes, and people in them: malformed, unexpected or too many.
  public internal(set) var nodeMessagesDropped = 0
  /// Connections opened since the start.
  public internal(set) var connectionsOpened = 0
  /// Deliveries that skipped a slow follower, which catches up later.
  public internal(set) var lags = 0
  /// Signals that were queued, one for each reader.
  public internal(set) var signalsSent = 0
  /// Signals that a newer one of the same client and name has replaced before they were sent.
  public internal(set) var signalsReplaced = 0
  /// Signals that were dropped, one for each slow reader.
  public internal(set) var signalsDropped = 0
  /// The latency of changes, from their arrival until they are durable and acknowledged.
  public internal(set) var acknowledgement = Histogram()
  /// The latency of changes, from arrival until followers that keep up have their frames.
  public internal(set) var broadcast = Histogram()
}

/// The numbers of connections by dialect.
public struct OpenConnections: Sendable, Hashable {
  /// Connections that speak `parley.v1`.
  public internal(set) var native = 0
  /// Connections of the Whaler family.
  public internal(set) var whaler = 0
  /// Sessions of Socket.IO, polling ones included.
  public internal(set) var socketIO = 0
  /// Sessions of Bayeux, polling ones included.
  public internal(set) var bayeux = 0
  /// Connections of Pusher's protocol.
  public internal(set) var pusher = 0
  /// ShareDB connections.
  public internal(set) var shareDB = 0
  /// Rustpad connections.
  public internal(set) var rustpad = 0

  /// The number of all connections.
  public var total: Int { native + whaler + socketIO + bayeux + pusher + shareDB + rustpad }

  /// Adds the connections of another gateway.
  mutating func add(_ other: OpenConnections) {
    native += other.native
    whaler += other.whaler
    socketIO += other.socketIO
    bayeux += other.bayeux
    pusher += other.pusher
    shareDB += other.shareDB
    rustpad += other.rustpad
  }
}

extension GatewayMetrics {
  /// Adds the counts of another gateway.
  public mutating func add(_ other: GatewayMetrics) {
    received.merge(other.received, uniquingKeysWith: +)
    framesSent += other.framesSent
    changesAccepted += other.changesAccepted
    changesRepeated += other.changesRepeated
    changesRefused.merge(other.changesRefused, uniquingKeysWith: +)
    resyncs.merge(other.resyncs, uniquingKeysWith: +)
    closes.merge(other.closes, uniquingKeysWith: +)
    limited.merge(other.limited, uniquingKeysWith: +)
    sessionsRefused.merge(other.sessionsRefused, uniquingKeysWith: +)
    sessionsReplaced += other.sessionsReplaced
    sessionsExpired += other.sessionsExpired
    racesLost += other.racesLost
    entriesAdopted += other.entriesAdopted
    changesResubmitted += other.changesResubmitted
    changesFenced += other.changesFenced
    sessionsBegun += other.sessionsBegun
    unknownOutcomes += other.unknownOutcomes
    nodeMessagesDropped += other.nodeMessagesDropped
    connectionsOpened += other.connectionsOpened
    lags += other.lags
    signalsSent += other.signalsSent
    signalsReplaced += other.signalsReplaced
    signalsDropped += other.signalsDropped
    acknowledgement.add(other.acknowledgement)
    broadcast.add(other.broadcast)
  }

  /// Messages received, of all types.
  public var messagesReceived: Int { received.values.reduce(0, +) }
}

extension ClientMessage {
  /// The type in the metrics. An unknown type does not become a label.
  var metricName: String { kind?.rawValue ?? "unknown" }
}

extension WhalerClientMessage {
  /// The type in the metrics.
  var metricName: String {
    switch self {
    case .resourceConnection: "resourceConnection"
    case .docChange: "docChange"
    case .unknown: "unknown"
    }
  }
}
