public import ParleyJSON

extension GroupChat {
  /// The data of an event on `/user/{id}`, `/group/{id}` or `/direct_message/{a}_{b}`.
  public struct Push: JSONModel {
    /// The type of the event.
    public var type: PushType = .line
    /// The event as text to be shown. It must not be parsed.
    public var alert: String?
    /// The subject of the event.
    public var subject: JSONFields?
    /// The time at which the server received it, in milliseconds since 1970.
    public var receivedAt: Int?
    /// The id of the user who is typing.
    public var userID: String?
    /// The start of typing, in milliseconds since 1970; `nil` when the user stops.
    public var started: Int?
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
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
    /// The group's id; `nil` for a message between two people.
    public var groupID: String?
    /// The sender's id; `system` for the service.
    public var userID: String = ""
    /// The sender's name.
    public var name: String = ""
    /// The text; `nil` if there are only attachments.
    public var text: String?
    /// The sending app's unique id of the message: messages with the same one are stored once.
    public var sourceGUID: String?
    /// The time at which it was sent, in seconds since 1970.
    public var createdAt: Int = 0
    /// Whether the service has sent the message.
    public var isSystem: Bool = false
    /// Pictures, locations and other attachments.
    public var attachments: [JSONValue] = []
    /// The URL of the sender's picture.
    public var avatarURL: String?
    /// The users who like the message.
    public var likedBy: [String] = []
    /// The structured event that a message of the service reports.
    public var event: SystemEvent?
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
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

  /// A structured event of a group.
  public struct SystemEvent: JSONModel {
    /// The type of the event.
    public var type: SystemEventType = .memberAdded
    /// The people and values of the event.
    public var data: JSONFields = JSONFields()
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
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
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("user_id", &userID)
      try fields.required(model: "line", &line)
    }
  }

  /// The type of a push.
  public struct PushType: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Creates a word, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A message in a group.
    public static let line = Self(rawValue: "line.create")
    /// A message between two people.
    public static let directMessage = Self(rawValue: "direct_message.create")
    /// The user was added to a group.
    public static let membership = Self(rawValue: "membership.create")
    /// A like of the user's message.
    public static let like = Self(rawValue: "like.create")
    /// A like of a message in a group.
    public static let favorite = Self(rawValue: "favorite")
    /// A message was edited.
    public static let messageUpdate = Self(rawValue: "message.update")
    /// A message was deleted.
    public static let messageDeletion = Self(rawValue: "message.deleted")
    /// A user is typing; valid for five seconds.
    public static let typing = Self(rawValue: "typing")
    /// A ping: the connection is alive.
    public static let ping = Self(rawValue: "ping")
    /// A subscription was accepted.
    public static let subscribe = Self(rawValue: "subscribe")

    /// The known words.
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

    /// Creates a word, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// People were added.
    public static let memberAdded = Self(rawValue: "membership.announce.added")
    /// A member was removed.
    public static let memberRemoved = Self(rawValue: "membership.notifications.removed")
    /// A member has a new name.
    public static let memberRenamed = Self(rawValue: "membership.nickname_changed")
    /// The group has a new name.
    public static let groupRenamed = Self(rawValue: "group.name_change")
    /// The group has a new picture.
    public static let avatarChanged = Self(rawValue: "group.avatar_change")
    /// A like of a message.
    public static let like = Self(rawValue: "message.like")

    /// The known words.
    public static var known: [Self] {
      [.memberAdded, .memberRemoved, .memberRenamed, .groupRenamed, .avatarChanged, .like]
    }
  }
}
