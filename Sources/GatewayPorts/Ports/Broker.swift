/// Hints between nodes: fast, and without promises.
///
/// What is published under a topic comes to those nodes that follow it at most once as a rule, in any order, late, or
/// never. So nothing may depend on it: a hint says that a look at the store may be worth while. A broker that is slow
/// drops what it cannot take; it never blocks.
public protocol Broker: AnyObject {
  /// Publishes bytes, at most ``bytesMax``, to the other nodes that follow a topic.
  func publish(_ topic: String, _ bytes: [UInt8])

  /// Has what other nodes publish under a topic arrive.
  func follow(_ topic: String)

  /// Stops following a topic.
  func leave(_ topic: String)
}

extension Broker {
  /// The bytes that a hint may have.
  public static var bytesMax: Int { 4_096 }
}

/// A server's broker, which works on threads of its own and has news taken on the server's loop.
public protocol ServerBroker: Broker, Sendable {
  /// Takes the news since the last call, oldest first.
  func takeNews() -> [BrokerNews]

  /// The counters since the start.
  var state: BrokerState { get }

  /// Ends its threads; returns when they have ended. What has not been sent by then never is.
  func stop()
}

/// An event at a broker.
public enum BrokerNews: Sendable, Equatable {
  /// Another node has published bytes under a topic that is followed.
  case heard(topic: String, bytes: [UInt8])
  /// Hints arrive from now on, or do not: then the store is looked at more often.
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
  /// Hints of other nodes that were taken in.
  public var heard = 0
  /// Hints that there was no room for, by where: `outgoing`, `incoming`, `size`.
  public var dropped: [String: Int] = [:]
  /// Messages that no node of this cluster has made.
  public var foreign = 0
  /// From sending a message to oneself until it is there.
  public var lag = Histogram()

  /// Makes the state of a broker that has not connected yet.
  public init() {}
}
