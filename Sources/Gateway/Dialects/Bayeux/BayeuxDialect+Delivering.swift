import ParleyBayeux
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// Delivering events to the subscribers of a channel.
extension BayeuxDialect {
  /// Sends data to the subscribers of a room's channel, except those separated from its author by a
  /// block.
  func deliver(_ data: JSONValue, by author: PersonID?, in room: RoomName) {
    guard !byConnection.isEmpty, let channel = BayeuxChannel(room: room.text) else { return }
    let event = self.event(data, channel)
    let now = dependencies.clock.now
    let people = rooms.people
    let isForAll = people.isForAll(by: author)
    // A client subscribed both by name and by pattern receives the event once.
    var reached: Set<ConnectionID> = []
    for member in rooms.members(of: room) {
      guard let link = byConnection[member] else { continue }
      if !withPatterns.isEmpty { reached.insert(member) }
      if link.hears(channel, now: now), isForAll || people.isFor(link.connection, by: author) {
        send(event, to: link)
      }
    }
    for (place, link) in withPatterns where !reached.contains(place) {
      if link.hears(channel, now: now), isForAll || people.isFor(link.connection, by: author) {
        send(event, to: link)
      }
    }
  }

  /// Returns a message that is encoded alone in a frame.
  static func shared(_ bytes: [UInt8]) -> SharedMessage {
    SharedMessage(bytes: bytes, frame: Frame(.text, payload: BayeuxReply.frame([bytes])))
  }

  private func event(_ data: JSONValue, _ channel: BayeuxChannel) -> SharedMessage {
    let bytes = BayeuxReply.event(
      channel: channel.text, data: data, id: String(nextEvent, radix: 36))
    nextEvent += 1
    return Self.shared(bytes)
  }

  func deliver(_ data: JSONValue, _ channel: BayeuxChannel, to link: BayeuxLink) {
    send(event(data, channel), to: link)
  }

  func send(_ event: SharedMessage, to link: BayeuxLink) {
    guard link.session.isOnWebSocket, let carrier = link.carrier else {
      perform(link.session.deliver(event.bytes), for: link)
      return
    }
    guard board.hasRoom(carrier, upTo: settings.queuedBytesMax) else {
      act(.close(carrier, code: CloseCode(CloseReason.slowReader.rawValue), reason: "too slow"))
      perform(link.session.end(), for: link)
      return
    }
    act(.send(event.frame, to: carrier))
  }

  /// Sends the replies that waited for a publication's delivery.
  func finishDelivery() {
    guard !afterDelivery.isEmpty else { return }
    let waiting = afterDelivery
    afterDelivery.removeAll()
    for (bytes, way) in waiting { finish(bytes, by: way) }
  }
}
