import GatewayPorts

/// Rules for a gateway that is cut off from what other gateways have taken back.
///
/// It cannot know whether a token still counts. So from ``RevocationAge/unverifiedMilliseconds`` on nobody
/// new is let in and no request by a token is served, both to be tried again; from
/// ``RevocationAge/abandonedMilliseconds`` on it ends the connections that are there. What needs no token, as
/// in an open demo, goes on, and so do API keys, which stand in a file of the gateway's own.
///
///     last list complete ──── 10 s ────▶ nobody new ──── to 2 min ────▶ everybody out
extension Access {
  /// Whether the list of what was taken back is too old to let anybody in by it.
  var isCutOff: Bool { revocationsAge > RevocationAge.unverifiedMilliseconds }

  /// Whether it has been too old for so long that nobody stays.
  var isAbandoned: Bool { revocationsAge > RevocationAge.abandonedMilliseconds }

  /// Why changes are refused, in a sentence; `nil` if they are not, or nobody needs a token.
  var unreadiness: String? {
    !isDemo && isCutOff
      ? "the other gateways' revocations cannot be read: see whether the database can be reached"
      : nil
  }

  /// Whether a connection is there by a token that another gateway may have taken back.
  func isUnverified(_ connection: Connection) -> Bool {
    if connection.dialect.traits.hasIdentityPerSubscription { return !isDemo }
    guard let identity = connection.identity else { return false }
    return identity != .demo
  }
}
