public import ParleyJSON

extension Twake {
  /// A pair of tokens, and the times at which they expire.
  public struct Authentication: JSONModel {
    /// The token that authenticates requests.
    public var token: String = ""
    /// The token that is exchanged for the next pair.
    public var refreshToken: String = ""
    /// The time at which `token` expires, in seconds since 1970.
    public var expiration: Int = 0
    /// The time at which `refreshToken` expires, in seconds since 1970.
    public var refreshExpiration: Int = 0
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("token", &token)
      try fields.required("refresh_token", &refreshToken)
      try fields.required("expiration", &expiration)
      try fields.required("refresh_expiration", &refreshExpiration)
    }
  }

  /// A user.
  public struct Account: JSONModel {
    /// The user's id.
    public var id: String = ""
    /// The user's email address.
    public var email: String = ""
    /// The first name.
    public var firstname: String?
    /// The last name.
    public var lastname: String?
    /// The name used in mentions.
    public var username: String = ""
    /// The URL of the user's picture.
    public var thumbnail: String?
    /// The user's id in the console.
    public var consoleID: String?
    /// The emoji of the user's status.
    public var statusIcon: String?
    /// The user's status text.
    public var status: String?
    /// The user's locale.
    public var language: String?
    /// The time at which the user was last online, in milliseconds since 1970.
    public var lastActivity: Int = 0
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("id", &id)
      try fields.required("email", &email)
      try fields.optional("firstname", &firstname)
      try fields.optional("lastname", &lastname)
      try fields.required("username", &username)
      try fields.optional("thumbnail", &thumbnail)
      try fields.optional("console_id", &consoleID)
      try fields.optional("status_icon", &statusIcon)
      try fields.optional("status", &status)
      try fields.optional("language", &language)
      try fields.required("last_activity", &lastActivity)
    }
  }

  /// A company.
  public struct Company: JSONModel {
    /// The company's id.
    public var id: String = ""
    /// The company's name.
    public var name: String = ""
    /// The URL of the company's logo.
    public var logo: String?
    /// The number of members.
    public var totalMembers: Int = 0
    /// The last selected workspace.
    public var selectedWorkspace: String?
    /// The user's permissions in the company.
    public var permissions: [String] = []
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("id", &id)
      try fields.required("name", &name)
      try fields.optional("logo", &logo)
      try fields.required("total_members", &totalMembers)
      try fields.optional("selected_workspace", &selectedWorkspace)
      try fields.defaulted("permissions", &permissions, to: [])
    }
  }

  /// A workspace of a company.
  public struct Workspace: JSONModel {
    /// The workspace's id.
    public var id: String = ""
    /// The workspace's name.
    public var name: String = ""
    /// The URL of the workspace's logo.
    public var logo: String?
    /// The company.
    public var companyID: String = ""
    /// The number of members.
    public var totalMembers: Int = 0
    /// The time of the user's last visit, in milliseconds since 1970.
    public var userLastAccess: Int = 0
    /// The user's permissions in the workspace.
    public var permissions: [String] = []
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("id", &id)
      try fields.required("name", &name)
      try fields.optional("logo", &logo)
      try fields.required("company_id", &companyID)
      try fields.required("total_members", &totalMembers)
      try fields.required("user_last_access", &userLastAccess)
      try fields.defaulted("permissions", &permissions, to: [])
    }
  }

  /// A file.
  public struct File: JSONModel {
    /// The file's id.
    public var id: String = ""
    /// The file's name.
    public var name: String = ""
    /// The relative URL of the preview, if there is one.
    public var preview: String?
    /// The relative URL of the file, if it can be downloaded.
    public var download: String?
    /// The file's length in bytes.
    public var size: Int = 0
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("id", &id)
      try fields.required("name", &name)
      try fields.optional("preview", &preview)
      try fields.optional("download", &download)
      try fields.required("size", &size)
    }
  }
}
