/// The address of a publication: its room and offset.
public struct PublicationAddress: Sendable, Hashable {
  /// The room.
  public var room: RoomName
  /// The publication's offset in the room.
  public var offset: Int

  /// Creates the address of a publication.
  public init(room: RoomName, offset: Int) {
    self.room = room
    self.offset = offset
  }
}

/// A block of one person by another.
public struct PersonBlock: Sendable, Equatable {
  /// The person who blocks.
  public var person: PersonID
  /// The person who is blocked.
  public var blocked: PersonID

  /// Creates a block of `blocked` by `person`.
  public init(person: PersonID, blocked: PersonID) {
    self.person = person
    self.blocked = blocked
  }
}

/// A request about receipts, reports, members, blocks or the times at which people were online.
public enum PeopleRequest: Sendable {
  /// Records a receipt of a publication. A stage never goes back.
  case receipt(PublicationAddress, Receipt)
  /// Lists the receipts of a publication, sorted by person.
  case receipts(PublicationAddress)
  /// Reports a publication, or changes a person's earlier report of it.
  case flag(RoomName, PublicationFlag)
  /// Withdraws a report.
  case unflag(PublicationAddress, PersonID)
  /// Lists the reports of a room, those of the newest publications first.
  case flags(RoomName, limit: Int)
  /// Adds a member to a room, or removes one.
  case member(RoomName, PersonID, isMember: Bool)
  /// Lists the members of a room.
  case members(RoomName)
  /// Blocks or unblocks a person.
  case block(PersonBlock, isBlocked: Bool)
  /// Lists all blocks of all people.
  case blocks
  /// Records the last time at which people were online.
  case online([PersonID], Timestamp)
  /// Reads the last times at which people were online.
  case lastOnline([PersonID])

  /// The request's traits.
  public var traits: StoreTraits {
    switch self {
    case .receipt(let place, _), .unflag(let place, _): .writing(locking: .room(place.room))
    case .flag(let room, _): .writing(locking: .room(room))
    case .member(let room, _, let isMember):
      .writing(locking: isMember ? .newRoom(room) : .room(room))
    case .block, .online: .writing()
    case .receipts, .flags, .members, .blocks, .lastOnline: .reading()
    }
  }
}

/// The reply to a request about people.
public enum PeopleReply: Sendable, Equatable {
  /// The request succeeded, without a result.
  case done
  /// The publication does not exist or is no longer stored.
  case unknownPublication
  /// The receipt as it is now, and the publication's author.
  case receipt(Receipt, author: PersonID?, isChanged: Bool)
  /// A publication's receipts, and its author.
  case receipts([Receipt], author: PersonID?)
  /// Reports of a room.
  case flags([PublicationFlag])
  /// Members of a room.
  case members([PersonID])
  /// All blocks.
  case blocks([PersonBlock])
  /// Times in the order of the request; `nil` for people who were never online.
  case lastOnline([Timestamp?])
  /// The request failed.
  case failed(StoreError)
}
