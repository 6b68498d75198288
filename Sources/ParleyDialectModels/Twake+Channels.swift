public import ParleyJSON

extension Twake {
  /// A channel of a workspace, or between people.
  public struct Channel: JSONModel {
    /// The channel's id.
    public var id: String = ""
    /// Its name.
    public var name: String = ""
    /// An emoji; none for a direct channel.
    public var icon: String?
    /// The channel's purpose.
    public var description: String?
    /// The company.
    public var companyID: String = ""
    /// The workspace, or `direct`.
    public var workspaceID: String = ""
    /// The number of members.
    public var membersCount: Int = 0
    /// The users of a direct channel.
    public var members: [String] = []
    /// The channel's visibility.
    public var visibility: ChannelVisibility = .`public`
    /// The time of the last activity, in milliseconds since 1970.
    public var lastActivity: Int = 0
    /// The message sent last.
    public var lastMessage: MessageSummary?
    /// The time of the user's last visit, in milliseconds since 1970.
    public var userLastAccess: Int = 0
    /// The user's unsent draft.
    public var draft: String?
    /// The user's permissions in it.
    public var permissions: [String] = []
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
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

  /// The summary of a message in a list of channels.
  public struct MessageSummary: JSONModel {
    /// The time at which it was sent, in milliseconds since 1970.
    public var date: Int = 0
    /// The user.
    public var sender: String = ""
    /// The user's name.
    public var senderName: String = ""
    /// The title of the place where it was sent.
    public var title: String = ""
    /// The text of the message.
    public var text: String?
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("date", &date)
      try fields.required("sender", &sender)
      try fields.required("sender_name", &senderName)
      try fields.required("title", &title)
      try fields.optional("text", &text)
    }
  }

  /// A count of what is unread.
  public struct Badge: JSONModel {
    /// The kind of place that the count is for.
    public var type: BadgeType = .channel
    /// The id of the company, workspace or channel.
    public var id: String = ""
    /// Unread messages.
    public var count: Int = 0
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
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

    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Visible to all members of the workspace.
    public static let `public` = Self(rawValue: "public")
    /// Its members.
    public static let `private` = Self(rawValue: "private")
    /// The people it is between.
    public static let direct = Self(rawValue: "direct")

    /// The words that have a meaning here.
    public static var known: [Self] { [.`public`, .`private`, .direct] }
  }

  /// The kind of channels that are listed.
  public struct ChannelsType: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Public and private ones.
    public static let commons = Self(rawValue: "commons")
    /// Direct ones.
    public static let directs = Self(rawValue: "directs")

    /// The words that have a meaning here.
    public static var known: [Self] { [.commons, .directs] }
  }

  /// The kind of place in which unread messages are counted.
  public struct BadgeType: JSONWord {
    /// The word on the wire.
    public let rawValue: String

    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A company.
    public static let company = Self(rawValue: "company")
    /// A workspace.
    public static let workspace = Self(rawValue: "workspace")
    /// A channel.
    public static let channel = Self(rawValue: "channel")

    /// The words that have a meaning here.
    public static var known: [Self] { [.company, .workspace, .channel] }
  }
}

extension Twake.Channel {
  /// Whether something has happened since the user was there.
  public var hasUnread: Bool { userLastAccess < lastActivity }

  /// Changes with what a list of channels shows: hashes of name and icon, the time of the last
  /// activity, and the number of members, added up.
  public var hash: Int {
    stableHash(name) &+ stableHash(icon) &+ lastActivity &+ members.count
  }
}

extension Twake.Badge {
  /// Whether this counts in the thing named.
  public func matches(type: Twake.BadgeType, id: String) -> Bool {
    self.type == type && self.id.utf8.elementsEqual(id.utf8)
  }

  /// Tells badges apart: hashes of type and id, added up.
  public var hash: Int { stableHash(type.rawValue) &+ stableHash(id) }
}
