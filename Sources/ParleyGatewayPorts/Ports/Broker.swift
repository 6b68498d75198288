/// Hints between nodes: fast, and without promises.
///
/// A message under a topic reaches the nodes that follow it at most once as a rule, in any order, late, or
/// never. So nothing may depend on it: a hint only says that a read of the store may find something. A slow
/// broker drops messages; it never blocks.
public protocol Broker: AnyObject {
  /// Publishes bytes, at most ``bytesMax``, to the other nodes that follow a topic.
  func publish(_ topic: String, _ bytes: [UInt8])

  /// Follows a topic: messages of other nodes arrive from now on.
  func follow(_ topic: String)

  /// Stops following a topic.
  func leave(_ topic: String)
}

extension Broker {
  /// The bytes that a hint may have.
  public static var bytesMax: Int { 4_096 }
}

/// A server's broker, which works on threads of its own and delivers news on the server's loop.
public protocol ServerBroker: Broker, Sendable {
  /// Returns the news since the last call, oldest first.
  func takeNews() -> [BrokerNews]

  /// The counters since the start.
  var state: BrokerState { get }

  /// Ends its threads; returns when they have ended. Messages that are not sent by then are lost.
  func stop()
}

/// An event at a broker.
public enum BrokerNews: Sendable, Equatable {
  /// Another node has published bytes under a topic that is followed.
  case heard(topic: String, bytes: [UInt8])
  /// Hints arrive from now on, or do not: then the store is read more often.
  case hints(arrive: Bool)
}

/// The condition of a broker, and its counters.
public struct BrokerState: Sendable {
  /// Whether hints arrive.
  public var isConnected = false
  /// The number of times that a lost connection was restored.
  public var reconnections = 0
  /// Hints that were sent.
  public var published = 0
  /// Hints of other nodes that were received.
  public var heard = 0
  /// Hints that were dropped for lack of room, by place: `outgoing`, `incoming`, `size`.
  public var dropped: [String: Int] = [:]
  /// Messages that no node of this cluster has made.
  public var foreign = 0
  /// The time from sending a message to oneself until it arrives.
  public var lag = Histogram()

  /// Makes the state of a broker that has not connected yet.
  public init() {}
}
