/// A room as a group: its name, picture and creator.
public struct ChatGroup: Sendable, Equatable {
  /// The room.
  public var room: RoomName
  /// The name and the other properties that members change.
  public var facts: GroupFacts
  /// The person who created the group; `nil` for a program.
  public var creator: PersonID?
  /// The creation time.
  public var createdAt: Timestamp
  /// The time at which the facts last changed.
  public var updatedAt: Timestamp
  /// The number of members.
  public var memberCount: Int

  /// Creates a group from its stored fields.
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

/// The properties of a group that members change.
public struct GroupFacts: Sendable, Equatable {
  /// The name.
  public var name: String
  /// The description.
  public var description: String?
  /// The picture's URL.
  public var picture: String?
  /// Whether people may join without being added by a member.
  public var isOpen: Bool

  /// Creates facts, by default of a closed group without a description and a picture.
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
  /// The new description; `.some(nil)` removes it.
  public var description: String??
  /// The new picture's URL; `.some(nil)` removes it.
  public var picture: String??
  /// Whether people may join without being added by a member.
  public var isOpen: Bool?

  /// Creates changes that leave every field as it is.
  public init() {}

  /// Returns the facts after these changes; `nil` for a new group without a name.
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
  /// The person's nickname in the group.
  public var nickname: String
  /// The time at which the person joined.
  public var joinedAt: Timestamp

  /// Creates a member who joined at a time.
  public init(personID: PersonID, nickname: String, joinedAt: Timestamp) {
    self.personID = personID
    self.nickname = nickname
    self.joinedAt = joinedAt
  }
}

/// A person's reaction to a publication, such as a like.
public struct Reaction: Sendable, Equatable {
  /// The publication's offset.
  public var offset: Int
  /// The person.
  public var personID: PersonID
  /// The reaction, such as `like` or an emoji.
  public var reaction: String

  /// Creates a person's reaction to the publication at an offset.
  public init(offset: Int, personID: PersonID, reaction: String) {
    self.offset = offset
    self.personID = personID
    self.reaction = reaction
  }
}

/// A person's number of unread publications in a room.
public struct RoomBadge: Sendable, Equatable {
  /// The room.
  public var room: RoomName
  /// The offset of the last publication that the person has read.
  public var readThrough: Int
  /// The number of publications after that offset.
  public var unread: Int

  /// Creates the badge of a room.
  public init(room: RoomName, readThrough: Int, unread: Int) {
    self.room = room
    self.readThrough = readThrough
    self.unread = unread
  }
}

/// A request about groups, likes or read positions.
///
/// A group's members may change its facts and add members; its creator may also remove members and
/// delete the group. A manager of the room may do all of this.
public enum GroupRequest: Sendable {
  /// Changes a group. A room that is not a group becomes one, with its creator as the first member.
  case put(RoomName, GroupChanges, by: ChangeActor, time: Timestamp)
  /// Deletes a group, its members and their read positions. The room's history remains.
  case delete(RoomName, by: ChangeActor)
  /// Reads a group.
  case group(RoomName)
  /// Lists the groups of a person, sorted by room, after a room or from the first.
  case groups(of: PersonID, after: RoomName?, limit: Int)
  /// Adds a member, or changes a member's nickname.
  case putMember(
    RoomName, PersonID, nickname: String?, by: ChangeActor, time: Timestamp, membersMax: Int)
  /// Removes a member.
  case removeMember(RoomName, PersonID, by: ChangeActor)
  /// Lists a group's members, sorted by id, after a person or from the first.
  case members(RoomName, after: PersonID?, limit: Int)
  /// Sets a person's only reaction to a publication; `nil` removes it.
  case like(PublicationAddress, PersonID, reaction: String?, likesMax: Int)
  /// Lists the likes of the publications after an offset. All likes of a publication are in one
  /// reply, which may therefore exceed `limit`.
  case likes(RoomName, since: Int, limit: Int)
  /// Records how far a person has read. The position never decreases.
  case read(RoomName, PersonID, through: Int, marksMax: Int)
  /// Lists a person's badges, sorted by room, after a room or from the first.
  case badges(of: PersonID, after: RoomName?, limit: Int)

  /// The request's traits.
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
  /// The group as it is now, its facts before the change, and the actor's name in the group.
  case group(ChatGroup, former: GroupFacts?, by: String)
  /// A page of groups, and whether more follow.
  case groups([ChatGroup], hasMore: Bool)
  /// The member as it is now, the nickname before, and the actor's name in the group. Equal
  /// nicknames mean that nothing has changed.
  case member(GroupMember, former: String?, by: String)
  /// The removed member, and the actor's name; `nil` if the person was not a member.
  case removed(GroupMember?, by: String)
  /// A page of members, and whether more follow.
  case members([GroupMember], hasMore: Bool)
  /// The group was deleted.
  case deleted
  /// Whether a like has changed.
  case like(isChanged: Bool)
  /// A page of likes, sorted by offset and person, and whether more follow.
  case likes([Reaction], hasMore: Bool)
  /// The badge as it is now.
  case badge(RoomBadge)
  /// A page of badges, and whether more follow.
  case badges([RoomBadge], hasMore: Bool)
  /// The room is not a group.
  case unknownGroup
  /// The publication does not exist or is no longer stored.
  case unknownPublication
  /// The actor lacks the right.
  case notAllowed
  /// The request's limit of members, likes or read positions is reached.
  case tooMany

  /// Whether the request succeeded.
  public var isDone: Bool {
    switch self {
    case .unknownGroup, .unknownPublication, .notAllowed, .tooMany: false
    default: true
    }
  }
}
