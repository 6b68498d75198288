import ParleyGatewayPorts
import SocketMessages

/// Revoking tokens, and the rights that connections have by them.
extension Rights {
  /// Revokes tokens permanently, all or none, and ends the rights that connections have by them.
  ///
  /// - Parameter proceed: Called after the revocations are on disk and applied to all connections,
  ///   with the number of closed ones; with `nil` if they cannot be stored.
  func revoke(_ revocations: [Revocation], then proceed: @escaping (Int?) -> Void) {
    guard !revocations.isEmpty else { return proceed(0) }
    access.revoke(revocations) { [self] failure in
      if let failure {
        log(.error, "revocation failed", "\(failure)")
        return proceed(nil)
      }
      applyRevocations { proceed($0) }
    }
  }

  /// Applies new revocations, of this gateway or another, to all connections: as many as one turn
  /// permits, and the rest in later turns.
  ///
  /// - Parameter proceed: Called at the end, with the number of closed connections.
  func applyRevocations(then proceed: @escaping RevocationPasses.Waiting) {
    revocationPasses.wait(proceed)
    applyRevocations()
  }

  /// Applies new revocations, without a waiting caller.
  func applyRevocations() {
    // A waiting caller may revoke more tokens, which calls this function again.
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
      let hasNewRevocations = access.revocationsGeneration != seenRevocations
      guard hasNewRevocations || revocationPasses.isWanted else { return }
      seenRevocations = access.revocationsGeneration
      revocationPasses.begin(hasNewRevocations ? board.openingOrder.slots : [])
    }
  }

  /// Continues a pass with the work of a new turn.
  ///
  /// - Returns: Whether work remains for the next turn.
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

  /// Whether a token of the connection may be revoked; `true` if only the dialect can tell.
  private func mayHaveLost(_ connection: Connection) -> Bool {
    connection.dialect.traits.hasIdentityPerSubscription
      || connection.identity.map(access.isRevoked) ?? false
      || connection.passes.contains(where: access.isRevoked)
  }

  /// Closes a connection as if its token were revoked.
  func closeRevoked(_ connection: Connection) {
    sendError(.unauthorised, AuthenticationError.revoked.words, ref: "", to: connection)
    close(connection, .revoked, "revoked")
  }
}
