import ParleyGatewayPorts

/// Sessions of a dialect's clients, and the identities of their subscriptions.
protocol SessionMessaging: AnyObject {
  /// The connection that carries the messages of this one; `nil` while a session has none.
  func carrier(of connection: Connection) -> ConnectionID?

  /// Ends a session from this side.
  ///
  /// - Parameter comesBack: whether its client may begin another.
  /// - Returns: whether the connection is a session's place.
  func endSession(of connection: Connection, comesBack: Bool) -> Bool

  /// Ends a session that has not shown a token, without waiting for its client.
  func endAtOnce(_ connection: Connection)

  /// Applies the present rights of a session to its subscriptions.
  ///
  /// - Returns: whether the connection is a session's place.
  func applyRights(to connection: Connection) -> Bool

  /// Whether the identity of one of its subscriptions has expired.
  func hasExpiredIdentity(_ connection: Connection, at now: Timestamp) -> Bool

  /// Gives the identities of subscriptions the rights that their users have now.
  func updateIdentities(of connection: Connection)

  /// Limits subscriptions whose rights come from a token to a given end.
  func endIdentities(of connection: Connection, by end: Timestamp)
}
