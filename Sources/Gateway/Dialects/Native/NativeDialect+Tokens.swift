import GatewayPorts
import SocketMessages

/// Tokens that `parley.v1` clients bring after their hello: newer ones, and further ones.
extension NativeDialect {
  func handle(refresh: ClientMessage.Refresh, ref: String, _ connection: Connection) {
    guard let identity = furtherIdentity(refresh.token, ref: ref, connection) else { return }
    guard identity.isSamePerson(as: connection.identity) else {
      refuseStranger(ref: ref, connection)
      return
    }
    owner?.renew(connection, with: identity)
    send(.refreshed(.init(expiresAt: identity.expiresAt)), ref: ref, to: connection)
    owner?.applyRights(to: connection)
  }

  func handle(grant: ClientMessage.Refresh, ref: String, _ connection: Connection) {
    guard let identity = furtherIdentity(grant.token, ref: ref, connection) else { return }
    guard identity.isGuest || identity.isSamePerson(as: connection.identity) else {
      refuseStranger(ref: ref, connection)
      return
    }
    // The same token again, or a newer one of the same name, takes its own place.
    connection.passes.removeAll {
      identity.tokenID != nil && $0.tokenID == identity.tokenID
        && ExactName($0.user) == ExactName(identity.user)
    }
    let passesMax = settings.limits.grantsMax
    guard connection.passes.count < passesMax else {
      sendError(
        .tooMany, "a connection may have \(passesMax) further tokens; use one for several",
        ref: ref, to: connection)
      return
    }
    connection.passes.append(identity)
    send(.granted(.init(expiresAt: identity.expiresAt)), ref: ref, to: connection)
    owner?.applyRights(to: connection)
  }

  private func furtherIdentity(
    _ token: String, ref: String, _ connection: Connection
  ) -> Identity? {
    do throws(AuthenticationError) {
      return try access.identity(for: token)
    } catch {
      log(.notice, "token refused", "\(error)")
      sendError(error.code, error.words, ref: ref, to: connection)
      return nil
    }
  }

  private func refuseStranger(ref: String, _ connection: Connection) {
    log(.notice, "token refused", "another user's")
    sendError(
      .unauthorised, "expected a token of this connection's user; it is another's", ref: ref,
      to: connection)
  }
}
