import ParleyGatewayPorts
import SocketMessages

/// Rooms in which other nodes publish, too, to one store.
///
/// The store numbers publications, so there is one order. Each node has a place in the history of each of
/// its occupied rooms, and sends its members what follows, number by number. Publications of other nodes it
/// reads: when it hears of them, when its own publication shows a gap, and when it looks at the heads of
/// all its rooms, now and then.
///
///     published here at the next number ─────────────────────▶ deliver
///     published here further on, a hint, the heads ─▶ read ──▶ deliver, number by number
///     another epoch, or other publications ─▶ all members rejoin, and learn of the gap
extension Rooms {
  /// Publications that are kept for other nodes to read, whatever the room's own memory is. Readers receive
  /// no more than the room's memory.
  static let sharedMemory = RoomMemory(publicationsMax: 1_000, ageMax: 60_000)

  /// The history limits by which a publication is kept.
  func keptMemory(of room: RoomName) -> RoomMemory {
    let memory = settings.memory(of: room)
    guard settings.sharesStore else { return memory }
    return RoomMemory(
      publicationsMax: max(memory.publicationsMax, Self.sharedMemory.publicationsMax),
      ageMax: max(memory.ageMax, Self.sharedMemory.ageMax))
  }

  /// Whether all blocks are known: until then nothing is sent, since a hidden publication could not be sent
  /// later.
  private var knowsBlocks: Bool { people.blocking?.isReady ?? true }

  // MARK: Places

  /// Whether a subscriber becomes a member now, since the members are at its place; if not, it does later.
  func meet(_ recovery: RoomRecovery, _ work: RoomSubscribing) -> Bool {
    let name = work.room
    let head = recovery.head
    guard settings.sharesStore, rooms[name] != nil else { return true }
    guard knowsBlocks else {
      finish(work, .failure(.unavailable("the store has not replied with the blocks yet")))
      return false
    }
    if let cursor = rooms[name]?.cursor, !cursor.isIn(head.epoch) {
      restart(name, isLost: false)
    }
    guard let cursor = rooms[name]?.cursor else {
      rooms[name]?.cursor = RoomCursor(position: head)
      return true
    }
    if cursor.position.offset == head.offset { return true }
    rooms[name]?.cursor?.add(.init(work: work, recovery: recovery))
    if cursor.position.offset > head.offset {
      restart(name, isLost: true)
    } else {
      hear(of: head.offset, in: name)
    }
    return false
  }

  /// Reads the place of a room once, for a member that receives publications from now on.
  func findPlace(in name: RoomName) {
    guard settings.sharesStore, let room = rooms[name], room.cursor == nil, !room.isFindingPlace
    else { return }
    rooms[name]?.isFindingPlace = true
    store(
      .room(
        .recover(
          name, from: nil, limit: 0, bytesMax: 0, memory: settings.memory(of: name),
          now: dependencies.clock.now)),
      under: .housekeeping, then: .roomPlace(name))
  }

  /// A room's head was read, for members that receive publications from now on.
  func foundPlace(in name: RoomName, _ outcome: StoreOutcome<RoomRecovery>) {
    rooms[name]?.isFindingPlace = false
    guard rooms[name] != nil, rooms[name]?.cursor == nil, case .success(let recovery) = outcome
    else { return }
    rooms[name]?.cursor = RoomCursor(position: recovery.head)
  }

  /// The members have another history than the store: all of them rejoin. What they lack is not sent here;
  /// the store finds it by their positions.
  ///
  /// - Parameter isLost: whether publications were lost that members have: then the room continues under
  ///   another epoch.
  private func restart(_ name: RoomName, isLost: Bool) {
    guard let room = rooms[name], var cursor = room.cursor else { return }
    dependencies.log.write(
      isLost ? .warning : .notice, "a room's history is another one at the store", [])
    rooms[name]?.cursor = nil
    if isLost {
      store(
        .room(.renewEpoch(name, from: cursor.position.epoch, to: dependencies.names.next())),
        under: .housekeeping, then: .roomPlace(name))
      rooms[name]?.isFindingPlace = true
    }
    for id in room.members {
      guard let connection = connections[id] else { continue }
      close(connection, .rejoin, "the room's history is another one now; subscribe again")
    }
    for waiting in cursor.takeAll() { recover(waiting.work) }
    if rooms[name]?.hasMembers == true { findPlace(in: name) }
  }

  // MARK: News

  /// A publication of this node's own is on disk: it is next, or others came before it.
  func arrived(_ publication: Publication, epoch: String, in name: RoomName) {
    tellNodes(.published(offset: publication.offset), in: name)
    guard let cursor = rooms[name]?.cursor else { return }
    guard cursor.isIn(epoch) else { return restart(name, isLost: false) }
    // Answers come in the order of the numbers: a lower number was given a second time.
    guard publication.offset > cursor.position.offset else {
      return restart(name, isLost: true)
    }
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
    // Subscribers that waited for this place become members.
    for waiting in rooms[name]?.cursor?.takeArrived() ?? [] {
      finish(waiting.work, .success(waiting.recovery))
    }
  }

  /// A hint of a publication. It is not trusted: it only causes a read.
  func hear(of offset: Int, in name: RoomName) {
    guard let cursor = rooms[name]?.cursor else { return findPlace(in: name) }
    rooms[name]?.cursor?.heard = max(cursor.heard, offset)
    guard max(cursor.heard, offset) > cursor.position.offset, cursor.reading == nil, knowsBlocks
    else { return }
    nextAttempt += 1
    rooms[name]?.cursor?.reading = nextAttempt
    // With the newest publication here, to check that the store's is the same.
    let isChecked = cursor.time != nil && cursor.position.offset > 0
    store(
      .room(
        .page(
          name, .since(cursor.position.offset - (isChecked ? 1 : 0)), limit: settings.recoveryMax,
          bytesMax: settings.pageBytes,
          // However old: another node's clock may be hours behind.
          memory: RoomMemory(publicationsMax: .max, ageMax: .max), now: dependencies.clock.now)),
      under: .housekeeping, then: .roomNews(name, reading: nextAttempt))
  }

  /// Takes the outcome of reading what follows in a room.
  func readNews(of name: RoomName, _ reading: UInt64, _ outcome: StoreOutcome<RoomPage>) {
    guard let cursor = rooms[name]?.cursor, cursor.reading == reading else { return }
    rooms[name]?.cursor?.reading = nil
    // The next look at the heads finds the offsets of the hints. The read replaces the hints.
    rooms[name]?.cursor?.heard = 0
    let page: RoomPage
    switch outcome {
    case .success(let read): page = read
    case .failure(let error):
      for waiting in rooms[name]?.cursor?.takeAll() ?? [] { finish(waiting.work, .failure(error)) }
      return
    }
    guard cursor.isIn(page.head.epoch) else { return restart(name, isLost: false) }
    guard page.head.offset >= cursor.position.offset else {
      return restart(name, isLost: true)
    }
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
    // A page contains at least one publication, unless they are no longer kept.
    guard page.hasMore else { return restart(name, isLost: false) }
    hear(of: page.head.offset, in: name)
  }

  // MARK: Heads

  /// Looks at the heads of all occupied rooms, now and then.
  func lookForNews(now: Int64) {
    guard settings.sharesStore else { return }
    let failures = storeFailure == nil ? board.storeFailures : nil
    let names = lookedAt.next(now: now, pause: board.headsPause, failures: failures) {
      self.names.map { ExactName($0) }
    }.map(\.text)
    guard !names.isEmpty else { return }
    store(.room(.heads(names)), under: .housekeeping, then: .roomHeads(names))
  }

  /// Whether other nodes' publications are still to be read after failures of the store.
  var isBehind: Bool {
    guard settings.sharesStore else { return false }
    return lookedAt.isBehind(after: board.storeFailures) { rooms[$0.text]?.cursor?.position.offset }
  }

  /// The heads of rooms were read.
  func compareHeads(of names: [RoomName], _ outcome: StoreOutcome<[RoomHead]>) {
    guard case .success(let heads) = outcome else { return lookedAt.couldNotLook() }
    defer { lookedAt.looked() }
    for (name, head) in zip(names, heads) {
      guard let room = rooms[name] else { continue }
      guard let cursor = room.cursor else {
        // Members alone need a place; subscribers bring theirs.
        if room.hasMembers { rooms[name]?.cursor = RoomCursor(position: head.position) }
        continue
      }
      let offset = cursor.position.offset
      if !cursor.isIn(head.position.epoch) {
        restart(name, isLost: false)
      } else if head.position.offset < offset {
        restart(name, isLost: true)
      } else if head.position.offset > offset {
        lookedAt.lacks(ExactName(name), upTo: head.position.offset)
        hear(of: head.position.offset, in: name)
      } else if let time = cursor.time, time != head.time {
        restart(name, isLost: true)
      } else {
        rooms[name]?.cursor?.time = head.time
      }
    }
  }
}
