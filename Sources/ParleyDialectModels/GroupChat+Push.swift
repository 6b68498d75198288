public import ParleyJSON

extension GroupChat {
  /// The data of an event on `/user/{id}`, `/group/{id}` or `/direct_message/{a}_{b}`.
  public struct Push: JSONModel {
    /// The type of the event.
    public var type: PushType = .line
    /// It in words, to be shown; never to be taken apart.
    public var alert: String?
    /// The subject of the event.
    public var subject: JSONFields?
    /// The time at which the server received it, in milliseconds since 1970.
    public var receivedAt: Int?
    /// The id of the user who types.
    public var userID: String?
    /// Since when they type, in milliseconds since 1970.
    public var started: Int?
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("type", &type)
      try fields.optional("alert", &alert)
      try fields.optional("subject", &subject)
      try fields.optional("received_at", &receivedAt)
      try fields.optional("user_id", &userID)
      try fields.optional("started", &started)
    }
  }

  /// A message of a group or between two people.
  public struct Line: JSONModel {
    /// The message's id.
    public var id: String = ""
    /// The group.
    public var groupID: String?
    /// The sender's id; `system` for the service.
    public var userID: String = ""
    /// The sender's name.
    public var name: String = ""
    /// The text; none if there are attachments alone.
    public var text: String?
    /// The sender's own name for it: the same one is stored once.
    public var sourceGUID: String?
    /// The time at which it was sent, in seconds since 1970.
    public var createdAt: Int = 0
    /// Whether the service says it.
    public var isSystem: Bool = false
    /// Pictures, places and the like.
    public var attachments: [JSONValue] = []
    /// The URL of the sender's picture.
    public var avatarURL: String?
    /// The users who like it.
    public var likedBy: [String] = []
    /// The service's message, in its parts.
    public var event: SystemEvent?
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("id", &id)
      try fields.optional("group_id", &groupID)
      try fields.required("user_id", &userID)
      try fields.defaulted("name", &name, to: "")
      try fields.optional("text", &text)
      try fields.optional("source_guid", &sourceGUID)
      try fields.required("created_at", &createdAt)
      try fields.defaulted("system", &isSystem, to: false)
      try fields.defaulted("attachments", &attachments, to: [])
      try fields.optional("avatar_url", &avatarURL)
      try fields.defaulted("favorited_by", &likedBy, to: [])
      try fields.optional(model: "event", &event)
    }
  }

  /// An event in a group, in its parts.
  public struct SystemEvent: JSONModel {
    /// The type of the event.
    public var type: SystemEventType = .memberAdded
    /// The people and values of the event.
    public var data: JSONFields = JSONFields()
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("type", &type)
      try fields.required("data", &data)
    }
  }

  /// A like of a message.
  public struct Like: JSONModel {
    /// The user's id.
    public var userID: String = ""
    /// The liked message.
    public var line: Line = Line()
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("user_id", &userID)
      try fields.required(model: "line", &line)
    }
  }

  /// The type of the event.
  public struct PushType: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A message in a group.
    public static let line = Self(rawValue: "line.create")
    /// A message between two people.
    public static let directMessage = Self(rawValue: "direct_message.create")
    /// The user is a member of a group.
    public static let membership = Self(rawValue: "membership.create")
    /// A like of a message of the user.
    public static let like = Self(rawValue: "like.create")
    /// A like of a message of the group.
    public static let favorite = Self(rawValue: "favorite")
    /// A message was edited.
    public static let messageUpdate = Self(rawValue: "message.update")
    /// A message was deleted.
    public static let messageDeletion = Self(rawValue: "message.deleted")
    /// A sign of typing; valid for five seconds.
    public static let typing = Self(rawValue: "typing")
    /// Nothing: the connection is alive.
    public static let ping = Self(rawValue: "ping")
    /// A subscription was accepted.
    public static let subscribe = Self(rawValue: "subscribe")

    /// The words that have a meaning here.
    public static var known: [Self] {
      [
        .line, .directMessage, .membership, .like, .favorite, .messageUpdate, .messageDeletion,
        .typing, .ping, .subscribe,
      ]
    }
  }

  /// The type of a message of the service.
  public struct SystemEventType: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// People were added.
    public static let memberAdded = Self(rawValue: "membership.announce.added")
    /// A member was removed.
    public static let memberRemoved = Self(rawValue: "membership.notifications.removed")
    /// A member has another name.
    public static let memberRenamed = Self(rawValue: "membership.nickname_changed")
    /// The group has another name.
    public static let groupRenamed = Self(rawValue: "group.name_change")
    /// The group has another picture.
    public static let avatarChanged = Self(rawValue: "group.avatar_change")
    /// A like of a message.
    public static let like = Self(rawValue: "message.like")

    /// The words that have a meaning here.
    public static var known: [Self] {
      [.memberAdded, .memberRemoved, .memberRenamed, .groupRenamed, .avatarChanged, .like]
    }
  }
}
