import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Enforces the rights and rate limits of open connections, while tokens expire, are renewed, added
/// and revoked.
///
/// A lost right affects the next message and the next push. The client is notified by
/// `tokenExpiring`, `accessChanged`, `unsubscribed`, or a close code. ``Access`` identifies
/// clients; the parts for documents and rooms apply the changes there.
final class Rights: Part {
  let board: Switchboard
  let access: Access
  let documents: Documents
  let rooms: Rooms

  /// The generation of revocations that all connections reflect after the current pass.
  var seenRevocations: Int = 0
  /// Passes over the connections that apply revocations.
  var revocationPasses: RevocationPasses = RevocationPasses()
  /// Whether revocations are being applied at this moment.
  var isApplyingRevocations: Bool = false
  /// The generation of users that all connections reflect.
  var seenUsers: Int = 0

  /// Milliseconds before a token's expiry at which its client is warned.
  private static let warningMilliseconds: Timestamp = 60_000

  init(_ board: Switchboard, _ access: Access, _ documents: Documents, _ rooms: Rooms) {
    self.board = board
    self.access = access
    self.documents = documents
    self.rooms = rooms
  }

  /// Ends expired and revoked rights, and warns clients whose tokens expire soon.
  func ticked() {
    access.refreshRevocations()
    applyRevocations()
    if access.isAbandoned { endUnverified() }
    access.refreshUsers()
    applyUsers()
    let now = dependencies.clock.now
    for connection in connectionsInOrder({ isTimeUp($0, at: now) }) {
      enforceExpiry(of: connection)
    }
  }

  // MARK: Messages

  /// Ends a connection's rights with expired or revoked tokens, before its next message is read.
  ///
  /// - Returns: Whether the connection remains open.
  func hold(_ connection: Connection) -> Bool {
    if endIfExpired(connection) { return false }
    if revocationPasses.isUnderWay {
      applyRevocations(to: connection)
      guard connection.isOpen else { return false }
    }
    endPasses(of: connection)
    return true
  }

  /// Closes a connection that keeps exceeding a rate limit.
  ///
  /// A message that exceeds a rate is answered with a retry delay and not performed, so nothing is
  /// lost. Rejected messages have a rate limit of the same size. A client that exceeds this one,
  /// too, is closed with a code that says to reconnect later.
  ///
  /// - Returns: Whether the connection was closed.
  func closeIfFlooding(_ connection: Connection, _ excess: Excess, now: Int64) -> Bool {
    if connection.meter.mayReject(allowances, now: now) { return false }
    let pause = max(excess.retryAfter ?? 0, settings.retryAfterMilliseconds)
    sendError(
      .tooFast, excess.words(settings.limits), ref: "", retryAfter: pause, to: connection)
    connection.dialect.sendGoodbye(
      reason: "tooFast", reconnectAfter: pause...(2 * pause), to: connection)
    close(connection, .tooFast, "rate limit exceeded; wait, reconnect and resume")
    return true
  }

  // MARK: Time

  /// Closes a connection whose token has expired, and returns whether it did.
  private func endIfExpired(_ connection: Connection) -> Bool {
    guard let identity = connection.identity, identity.isExpired(at: dependencies.clock.now)
    else { return false }
    sendError(.unauthorised, AuthenticationError.expired.words, ref: "", to: connection)
    close(connection, .tokenExpired, "the token has expired")
    return true
  }

  /// Ends a connection's expired rights, or warns its client before they expire.
  private func enforceExpiry(of connection: Connection) {
    let now = dependencies.clock.now
    if connection.dialect.traits.hasIdentityPerSubscription {
      if connection.dialect.hasExpiredIdentity(connection, at: now) {
        applyRights(to: connection)
      }
      return
    }
    guard connection.isOpen, hold(connection), connection.isReady, !connection.isWarned,
      let end = connection.identity?.expiresAt, end - Self.warningMilliseconds <= now
    else { return }
    connection.dialect.warn(connection, ofEnd: end)
  }

  /// Whether a connection's rights have expired, or a warning is due.
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

  /// Removes a connection's additional tokens that have expired, with their rights.
  private func endPasses(of connection: Connection) {
    let now = dependencies.clock.now
    guard connection.passes.contains(where: { $0.isExpired(at: now) }) else { return }
    connection.passes.removeAll { $0.isExpired(at: now) }
    applyRights(to: connection)
  }

  // MARK: Changed rights

  /// Applies a connection's rights to all its subscriptions.
  func applyRights(to connection: Connection) {
    if connection.dialect.applyRights(to: connection) { return }
    for subscription in connection.subscriptions.values.map(\.self) {
      documents.followers.applyRights(to: subscription)
      guard connection.isOpen else { return }
    }
    for room in connection.rooms {
      let verbs = connection.verbs(on: .room(room))
      if verbs.contains(.read) {
        if !verbs.contains(.presence) { rooms.presence.hide(connection, in: room) }
        continue
      }
      connection.dialect.lostReading(ofRoom: room, connection)
      guard connection.isOpen else { return }
    }
  }

  /// Applies the current rights of the server's own users to their connections.
  private func applyUsers() {
    guard access.usersGeneration != seenUsers else { return }
    seenUsers = access.usersGeneration
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

  /// Refreshes the rights of connections.
  ///
  /// Rights of the server's own users are read from the list of users at once. Other users' rights
  /// are in their tokens: their clients are asked for newer tokens, and the old tokens count as
  /// expired at the deadline.
  ///
  /// - Returns: The number of connections that were refreshed or asked.
  func refresh(_ meant: [Connection], within seconds: Int) -> Int {
    access.refreshUsers()
    applyUsers()
    let deadline = dependencies.clock.now + Timestamp(seconds) * 1_000
    var count = 0
    for connection in meant where connection.isOpen {
      guard let identity = connection.identity, !identity.isGuest else { continue }
      count += 1
      if identity.hasSourceRights { continue }
      let end = min(identity.expiresAt ?? deadline, deadline)
      connection.identity?.expiresAt = end
      connection.dialect.endIdentities(of: connection, by: end)
      if connection.isReady { connection.dialect.warn(connection, ofEnd: end) }
    }
    return count
  }

  /// Updates a connection's name and shows it to others, if it has changed.
  private func takeName(of identity: Identity, _ connection: Connection) {
    let name = access.name(of: identity, claimed: connection.name)
    guard !name.isExactly(connection.name) else { return }
    connection.name = name
    shareProfile(of: connection)
  }

  // MARK: Without revocations

  /// Closes connections whose token may have been revoked at another gateway. Clients reconnect to
  /// a gateway that can verify it.
  private func endUnverified() {
    let pause = settings.retryAfterMilliseconds
    for connection in connectionsInOrder({ $0.isOpen && self.access.isUnverified($0) }) {
      connection.dialect.sendGoodbye(
        reason: "draining", reconnectAfter: pause...(2 * pause), to: connection)
      close(connection, .draining, "cut off from the other gateways; reconnect")
    }
  }
}

extension Rights: NativeDialectOwner {
  func renew(_ connection: Connection, with identity: Identity) {
    connection.identity = identity
    connection.isWarned = false
    takeName(of: identity, connection)
  }

  func shareProfile(of connection: Connection) {
    rooms.presence.shareRoomProfile(of: connection)
    for subscription in connection.subscriptions.values
    where subscription.verbs.contains(.presence) { documents.people.showProfile(of: subscription) }
  }
}
