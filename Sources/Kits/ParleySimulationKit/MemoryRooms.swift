package import ParleyGatewayPorts
import ParleyJSON

/// The histories of rooms, in memory. This is a value, so restoring a copy rolls a batch back.
package struct MemoryRooms: Sendable {
  struct Room: Sendable {
    var position: RoomPosition
    /// Every publication, including expired ones: simulations check them all.
    var publications: [Publication] = []
    var keys: [ExactName: (draft: PublicationDraft, offset: Int, time: Timestamp)] = [:]
    var values = RoomValues()
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

  /// Returns the values of a room.
  package func values(of name: RoomName) -> RoomValues { rooms[name]?.values ?? RoomValues() }

  mutating func reply(to request: RoomRequest) -> RoomReply {
    switch request {
    case .publish(let name, let draft, _, let keyAge):
      return publish(draft, in: name, keyAge: keyAge)
    case .page(let name, let range, let limit, let bytesMax, let retention, let now):
      return .page(
        page(of: room(name), range, limit: max(limit, 1), bytesMax: bytesMax, retention, now: now))
    case .recover(
      let name, let position, let limit, let bytesMax, let retention, let now, let query):
      var recovery = recover(
        room(name), position, limit: limit, bytesMax: bytesMax, retention, now: now)
      if let query, recovery.missed == nil { recovery.values = page(of: room(name), query) }
      return .recovery(recovery)
    case .values(let name, let query): return .values(page(of: room(name), query))
    case .ending(let which, let limit): return ending(which, limit: limit)
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
    let newest = room.publications.last?.time ?? 0
    if TimeOrder.isSetBack(from: newest, to: publication.time) {
      room.values.redate(to: publication.time)
    }
    publication.time = TimeOrder.following(newest, publication.time)
    publication.offset = room.position.offset + 1
    if let key = draft.key.map(ExactName.init(_:)) {
      if let earlier = room.keys[key], earlier.time + keyAge > publication.time {
        guard earlier.draft.publication.data == draft.publication.data,
          earlier.draft.publication.values == draft.publication.values,
          earlier.draft.publication.personID == draft.publication.personID
        else { return .keyReused }
        return .published(
          RoomPosition(epoch: room.position.epoch, offset: earlier.offset), time: earlier.time,
          isRepeated: true)
      }
      room.keys[key] = (draft, publication.offset, publication.time)
    }
    if let required = draft.ifPosition, required != room.position {
      return .outdated(room.position)
    }
    if let change = draft.change {
      do throws(ValueRefusal) {
        try room.values.apply(
          change,
          at: ValueOrigin(
            offset: publication.offset, time: publication.time, client: draft.client),
          limits: draft.limits)
      } catch {
        return .valuesRefused(error)
      }
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
      bytes += publication.byteCount
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
      && missed.reduce(0) { $0 + $1.byteCount } <= bytesMax
    return RoomRecovery(head: room.position, missed: isWhole ? missed : nil)
  }

  private func ending(_ which: EndingValues, limit: Int) -> RoomReply {
    var all: [(value: EndingValue, expires: Timestamp?)] = []
    for (room, state) in rooms.sorted(by: { $0.key < $1.key }) {
      for (name, value) in state.values.inOrder {
        let item = EndingValue(
          room: room, name: name, offset: value.offset, holder: value.holder)
        all.append((item, value.expiry?.time))
      }
    }
    let found: [EndingValue]
    switch which {
    case .expired(let now):
      let due = all.filter { $0.expires.map { $0 <= now } ?? false }
      found = due.sorted { ($0.expires ?? 0) < ($1.expires ?? 0) }.map(\.value)
    case .held(let client):
      found = all.map(\.value).filter { $0.holder.map { $0.isExactly(client) } ?? false }
    case .heldByAny(let place):
      let held = all.map(\.value).filter { $0.holder != nil }
        .sorted { ExactName($0.holder ?? "") < ExactName($1.holder ?? "") }
      found = held.filter { item in
        place.map { ExactName($0.holder ?? "") < ExactName(item.holder ?? "") } ?? true
      }
    }
    return .ending(Array(found.prefix(max(limit, 0))), next: all.compactMap(\.expires).min())
  }

  private func page(of room: Room, _ query: ValueQuery) -> RoomValuesPage {
    if query.known == room.position { return .known(at: room.position) }
    let found = room.values.inOrder.filter { item in
      switch query.names {
      case .one(let name): item.name == name
      case .prefix(let prefix, let after):
        item.name.text.utf8.starts(with: prefix.utf8) && after.map { $0 < item.name } ?? true
      }
    }
    return .cut(found.map { NamedValue($0, $1) }, to: query, at: room.position)
  }
}
