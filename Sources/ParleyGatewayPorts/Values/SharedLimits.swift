/// A party whose connections and requests have a common limit.
public enum LimitedParty: Sendable {
  /// A user, by id.
  case user(String)
  /// A client, by address.
  case address(IPAddress)
}

/// Limits of users and addresses that the gateways of one process share. Thread-safe.
///
/// Called once for each connection and request. Each gateway counts the messages of its connections
/// itself.
public protocol SharedLimits: AnyObject, Sendable {
  /// Adds opened connections, or subtracts closed ones if the number is negative.
  func count(_ connections: Int, of party: LimitedParty)

  /// Returns the milliseconds to wait before a further connection; 0 counts it as an attempt. `nil`
  /// if the maximum of connections is reached.
  func waitToConnect(of party: LimitedParty) -> Int64?

  /// Returns the milliseconds to wait before a further request; 0 counts it.
  func waitToAsk(of party: LimitedParty) -> Int64
}
