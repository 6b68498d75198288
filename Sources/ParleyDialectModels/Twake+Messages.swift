public import ParleyJSON

extension Twake {
  /// A message in a channel or a thread.
  public struct Message: JSONModel {
    /// The message's id.
    public var id: String = ""
    /// The thread it is in.
    public var threadID: String?
    /// The channel.
    public var channelID: String = ""
    /// The number of answers.
    public var responsesCount: Int = 0
    /// The sender's id; none if an app sent it.
    public var userID: String?
    /// The app that sent it.
    public var appID: String?
    /// The time at which it was sent, in milliseconds since 1970.
    public var creationDate: Int = 0
    /// The time of its last edit, in milliseconds since 1970.
    public var modificationDate: Int = 0
    /// The content of the message.
    public var content: MessageContent = MessageContent()
    /// The reactions of others.
    public var reactions: [Reaction] = []
    /// The sender's name for mentions.
    public var username: String = ""
    /// The sender's first name.
    public var firstname: String?
    /// The sender's last name.
    public var lastname: String?
    /// The URL of the sender's picture.
    public var thumbnail: String?
    /// The user's unsent draft in its thread.
    public var draft: String?
    /// 1 if the user has read it.
    public var readFlag: Int = 1
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("id", &id)
      try fields.optional("thread_id", &threadID)
      try fields.required("channel_id", &channelID)
      try fields.defaulted("responses_count", &responsesCount, to: 0)
      try fields.optional("user_id", &userID)
      try fields.optional("app_id", &appID)
      try fields.required("creation_date", &creationDate)
      try fields.required("modification_date", &modificationDate)
      try fields.required(model: "content", &content)
      try fields.required(models: "reactions", &reactions)
      try fields.required("username", &username)
      try fields.optional("firstname", &firstname)
      try fields.optional("lastname", &lastname)
      try fields.optional("thumbnail", &thumbnail)
      try fields.optional("draft", &draft)
      try fields.defaulted("_is_read", &readFlag, to: 1)
    }
  }

  /// The content of a message.
  public struct MessageContent: JSONModel {
    /// The text as it was typed; none if there are attachments alone.
    public var originalText: String?
    /// The parts it was parsed into: texts, objects, lists.
    public var prepared: [JSONValue] = []
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.optional("original_str", &originalText)
      try fields.defaulted("prepared", &prepared, to: [])
    }
  }

  /// An emoji, and who has chosen it.
  public struct Reaction: JSONModel {
    /// The emoji.
    public var name: String = ""
    /// The users' ids.
    public var users: [String] = []
    /// The number of users.
    public var count: Int = 0
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("name", &name)
      try fields.required("users", &users)
      try fields.required("count", &count)
    }
  }
}

extension Twake.Message {
  /// First and last name, or the name for mentions where there is no first name.
  public var sender: String {
    guard let firstname, !firstname.isEmpty else { return username }
    guard let lastname, !lastname.isEmpty else { return firstname }
    return "\(firstname) \(lastname)"
  }

  /// Whether the user has read it.
  public var isRead: Bool { readFlag > 0 }

  /// Changes with what is shown: hashes of id, text and the reactions' names, and their counts,
  /// added up.
  public var hash: Int {
    reactions.reduce(stableHash(id) &+ stableHash(content.originalText)) {
      $0 &+ stableHash($1.name) &+ $1.count
    }
  }
}
