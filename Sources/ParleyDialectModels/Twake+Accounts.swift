public import ParleyJSON

extension Twake {
  /// A pair of tokens, and until when they are valid.
  public struct Authentication: JSONModel {
    /// Authenticates requests.
    public var token: String = ""
    /// Gets the next pair.
    public var refreshToken: String = ""
    /// The time at which `token` expires, in seconds since 1970.
    public var expiration: Int = 0
    /// The time at which `refreshToken` expires, in seconds since 1970.
    public var refreshExpiration: Int = 0
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
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
    /// The address they registered with.
    public var email: String = ""
    /// The first name.
    public var firstname: String?
    /// The last name.
    public var lastname: String?
    /// The name for mentions.
    public var username: String = ""
    /// The URL of the user's picture.
    public var thumbnail: String?
    /// Their id in the console.
    public var consoleID: String?
    /// An emoji's code.
    public var statusIcon: String?
    /// The user's status text.
    public var status: String?
    /// Their locale.
    public var language: String?
    /// The time at which the user was last online, in milliseconds since 1970.
    public var lastActivity: Int = 0
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
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
    /// Its name.
    public var name: String = ""
    /// The URL of its logo.
    public var logo: String?
    /// The number of members.
    public var totalMembers: Int = 0
    /// The workspace looked at last.
    public var selectedWorkspace: String?
    /// The user's permissions in it.
    public var permissions: [String] = []
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
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
    /// Its name.
    public var name: String = ""
    /// The URL of its logo.
    public var logo: String?
    /// The company.
    public var companyID: String = ""
    /// The number of members.
    public var totalMembers: Int = 0
    /// The time of the user's last visit, in milliseconds since 1970.
    public var userLastAccess: Int = 0
    /// The user's permissions in it.
    public var permissions: [String] = []
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
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
    /// Its name.
    public var name: String = ""
    /// The relative address of its preview, if it has one.
    public var preview: String?
    /// The relative address of the file itself, if it can be downloaded.
    public var download: String?
    /// Its length in bytes.
    public var size: Int = 0
    /// Fields of other versions.
    public var rest = JSONFields()

    /// An empty one.
    public init() {}

    /// Names the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("id", &id)
      try fields.required("name", &name)
      try fields.optional("preview", &preview)
      try fields.optional("download", &download)
      try fields.required("size", &size)
    }
  }
}
