/// A room as a group: its name, its picture, who made it.
public struct ChatGroup: Sendable, Equatable {
  /// The room.
  public var room: RoomName
  /// The name, and all else that people change.
  public var facts: GroupFacts
  /// The person who made it; `nil` if that was a program.
  public var creator: PersonID?
  /// The time at which it was made.
  public var createdAt: Timestamp
  /// The time at which its facts changed last.
  public var updatedAt: Timestamp
  /// The number of its members.
  public var memberCount: Int

  /// Makes a group.
  public init(
    room: RoomName, facts: GroupFacts, creator: PersonID?, createdAt: Timestamp,
    updatedAt: Timestamp, memberCount: Int
  ) {
    self.room = room
    self.facts = facts
    self.creator = creator
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.memberCount = memberCount
  }
}

/// The facts of a group that people change.
public struct GroupFacts: Sendable, Equatable {
  /// The name.
  public var name: String
  /// The purpose.
  public var description: String?
  /// The address of the picture.
  public var picture: String?
  /// Whether people may join by themselves.
  public var isOpen: Bool

  /// Makes facts.
  public init(
    name: String, description: String? = nil, picture: String? = nil, isOpen: Bool = false
  ) {
    self.name = name
    self.description = description
    self.picture = picture
    self.isOpen = isOpen
  }
}

/// Changes of a group's facts; a `nil` field stays as it is.
public struct GroupChanges: Sendable, Equatable {
  /// The name.
  public var name: String?
  /// The purpose, or `nil` within for none.
  public var description: String??
  /// The address of the picture, or `nil` within for none.
  public var picture: String??
  /// Whether people may join by themselves.
  public var isOpen: Bool?

  /// Makes changes.
  public init() {}

  /// The facts after these changes; `nil` for a new group without a name.
  public func applied(to facts: GroupFacts?) -> GroupFacts? {
    guard let name = name ?? facts?.name else { return nil }
    return GroupFacts(
      name: name, description: description ?? facts?.description,
      picture: picture ?? facts?.picture, isOpen: isOpen ?? facts?.isOpen ?? false)
  }
}

/// A member of a group.
public struct GroupMember: Sendable, Equatable {
  /// The person.
  public var personID: PersonID
  /// Their name in the group.
  public var nickname: String
  /// The time at which they joined.
  public var joinedAt: Timestamp

  /// Makes a member.
  public init(personID: PersonID, nickname: String, joinedAt: Timestamp) {
    self.personID = personID
    self.nickname = nickname
    self.joinedAt = joinedAt
  }
}

/// A person's like, or another reaction, of a publication.
public struct PublicationLike: Sendable, Equatable {
  /// The publication's offset.
  public var offset: Int
  /// The person.
  public var personID: PersonID
  /// The reaction, such as `like` or an emoji.
  public var reaction: String

  /// Makes a like.
  public init(offset: Int, personID: PersonID, reaction: String) {
    self.offset = offset
    self.personID = personID
    self.reaction = reaction
  }
}

/// The number of publications of a room that a person has not read.
public struct RoomBadge: Sendable, Equatable {
  /// The room.
  public var room: RoomName
  /// The offset through which they have read.
  public var readThrough: Int
  /// The number of publications behind it.
  public var unread: Int

  /// Makes a badge.
  public init(room: RoomName, readThrough: Int, unread: Int) {
    self.room = room
    self.readThrough = readThrough
    self.unread = unread
  }
}

/// Work with groups, likes, and what people have read.
///
/// A group's members may change its facts and add others; its creator removes people and deletes it. A
/// manager of the room may do all of this.
public enum GroupRequest: Sendable {
  /// Makes a room a group, with its maker as the first member, or changes the group.
  case put(RoomName, GroupChanges, by: ChangeActor, time: Timestamp)
  /// Forgets that a room is a group, its members and how far they have read. Its history stays.
  case delete(RoomName, by: ChangeActor)
  /// Finds a group.
  case group(RoomName)
  /// Lists the groups that a person is in, by their rooms' names, after one of them.
  case groups(of: PersonID, after: RoomName?, limit: Int)
  /// Adds a member, or gives one another nickname.
  case putMember(
    RoomName, PersonID, nickname: String?, by: ChangeActor, time: Timestamp, membersMax: Int)
  /// Removes a member.
  case removeMember(RoomName, PersonID, by: ChangeActor)
  /// Lists a group's members, by their ids, after one of them.
  case members(RoomName, after: PersonID?, limit: Int)
  /// Likes a publication, or takes the like back with `nil`. Each person has one for each.
  case like(PublicationPlace, PersonID, reaction: String?, likesMax: Int)
  /// Lists the likes of the publications after an offset: of whole publications, at least of one, and
  /// not many more than `limit`.
  case likes(RoomName, since: Int, limit: Int)
  /// Notes how far a person has read; it rises, and never goes back.
  case read(RoomName, PersonID, through: Int, marksMax: Int)
  /// Lists what a person has not read, by the rooms' names, after one of them.
  case badges(of: PersonID, after: RoomName?, limit: Int)

  /// Its traits.
  public var traits: StoreTraits {
    switch self {
    case .put(let room, _, _, _), .read(let room, _, _, _): .writing(locking: .newRoom(room))
    case .delete(let room, _), .putMember(let room, _, _, _, _, _), .removeMember(let room, _, _):
      .writing(locking: .room(room))
    case .like(let place, _, _, _): .writing(locking: .room(place.room))
    case .group, .groups, .members, .likes, .badges: .reading()
    }
  }
}

/// The reply to a request about groups.
public enum GroupReply: Sendable, Equatable {
  /// The group as it is now, the facts before, and who did it, by the name that they have there.
  case group(ChatGroup, former: GroupFacts?, by: String)
  /// Groups, and whether there are more.
  case groups([ChatGroup], hasMore: Bool)
  /// The member as they are now, their nickname before, and who did it. Nothing has changed if both
  /// nicknames are the same.
  case member(GroupMember, former: String?, by: String)
  /// The member who was removed, and who did it; `nil` if the person was not a member.
  case removed(GroupMember?, by: String)
  /// Members, and whether there are more.
  case members([GroupMember], hasMore: Bool)
  /// The group is deleted.
  case deleted
  /// Whether a like has changed.
  case like(isChanged: Bool)
  /// Likes, by offset and person, and whether there are more.
  case likes([PublicationLike], hasMore: Bool)
  /// The badge as it is now.
  case badge(RoomBadge)
  /// Badges, and whether there are more.
  case badges([RoomBadge], hasMore: Bool)
  /// The room is not a group.
  case unknownGroup
  /// There is no such publication, or it is no longer kept.
  case unknownPublication
  /// The person may not.
  case notAllowed
  /// The limit is reached.
  case tooMany

  /// Whether it was done.
  public var isDone: Bool {
    switch self {
    case .unknownGroup, .unknownPublication, .notAllowed, .tooMany: false
    default: true
    }
  }
}
