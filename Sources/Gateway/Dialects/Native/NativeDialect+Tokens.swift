import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Tokens that `parley.v1` clients send after their hello: renewed and additional ones.
extension NativeDialect {
  func handle(
    refresh: ClientMessage.Refresh, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let identity = try furtherIdentity(refresh.token, connection)
    owner?.renew(connection, with: identity)
    send(.refreshed(.init(expiresAt: identity.expiresAt)), ref: ref, to: connection)
    owner?.applyRights(to: connection)
  }

  func handle(
    grant: ClientMessage.Refresh, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let identity = try furtherIdentity(grant.token, connection, mayBeGuest: true)
    // A token with the same id and user replaces the earlier one.
    connection.passes.removeAll {
      identity.tokenID != nil && $0.tokenID == identity.tokenID
        && $0.user.isExactly(identity.user)
    }
    let passesMax = settings.limits.grantsMax
    guard connection.passes.count < passesMax else {
      throw MessageRefusal(
        .tooMany, "a connection may have \(passesMax) further tokens; use one for several")
    }
    connection.passes.append(identity)
    send(.granted(.init(expiresAt: identity.expiresAt)), ref: ref, to: connection)
    owner?.applyRights(to: connection)
  }

  /// Returns a token's identity: this connection's user, or a guest if `mayBeGuest`.
  private func furtherIdentity(
    _ token: String, _ connection: Connection, mayBeGuest: Bool = false
  ) throws(MessageRefusal) -> Identity {
    let identity: Identity
    do throws(AuthenticationError) {
      identity = try access.identity(for: token)
    } catch {
      log(.notice, "token refused", "\(error)")
      throw MessageRefusal(error.code, error.words)
    }
    guard mayBeGuest && identity.isGuest || identity.isSamePerson(as: connection.identity) else {
      log(.notice, "token refused", "another user's")
      throw MessageRefusal(
        .unauthorised, "expected a token of this connection's user; it is another's")
    }
    return identity
  }
}
