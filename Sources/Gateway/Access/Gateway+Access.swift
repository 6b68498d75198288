import GatewayPorts
import SocketMessages

/// Rights while a connection stands: they end, are renewed, added to and taken back.
///
/// A right that is gone is gone for the next message, and for the next push. Whoever can be told is
/// told: `tokenExpiring`, `accessChanged`, `unsubscribed`, or a close code.
extension Gateway {
  /// The time before a token's end at which its bearer is warned.
  private static let warningMilliseconds: Timestamp = 60_000

  // MARK: Time

  /// Ends a connection whose token has ended, and says whether that was so.
  func endIfExpired(_ connection: Connection) -> Bool {
    guard let end = connection.identity?.expiresAt, end <= surroundings.clock.now else {
      return false
    }
    sendError(.unauthorised, AuthenticationError.expired.words, ref: "", to: connection)
    close(connection, .tokenExpired, "the token has expired")
    return true
  }

  /// Holds a connection to the time of its tokens.
  private func watchTime(of connection: Connection) {
    let now = surroundings.clock.now
    if connection.dialect.traits.hasIdentityPerSubscription {
      if connection.dialect.hasExpiredIdentity(connection, at: now) {
        applyRights(to: connection)
      }
      return
    }
    guard connection.isOpen, !endIfExpired(connection) else { return }
    endPasses(of: connection)
    guard connection.isReady, !connection.isWarned,
      let end = connection.identity?.expiresAt, end - Self.warningMilliseconds <= now
    else { return }
    connection.dialect.warn(connection, ofEnd: end)
  }

  /// Whether a connection's rights have changed with time, or soon will.
  private func isTimeUp(_ connection: Connection, at now: Timestamp) -> Bool {
    if connection.dialect.traits.hasIdentityPerSubscription {
      return connection.dialect.hasExpiredIdentity(connection, at: now)
    }
    guard connection.isOpen else { return false }
    if let end = connection.identity?.expiresAt,
      end <= now
        || connection.isReady && !connection.isWarned && end - Self.warningMilliseconds <= now
    {
      return true
    }
    return connection.passes.contains { $0.isExpired(at: now) }
  }

  /// Ends the rights whose time is over, and warns of those that end soon.
  func watchTimes() {
    let now = surroundings.clock.now
    for connection in connectionsInOrder({ isTimeUp($0, at: now) }) { watchTime(of: connection) }
  }

  /// Takes the rights of those further tokens that have ended.
  func endPasses(of connection: Connection) {
    let now = surroundings.clock.now
    guard connection.passes.contains(where: { $0.isExpired(at: now) }) else { return }
    connection.passes.removeAll { $0.isExpired(at: now) }
    applyRights(to: connection)
  }

  // MARK: Messages

  func handle(refresh: ClientMessage.Refresh, ref: String, _ connection: Connection) {
    guard let identity = furtherIdentity(refresh.token, ref: ref, connection) else { return }
    guard identity.isSamePerson(as: connection.identity) else {
      refuseStranger(ref: ref, connection)
      return
    }
    connection.identity = identity
    connection.isWarned = false
    takeName(of: identity, connection)
    native.send(.refreshed(.init(expiresAt: identity.expiresAt)), ref: ref, to: connection)
    applyRights(to: connection)
  }

  func handle(grant: ClientMessage.Refresh, ref: String, _ connection: Connection) {
    guard let identity = furtherIdentity(grant.token, ref: ref, connection) else { return }
    guard identity.isGuest || identity.isSamePerson(as: connection.identity) else {
      refuseStranger(ref: ref, connection)
      return
    }
    // The same token again, or a newer one of the same name, takes its own place.
    connection.passes.removeAll {
      identity.tokenID != nil && $0.tokenID == identity.tokenID && $0.user == identity.user
    }
    let passesMax = settings.limits.grantsMax
    guard connection.passes.count < passesMax else {
      sendError(
        .tooMany, "a connection may have \(passesMax) further tokens; use one for several",
        ref: ref, to: connection)
      return
    }
    connection.passes.append(identity)
    native.send(.granted(.init(expiresAt: identity.expiresAt)), ref: ref, to: connection)
    applyRights(to: connection)
  }

  private func furtherIdentity(
    _ token: String, ref: String, _ connection: Connection
  ) -> Identity? {
    do throws(AuthenticationError) {
      return try access.identity(for: token)
    } catch {
      log(.notice, "token refused", "\(error)")
      sendError(.unauthorised, error.words, ref: ref, to: connection)
      return nil
    }
  }

  private func refuseStranger(ref: String, _ connection: Connection) {
    log(.notice, "token refused", "another user's")
    sendError(
      .unauthorised, "expected a token of this connection's user; it is another's", ref: ref,
      to: connection)
  }

  // MARK: Changed rights

  /// Brings what a connection follows in line with what it may.
  func applyRights(to connection: Connection) {
    if connection.dialect.applyRights(to: connection) { return }
    for subscription in connection.subscriptions.values.map(\.self) {
      documents.applyRights(to: subscription)
      guard connection.isOpen else { return }
    }
    for room in connection.rooms {
      let verbs = connection.verbs(on: .room(room))
      if verbs.contains(.read) {
        if !verbs.contains(.presence) { rooms.hide(connection, in: room) }
        continue
      }
      connection.dialect.lostReading(ofRoom: room, connection, rooms)
      guard connection.isOpen else { return }
    }
  }

  /// Gives those who are logged in the rights that they have now.
  func applyUsers() {
    guard access.hasNewUsers() else { return }
    for connection in connectionsInOrder(\.isOpen) {
      if connection.dialect.traits.hasIdentityPerSubscription {
        connection.dialect.updateIdentities(of: connection)
        continue
      }
      connection.passes = connection.passes.compactMap { access.updated($0) }
      guard let identity = connection.identity else { continue }
      guard let updated = access.updated(identity) else {
        closeRevoked(connection)
        continue
      }
      connection.identity = updated
      applyRights(to: connection)
      takeName(of: updated, connection)
    }
  }

  /// Shows a name that is another now.
  private func takeName(of identity: Identity, _ connection: Connection) {
    let name = access.name(of: identity, claimed: connection.name)
    guard !name.utf8.elementsEqual(connection.name.utf8) else { return }
    connection.name = name
    shareProfile(of: connection)
  }

  // MARK: Taking back

  /// Holds all connections to what was taken back since, here or elsewhere.
  ///
  /// - Returns: How many connections were closed.
  @discardableResult
  func applyRevocations() -> Int {
    guard access.hasNewRevocations() else { return 0 }
    var closed = 0
    for connection in connectionsInOrder(\.isOpen) {
      if connection.dialect.traits.hasIdentityPerSubscription {
        applyRights(to: connection)
        if !connection.isOpen { closed += 1 }
      } else if let identity = connection.identity, access.isRevoked(identity) {
        closeRevoked(connection)
        closed += 1
      } else if connection.passes.contains(where: { access.isRevoked($0) }) {
        connection.passes.removeAll { access.isRevoked($0) }
        applyRights(to: connection)
      }
    }
    return closed
  }

  func closeRevoked(_ connection: Connection) {
    sendError(.unauthorised, AuthenticationError.revoked.words, ref: "", to: connection)
    close(connection, .revoked, "taken back")
  }
}

extension Identity {
  func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }

  func isSamePerson(as other: Identity?) -> Bool {
    guard let other else { return false }
    return isGuest == other.isGuest && user.utf8.elementsEqual(other.user.utf8)
  }
}
