import ParleyGatewayPorts

/// An endpoint that returns each message to its sender, for tests of WebSockets and for load tests.
///
/// Off unless `echo-path` is set: it requires no token, and any client whose `Origin` is allowed
/// can make the server send arbitrary bytes.
struct EchoEndpoint {
  private let path: String
  private var connections: Set<ConnectionID> = []

  init(path: String) { self.path = path }

  /// Whether an upgrade is for the endpoint's path.
  func answers(_ head: RequestHead) -> Bool { head.path == path }

  mutating func opened(_ connection: ConnectionID) { connections.insert(connection) }

  mutating func closed(_ connection: ConnectionID) -> Bool {
    connections.remove(connection) != nil
  }

  func has(_ connection: ConnectionID) -> Bool { connections.contains(connection) }
}
