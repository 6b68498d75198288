public import ParleyJSON

extension GroupChat {
  /// A group.
  public struct Group: JSONModel {
    /// The group's id.
    public var id: String = ""
    /// The group's name.
    public var name: String = ""
    /// The group's purpose.
    public var description: String?
    /// The URL of the group's picture.
    public var imageURL: String?
    /// The id of the user who created the group.
    public var creatorUserID: String?
    /// The time of the creation, in seconds since 1970.
    public var createdAt: Int?
    /// The time of its last change, in seconds since 1970.
    public var updatedAt: Int?
    /// The group's members.
    public var members: [Member] = []
    /// The URL at which others may join; `nil` if they may not.
    public var shareURL: String?
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("id", &id)
      try fields.required("name", &name)
      try fields.optional("description", &description)
      try fields.optional("image_url", &imageURL)
      try fields.optional("creator_user_id", &creatorUserID)
      try fields.optional("created_at", &createdAt)
      try fields.optional("updated_at", &updatedAt)
      try fields.required(models: "members", &members)
      try fields.optional("share_url", &shareURL)
    }
  }

  /// A member of a group.
  public struct Member: JSONModel {
    /// The membership's id.
    public var id: String?
    /// The user's id.
    public var userID: String = ""
    /// The member's name in the group.
    public var nickname: String = ""
    /// The URL of the member's picture.
    public var imageURL: String?
    /// Whether the member has turned notifications off.
    public var isMuted: Bool = false
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.optional("id", &id)
      try fields.required("user_id", &userID)
      try fields.required("nickname", &nickname)
      try fields.optional("image_url", &imageURL)
      try fields.defaulted("muted", &isMuted, to: false)
    }
  }

  /// A person in a system event.
  public struct Person: JSONModel {
    /// The user's id.
    public var id: String = ""
    /// The person's name in the group.
    public var nickname: String = ""
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("id", &id)
      try fields.required("nickname", &nickname)
    }
  }
}
