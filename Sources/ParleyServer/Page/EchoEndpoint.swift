import GatewayPorts

/// Answers each message with itself, for tests of WebSocket itself and for load programs.
///
/// Off unless `echo-path` names its path: it requires no token, and any client that the check of
/// `Origin` admits can make the server send it any bytes.
struct EchoEndpoint {
  private let path: String
  private var connections: Set<ConnectionID> = []

  init(path: String) { self.path = path }

  /// Whether an upgrade asks for it.
  func answers(_ head: RequestHead) -> Bool { head.path == path }

  mutating func opened(_ connection: ConnectionID) { connections.insert(connection) }

  mutating func closed(_ connection: ConnectionID) -> Bool {
    connections.remove(connection) != nil
  }

  func has(_ connection: ConnectionID) -> Bool { connections.contains(connection) }
}
