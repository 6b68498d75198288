import GatewayPorts
import SocketMessages

/// Connections, as operators have them listed, ended and looked at anew.
extension Gateway: HTTPOwner {
  /// Milliseconds from which each client that is to come back draws its delay.
  private static let reconnectAfter = 100...2_000

  func listing(of connection: Connection) -> (dialect: ConnectionJSON.Dialect, ConnectionID?) {
    (connection.dialect.traits.listing, connection.dialect.carrier(of: connection))
  }

  /// Ends a connection, and tells its client whether to come back.
  func dismiss(_ connection: Connection, comesBack: Bool) {
    if connection.dialect.endSession(of: connection, comesBack: comesBack) { return }
    if comesBack {
      sendGoodbye(reason: "disconnected", reconnectAfter: Self.reconnectAfter, to: connection)
      close(connection, .disconnected, "an operator has ended the connection; come back")
    } else {
      close(connection, .dismissed, "an operator has ended the connection")
    }
  }

  /// Has the rights of connections looked at anew.
  ///
  /// Users of the server's own have their rights from there, now. Those of others stand in their
  /// tokens: their clients are asked for newer ones, and end as if the old ones had.
  ///
  /// - Returns: How many are asked, or have been looked at.
  func refreshRights(of meant: [Connection], within seconds: Int) -> Int {
    access.refreshUsers()
    applyUsers()
    let deadline = surroundings.clock.now + Timestamp(seconds) * 1_000
    var count = 0
    for connection in meant where connection.isOpen {
      guard let identity = connection.identity, !identity.isGuest else { continue }
      count += 1
      if identity.isListed { continue }
      let end = min(identity.expiresAt ?? deadline, deadline)
      connection.identity?.expiresAt = end
      connection.dialect.endIdentities(of: connection, by: end)
      if connection.isReady { connection.dialect.warn(connection, ofEnd: end) }
    }
    return count
  }
}
