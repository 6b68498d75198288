public import ParleyJSON

extension Twake {
  /// A message in a channel or a thread.
  public struct Message: JSONModel {
    /// The message's id.
    public var id: String = ""
    /// The id of the message's thread.
    public var threadID: String?
    /// The channel.
    public var channelID: String = ""
    /// The number of replies.
    public var responsesCount: Int = 0
    /// The sender's id; `nil` if an app sent the message.
    public var userID: String?
    /// The id of the app that sent the message.
    public var appID: String?
    /// The time at which it was sent, in milliseconds since 1970.
    public var creationDate: Int = 0
    /// The time of the last edit, in milliseconds since 1970.
    public var modificationDate: Int = 0
    /// The content of the message.
    public var content: MessageContent = MessageContent()
    /// The reactions to the message.
    public var reactions: [Reaction] = []
    /// The sender's name in mentions.
    public var username: String = ""
    /// The sender's first name.
    public var firstname: String?
    /// The sender's last name.
    public var lastname: String?
    /// The URL of the sender's picture.
    public var thumbnail: String?
    /// The user's unsent draft in the message's thread.
    public var draft: String?
    /// 1 if the user has read the message.
    public var readFlag: Int = 1
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
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
    /// The text as it was typed; `nil` if there are only attachments.
    public var originalText: String?
    /// The parsed parts of the text: strings, objects, lists.
    public var prepared: [JSONValue] = []
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.optional("original_str", &originalText)
      try fields.defaulted("prepared", &prepared, to: [])
    }
  }

  /// An emoji, and the users who reacted with it.
  public struct Reaction: JSONModel {
    /// The emoji.
    public var name: String = ""
    /// The users' ids.
    public var users: [String] = []
    /// The number of users.
    public var count: Int = 0
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("name", &name)
      try fields.required("users", &users)
      try fields.required("count", &count)
    }
  }
}

extension Twake.Message {
  /// The sender's first and last name, or the name in mentions if there is no first name.
  public var sender: String {
    guard let firstname, !firstname.isEmpty else { return username }
    guard let lastname, !lastname.isEmpty else { return firstname }
    return "\(firstname) \(lastname)"
  }

  /// Whether the user has read the message.
  public var isRead: Bool { readFlag > 0 }

  /// A hash of the shown properties: the sum of the hashes of id, text and the reactions' names,
  /// and of the reactions' counts.
  public var hash: Int {
    reactions.reduce(stableHash(id) &+ stableHash(content.originalText)) {
      $0 &+ stableHash($1.name) &+ $1.count
    }
  }
}
