import GatewayPorts
import SocketMessages

/// Subscribing to rooms, and catching up with what was missed.
///
/// The store answers in the order in which it was asked. So a subscriber who becomes a member with
/// the answer to its own request has, in that answer, all that was committed before, and is sent
/// all that comes after: each publication once, in order, without anything being locked.
///
///     subscribe at 7 ─▶ store: recover from 7 ┐
///     publish        ─▶ store: becomes 9      │ in this order
///     subscribed, with 8 ◀────────────────────┘
///     publication 9      ◀─
extension Gateway {
  func handle(_ subscribe: ClientMessage.Subscribe, ref: String, _ connection: Connection) {
    let name = subscribe.room
    guard checksOut(room: name, ref: ref, connection) else { return }
    let roomsMax = settings.limits.roomsPerConnectionMax
    guard connection.rooms.contains(name) || connection.rooms.count < roomsMax else {
      sendError(
        .tooMany, "a connection may subscribe to \(roomsMax) rooms; leave one first", ref: ref,
        to: connection)
      return
    }
    guard allows(.read, "reading", in: name, ref: ref, connection),
      !subscribe.isPresent || mayBePresent(name, ref: ref, connection)
    else { return }
    connection.rooms.insert(name)
    occupy(name, connection)
    // From here on what is published comes with what was missed, not twice.
    if subscribe.position != nil { rooms[name]?.suspend(connection.id) }
    let attempt = nextAttempt
    nextAttempt += 1
    connection.attempts[name] = attempt
    let position = subscribe.position.map { RoomPosition(epoch: $0.epoch, offset: $0.offset) }
    recover(name, from: position) { [unowned self] outcome in
      guard connection.isOpen, connection.attempts[name] == attempt else {
        sendError(
          .notAllowed, "the room was left, or subscribed to again, before this was done",
          ref: ref, to: connection)
        return
      }
      connection.attempts[name] = nil
      switch outcome {
      case .done(.recovery(let recovery)):
        rooms[name]?.add(connection.id)
        if subscribe.isPresent {
          enterPresence(name, connection)
        } else {
          leavePresence(name, connection, isBroken: false)
        }
        subscribed(subscribe, recovery, ref: ref, connection)
      case .failed(let error):
        leave(room: name, connection)
        sendUnavailable(error, ref: ref, to: connection)
      case .done: preconditionFailure("a store answers a recovery with one")
      }
    }
  }

  /// Has the store find what comes after a position.
  ///
  /// A position ahead of the head was given out by a history that has been lost since. The room
  /// then goes on under another epoch, by which all others from that history see it too.
  func recover(
    _ name: RoomName, from position: RoomPosition?, then goOn: @escaping (RoomOutcome) -> Void
  ) {
    store(
      .recover(
        name, from: position, limit: settings.recoveryMax, bytesMax: settings.recoveryBytesMax,
        memory: settings.memory(of: name), now: surroundings.clock.now)
    ) { [unowned self] outcome in
      if case .done(.recovery(let recovery)) = outcome, let position,
        position.epoch.utf8.elementsEqual(recovery.head.epoch.utf8),
        position.offset > recovery.head.offset
      {
        surroundings.log.write(.warning, "a subscriber knows more than the store", [])
        store(
          .renewEpoch(name, from: position.epoch, to: surroundings.names.next()), then: goOn)
      } else {
        goOn(outcome)
      }
    }
  }

  private func subscribed(
    _ subscribe: ClientMessage.Subscribe, _ recovery: RoomRecovery, ref: String,
    _ connection: Connection
  ) {
    let missed = (recovery.missed ?? []).filter { isFor(connection, $0) }
    sendNative(
      .subscribed(
        ServerMessage.Subscribed(
          room: subscribe.room,
          position: RoomPoint(epoch: recovery.head.epoch, offset: recovery.head.offset),
          isRecovered: subscribe.position == nil ? nil : recovery.missed != nil,
          publications: missed.map(ServerMessage.PastPublication.init),
          present: subscribe.isPresent ? present(in: subscribe.room, to: connection) : nil)),
      ref: ref, to: connection)
  }
}

extension ServerMessage.PastPublication {
  init(_ publication: Publication) {
    self.init(
      offset: publication.offset, time: publication.time, personID: publication.person,
      senderID: publication.senderID, data: JSONValue(trusted: publication.data))
  }
}
