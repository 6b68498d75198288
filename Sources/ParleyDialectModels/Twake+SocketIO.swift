public import ParleyJSON

extension Twake {
  /// The argument of `realtime:event`: something happened in a room.
  public struct SocketIOEvent: JSONModel {
    /// The room.
    public var name: String = ""
    /// The message that it happened to.
    public var data: MessageData = MessageData()
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("name", &name)
      try fields.required(model: "data", &data)
    }
  }

  /// A message that was changed.
  public struct MessageData: JSONModel {
    /// `system` if a backend says so.
    public var clientID: String?
    /// The action.
    public var action: IOEventAction = .update
    /// The message.
    public var messageID: String = ""
    /// Its thread.
    public var threadID: String = ""
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.optional("client_id", &clientID)
      try fields.required("action", &action)
      try fields.required("message_id", &messageID)
      try fields.required("thread_id", &threadID)
    }
  }

  /// The argument of `realtime:resource`: something has changed.
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
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("action", &action)
      try fields.optional("room", &room)
      try fields.required("type", &type)
      try fields.optional("path", &path)
      try fields.required("resource", &resource)
    }
  }

  /// A room that an app is to join.
  public struct SocketIORoom: JSONModel {
    /// The room's name.
    public var key: String = ""
    /// The type of the room.
    public var type: RoomType = .channel
    /// The id of the room.
    public var id: String = ""
    /// Whether it is joined.
    public var isSubscribed: Bool = false
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
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

    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It was deleted.
    public static let remove = Self(rawValue: "remove")
    /// It is new, or was edited.
    public static let update = Self(rawValue: "update")

    /// The words that have a meaning here.
    public static var known: [Self] { [.remove, .update] }
  }

  /// The action on a resource.
  public struct ResourceAction: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It is new.
    public static let created = Self(rawValue: "created")
    /// It is new, or was changed.
    public static let saved = Self(rawValue: "saved")
    /// It was changed.
    public static let updated = Self(rawValue: "updated")
    /// It is gone.
    public static let deleted = Self(rawValue: "deleted")
    /// Something happened that is not kept.
    public static let event = Self(rawValue: "event")

    /// The words that have a meaning here.
    public static var known: [Self] { [.created, .saved, .updated, .deleted, .event] }
  }

  /// The type of a resource.
  public struct ResourceType: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Takes any word.
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
    /// The counts of what is unread.
    public static let notificationBadges = Self(rawValue: "user_notification_badges")
    /// Something to be shown.
    public static let desktopNotification = Self(rawValue: "notification:desktop")
    /// The users who are online.
    public static let online = Self(rawValue: "user:online")

    /// The words that have a meaning here.
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

    /// Takes any word.
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

    /// The words that have a meaning here.
    public static var known: [Self] {
      [.channel, .direct, .channelsList, .directsList, .notifications]
    }
  }
}
