import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Subscribing to rooms, and recovering missed publications.
///
/// The store replies in the order of the requests. A subscriber becomes a member with the reply to
/// its request: the reply contains everything committed before, and the member receives everything
/// after. So each publication arrives once and in order, without locks.
///
///     subscribe at 7 ─▶ store: recover from 7 ┐
///     publish        ─▶ store: becomes 9      │ in this order
///     subscribed, with 8 ◀────────────────────┘
///     publication 9      ◀─
extension Rooms {
  func handle(
    _ subscribe: ClientMessage.Subscribe, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let name = RoomName(subscribe.room)
    try checks.checkName(of: name)
    let roomsMax = settings.limits.roomsPerConnectionMax
    guard connection.rooms.contains(name) || connection.rooms.count < roomsMax else {
      throw MessageRefusal(
        .tooMany, "a connection may subscribe to \(roomsMax) rooms; leave one first")
    }
    try checks.checkRight(.read, "reading", in: name, connection)
    if subscribe.isPresent { try presence.checkPresence(in: name, connection) }
    try presence.checkPresenceData(subscribe.presenceData)
    try checkPrefix(subscribe.values?.prefix ?? "")
    let attempt = beginSubscribing(
      to: name, connection, waits: subscribe.position != nil || subscribe.values != nil)
    recover(
      RoomSubscribing(
        room: name,
        position: subscribe.position,
        subscriber: .native(connection.id, subscribe, ref: ref), values: subscribe.values,
        attempt: attempt))
  }

  /// Asks the store for the publications after a position.
  ///
  /// A position ahead of the head belongs to a history that was lost. The room then continues under
  /// another epoch, by which all other subscribers of the lost history detect the loss too.
  func recover(_ work: RoomSubscribing) {
    var work = work
    var query = work.values.map(query)
    work.snapshot = work.values.flatMap {
      snapshots.page(of: work.room, $0, now: dependencies.clock.uptime)
    }
    query?.known = work.snapshot?.head
    store(
      .room(
        .recover(
          work.room, from: work.position, limit: settings.recoveryMax,
          bytesMax: settings.recoveryBytesMax, retention: settings.retention(of: work.room),
          now: dependencies.clock.now, values: query)),
      under: .token, then: .recovery(work))
  }

  /// Handles the store's reply with the publications after a subscriber's position.
  func recovered(_ work: RoomSubscribing, _ outcome: StoreOutcome<RoomRecovery>) {
    if case .success(let recovery) = outcome, let position = work.position,
      position.epoch == recovery.head.epoch,
      position.offset > recovery.head.offset
    {
      dependencies.log.write(.warning, "a subscriber knows more than the store", [])
      store(
        .room(.renewEpoch(work.room, from: position.epoch, to: Epoch(dependencies.names.next()))),
        under: .token, then: .repeatedRecovery(work))
    } else {
      finish(work, outcome)
    }
  }

  /// Handles the reply to a new epoch for a subscriber whose position belongs to a lost history.
  func renewed(_ work: RoomSubscribing, _ outcome: StoreOutcome<RoomRecovery>) {
    // The values have not been read yet.
    if case .success = outcome, work.values != nil { return recover(work) }
    finish(work, outcome)
  }

  /// Makes a subscriber a member, and sends the missed publications.
  func finish(_ work: RoomSubscribing, _ outcome: StoreOutcome<RoomRecovery>) {
    if case .success(let recovery) = outcome, !meet(recovery, work) { return }
    answer(work, outcome)
  }

  /// Answers a subscriber that has what the room's members have.
  func answer(_ work: RoomSubscribing, _ outcome: StoreOutcome<RoomRecovery>) {
    switch work.subscriber {
    case .native(let id, let subscribe, let ref):
      guard let connection = connections[id] else { return }
      finish(work, subscribe, outcome, ref: ref, connection)
    case .socketIO: owner?.answer(work, outcome)
    }
  }

  private func finish(
    _ work: RoomSubscribing, _ subscribe: ClientMessage.Subscribe,
    _ outcome: StoreOutcome<RoomRecovery>, ref: String, _ connection: Connection
  ) {
    let name = work.room
    guard connection.isOpen, connection.attempts[name] == work.attempt else {
      sendError(
        .notAllowed, "the room was left, or subscribed to again, before this was done", ref: ref,
        to: connection)
      return
    }
    connection.attempts[name] = nil
    switch outcome {
    case .success(let recovery):
      rooms[name]?.add(connection, takesValues: subscribe.values != nil)
      follow(name, connection, latest: subscribe.isLatest ? subscribe.values : nil)
      if subscribe.isPresent {
        connection.presenceData[name] = subscribe.presenceData
        presence.enterPresence(name, connection)
      } else {
        presence.leavePresence(name, connection, isBroken: false)
      }
      subscribed(work, subscribe, recovery, ref: ref, connection)
    case .failure(let error):
      leave(room: name, connection)
      checks.sendUnavailable(error, ref: ref, to: connection)
    }
  }

  private func subscribed(
    _ work: RoomSubscribing, _ subscribe: ClientMessage.Subscribe, _ recovery: RoomRecovery,
    ref: String, _ connection: Connection
  ) {
    let takesValues = subscribe.values != nil
    let missed = (recovery.missed ?? []).compactMap { publication in
      guard people.isFor(connection, by: publication.personID) else {
        // Values are for all readers, or their copies would differ.
        return takesValues ? publication.operationsAlone : nil
      }
      return takesValues ? publication : publication.withoutValues
    }
    var subscribed = ServerMessage.Subscribed(
      room: subscribe.room, position: recovery.head,
      isRecovered: subscribe.position == nil ? nil : recovery.missed != nil,
      publications: missed,
      present: subscribe.isPresent
        ? presence.present(in: RoomName(subscribe.room), to: connection) : nil)
    if let page = recovery.values, let names = work.values {
      let known = page.isKnown ? work.snapshot : nil
      let snapshot =
        known ?? snapshots.add(page, of: work.room, names, now: dependencies.clock.uptime)
      subscribed.values = snapshot.values
      subscribed.hasMore = snapshot.hasMore
    }
    send(.subscribed(subscribed), ref: ref, to: connection)
  }
}
