public import ParleyJSON

extension Twake {
  /// The argument of `realtime:event`: a change of a message in a room.
  public struct SocketIOEvent: JSONModel {
    /// The room.
    public var name: String = ""
    /// The changed message.
    public var data: MessageData = MessageData()
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("name", &name)
      try fields.required(model: "data", &data)
    }
  }

  /// A change of a message.
  public struct MessageData: JSONModel {
    /// `system` if the change was made by a backend.
    public var clientID: String?
    /// The action.
    public var action: IOEventAction = .update
    /// The message.
    public var messageID: String = ""
    /// The message's thread.
    public var threadID: String = ""
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.optional("client_id", &clientID)
      try fields.required("action", &action)
      try fields.required("message_id", &messageID)
      try fields.required("thread_id", &threadID)
    }
  }

  /// The argument of `realtime:resource`: a change of a resource.
  public struct SocketIOResource: JSONModel {
    /// The action.
    public var action: ResourceAction = .updated
    /// The room.
    public var room: String?
    /// The type of the resource.
    public var type: ResourceType = .channel
    /// The path of the resource.
    public var path: String?
    /// The resource after the action.
    public var resource: JSONFields = JSONFields()
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("action", &action)
      try fields.optional("room", &room)
      try fields.required("type", &type)
      try fields.optional("path", &path)
      try fields.required("resource", &resource)
    }
  }

  /// A room that an app should join.
  public struct SocketIORoom: JSONModel {
    /// The room's name.
    public var key: String = ""
    /// The type of the room.
    public var type: RoomType = .channel
    /// The id of the room.
    public var id: String = ""
    /// Whether the app has joined it.
    public var isSubscribed: Bool = false
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("key", &key)
      try fields.required("type", &type)
      try fields.required("id", &id)
      try fields.defaulted("subscribed", &isSubscribed, to: false)
    }
  }

  /// The action on a message.
  public struct IOEventAction: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Creates a word, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The message was deleted.
    public static let remove = Self(rawValue: "remove")
    /// The message was created or edited.
    public static let update = Self(rawValue: "update")

    /// The known words.
    public static var known: [Self] { [.remove, .update] }
  }

  /// The action on a resource.
  public struct ResourceAction: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Creates a word, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The resource was created.
    public static let created = Self(rawValue: "created")
    /// The resource was created or changed.
    public static let saved = Self(rawValue: "saved")
    /// The resource was changed.
    public static let updated = Self(rawValue: "updated")
    /// The resource was deleted.
    public static let deleted = Self(rawValue: "deleted")
    /// An event that is not stored.
    public static let event = Self(rawValue: "event")

    /// The known words.
    public static var known: [Self] { [.created, .saved, .updated, .deleted, .event] }
  }

  /// The type of a resource.
  public struct ResourceType: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Creates a word, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A message.
    public static let message = Self(rawValue: "message")
    /// A channel.
    public static let channel = Self(rawValue: "channel")
    /// The list of channels.
    public static let channels = Self(rawValue: "channels")
    /// A member of a channel.
    public static let channelMember = Self(rawValue: "channel_member")
    /// The time of the last activity in a channel.
    public static let channelActivity = Self(rawValue: "channel_activity")
    /// The unread counts.
    public static let notificationBadges = Self(rawValue: "user_notification_badges")
    /// A notification to be shown.
    public static let desktopNotification = Self(rawValue: "notification:desktop")
    /// The users who are online.
    public static let online = Self(rawValue: "user:online")

    /// The known words.
    public static var known: [Self] {
      [
        .message, .channel, .channels, .channelMember, .channelActivity, .notificationBadges,
        .desktopNotification, .online,
      ]
    }
  }

  /// The type of a room.
  public struct RoomType: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Creates a word, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A channel.
    public static let channel = Self(rawValue: "channel")
    /// A direct channel.
    public static let direct = Self(rawValue: "direct")
    /// The list of channels.
    public static let channelsList = Self(rawValue: "channels_list")
    /// The list of direct channels.
    public static let directsList = Self(rawValue: "directs_list")
    /// Counts of unread messages.
    public static let notifications = Self(rawValue: "notifications")

    /// The known words.
    public static var known: [Self] {
      [.channel, .direct, .channelsList, .directsList, .notifications]
    }
  }
}
