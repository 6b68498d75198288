import ParleyGatewayPorts
import ParleySocketIO
import SocketMessages

/// Socket.IO sessions, carried by WebSockets and polls, with the events of the Twake family.
///
/// Only code in this folder accesses its state.
final class SocketIODialect: SessionDialect, SessionMessaging {
  /// The sessions by secret id.
  var bySession: ExactDictionary<SocketIOLink> = [:]
  /// The sessions by the ids of their connection objects.
  var byConnection: [ConnectionID: SocketIOLink] = [:]
  /// The sessions by WebSocket, including WebSockets that probe.
  var byCarrier: [ConnectionID: SocketIOLink] = [:]
  /// The sessions by waiting poll.
  var byPoll: [RequestID: SocketIOLink] = [:]
  /// The sessions by recovery id, connected or away.
  var byRecovery: ExactDictionary<SocketIOLink> = [:]
  /// The sessions that became away, oldest first; some may have resumed.
  var away: [ConnectionID] = []
  /// The number of away sessions per user.
  var awayShares: FairShares<LimitedClient>
  /// The connected sessions of each user.
  var online: [PersonID: Set<ConnectionID>] = [:]
  /// Users whose last session has ended: the end of their grace period, and the rooms to notify
  /// after it.
  var leaving: [PersonID: (until: Int64, rooms: Set<RoomName>)] = [:]
  /// The events that clients may recover.
  var recoveryLog: RecoveryLog

  init(_ board: Switchboard, _ access: Access, _ rooms: Rooms, _ table: SessionTable) {
    recoveryLog = RecoveryLog(
      name: String(decoding: board.dependencies.names.next().utf8.prefix(8), as: UTF8.self),
      bytesMax: board.settings.dialects.recoveryBytesMax,
      milliseconds: board.settings.dialects.recoveryLogMilliseconds)
    awayShares = FairShares(capacity: board.settings.dialects.sessionsMax)
    super.init(board, Traits(listing: .socketIO, isSession: true), access, rooms, table)
  }

  /// The number of sessions, without those that are away.
  var count: Int { bySession.count }

  /// Whether there are no sessions, away or not.
  var isEmpty: Bool { byConnection.isEmpty }

  // MARK: The session's connection

  func carrier(of connection: Connection) -> ConnectionID? {
    byConnection[connection.id]?.carrier
  }

  func endSession(of connection: Connection, mayReconnect: Bool) -> Bool {
    guard let link = byConnection[connection.id] else { return false }
    // Clients reconnect after a closed connection unless they receive a disconnect packet first.
    if !mayReconnect { send(SocketPacket(.disconnect), to: link) }
    dismiss(link)
    return true
  }

  func endAtOnce(_ connection: Connection) {
    if let link = byConnection[connection.id] { perform(link.session.end(.closed), for: link) }
  }

  func applyRights(to connection: Connection) -> Bool {
    guard let link = byConnection[connection.id] else { return false }
    applyRights(to: link)
    return true
  }

  // MARK: Identities of subscriptions; here the session has one for all

  func hasExpiredIdentity(_ connection: Connection, at now: Timestamp) -> Bool { false }
  func updateIdentities(of connection: Connection) {}
  func endIdentities(of connection: Connection, by end: Timestamp) {}

  // MARK: Ending sessions

  /// Ends a session by the server, without a way to resume it.
  private func dismiss(_ link: SocketIOLink) {
    if link.isAway { forget(link) } else { perform(link.session.end(.dismissed), for: link) }
  }

  /// Ends a session whose client has not shown a token within the time limit. A client that polls
  /// gets the reason with its next poll, if that arrives soon.
  private func expire(_ link: SocketIOLink, _ now: Int64) {
    guard !link.session.hasEnded else { return }
    guard !link.session.isLeaving else { return perform(link.session.end(.silent), for: link) }
    metrics.sessionsExpired += 1
    link.authenticateBy =
      now + min(Self.leavingMilliseconds, settings.dialects.authenticateMilliseconds)
    refuse("no authenticate within the time limit", link)
  }

  /// Milliseconds for which an expired session waits for its client's next poll.
  private static let leavingMilliseconds: Int64 = 5_000

  /// Breaks the reference cycles between sessions and their dialect.
  func breakReferenceCycles() {
    (bySession, byConnection, byCarrier, byPoll, byRecovery) = ([:], [:], [:], [:], [:])
  }

  /// Does the periodic work: pings, and the expiry of sessions, logged events and presence.
  func ticked() {
    let now = dependencies.clock.uptime
    for link in Array(bySession.values) {
      let awaited = link.session.awaitsPong
      let actions = link.session.ticked(now: now)
      if !awaited, link.session.awaitsPong { link.recovery?.pinged = recoveryLog.head }
      perform(actions, for: link)
      if let deadline = link.authenticateBy, deadline <= now { expire(link, now) }
    }
    tickRecovery(now)
    tickPresence(now)
  }
}
