import ParleyGatewayPorts
import ParleySocketIO
import SocketMessages

/// Sessions of Socket.IO, carried by WebSockets and polls, with the events of the Twake family.
///
/// Nothing outside this folder touches its state.
final class SocketIODialect: SessionDialect, SessionMessaging {
  /// The sessions by their secret ids.
  var bySession: ExactDictionary<SocketIOLink> = [:]
  /// The sessions by their connection ids.
  var byPlace: [ConnectionID: SocketIOLink] = [:]
  /// The sessions by WebSocket, including sockets that probe.
  var byCarrier: [ConnectionID: SocketIOLink] = [:]
  /// The sessions by the poll that waits.
  var byPoll: [RequestID: SocketIOLink] = [:]
  /// The sessions that have a recovery id, connected or away, by that id.
  var byRecovery: ExactDictionary<SocketIOLink> = [:]
  /// Sessions that went away, in that order; some have returned.
  var away: [ConnectionID] = []
  /// Sessions that are away, by user.
  var awayShares: FairShares<Stranger>
  /// The sessions of each user who has any.
  var online: ExactDictionary<Set<ConnectionID>> = [:]
  /// Users whose last session has ended: until when they may return, and the rooms to notify if they do
  /// not.
  var leaving: ExactDictionary<(until: Int64, rooms: ExactSet)> = [:]
  /// Events that clients may recover.
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
  var isEmpty: Bool { byPlace.isEmpty }

  // MARK: The session's connection

  func carrier(of connection: Connection) -> ConnectionID? {
    byPlace[connection.id]?.carrier
  }

  func endSession(of connection: Connection, comesBack: Bool) -> Bool {
    guard let link = byPlace[connection.id] else { return false }
    // These clients reconnect when the connection ends, unless they receive a disconnect first.
    if !comesBack { send(SocketPacket(.disconnect), to: link) }
    dismiss(link)
    return true
  }

  func endAtOnce(_ connection: Connection) {
    if let link = byPlace[connection.id] { perform(link.session.end(.closed), for: link) }
  }

  func applyRights(to connection: Connection) -> Bool {
    guard let link = byPlace[connection.id] else { return false }
    applyRights(to: link)
    return true
  }

  // MARK: Identities of subscriptions, of which there is one for all

  func hasExpiredIdentity(_ connection: Connection, at now: Timestamp) -> Bool { false }
  func updateIdentities(of connection: Connection) {}
  func endIdentities(of connection: Connection, by end: Timestamp) {}

  // MARK: Ending sessions

  /// Ends a session from this side, without a chance to resume it.
  private func dismiss(_ link: SocketIOLink) {
    if link.isAway { forget(link) } else { perform(link.session.end(.dismissed), for: link) }
  }

  /// Ends a session whose client has not shown a token in time. A client that polls hears the reason with its next poll,
  /// if that comes soon.
  private func expire(_ link: SocketIOLink, _ now: Int64) {
    guard !link.session.hasEnded else { return }
    guard !link.session.isLeaving else { return perform(link.session.end(.silent), for: link) }
    metrics.sessionsExpired += 1
    link.authenticateBy =
      now + min(Self.leavingMilliseconds, settings.dialects.authenticateMilliseconds)
    refuse("no authenticate in time", link)
  }

  /// Milliseconds for which an expired session waits for the next poll of its client.
  private static let leavingMilliseconds: Int64 = 5_000

  /// Releases the sessions, whose places refer to their dialect.
  func letGo() {
    (bySession, byPlace, byCarrier, byPoll, byRecovery) = ([:], [:], [:], [:], [:])
  }

  /// Time has passed.
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
