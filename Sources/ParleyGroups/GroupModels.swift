public import ParleyOffline

/// A group, as the app shows it in its list.
public struct ChatGroup: OfflineModel {
  /// The group's id; its room is `/group/` and the id.
  public var id: ResourceID
  /// Its name.
  public var name: String
  /// Its purpose.
  public var description: String?
  /// The address of its picture.
  public var picture: String?
  /// Whether people may join by themselves.
  public var open: Bool?
  /// The person who made it.
  public var creatorId: String?
  /// The number of its members.
  public var memberCount: Int?
  /// The number of messages that the person has not read.
  public var unread: Int?

  /// Makes a group; with a temporary id it is a new one.
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
  /// Their name in the group.
  public var nickname: String?

  /// Makes a member.
  public init(
    id: ResourceID = .temporary(), group: ResourceID, personId: String, nickname: String? = nil
  ) {
    self.id = id
    self.group = group
    self.personId = personId
    self.nickname = nickname
  }
}

/// A message of a group, or a line that says what has happened in it.
public struct ChatLine: OfflineModel {
  /// The message's id.
  public var id: ResourceID
  /// The group.
  public var group: ResourceID
  /// The sender; `nil` until the server has said so.
  public var personId: String?
  /// The text.
  public var text: String?
  /// Attachments, as addresses of what was uploaded elsewhere.
  public var attachments: [String]?
  /// The event that the line reports, such as `membership.announce.added`; `nil` for messages.
  public var event: String?
  /// The time in milliseconds since 1970; `nil` until the server has said so.
  public var time: Int64?
  /// The app's own name for the message, by which it knows it again.
  public var sourceGuid: String?
  /// Others' reactions, by person.
  public var likes: [String: String]?
  /// The person's own reaction; empty without one.
  public var reaction: String?

  /// Makes a message.
  public init(
    id: ResourceID = .temporary(), group: ResourceID, text: String?, attachments: [String]? = nil
  ) {
    self.id = id
    self.group = group
    self.text = text
    self.attachments = attachments
  }
}
