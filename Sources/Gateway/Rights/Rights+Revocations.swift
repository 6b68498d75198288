import ParleyGatewayPorts
import SocketMessages

/// Taking tokens back, and with them the rights of connections.
extension Rights {
  /// Takes tokens back, all or none, for good, and ends what connections have by them.
  ///
  /// - Parameter proceed: Called when the revocations are on the disk and applied to all connections, with how
  ///   many were closed; with `nil` if they cannot be stored.
  func takeBack(_ revocations: [Revocation], then proceed: @escaping (Int?) -> Void) {
    guard !revocations.isEmpty else { return proceed(0) }
    access.revoke(revocations) { [self] failure in
      if let failure {
        log(.error, "nothing taken back", "\(failure)")
        return proceed(nil)
      }
      applyRevocations { proceed($0) }
    }
  }

  /// Applies revocations since the last pass, from here or elsewhere, to all connections: to as many as a
  /// turn has time for, and to the others in later turns.
  ///
  /// - Parameter proceed: Called at the end, with how many connections were closed.
  func applyRevocations(then proceed: @escaping RevocationPasses.Waiting) {
    revocationPasses.wait(proceed)
    applyRevocations()
  }

  /// The same, without a waiting caller.
  func applyRevocations() {
    // A caller that has waited may take back more.
    guard !isApplyingRevocations else { return }
    isApplyingRevocations = true
    defer { isApplyingRevocations = false }
    while true {
      while let id = revocationPasses.next() {
        if let connection = connections[id], connection.isOpen { applyRevocations(to: connection) }
      }
      guard !revocationPasses.isUnderWay else { return }
      let (waiting, closed) = revocationPasses.end()
      for proceed in waiting { proceed(closed) }
      let hasNews = access.revocationsGeneration != seenRevocations
      guard hasNews || revocationPasses.isWanted else { return }
      seenRevocations = access.revocationsGeneration
      revocationPasses.begin(hasNews ? board.openingOrder.slots : [])
    }
  }

  /// Continues with the work of another turn.
  ///
  /// - Returns: Whether something is left for the turn behind it.
  func endTurn() -> Bool {
    revocationPasses.beginTurn()
    if revocationPasses.isUnderWay { applyRevocations() }
    return revocationPasses.isUnderWay
  }

  /// Applies revocations to a connection.
  func applyRevocations(to connection: Connection) {
    guard mayHaveLost(connection) else { return }
    if connection.dialect.traits.hasIdentityPerSubscription {
      applyRights(to: connection)
    } else if let identity = connection.identity, access.isRevoked(identity) {
      closeRevoked(connection)
    } else {
      connection.passes.removeAll { access.isRevoked($0) }
      applyRights(to: connection)
    }
    revocationPasses.noteLoss(isClosed: !connection.isOpen)
  }

  /// Whether one of a connection's tokens was taken back, as far as that is known without its dialect.
  private func mayHaveLost(_ connection: Connection) -> Bool {
    connection.dialect.traits.hasIdentityPerSubscription
      || connection.identity.map(access.isRevoked) ?? false
      || connection.passes.contains(where: access.isRevoked)
  }

  /// Closes a connection as if its token were taken back.
  func closeRevoked(_ connection: Connection) {
    sendError(.unauthorised, AuthenticationError.revoked.words, ref: "", to: connection)
    close(connection, .revoked, "revoked")
  }
}
