import ParleyBayeux
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// Handling of the protocol's own messages, and dispatch of all messages.
extension BayeuxDialect {
  func answer(_ bytes: [UInt8], by way: Way) {
    switch way {
    case .webSocket(let id): send([bytes], overWebSocket: id)
    case .request(let exchange): exchange.replies.append(bytes)
    }
  }

  func handle(_ message: BayeuxMessage, from address: String, by way: Way) {
    metrics.received["bayeux", default: 0] += 1
    guard !message.channel.isEmpty else { return refuse(message, .missing("channel"), by: way) }
    guard let channel = BayeuxMessage.MetaChannel(rawValue: message.channel) else {
      return publish(message, from: address, by: way)
    }
    if channel == .handshake { return shakeHands(message, from: address, by: way) }
    guard let clientID = message.clientID else {
      return refuse(message, .missing("clientId"), advice: Self.newHandshake, by: way)
    }
    guard let link = bySession[clientID], link.address.isExactly(address) else {
      return refuse(message, .unknownClient(clientID), advice: Self.newHandshake, by: way)
    }
    // The session's token may have been accepted on another WebSocket.
    if let identity = link.connection.identity { admit(identity, link, by: way) }
    switch channel {
    case .handshake: break
    case .connect: connect(message, link, by: way)
    case .disconnect:
      answer(BayeuxReply.reply(to: message, clientID: clientID), by: way)
      perform(link.session.end(), for: link)
    case .subscribe: subscribe(message, link, by: way)
    case .unsubscribe: unsubscribe(message, link, by: way)
    }
  }

  static let newHandshake = BayeuxReply.Advice(reconnect: "handshake")

  func refuse(
    _ message: BayeuxMessage, _ error: BayeuxError, clientID: String? = nil,
    subscription: [String]? = nil, advice: BayeuxReply.Advice? = nil, by way: Way
  ) {
    answer(
      BayeuxReply.reply(
        to: message, clientID: clientID, error: error, subscription: subscription,
        advice: advice), by: way)
  }

  /// Rejects messages over a rate limit; meta messages get advice on when to retry.
  func refuse(_ messages: [BayeuxMessage], _ excess: Excess, by way: Way) {
    for message in messages {
      refuse(
        message, .tooFast(message.channel), clientID: message.clientID,
        advice: message.channel.utf8.starts(with: "/meta/".utf8)
          ? BayeuxReply.Advice(interval: excess.retryAfter ?? settings.retryAfterMilliseconds)
          : nil,
        by: way)
    }
  }

  private func shakeHands(_ message: BayeuxMessage, from address: String, by way: Way) {
    func refuse(_ error: BayeuxError) {
      self.refuse(message, error, advice: Self.newHandshake, by: way)
    }
    guard message.version != nil else { return refuse(.missing("version")) }
    guard let types = message.supportedConnectionTypes else {
      return refuse(.missing("supportedConnectionTypes"))
    }
    guard types.contains(where: BayeuxReply.connectionTypes.contains) else {
      return refuse(.connectionTypes(types.prefix(16).map { String($0.prefix(64)) }))
    }
    let limited = limitedAddress(of: way)
    if let refusal = table.refusal(for: limited) {
      return self.refuse(
        message, refusal.error("handshake"), advice: refusal.advice("handshake"), by: way)
    }
    guard let connection = makeConnection(at: address, from: limited) else {
      return refuse(.unavailable("handshake"))
    }
    let now = dependencies.clock.uptime
    let link = BayeuxLink(
      session: BayeuxSession(
        id: dependencies.names.next(), settings: settings.dialects.bayeux, now: now),
      connection: connection, address: address, pingAt: now + settings.dialects.pingMilliseconds)
    if !table.isIdentified(connection) {
      link.authenticateBy = now + settings.dialects.unconnectedMilliseconds
    }
    byConnection[connection.id] = link
    bySession[link.session.id] = link
    if let token = message.accessToken, let identity = try? access.identity(for: token) {
      admit(identity, link, by: way)
    }
    answer(
      BayeuxReply.reply(to: message, clientID: link.session.id, advice: link.session.advice),
      by: way)
  }

  /// Returns the address whose limits apply to a message; `nil` if none do.
  private func limitedAddress(of way: Way) -> IPAddress? {
    switch way {
    case .webSocket(let id): carriers[id]?.limitedAddress
    case .request(let exchange): exchange.head.limitedAddress
    }
  }

  /// Counts a session towards the user of its client's token.
  ///
  /// - Returns: Why the user can have no further session now; `nil` if the session is counted.
  func identify(_ link: BayeuxLink, as identity: Identity) -> SessionTable.Refusal? {
    if let refusal = table.identify(link.connection, as: identity) { return refusal }
    link.authenticateBy = nil
    return nil
  }

  private func connect(_ message: BayeuxMessage, _ link: BayeuxLink, by way: Way) {
    guard let type = message.connectionType else {
      return refuse(
        message, .missing("connectionType"), clientID: link.session.id,
        advice: Self.newHandshake, by: way)
    }
    guard BayeuxReply.connectionTypes.contains(type) else {
      return refuse(
        message, .connectionTypes([String(type.prefix(64))]), advice: Self.newHandshake, by: way)
    }
    let now = dependencies.clock.uptime
    if !link.hasConnected, link.authenticateBy != nil {
      link.authenticateBy = now + settings.dialects.authenticateMilliseconds
    }
    link.hasConnected = true
    // The transport decides, not the declared type: some clients declare polling on a WebSocket.
    switch way {
    case .webSocket(let id):
      if link.carrier != id {
        if let old = link.carrier { carriers[old]?.links.removeAll { $0 === link } }
        link.carrier = id
        carriers[id]?.links.append(link)
      }
      perform(link.session.connect(webSocket: message, now: now), for: link)
    case .request(let exchange):
      if let old = link.carrier {
        carriers[old]?.links.removeAll { $0 === link }
        link.carrier = nil
      }
      // The first action answers the waiting request; then this request waits.
      var actions = link.session.connect(request: message, now: now)
      if link.exchange != nil, !actions.isEmpty { perform([actions.removeFirst()], for: link) }
      link.exchange = exchange
      exchange.isHeld = true
      byRequest[exchange.request] = link
      perform(actions, for: link)
    }
  }
}

extension SessionTable.Refusal {
  /// Returns the error for a message that would begin or identify a session.
  func error(_ what: String) -> BayeuxError {
    switch reason {
    case .full: .unavailable(what)
    case .share: .tooFast(what)
    }
  }

  /// Returns the advice on the client's next step.
  func advice(_ reconnect: String) -> BayeuxReply.Advice {
    BayeuxReply.Advice(reconnect: reconnect, interval: retryAfter)
  }
}
