import ParleyGatewayPorts
import ParleyJSON
import ParleySocketIO
import SocketMessages
import ParleyWebSocketFrames

/// Performing the actions of sessions, and sending events.
extension SocketIODialect {
  /// Performs the actions of a session.
  ///
  /// - Parameter excess: the exceeded rate limit, which rejects events; `nil` if none.
  func perform(
    _ actions: [SocketSession.Action], for link: SocketIOLink, excess: Excess? = nil
  ) {
    for action in actions {
      // An earlier action may have resumed another link for the client.
      let link = link.current
      switch action {
      case .send(let bytes):
        guard let carrier = link.carrier else { break }
        act(.send(Frame(.text, payload: bytes), to: carrier))
      case .sendToProbe(let bytes):
        guard let probe = link.probe else { break }
        act(.send(Frame(.text, payload: bytes), to: probe))
      case .adoptProbe:
        link.carrier = link.probe
        link.probe = nil
      case .answerPoll(let body):
        guard let poll = link.poll else { break }
        stopWaiting(link)
        respond(poll.request, Self.polled(body).allowing(poll.head))
      case .entered(_, let credentials):
        // In the older generation, clients enter the default namespace without a request.
        if link.session.generation == .four { enterTwake(link, credentials) }
      case .left(let namespace):
        guard namespace.isExactly("/") else { break }
        if !mayResume(link, after: actions) { leaveTwake(link) }
      case .event(let namespace, let name, let arguments, let id):
        guard namespace.isExactly("/"), link.session.isIn(namespace) else { break }
        if let excess {
          refuseTwake(name, arguments, excess, link)
        } else {
          receivedTwake(name, arguments, id: id, link)
        }
      case .acknowledged: break
      case .end(let ending): release(link, ending, isAway: mayResume(link, after: actions))
      }
    }
  }

  /// Sends one packet to a session.
  func send(_ packet: SocketPacket, to link: SocketIOLink) {
    guard let recovery = link.recovery, packet.kind == .event else {
      perform(link.session.send(packet.engineText), for: link)
      return
    }
    let offset = recoveryLog.append(
      .packet(packet, author: nil), for: .client(recovery.id), now: dependencies.clock.uptime)
    if !link.isAway { perform(link.session.send(packet.numbered(offset).engineText), for: link) }
  }

  /// Sends a packet encoded for several receivers.
  private func send(_ packet: SharedMessage, to link: SocketIOLink) {
    guard link.session.isOnWebSocket, let carrier = link.carrier else {
      perform(link.session.send(packet.bytes), for: link)
      return
    }
    guard board.hasRoom(carrier, upTo: settings.queuedBytesMax) else {
      perform(link.session.end(.slow), for: link)
      return
    }
    act(.send(packet.frame, to: carrier))
  }

  /// Sends content to a room's Socket.IO subscribers. Each form is encoded once, and only if a
  /// subscriber needs it.
  func deliver(_ content: SocketContent, in room: RoomName) {
    guard !byConnection.isEmpty else { return }
    let isForAll = rooms.people.isForAll(by: content.author)
    var forms = PacketForms(content, in: room)
    var offset: String?
    for member in rooms.members(of: room) {
      guard let link = byConnection[member],
        isForAll || rooms.people.isFor(link.connection, by: content.author)
      else { continue }
      if link.recovery != nil, offset == nil {
        offset = recoveryLog.append(content, for: .room(room), now: dependencies.clock.uptime)
      }
      if link.isAway { continue }
      send(
        forms.packet(
          hasPlace: !link.numberedRooms.isEmpty && link.numberedRooms.contains(room),
          offset: link.recovery == nil ? nil : offset),
        to: link)
    }
  }

  /// Releases an ended session's transport, and its state unless the client may resume it.
  private func release(_ link: SocketIOLink, _ ending: SocketSession.Ending, isAway: Bool) {
    let code: UInt16 =
      switch ending {
      case .closed, .dismissed: 1000
      case .badPacket: 1002
      case .slow: CloseReason.slowReader.rawValue
      case .silent: CloseReason.idle.rawValue
      case .flooding: CloseReason.tooFast.rawValue
      }
    for id in [link.carrier, link.probe].compactMap(\.self) {
      byCarrier[id] = nil
      act(.close(id, code: CloseCode(code), reason: "the session is over"))
    }
    if let poll = link.poll {
      stopWaiting(link)
      respond(poll.request, Refusal.unknownSession.response.allowing(poll.head))
    }
    link.carrier = nil
    link.probe = nil
    bySession[link.session.id] = nil
    if isAway { goAway(link) } else { forget(link) }
  }

  /// Moves the transport of a newer link to an older one, which continues in its stead.
  func takeOver(_ link: SocketIOLink, by old: SocketIOLink) {
    old.session = link.session
    old.address = link.address
    old.connection.address = link.address
    old.carrier = link.carrier
    old.probe = link.probe
    old.poll = link.poll
    for carrier in [link.carrier, link.probe].compactMap(\.self) {
      byCarrier[carrier] = old
    }
    if let poll = link.poll { byPoll[poll.request] = old }
    bySession[old.session.id] = old
    link.successor = old
    link.carrier = nil
    link.probe = nil
    link.poll = nil
    table.move(from: link.connection, to: old.connection)
    forget(link)
  }

  /// Discards all state of a client.
  func forget(_ link: SocketIOLink) {
    if link.isAway { awayShares.give(1, for: link.recovery?.holder) }
    if let id = link.recovery?.id { byRecovery[id] = nil }
    link.recovery = nil
    byConnection[link.connection.id] = nil
    forget(link.connection)
  }
}
