import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Signals: events for the subscribers of a room that are neither stored nor numbered.
///
/// The signals of a turn of the loop are sent at its end. They are dropped for readers that are slow,
/// before anything else is.
extension Rooms {
  func handle(
    _ signal: ClientMessage.Signal, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let room = RoomName(signal.room)
    try checks.check(.signal, "sending signals in", in: room, connection)
    guard connection.rooms.contains(room) else {
      throw MessageRefusal(.notJoined, "subscribe to the room before sending signals in it")
    }
    try countSignal(of: connection)
    let signal = RoomSignal(
      client: connection.client, person: connection.person, name: signal.name, data: signal.data)
    try send(signal, in: room, from: connection.id)
  }

  /// Sends a signal to a room's subscribers, at this node and others.
  ///
  /// - Parameter sender: The connection that is not sent the signal.
  func send(
    _ signal: RoomSignal, in room: RoomName, from sender: ConnectionID?
  ) throws(MessageRefusal) {
    let nameMax = settings.limits.keyBytesMax
    guard signal.name.utf8.count <= nameMax else {
      throw MessageRefusal(
        .tooLarge,
        "a signal's name may have \(nameMax) bytes; this one has \(signal.name.utf8.count)")
    }
    guard signal.data.utf8.count <= RoomSignal.bytesMax else {
      throw MessageRefusal(
        .tooLarge,
        "a signal's data may have \(RoomSignal.bytesMax) bytes; this has \(signal.data.utf8.count)")
    }
    guard presence.notifyNodes(.signal(signal), in: room) else {
      throw MessageRefusal(
        .tooLarge,
        "with several servers a signal with its data and names may have \(NodeMessage.bytesMax) bytes"
      )
    }
    queue(signal, in: room, from: sender)
  }

  /// Adds a signal to those that are sent at the end of the turn.
  func queue(_ signal: RoomSignal, in room: RoomName, from sender: ConnectionID?) {
    guard rooms[room]?.hasMembers ?? false else { return }
    if waitingSignals.isFull { sendSignals() }
    if waitingSignals.add(signal, in: room, from: sender) { metrics.signalsReplaced += 1 }
  }

  /// Sends the signals of the turn.
  func sendSignals() {
    guard !waitingSignals.isEmpty else { return }
    for item in waitingSignals.takeAll() {
      let news = RoomEvent(room: item.room, content: .signal(item.signal))
      let isForAll = people.isForAll(by: item.signal.person)
      for group in rooms[item.room]?.compactedGroups() ?? [] where !group.members.isEmpty {
        guard let frame = group.dialect.frame(of: news) else { continue }
        let allKeepUp = board.allHaveRoom(upTo: settings.laggingBytes)
        var dropped = 0
        let readers = group.members.filter { id in
          guard id != item.sender else { return false }
          guard
            isForAll || connections[id].map({ people.isFor($0, by: item.signal.person) }) ?? false
          else { return false }
          let keepsUp = allKeepUp || dependencies.queuedBytes(id) <= settings.laggingBytes
          if !keepsUp { dropped += 1 }
          return keepsUp
        }
        metrics.signalsSent += readers.count
        metrics.signalsDropped += dropped
        if !readers.isEmpty { board.broadcast(frame, to: readers) }
      }
    }
  }

  /// Counts a signal towards its rate limit; throws if the limit is exceeded.
  private func countSignal(of connection: Connection) throws(MessageRefusal) {
    let most = settings.signalsPerSecondMax
    guard most > 0 else { return }
    let wait = connection.signals.draw(
      1, at: Rate(perSecond: most, burst: most), now: dependencies.clock.uptime)
    guard wait > 0 else { return }
    metrics.limited["signalsPerSecondMax", default: 0] += 1
    throw MessageRefusal(
      .tooFast,
      "at most \(most) signals a second are allowed; send the newest one after \(wait) ms",
      retryAfter: Int(wait))
  }
}
