import ParleyGatewayPorts

/// Receipts, flags, membership, blocks and presence times of people, in memory.
extension MemoryRooms {
  mutating func reply(to request: PeopleRequest) -> PeopleReply {
    switch request {
    case .receipt(let place, let receipt):
      guard let author = author(of: place) else { return .unknownPublication }
      let key = Mark(place, receipt.personID)
      if let known = people.receipts[key], known >= receipt.stage {
        return .receipt(
          Receipt(personID: receipt.personID, stage: known), author: author, isChanged: false)
      }
      people.receipts[key] = receipt.stage
      if receipt.stage == .read {
        noteRead(place.room, by: receipt.personID, through: place.offset)
      }
      return .receipt(receipt, author: author, isChanged: true)
    case .receipts(let place):
      guard let author = author(of: place) else { return .unknownPublication }
      let receipts = people.receipts.filter { $0.key == Mark(place, $0.key.person) }
        .map { Receipt(personID: $0.key.person, stage: $0.value) }
        .sorted { $0.personID < $1.personID }
      return .receipts(receipts, author: author)
    case .flag(let room, let flag):
      let place = PublicationAddress(room: room, offset: flag.offset)
      guard author(of: place) != nil else { return .unknownPublication }
      people.flags[Mark(place, flag.personID)] = flag
      return .done
    case .unflag(let place, let person):
      people.flags[Mark(place, person)] = nil
      return .done
    case .flags(let room, let limit):
      let flags = people.flags.filter { $0.key.room == room }.values.sorted {
        $0.offset == $1.offset
          ? $0.personID < $1.personID : $0.offset > $1.offset
      }
      return .flags(Array(flags.prefix(limit)))
    case .member(let room, let person, let isMember):
      if isMember {
        people.members[room, default: []].insert(person)
      } else {
        people.members[room]?.remove(person)
      }
      return .done
    case .members(let room):
      return .members(
        (people.members[room] ?? []).sorted())
    case .block(let block, let isBlocked):
      let names = [block.person, block.blocked]
      if isBlocked { people.blocks.insert(names) } else { people.blocks.remove(names) }
      return .done
    case .blocks:
      return .blocks(
        people.blocks.map { PersonBlock(person: $0[0], blocked: $0[1]) }.sorted {
          ($0.person, $0.blocked) < ($1.person, $1.blocked)
        })
    case .online(let seen, let time):
      for person in seen {
        people.lastOnline[person] = TimeOrder.following(people.lastOnline[person] ?? time, time)
      }
      return .done
    case .lastOnline(let asked): return .lastOnline(asked.map { people.lastOnline[$0] })
    }
  }

  private func author(of place: PublicationAddress) -> PersonID?? {
    guard let found = publications(of: place.room).first(where: { $0.offset == place.offset })
    else { return nil }
    return .some(found.personID)
  }

  /// Records of people's actions and of their presence.
  struct People: Sendable {
    var receipts: [Mark: ReceiptStage] = [:]
    var flags: [Mark: PublicationFlag] = [:]
    var members: [RoomName: Set<PersonID>] = [:]
    /// Pairs of a person who blocks and a blocked person.
    var blocks: Set<[PersonID]> = []
    var lastOnline: [PersonID: Timestamp] = [:]
  }

  /// A publication and a person, as a key.
  struct Mark: Hashable, Sendable {
    let room: RoomName
    let offset: Int
    let person: PersonID

    init(_ place: PublicationAddress, _ person: PersonID) {
      room = place.room
      offset = place.offset
      self.person = person
    }
  }
}
