import ParleyGatewayPorts

/// Sessions of a dialect's clients, and the identities of their subscriptions.
protocol SessionMessaging: AnyObject {
  /// Returns the connection that carries a connection's messages; `nil` while it has none.
  func carrier(of connection: Connection) -> ConnectionID?

  /// Ends a session on the gateway's initiative.
  ///
  /// - Parameter mayReconnect: Whether the client may begin another session.
  /// - Returns: Whether the connection represents a session.
  func endSession(of connection: Connection, mayReconnect: Bool) -> Bool

  /// Ends a session without a token immediately, without waiting for its client.
  func endAtOnce(_ connection: Connection)

  /// Applies the current rights of a session to its subscriptions.
  ///
  /// - Returns: Whether the connection represents a session.
  func applyRights(to connection: Connection) -> Bool

  /// Whether the identity of one of the connection's subscriptions has expired.
  func hasExpiredIdentity(_ connection: Connection, at now: Timestamp) -> Bool

  /// Updates the identities of subscriptions with their users' current rights.
  func updateIdentities(of connection: Connection)

  /// Limits the subscriptions whose rights come from a token to an end time.
  func endIdentities(of connection: Connection, by end: Timestamp)
}
