public import ParleyOffline

/// A group in the app's list.
public struct ChatGroup: OfflineModel {
  /// The group's id; its room is `/group/` and the id.
  public var id: ResourceID
  /// The group's name.
  public var name: String
  /// The group's purpose.
  public var description: String?
  /// The URL of the group's picture.
  public var picture: String?
  /// Whether people may join without an invitation.
  public var open: Bool?
  /// The person who created the group.
  public var creatorId: String?
  /// The number of members.
  public var memberCount: Int?
  /// The number of messages that the person has not read.
  public var unread: Int?

  /// Creates a group; a temporary id denotes a new one.
  public init(
    id: ResourceID = .temporary(), name: String, description: String? = nil,
    picture: String? = nil, open: Bool? = nil
  ) {
    self.id = id
    self.name = name
    self.description = description
    self.picture = picture
    self.open = open
  }
}

/// A member of a group.
public struct ChatMember: OfflineModel {
  /// The membership's id.
  public var id: ResourceID
  /// The group.
  public var group: ResourceID
  /// The person.
  public var personId: String
  /// The member's name in the group.
  public var nickname: String?

  /// Creates a member.
  public init(
    id: ResourceID = .temporary(), group: ResourceID, personId: String, nickname: String? = nil
  ) {
    self.id = id
    self.group = group
    self.personId = personId
    self.nickname = nickname
  }
}

/// A message of a group, or a line that reports an event in it.
public struct ChatLine: OfflineModel {
  /// The message's id.
  public var id: ResourceID
  /// The group.
  public var group: ResourceID
  /// The sender; `nil` until the server has set it.
  public var personId: String?
  /// The text.
  public var text: String?
  /// The attachments, as URLs of files uploaded elsewhere.
  public var attachments: [String]?
  /// The event that the line reports, such as `membership.announce.added`; `nil` for messages.
  public var event: String?
  /// The time in milliseconds since 1970; `nil` until the server has set it.
  public var time: Int64?
  /// The sending app's id for the message, by which it recognises the message.
  public var sourceGuid: String?
  /// The reactions of others, by person.
  public var likes: [String: String]?
  /// The person's own reaction; empty after its removal.
  public var reaction: String?

  /// Creates a message.
  public init(
    id: ResourceID = .temporary(), group: ResourceID, text: String?, attachments: [String]? = nil
  ) {
    self.id = id
    self.group = group
    self.text = text
    self.attachments = attachments
  }
}
