package import ParleyGatewayPorts
import ParleyJSON

/// The histories of rooms, in memory. This is a value, so restoring a copy rolls a batch back.
package struct MemoryRooms: Sendable {
  struct Room: Sendable {
    var position: RoomPosition
    /// Every publication, including expired ones: simulations check them all.
    var publications: [Publication] = []
    var keys: [ExactName: (draft: PublicationDraft, offset: Int, time: Timestamp)] = [:]
  }

  private var rooms: [RoomName: Room] = [:]
  private let firstEpoch: Epoch
  var people = People()
  var groups = Groups()

  package init(firstEpoch: Epoch) { self.firstEpoch = firstEpoch }

  /// Returns every publication of a room, including those that have expired.
  package func publications(of name: RoomName) -> [Publication] {
    rooms[name]?.publications ?? []
  }

  mutating func reply(to request: RoomRequest) -> RoomReply {
    switch request {
    case .publish(let name, let draft, _, let keyAge):
      return publish(draft, in: name, keyAge: keyAge)
    case .page(let name, let range, let limit, let bytesMax, let retention, let now):
      return .page(
        page(of: room(name), range, limit: max(limit, 1), bytesMax: bytesMax, retention, now: now))
    case .recover(let name, let position, let limit, let bytesMax, let retention, let now):
      return .recovery(
        recover(room(name), position, limit: limit, bytesMax: bytesMax, retention, now: now))
    case .renewEpoch(let name, let from, let to):
      var room = room(name)
      if room.position.epoch == from { room.position.epoch = to }
      rooms[name] = room
      return .recovery(RoomRecovery(head: room.position, missed: nil))
    case .heads(let names):
      return .heads(
        names.map { name in
          let room = room(name)
          return RoomHead(position: room.position, time: room.publications.last?.time ?? 0)
        })
    }
  }

  private func room(_ name: RoomName) -> Room {
    rooms[name] ?? Room(position: RoomPosition(epoch: firstEpoch, offset: 0))
  }

  private mutating func publish(
    _ draft: PublicationDraft, in name: RoomName, keyAge: Timestamp
  ) -> RoomReply {
    var room = room(name)
    var publication = draft.publication
    publication.time = TimeOrder.following(
      room.publications.last?.time ?? 0, publication.time)
    publication.offset = room.position.offset + 1
    if let key = draft.key.map(ExactName.init(_:)) {
      if let earlier = room.keys[key], earlier.time + keyAge > publication.time {
        guard earlier.draft.publication.data == draft.publication.data,
          earlier.draft.publication.personID == draft.publication.personID
        else { return .keyReused }
        return .published(
          RoomPosition(epoch: room.position.epoch, offset: earlier.offset), time: earlier.time,
          isRepeated: true)
      }
      room.keys[key] = (draft, publication.offset, publication.time)
    }
    room.publications.append(publication)
    room.position.offset = publication.offset
    rooms[name] = room
    if let author = publication.personID {
      noteRead(name, by: author, through: publication.offset)
    }
    return .published(room.position, time: publication.time, isRepeated: false)
  }

  private func kept(
    _ room: Room, _ retention: RoomRetention, now: Timestamp
  ) -> ArraySlice<Publication> {
    room.publications.suffix(max(retention.publicationsMax, 0)).drop {
      $0.time <= now - retention.ageMax
    }
  }

  private func page(
    of room: Room, _ range: RoomRange, limit: Int, bytesMax: Int, _ retention: RoomRetention,
    now: Timestamp
  ) -> RoomPage {
    let kept = kept(room, retention, now: now)
    var found: [Publication] = []
    var bytes = 0
    func fits(_ publication: Publication) -> Bool {
      bytes += publication.data.utf8.count
      return found.isEmpty || (found.count < limit && bytes <= bytesMax)
    }
    switch range {
    case .since(let offset):
      let after = kept.drop { $0.offset <= offset }
      for publication in after {
        guard fits(publication) else { break }
        found.append(publication)
      }
      return RoomPage(
        head: room.position, publications: found,
        hasGap: max(offset, 0) < room.position.offset
          && after.first?.offset != max(offset, 0) + 1,
        hasMore: found.count < after.count)
    case .newest, .before:
      var end = Int.max
      if case .before(let offset) = range { end = offset }
      let before = kept.filter { $0.offset < end }
      for publication in before.reversed() {
        guard fits(publication) else { break }
        found.append(publication)
      }
      return RoomPage(
        head: room.position, publications: found.reversed(), hasGap: false,
        hasMore: found.count < before.count)
    }
  }

  private func recover(
    _ room: Room, _ position: RoomPosition?, limit: Int, bytesMax: Int, _ retention: RoomRetention,
    now: Timestamp
  ) -> RoomRecovery {
    guard let position, position.epoch == room.position.epoch,
      (0...room.position.offset).contains(position.offset)
    else { return RoomRecovery(head: room.position, missed: nil) }
    let missed = kept(room, retention, now: now).filter { $0.offset > position.offset }
    let isWhole =
      missed.count == room.position.offset - position.offset && missed.count <= limit
      && missed.reduce(0) { $0 + $1.data.utf8.count } <= bytesMax
    return RoomRecovery(head: room.position, missed: isWhole ? missed : nil)
  }
}
