/// A party whose connections and requests are limited together.
public enum LimitedParty: Sendable {
  /// A user, by name.
  case user(String)
  /// A client's address.
  case address(IPAddress)
}

/// Limits of users and addresses that several gateways in one process share. From any thread.
///
/// It is asked once for each connection and request; each gateway counts the messages of its connections
/// itself.
public protocol SharedLimits: AnyObject, Sendable {
  /// Counts connections that have come, or gone.
  func count(_ connections: Int, of party: LimitedParty)

  /// Milliseconds to wait before one more connection; 0 counts it as an attempt. `nil` if there are too
  /// many.
  func waitToConnect(of party: LimitedParty) -> Int64?

  /// Milliseconds to wait before one more request; 0 counts it.
  func waitToAsk(of party: LimitedParty) -> Int64
}
