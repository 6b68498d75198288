public import ParleyJSON

extension Twake {
  /// A channel of a workspace, or a direct channel between users.
  public struct Channel: JSONModel {
    /// The channel's id.
    public var id: String = ""
    /// The channel's name.
    public var name: String = ""
    /// An emoji; `nil` for a direct channel.
    public var icon: String?
    /// The channel's purpose.
    public var description: String?
    /// The company.
    public var companyID: String = ""
    /// The workspace's id, or `direct`.
    public var workspaceID: String = ""
    /// The number of members.
    public var membersCount: Int = 0
    /// The users of a direct channel.
    public var members: [String] = []
    /// The channel's visibility.
    public var visibility: ChannelVisibility = .`public`
    /// The time of the last activity, in milliseconds since 1970.
    public var lastActivity: Int = 0
    /// The last message.
    public var lastMessage: MessageSummary?
    /// The time of the user's last visit, in milliseconds since 1970.
    public var userLastAccess: Int = 0
    /// The user's unsent draft.
    public var draft: String?
    /// The user's permissions in the channel.
    public var permissions: [String] = []
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("id", &id)
      try fields.defaulted("name", &name, to: "")
      try fields.optional("icon", &icon)
      try fields.optional("description", &description)
      try fields.required("company_id", &companyID)
      try fields.required("workspace_id", &workspaceID)
      try fields.defaulted("members_count", &membersCount, to: 0)
      try fields.defaulted("members", &members, to: [])
      try fields.required("visibility", &visibility)
      try fields.defaulted("last_activity", &lastActivity, to: 0)
      try fields.optional(model: "last_message", &lastMessage)
      try fields.defaulted("user_last_access", &userLastAccess, to: 0)
      try fields.optional("draft", &draft)
      try fields.defaulted("permissions", &permissions, to: [])
    }
  }

  /// The summary of a message, for lists of channels.
  public struct MessageSummary: JSONModel {
    /// The time at which it was sent, in milliseconds since 1970.
    public var date: Int = 0
    /// The sender's id.
    public var sender: String = ""
    /// The sender's name.
    public var senderName: String = ""
    /// The title of the channel that contains the message.
    public var title: String = ""
    /// The text of the message.
    public var text: String?
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("date", &date)
      try fields.required("sender", &sender)
      try fields.required("sender_name", &senderName)
      try fields.required("title", &title)
      try fields.optional("text", &text)
    }
  }

  /// A count of unread messages.
  public struct Badge: JSONModel {
    /// The type of the counted object.
    public var type: BadgeType = .channel
    /// The id of the company, workspace or channel.
    public var id: String = ""
    /// The number of unread messages.
    public var count: Int = 0
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("type", &type)
      try fields.required("id", &id)
      try fields.required("count", &count)
    }
  }

  /// The visibility of a channel.
  public struct ChannelVisibility: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Creates a word, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Visible to all members of the workspace.
    public static let `public` = Self(rawValue: "public")
    /// Visible to the channel's members.
    public static let `private` = Self(rawValue: "private")
    /// Visible to the users of a direct channel.
    public static let direct = Self(rawValue: "direct")

    /// The known words.
    public static var known: [Self] { [.`public`, .`private`, .direct] }
  }

  /// The kind of the listed channels.
  public struct ChannelsType: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Creates a word, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Public and private channels.
    public static let commons = Self(rawValue: "commons")
    /// Direct channels.
    public static let directs = Self(rawValue: "directs")

    /// The known words.
    public static var known: [Self] { [.commons, .directs] }
  }

  /// The type of an object with an unread count.
  public struct BadgeType: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Creates a word, known or unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A company.
    public static let company = Self(rawValue: "company")
    /// A workspace.
    public static let workspace = Self(rawValue: "workspace")
    /// A channel.
    public static let channel = Self(rawValue: "channel")

    /// The known words.
    public static var known: [Self] { [.company, .workspace, .channel] }
  }
}

extension Twake.Channel {
  /// Whether there was activity after the user's last visit.
  public var hasUnread: Bool { userLastAccess < lastActivity }

  /// A hash of the properties that a list of channels shows: the sum of the hashes of name and
  /// icon, the time of the last activity, and the number of members.
  public var hash: Int {
    stableHash(name) &+ stableHash(icon) &+ lastActivity &+ members.count
  }
}

extension Twake.Badge {
  /// Whether the badge belongs to the object of this type and id.
  public func matches(type: Twake.BadgeType, id: String) -> Bool {
    self.type == type && self.id.isExactly(id)
  }

  /// A hash of the badge's identity: the sum of the hashes of type and id.
  public var hash: Int { stableHash(type.rawValue) &+ stableHash(id) }
}
