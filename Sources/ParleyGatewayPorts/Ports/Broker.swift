/// Best-effort messages (hints) between nodes.
///
/// A message usually reaches each node that follows its topic at most once. Messages may be
/// reordered, delayed or lost, so correctness must not depend on them: a hint only says that
/// reading the store may be worthwhile. A slow broker drops messages and never blocks.
public protocol Broker: AnyObject {
  /// Publishes at most ``bytesMax`` bytes to the other nodes that follow a topic.
  func publish(_ topic: String, _ bytes: [UInt8])

  /// Follows a topic, so that messages of other nodes arrive from now on.
  func follow(_ topic: String)

  /// Stops following a topic.
  func leave(_ topic: String)
}

extension Broker {
  /// Maximum bytes of a hint.
  public static var bytesMax: Int { 4_096 }
}

/// A server's broker. It works on its own threads and delivers events on the server's loop.
public protocol ServerBroker: Broker, Sendable {
  /// Returns the events since the last call, oldest first.
  func takeEvents() -> [BrokerEvent]

  /// The broker's state, with counters since the start.
  var state: BrokerState { get }

  /// Stops the broker's threads and waits for them. Messages that are still unsent are lost.
  func stop()
}

/// An event of a broker.
public enum BrokerEvent: Sendable, Equatable {
  /// Another node has published bytes under a followed topic.
  case heard(topic: String, bytes: [UInt8])
  /// The connection for hints is up or down. While it is down, the store is polled more often.
  case hints(arrive: Bool)
}

/// The state of a broker, and its counters.
public struct BrokerState: Sendable {
  /// Whether the broker is connected, so that hints arrive.
  public var isConnected = false
  /// The number of times that a lost connection was restored.
  public var reconnections = 0
  /// Hints sent.
  public var published = 0
  /// Hints received from other nodes.
  public var heard = 0
  /// Hints dropped because a limit was reached, by reason: `outgoing`, `incoming`, `size`.
  public var dropped: [String: Int] = [:]
  /// Received messages that were not sent by a node of this cluster.
  public var foreign = 0
  /// The time between the sending and the arrival of a message to this node itself.
  public var lag = Histogram()

  /// Creates the state of a broker that has not connected yet.
  public init() {}
}
