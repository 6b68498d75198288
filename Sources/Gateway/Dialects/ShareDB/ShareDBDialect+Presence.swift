import ParleyGatewayPorts
import ParleyJSON
import ParleyShareDB
import SocketMessages

/// Presence in channels: values that clients of this gateway send each other.
///
/// The channel of a note is `notes.` and its id. Values are not stored and not sent to other nodes.
extension ShareDBDialect {
  private static let valueBytesMax = 4_096
  private static let idBytesMax = 200
  private static let presencesMax = 20

  /// Whether a client may use a channel: that of a note in which it may be present.
  private func grants(_ channel: String, _ connection: Connection) -> Bool {
    let prefix = Self.collection + "."
    guard channel.utf8.starts(with: prefix.utf8) else { return false }
    let id = String(decoding: channel.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    guard let subscription = connection.subscriptions[DocumentID(id)] else {
      return connection.mayHave([.read, .presence], on: DocumentID(id))
    }
    return subscription.verbs.isSuperset(of: [.read, .presence])
  }

  private func refuse(
    _ action: ShareDBRequest.Action, _ channel: String, _ link: ShareDBLink, _ message: String
  ) {
    send(
      ShareDBFrame.error(
        ShareDBError(.readRejected, message), action.rawValue, channel: channel),
      to: link.connection)
  }

  func handle(
    _ action: ShareDBRequest.Action, _ channel: String, _ sequence: Int?, _ link: ShareDBLink
  ) {
    if action == .presenceUnsubscribe {
      link.channels[channel] = nil
    } else {
      guard grants(channel, link.connection) else {
        return refuse(action, channel, link, "the token does not grant presence there")
      }
      guard
        link.channels[channel] != nil
          || link.channels.count < settings.limits.documentsPerConnectionMax
      else { return refuse(action, channel, link, "too many channels; unsubscribe from one") }
      link.channels[channel] = .some(sequence)
    }
    send(
      ShareDBFrame.answer(action, ofPresenceIn: channel, sequence: sequence), to: link.connection)
  }

  func handle(_ presence: ShareDBPresence, _ link: ShareDBLink) {
    guard grants(presence.channel, link.connection) else {
      return refuse(.presence, presence.channel, link, "the token does not grant presence there")
    }
    let isKnown = link.presences[presence.id] != nil
    guard presence.value?.count ?? 0 <= Self.valueBytesMax,
      presence.id.utf8.count <= Self.idBytesMax,
      isKnown || link.presences.count < Self.presencesMax
    else {
      return refuse(
        .presence, presence.channel, link,
        "a presence has at most \(Self.valueBytesMax) bytes, and a client \(Self.presencesMax)")
    }
    link.presences[presence.id] = presence.value == nil ? nil : presence
    // The sender receives its own as the acknowledgement.
    send(ShareDBFrame.presence(presence, source: link.source), to: link.connection)
    share(presence, of: link)
  }

  /// Sends a presence to the other subscribers of its channel.
  private func share(_ presence: ShareDBPresence, of link: ShareDBLink) {
    let frame = ShareDBFrame.presence(presence, source: link.connection.client)
    for other in linksInOrder
    where other !== link && other.channels[presence.channel] != nil
      && grants(presence.channel, other.connection)
    {
      send(frame, to: other.connection)
    }
  }

  /// Notifies others that a client has left.
  func leave(_ presence: ShareDBPresence, of link: ShareDBLink) {
    var left = presence
    left.value = nil
    left.number += 1
    share(left, of: link)
  }

  /// Asks the other clients of a channel to send their presence again.
  func requestPresence(in channel: String, _ link: ShareDBLink) {
    guard grants(channel, link.connection) else { return }
    for other in linksInOrder where other !== link {
      for presence in other.presences.values where presence.channel.isExactly(channel) {
        send(
          ShareDBFrame.presence(presence, source: other.connection.client), to: link.connection)
      }
    }
  }
}
