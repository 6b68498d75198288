import ParleyBayeux
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// Subscriptions to channels, which end with the rights that they depend on.
extension BayeuxDialect {
  /// Whether a user may receive a channel: by a right to its room, or as the channel's user.
  static func mayHear(_ channel: BayeuxChannel, _ identity: Identity) -> Bool {
    isOwn(channel, identity)
      || identity.may(.read, .room(RoomName(channel.isPattern ? channel.text : channel.room)))
  }

  static func isOwn(_ channel: BayeuxChannel, _ identity: Identity) -> Bool {
    !identity.user.isEmpty && channel.text.isExactly("/user/\(identity.user)")
  }

  func subscribe(_ message: BayeuxMessage, _ link: BayeuxLink, by way: Way) {
    let wanted = message.subscriptions ?? []
    func refuse(_ error: BayeuxError) {
      self.refuse(
        message, error, clientID: link.session.id, subscription: wanted, by: way)
    }
    guard let first = wanted.first else { return refuse(.missing("subscription")) }
    var channels: [BayeuxChannel] = []
    for text in wanted {
      guard let channel = BayeuxChannel(text) else {
        return refuse(.invalid(String(text.prefix(64))))
      }
      guard !channel.isMeta, !channel.isService else { return refuse(.forbidden(text)) }
      // Only the canonical channel name of a room is valid.
      guard channel.isPattern || BayeuxChannel(room: channel.room) == channel else {
        return refuse(.invalid(String(text.prefix(64))))
      }
      channels.append(channel)
    }
    let identity: Identity
    do throws(AuthenticationError) {
      identity = try access.identity(for: message.accessToken)
    } catch {
      log(.notice, "token refused", "\(error)")
      return refuse(.forbidden(first))
    }
    admit(identity, link, by: way)
    for channel in channels where !Self.mayHear(channel, identity) {
      return refuse(.forbidden(channel.text))
    }
    let subscriptionsMax = settings.dialects.bayeux.subscriptionsMax
    guard
      link.subscriptions.count
        + channels.count(where: { link.subscriptions[$0.text] == nil }) <= subscriptionsMax
    else { return refuse(.forbidden(first)) }
    if !identity.isSamePerson(as: link.connection.identity),
      let excess = access.excess(ofConnecting: identity)
    {
      return self.refuse([message], excess, by: way)
    }
    if let refusal = identify(link, as: identity) {
      return self.refuse(
        message, refusal.error(first), clientID: link.session.id, subscription: wanted,
        advice: refusal.advice("retry"), by: way)
    }
    take(identity, link)
    for channel in channels {
      link.subscriptions[channel.text] = .init(channel: channel, identity: identity)
      if channel.isPattern {
        withPatterns[link.connection.id] = link
      } else {
        rooms.join(room: RoomName(channel.room), link.connection)
      }
    }
    answer(
      BayeuxReply.reply(to: message, clientID: link.session.id, subscription: wanted), by: way)
  }

  /// Assigns the session to a user, who is then online; the user's limits count the connection.
  private func take(_ identity: Identity, _ link: BayeuxLink) {
    let isSamePerson = identity.isSamePerson(as: link.connection.identity)
    if !isSamePerson { rooms.presence.goOffline(link.connection) }
    link.connection.identity = identity
    guard !isSamePerson else { return }
    access.count(link.connection, towards: identity)
    rooms.presence.goOnline(link.connection)
  }

  func unsubscribe(_ message: BayeuxMessage, _ link: BayeuxLink, by way: Way) {
    let channels = message.subscriptions ?? []
    for text in channels {
      if let subscription = link.subscriptions[text] { end(subscription.channel, of: link) }
    }
    answer(
      BayeuxReply.reply(to: message, clientID: link.session.id, subscription: channels), by: way)
  }

  /// Ends the subscriptions whose token has expired, was revoked, or no longer grants the right.
  ///
  /// The client gets an unsolicited error for each. A client without subscriptions must shake hands
  /// again; its new subscriptions then contain newer tokens.
  func endSubscriptions(of link: BayeuxLink) {
    let ended = link.subscriptions.values.filter { !stands($0) }.map(\.channel)
      .sorted { $0.text < $1.text }
    guard !ended.isEmpty else { return }
    for channel in ended { end(channel, of: link) }
    if link.subscriptions.isEmpty { return perform(link.session.end(), for: link) }
    if let identity = link.connection.identity, !stands(identity),
      let other = link.subscriptions.values.first?.identity
    {
      _ = identify(link, as: other)
      take(other, link)
    }
    for channel in ended {
      send(Self.shared(BayeuxReply.ended(channel.text, clientID: link.session.id)), to: link)
    }
  }

  private func stands(_ subscription: BayeuxLink.Subscription) -> Bool {
    stands(subscription.identity) && Self.mayHear(subscription.channel, subscription.identity)
  }

  private func stands(_ identity: Identity) -> Bool {
    !identity.isExpired(at: dependencies.clock.now) && !access.isRevoked(identity)
  }

  private func end(_ channel: BayeuxChannel, of link: BayeuxLink) {
    guard link.subscriptions.removeValue(forKey: channel.text) != nil else { return }
    if !channel.isPattern {
      rooms.leave(room: RoomName(channel.room), link.connection)
    } else if !link.subscriptions.values.contains(where: \.channel.isPattern) {
      withPatterns[link.connection.id] = nil
    }
  }
}
