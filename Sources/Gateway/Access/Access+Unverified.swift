import ParleyGatewayPorts

/// Rules for a gateway that cannot read other gateways' revocations.
///
/// It cannot know whether a token still counts. So from ``RevocationAge/unverifiedMilliseconds`` on it lets
/// in no new client and serves no request by a token; both may be retried. From
/// ``RevocationAge/abandonedMilliseconds`` on it ends existing connections. What needs no token, as in an
/// open demo, continues, and so do API keys, which the gateway keeps in a file of its own.
///
///     last list complete ──── 10 s ────▶ no new client ──── to 2 min ────▶ all closed
extension Access {
  /// Whether the list of revocations is too old to let a client in by it.
  var isCutOff: Bool { revocationsAge > RevocationAge.unverifiedMilliseconds }

  /// Whether it has been too old for so long that no client stays.
  var isAbandoned: Bool { revocationsAge > RevocationAge.abandonedMilliseconds }

  /// Why changes are refused, in a sentence; `nil` if they are not, or if no token is needed.
  var unreadiness: String? {
    !isDemo && isCutOff
      ? "the other gateways' revocations cannot be read: see whether the database can be reached"
      : nil
  }

  /// Whether a connection's token may have been taken back at another gateway.
  func isUnverified(_ connection: Connection) -> Bool {
    if connection.dialect.traits.hasIdentityPerSubscription { return !isDemo }
    guard connection.dialect.traits.hasTokens, let identity = connection.identity else {
      return false
    }
    return identity != .demo
  }
}
