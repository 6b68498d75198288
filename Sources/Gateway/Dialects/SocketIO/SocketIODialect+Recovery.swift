import ParleyGatewayPorts
import ParleyJSON
import ParleySocketIO
import SocketMessages

/// Resuming a session of a Socket.IO client (connection state recovery).
///
/// A client that requests recovery receives a recovery id with the reply to its CONNECT. Each event
/// ends with a position in the log. When its connection breaks, the session remains in its rooms in
/// the state *away*; events are then only logged. A client that reconnects with the id and the last
/// position receives the later events, and retains its name and rooms.
///
///     CONNECT {"recovery":true}      ─▶
///                                    ◀─ CONNECT {"sid":"S","pid":"P"}
///                                    ◀─ ["realtime:event",{…},"x.7"]
///     (the connection breaks)           x.8, x.9 are logged
///     CONNECT {"pid":"P","offset":"x.7"} ─▶
///                                    ◀─ CONNECT {"sid":"S","pid":"P"}
///                                    ◀─ x.8, x.9
///
/// The id alone is not sufficient if tokens are checked: missed events are sent after the same
/// user has authenticated, with `token` beside the id or by `authenticate`.
extension SocketIODialect {
  /// Handles a CONNECT from a client of protocol generation 4.
  func enterTwake(_ link: SocketIOLink, _ credentials: JSONValue?) {
    let fields = TwakeFields(credentials)
    if link.connection.identity == nil, link.authenticateBy == nil {
      // The client has left before, and connects again over the same transport.
      link.authenticateBy = dependencies.clock.uptime + settings.dialects.authenticateMilliseconds
    }
    var identity: Identity?
    if let token = fields.token {
      do throws(AuthenticationError) {
        identity = try access.identity(for: token)
      } catch {
        log(.notice, "token refused", "\(error)")
        let words = error.words
        perform(
          link.session.refuse("/", message: words, data: TwakeForm.refusalData(words)), for: link)
        return
      }
    } else if access.isDemo {
      // Demo clients need not authenticate.
      identity = .demo
    }
    let recoveryID = fields.recoveryID
    let isAuthenticated = fields.token != nil
    if let recoveryID, let old = recoverable(recoveryID, fields.offset, by: link),
      identity.map({ isOwner($0, of: old) }) ?? true
    {
      perform(
        link.session.accept("/", as: old.connection.client, recoveryID: recoveryID), for: link)
      link.claim = (recoveryID, fields.offset)
    } else {
      makeRecoverable(link, ifAsked: recoveryID != nil || fields.asksForRecovery)
      perform(
        link.session.accept("/", as: link.connection.client, recoveryID: link.recovery?.id),
        for: link)
      guard isAuthenticated else { return }
    }
    guard let identity, !isRefused(identity, link) else { return }
    let current = take(identity, link)
    if isAuthenticated, !current.session.hasEnded {
      send(SocketPacket(event: "authenticated", []), to: current)
    }
  }

  private func makeRecoverable(_ link: SocketIOLink, ifAsked asks: Bool) {
    if let id = link.recovery?.id { byRecovery[id] = nil }
    link.recovery = nil
    let dialects = settings.dialects
    guard dialects.recoveryMilliseconds > 0, asks || dialects.recoversAllClients else { return }
    let recovery = SocketIOLink.Recovery(
      id: dependencies.names.next(), arrived: recoveryLog.head, pinged: recoveryLog.head)
    link.recovery = recovery
    byRecovery[recovery.id] = link
  }

  /// Returns the session that a client can resume; `nil` if missing.
  private func recoverable(
    _ recoveryID: String, _ offset: String?, by link: SocketIOLink
  ) -> SocketIOLink? {
    guard let old = byRecovery[recoveryID], old !== link, old.connection.identity != nil,
      let missed = missed(by: old, since: offset)
    else { return nil }
    // Missed events over the queue limit would end the session again, at each attempt.
    let bytesMax =
      link.session.isOnWebSocket
      ? settings.queuedBytesMax : settings.dialects.socketIO.queuedBytesMax
    return missed.reduce(0) { $0 + $1.byteCount } <= bytesMax / 2 ? old : nil
  }

  private func isOwner(_ identity: Identity, of old: SocketIOLink) -> Bool {
    old.connection.identity?.user.isExactly(identity.user) ?? false
  }

  /// Returns the events that a client has missed; `nil` if some were discarded.
  private func missed(by link: SocketIOLink, since offset: String?) -> [RecoveryLog.Entry]? {
    guard let recovery = link.recovery else { return nil }
    let place = max(recovery.arrived, recoveryLog.place(offset) ?? 0)
    return recoveryLog.entries(after: place)?.filter {
      link.isMeant(by: $0) && rooms.people.isFor(link.connection, by: $0.content.author)
    }
  }

  /// Resumes a session for an authenticated client: the earlier link takes over the client's
  /// transport.
  ///
  /// - Returns: The link that continues.
  func recover(
    _ link: SocketIOLink, _ claim: (recoveryID: String, offset: String?), as identity: Identity
  ) -> SocketIOLink {
    guard let old = recoverable(claim.recoveryID, claim.offset, by: link),
      isOwner(identity, of: old)
    else {
      // The client was already notified that it resumed. Close this connection: the client then
      // reconnects and begins a new session.
      perform(link.session.end(.closed), for: link)
      return link
    }
    // The server has not yet noticed that the old connection is broken.
    if !old.isAway { perform(old.session.end(.closed), for: old) }
    guard old.isAway else {
      // The old session exceeded its user's share and was discarded. The client begins a new one.
      perform(link.session.end(.closed), for: link)
      return link
    }
    let missed = missed(by: old, since: claim.offset) ?? []
    let readable = missed.filter { entry in
      guard case .room(let room) = entry.audience else { return true }
      return old.roomsByToken.contains(room) || identity.may(.read, .room(room))
    }
    away.removeAll { $0 == old.connection.id }
    if old.isAway { awayShares.give(1, for: old.recovery?.holder) }
    old.recovery?.awayUntil = nil
    takeOver(link, by: old)
    old.connection.identity = identity
    old.connection.name = access.name(of: identity, claimed: "Twake")
    cameOnline(old)
    for entry in readable {
      perform(old.session.send(packet(entry, for: old).engineText), for: old)
    }
    // The token of the resuming client may grant less.
    applyRights(to: old)
    for room in Array(old.connection.rooms) { showOnline(forRoom: room, old) }
    return old
  }

  private func packet(_ entry: RecoveryLog.Entry, for link: SocketIOLink) -> SocketPacket {
    let packet =
      switch entry.audience {
      case .room(let room):
        entry.content.packet(in: room, hasPlace: link.numberedRooms.contains(room))
      case .client: entry.content.packet(in: "", hasPlace: false)
      }
    return packet.numbered(recoveryLog.text(of: entry.place))
  }

  /// Records that a ping was answered: all events sent before it have arrived.
  func confirmArrival(_ link: SocketIOLink) {
    guard let pinged = link.recovery?.pinged else { return }
    link.recovery?.arrived = pinged
  }

  // MARK: Away sessions

  /// Whether a client may resume its session after these actions end it.
  func mayResume(_ link: SocketIOLink, after actions: [SocketSession.Action]) -> Bool {
    guard link.recovery != nil, link.connection.identity != nil, !board.isDraining else {
      return false
    }
    for case .end(let ending) in actions {
      switch ending {
      case .closed, .silent, .slow: return true
      case .badPacket, .dismissed, .flooding: return false
      }
    }
    return false
  }

  /// Retains a session that its client may resume. At `sessionsMax` away sessions the oldest is
  /// discarded; over the user's share of them (``FairShares``), the session itself is discarded.
  func goAway(_ link: SocketIOLink) {
    table.leave(link.connection)
    wentOffline(link)
    let holder = link.connection.identity.flatMap { LimitedClient($0, from: nil) }
    if awayShares.refusal(of: 1, for: holder) == .full { forgetOldestAway() }
    guard awayShares.take(1, for: holder) == nil else { return forget(link) }
    link.recovery?.awayUntil =
      dependencies.clock.uptime + settings.dialects.recoveryMilliseconds
    link.recovery?.holder = holder
    away.append(link.connection.id)
  }

  private func forgetOldestAway() {
    while !away.isEmpty {
      let place = away.removeFirst()
      guard let link = byConnection[place], link.isAway else { continue }
      return forget(link)
    }
  }

  /// Discards away sessions and logged events that have expired.
  func tickRecovery(_ now: Int64) {
    while let place = away.first {
      if let link = byConnection[place], let until = link.recovery?.awayUntil {
        guard until <= now else { break }
        forget(link)
      }
      away.removeFirst()
    }
    if byRecovery.isEmpty { recoveryLog.forgetAll() }
    recoveryLog.forget(now: now)
  }
}
