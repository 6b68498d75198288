/// Hints between nodes: fast, and without promises.
///
/// What is published under a topic comes to those nodes that follow it at most once as a rule, in any order, late, or
/// never. So nothing may depend on it: a hint says that a look at the store may be worth while. A broker that is slow
/// drops what it cannot take; it never blocks.
public protocol Broker: AnyObject {
  /// Publishes bytes, at most ``bytesMax``, to the other nodes that follow a topic.
  func publish(_ topic: String, _ bytes: [UInt8])

  /// Has what other nodes publish under a topic come to the delegate.
  func follow(_ topic: String)

  /// Has it come no longer.
  func leave(_ topic: String)
}

extension Broker {
  /// The bytes that a hint may have.
  public static var bytesMax: Int { 4_096 }
}

/// The owner of a broker, who is called on its own loop.
public protocol BrokerDelegate: AnyObject {
  /// Another node has published bytes under a topic that is followed.
  func heard(_ topic: String, _ bytes: [UInt8])

  /// Hints arrive from now on, or do not: then the store is looked at more often.
  func hintsChanged(arrive: Bool)
}
