import ParleyGatewayPorts
import SocketMessages

/// Rooms in which several nodes publish, through one store.
///
/// The store numbers publications, so there is one order. Each node has a position in the history
/// of each of its occupied rooms, and sends the members the following publications in order. It
/// reads other nodes' publications after a hint, after a gap before its own publication, and after
/// a regular read of all rooms' heads.
///
///     own publication, next number ──────────────────────────▶ deliver
///     own publication after a gap, a hint, a new head ─▶ read ─▶ deliver in order
///     another epoch, or other publications ─▶ all members rejoin, and detect the gap
extension Rooms {
  /// The minimum history that is stored for other nodes to read, whatever the room's own limits.
  /// Readers receive only what the room's limits allow.
  static let sharedRetention = RoomRetention(publicationsMax: 1_000, ageMax: 60_000)

  /// Returns the history limits under which a publication is stored.
  func retentionLimits(of room: RoomName) -> RoomRetention {
    let retention = settings.retention(of: room)
    guard settings.sharesStore else { return retention }
    return RoomRetention(
      publicationsMax: max(retention.publicationsMax, Self.sharedRetention.publicationsMax),
      ageMax: max(retention.ageMax, Self.sharedRetention.ageMax))
  }

  /// Whether all blocks are loaded. Until then nothing is delivered, because a publication that is
  /// hidden is not sent later.
  private var knowsBlocks: Bool { people.blocking?.isReady ?? true }

  // MARK: Positions

  /// Whether a subscriber becomes a member now. If the members are not at its position, it waits.
  func meet(_ recovery: RoomRecovery, _ work: RoomSubscribing) -> Bool {
    let name = work.room
    let head = recovery.head
    guard settings.sharesStore, rooms[name] != nil else { return true }
    guard knowsBlocks else {
      answer(work, .failure(.unavailable("the store has not replied with the blocks yet")))
      return false
    }
    if let cursor = rooms[name]?.cursor, !cursor.isIn(head.epoch) {
      restart(name, isLost: false)
    }
    guard let cursor = rooms[name]?.cursor else {
      rooms[name]?.cursor = RoomCursor(position: head)
      return true
    }
    if cursor.isAt(head) { return true }
    wait(.subscriber(work, recovery), in: name)
    return false
  }

  /// Whether a member is sent a page of values now. If the page is newer than the publications that
  /// the members have, it waits: the members' position guards against a store that loses what it
  /// has confirmed, and the client's copy never contains more than its position says.
  func meet(_ page: RoomValuesPage, _ work: ValueReading) -> Bool {
    let name = work.room
    guard settings.sharesStore, let id = work.connection, let room = rooms[name],
      room.takesValues(id), let cursor = room.cursor
    else { return true }
    guard cursor.isIn(page.head.epoch) else {
      restart(name, isLost: false)
      return false
    }
    if cursor.isAt(page.head) { return true }
    guard !cursor.hasReader(id) else {
      answer(work, .failure(.unavailable("another page of this room's values waits")))
      return false
    }
    wait(.reader(work, page), in: name)
    return false
  }

  /// Queues state that was read at another position than the members'.
  private func wait(_ waiting: RoomCursor.Waiting, in name: RoomName) {
    guard let cursor = rooms[name]?.cursor else { return }
    let offset = waiting.head.offset
    rooms[name]?.cursor?.add(waiting)
    if max(cursor.position.offset, cursor.confirmed) > offset {
      restart(name, isLost: true)
    } else {
      hear(of: offset, in: name)
    }
  }

  /// Handles waiting subscribers and readers whose position was reached, or that have to try again.
  func finish(_ waiting: RoomCursor.Waiting, _ failure: StoreError? = nil) {
    switch waiting {
    case .subscriber(let work, let recovery):
      answer(work, failure.map { .failure($0) } ?? .success(recovery))
    case .reader(let work, let page):
      answer(work, failure.map { .failure($0) } ?? .success(page))
    }
  }

  /// Reads again for a subscriber or reader whose history has ended.
  private func repeatReading(_ waiting: RoomCursor.Waiting) {
    switch waiting {
    case .subscriber(let work, _): recover(work)
    // It is a member, and subscribes again.
    case .reader: break
    }
  }

  /// Reads a room's position once, for members that receive publications from now on.
  func findPlace(in name: RoomName) {
    guard settings.sharesStore, let room = rooms[name], room.cursor == nil, !room.isFindingPlace
    else { return }
    rooms[name]?.isFindingPlace = true
    store(
      .room(
        .recover(
          name, from: nil, limit: 0, bytesMax: 0, retention: settings.retention(of: name),
          now: dependencies.clock.now)),
      under: .housekeeping, then: .roomPlace(name))
  }

  /// Stores the position that was read for members that receive publications from now on.
  func foundPlace(in name: RoomName, _ outcome: StoreOutcome<RoomRecovery>) {
    rooms[name]?.isFindingPlace = false
    guard rooms[name] != nil, rooms[name]?.cursor == nil, case .success(let recovery) = outcome
    else { return }
    rooms[name]?.cursor = RoomCursor(position: recovery.head)
  }

  /// Makes all members rejoin, because their history differs from the store's. The missed
  /// publications are not sent here: the store finds them by the members' positions.
  ///
  /// - Parameter isLost: Whether the store has lost publications that members received. The room
  ///   then continues under another epoch.
  private func restart(_ name: RoomName, isLost: Bool) {
    guard let room = rooms[name], var cursor = room.cursor else { return }
    dependencies.log.write(
      isLost ? .warning : .notice, "a room's history differs from the store's", [])
    rooms[name]?.cursor = nil
    if isLost {
      store(
        .room(.renewEpoch(name, from: cursor.position.epoch, to: Epoch(dependencies.names.next()))),
        under: .housekeeping, then: .roomPlace(name))
      rooms[name]?.isFindingPlace = true
    }
    for id in room.members {
      guard let connection = connections[id] else { continue }
      close(connection, .rejoin, "the room's history is another one now; subscribe again")
    }
    for waiting in cursor.takeAll() { repeatReading(waiting) }
    if rooms[name]?.hasMembers == true { findPlace(in: name) }
  }

  // MARK: Publications

  /// Handles a committed publication of this node: delivers it, or reads earlier ones first.
  func arrived(_ publication: Publication, epoch: Epoch, in name: RoomName) {
    presence.notifyNodes(.published(offset: publication.offset), in: name)
    guard let cursor = rooms[name]?.cursor else { return }
    guard cursor.isIn(epoch) else { return restart(name, isLost: false) }
    // Replies arrive in ascending order, so a lower number was assigned twice.
    guard publication.offset > max(cursor.position.offset, cursor.confirmed) else {
      return restart(name, isLost: true)
    }
    rooms[name]?.cursor?.confirm(publication.offset)
    if publication.offset == cursor.position.offset + 1, knowsBlocks {
      deliverNext(publication, in: name)
    } else {
      hear(of: publication.offset, in: name)
    }
  }

  private func deliverNext(_ publication: Publication, in name: RoomName) {
    guard let cursor = rooms[name]?.cursor else { return }
    rooms[name]?.cursor?.advance(to: publication)
    deliver(publication, epoch: cursor.position.epoch, in: name)
    // Subscribers that waited for this position become members.
    for waiting in rooms[name]?.cursor?.takeArrived() ?? [] { finish(waiting) }
  }

  /// Handles a hint of a publication. Hints are not trusted: they only cause a read.
  func hear(of offset: Int, in name: RoomName) {
    guard let cursor = rooms[name]?.cursor else { return findPlace(in: name) }
    rooms[name]?.cursor?.heard = max(cursor.heard, offset)
    guard max(cursor.heard, offset) > cursor.position.offset, cursor.reading == nil, knowsBlocks
    else { return }
    nextAttempt += 1
    rooms[name]?.cursor?.reading = nextAttempt
    // Reads the newest delivered publication again, to check that the store has the same one.
    let isChecked = cursor.time != nil && cursor.position.offset > 0
    store(
      .room(
        .page(
          name, .since(cursor.position.offset - (isChecked ? 1 : 0)), limit: settings.recoveryMax,
          bytesMax: settings.pageBytes,
          // The age is unlimited, because another node's clock may be hours behind.
          retention: RoomRetention(publicationsMax: .max, ageMax: .max), now: dependencies.clock.now
        )),
      under: .housekeeping, then: .roomNews(name, reading: nextAttempt))
  }

  /// Handles the outcome of reading a room's next publications.
  func readNewPublications(of name: RoomName, _ reading: UInt64, _ outcome: StoreOutcome<RoomPage>)
  {
    guard let cursor = rooms[name]?.cursor, cursor.reading == reading else { return }
    rooms[name]?.cursor?.reading = nil
    // This read answers the hints so far. If one was newer, the next read of the heads finds it.
    rooms[name]?.cursor?.heard = 0
    let page: RoomPage
    switch outcome {
    case .success(let read): page = read
    case .failure(let error):
      for waiting in rooms[name]?.cursor?.takeAll() ?? [] { finish(waiting, error) }
      return
    }
    guard cursor.isIn(page.head.epoch) else { return restart(name, isLost: false) }
    guard page.head.offset >= max(cursor.position.offset, cursor.confirmed) else {
      return restart(name, isLost: true)
    }
    rooms[name]?.cursor?.confirm(page.head.offset)
    for publication in page.publications {
      guard let here = rooms[name]?.cursor else { return }
      switch publication.offset - here.position.offset {
      case ..<0: continue
      case 0:
        if let time = here.time, time != publication.time {
          return restart(name, isLost: true)
        }
      case 1: deliverNext(publication, in: name)
      default: return restart(name, isLost: false)
      }
    }
    guard let here = rooms[name]?.cursor, here.position.offset < page.head.offset else { return }
    // A page without publications means that they are no longer stored.
    guard page.hasMore else { return restart(name, isLost: false) }
    hear(of: page.head.offset, in: name)
  }

  // MARK: Heads

  /// Reads the heads of the next rooms when due.
  func readHeads(now: Int64) {
    guard settings.sharesStore else { return }
    let failures = storeFailure == nil ? board.storeFailures : nil
    let names = lookedAt.next(now: now, pause: board.headsPause, failures: failures) {
      self.names
    }
    guard !names.isEmpty else { return }
    store(.room(.heads(names)), under: .housekeeping, then: .roomHeads(names))
  }

  /// Whether other nodes' publications have yet to be read after failures of the store.
  var isBehind: Bool {
    guard settings.sharesStore else { return false }
    return lookedAt.isBehind(after: board.storeFailures) { rooms[$0]?.cursor?.position.offset }
  }

  /// Compares the heads that were read with the rooms' positions.
  func compareHeads(of names: [RoomName], _ outcome: StoreOutcome<[RoomHead]>) {
    guard case .success(let heads) = outcome else { return lookedAt.sliceFailed() }
    defer { lookedAt.looked() }
    for (name, head) in zip(names, heads) {
      guard let room = rooms[name] else { continue }
      guard let cursor = room.cursor else {
        // Only members need the position; subscribers bring their own.
        if room.hasMembers { rooms[name]?.cursor = RoomCursor(position: head.position) }
        continue
      }
      let offset = cursor.position.offset
      if !cursor.isIn(head.position.epoch) {
        restart(name, isLost: false)
      } else if head.position.offset < max(offset, cursor.confirmed) {
        restart(name, isLost: true)
      } else if head.position.offset > offset {
        lookedAt.lacks(name, upTo: head.position.offset)
        hear(of: head.position.offset, in: name)
      } else if let time = cursor.time, time != head.time {
        restart(name, isLost: true)
      } else {
        rooms[name]?.cursor?.time = head.time
      }
    }
  }
}
