/// A publication, by its room and offset.
public struct PublicationPlace: Sendable, Hashable {
  /// The room.
  public var room: RoomName
  /// Its offset there.
  public var offset: Int

  /// Names a publication.
  public init(room: RoomName, offset: Int) {
    self.room = room
    self.offset = offset
  }
}

/// A person blocked by another.
public struct PersonBlock: Sendable, Equatable {
  /// The person who blocks.
  public var person: PersonID
  /// The person who is blocked.
  public var blocked: PersonID

  /// Makes a block.
  public init(person: PersonID, blocked: PersonID) {
    self.person = person
    self.blocked = blocked
  }
}

/// Work for people in rooms.
public enum PeopleRequest: Sendable {
  /// Notes how far a publication has come with a person.
  case receipt(PublicationPlace, Receipt)
  /// Lists the receipts of a publication, by person.
  case receipts(PublicationPlace)
  /// Reports a publication, or changes the report.
  case flag(RoomName, PublicationFlag)
  /// Takes a report back.
  case unflag(PublicationPlace, PersonID)
  /// Lists the reports of a room, the newest publications first.
  case flags(RoomName, limit: Int)
  /// Makes a person a member of a room, or no member.
  case member(RoomName, PersonID, isMember: Bool)
  /// Lists the members of a room.
  case members(RoomName)
  /// Blocks a person, or no longer.
  case block(PersonBlock, isBlocked: Bool)
  /// Lists all blocks of all people.
  case blocks
  /// Notes when people were online last.
  case online([PersonID], Timestamp)
  /// Returns when people were online last.
  case lastOnline([PersonID])

  /// Its traits.
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
  /// Done, without a result.
  case done
  /// No such publication, or it is no longer kept.
  case unknownPublication
  /// The receipt as it is now, and the publication's author.
  case receipt(Receipt, author: PersonID?, isChanged: Bool)
  /// A publication's receipts, and its author.
  case receipts([Receipt], author: PersonID?)
  /// Reports.
  case flags([PublicationFlag])
  /// Members of a room.
  case members([PersonID])
  /// Blocks.
  case blocks([PersonBlock])
  /// Times in the order of the question; `nil` for people never seen.
  case lastOnline([Timestamp?])
  /// Not done.
  case failed(StoreError)
}
