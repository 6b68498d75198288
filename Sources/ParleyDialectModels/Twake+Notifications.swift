public import ParleyJSON

extension Twake {
  /// A push notification for a new message.
  public struct FirebaseNotification: JSONModel {
    /// The texts of the notification.
    public var headers: NotificationHeaders = NotificationHeaders()
    /// The message of the notification.
    public var payload: NotificationPayload = NotificationPayload()
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required(model: "headers", &headers)
      try fields.required(model: "payload", &payload)
    }
  }

  /// The texts of a notification.
  public struct NotificationHeaders: JSONModel {
    /// The title that the device shows.
    public var title: String = ""
    /// The text that the device shows.
    public var body: String = ""
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("title", &title)
      try fields.required("body", &body)
    }
  }

  /// The message of a notification.
  public struct NotificationPayload: JSONModel {
    /// The company's id.
    public var companyID: String = ""
    /// The workspace's id.
    public var workspaceID: String = ""
    /// The channel's id.
    public var channelID: String = ""
    /// The thread's id, if the message is in a thread.
    public var threadID: String?
    /// The message's id.
    public var messageID: String = ""
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("company_id", &companyID)
      try fields.required("workspace_id", &workspaceID)
      try fields.required("channel_id", &channelID)
      try fields.optional("thread_id", &threadID)
      try fields.required("message_id", &messageID)
    }
  }

  /// A notification that the app creates itself.
  public struct LocalNotification: JSONModel {
    /// The type of the notification.
    public var type: LocalNotificationType = .message
    /// The data of the notification; its fields depend on the type.
    public var payload: JSONFields = JSONFields()
    /// Unknown fields, preserved when the model is written.
    public var rest = JSONFields()

    /// Creates an empty model.
    public init() {}

    /// Visits the fields.
    public mutating func visit(_ fields: inout JSONFieldVisitor) throws(ModelError) {
      try fields.required("type", &type)
      try fields.required("payload", &payload)
    }
  }

  /// The type of a notification.
  public struct LocalNotificationType: JSONWord {
    /// The value in JSON.
    public let rawValue: String

    /// Creates a type from its value in JSON. Unknown values are allowed.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A notification about a message.
    public static let message = Self(rawValue: "message")
    /// A notification about a file.
    public static let file = Self(rawValue: "file")

    /// The known values.
    public static var known: [Self] { [.message, .file] }
  }
}

extension Twake.NotificationPayload {
  /// The payload as JSON text.
  public var stringified: String { String(decoding: json, as: UTF8.self) }
}

extension Twake.LocalNotification {
  /// The notification as JSON text.
  public var stringified: String { String(decoding: json, as: UTF8.self) }
}
