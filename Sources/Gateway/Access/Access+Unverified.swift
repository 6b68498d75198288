import ParleyGatewayPorts

/// Rules for a gateway that cannot read other gateways' revocations.
///
/// The gateway then cannot decide whether a token is still valid. After
/// ``RevocationAge/rejectAfterMilliseconds`` it rejects new clients and requests with tokens as
/// retryable. After ``RevocationAge/closeAfterMilliseconds`` it closes existing connections. Open
/// demos and API keys, which the gateway reads from its own file, continue to work.
///
///     last list complete ──── 10 s ────▶ no new client ──── to 2 min ────▶ all closed
extension Access {
  /// Whether the list of revocations is too old to accept a new client by token.
  var isCutOff: Bool { revocationsAge > RevocationAge.rejectAfterMilliseconds }

  /// Whether the list of revocations is so old that existing connections must close.
  var isAbandoned: Bool { revocationsAge > RevocationAge.closeAfterMilliseconds }

  /// Why changes are rejected, in a sentence; `nil` if they are accepted, or no token is needed.
  var unreadiness: String? {
    !isDemo && isCutOff
      ? "the other gateways' revocations cannot be read: see whether the database can be reached"
      : nil
  }

  /// Whether another gateway may have revoked a connection's token.
  func isUnverified(_ connection: Connection) -> Bool {
    if connection.dialect.traits.hasIdentityPerSubscription { return !isDemo }
    guard connection.dialect.traits.hasTokens, let identity = connection.identity else {
      return false
    }
    return identity != .demo
  }
}
