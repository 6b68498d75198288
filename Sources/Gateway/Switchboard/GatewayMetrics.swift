public import ParleyGatewayPorts
import SocketMessages

/// The gateway's metrics, for its operator.
///
/// Nothing is counted per document, room or person: such labels grow without bound, and would reveal the
/// names of notes to readers of the metrics.
public struct GatewayMetrics: Sendable {
  /// Messages received, by their type; `unknown` and `malformed` are among them.
  public internal(set) var received: [String: Int] = [:]
  /// Frames queued for connections.
  public internal(set) var framesSent = 0
  /// Changes that are on disk.
  public internal(set) var changesAccepted = 0
  /// Changes that were sent again after they had been accepted.
  public internal(set) var changesRepeated = 0
  /// Changes refused, by the code that the client received.
  public internal(set) var changesRefused: [String: Int] = [:]
  /// Followers that were sent the whole text instead of the changes they missed, by the reason.
  public internal(set) var resyncs: [String: Int] = [:]
  /// Connections that the gateway has closed, by their close code.
  public internal(set) var closes: [UInt16: Int] = [:]
  /// Messages, connections and requests over a limit, by the limit's name in `welcome`.
  public internal(set) var limited: [String: Int] = [:]
  /// Sessions of Socket.IO and Bayeux that were refused, by the reason.
  public internal(set) var sessionsRefused: [String: Int] = [:]
  /// Sessions without a token that ended for a newcomer, since all places were taken.
  public internal(set) var sessionsReplaced = 0
  /// Sessions that ended without a token in time.
  public internal(set) var sessionsExpired = 0
  /// Commits of documents that lost a race to another node's.
  public internal(set) var racesLost = 0
  /// Entries that other nodes have appended to documents in memory.
  public internal(set) var entriesAdopted = 0
  /// Changes that were submitted again behind other nodes' entries.
  public internal(set) var changesResubmitted = 0
  /// Changes that were dropped, for their clients have begun another session since.
  public internal(set) var changesFenced = 0
  /// Sessions that have begun in logs that several nodes share.
  public internal(set) var sessionsBegun = 0
  /// Commits whose answers were lost.
  public internal(set) var unknownOutcomes = 0
  /// Messages of other nodes, and people in them, that were dropped: garbled, out of place, or too many.
  public internal(set) var nodeMessagesDropped = 0
  /// Connections ever opened.
  public internal(set) var connectionsOpened = 0
  /// Times at which a reader was found too slow for the changes, and left to catch up later.
  public internal(set) var lags = 0
  /// From the arrival of a change until it is on disk, when it is acknowledged.
  public internal(set) var acknowledgement = Histogram()
  /// From the arrival of a change until frames for all followers that keep up are handed out.
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

  /// All of them.
  public var total: Int { native + whaler + socketIO + bayeux + pusher }

  /// Counts those of another gateway.
  mutating func add(_ other: OpenConnections) {
    native += other.native
    whaler += other.whaler
    socketIO += other.socketIO
    bayeux += other.bayeux
    pusher += other.pusher
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
