import ParleyDialectModels
import ParleyJSON
import Testing

/// The fields of the family's models, as its apps write them.
@Suite("Fields of Twake's models")
struct TwakeFieldTests {
  /// The form of a field's value.
  enum Form: Sendable {
    case text, number, texts, values
    case word(String)
    case object([(String, Form, Need)])
    case objects([(String, Form, Need)])
    case anyObject
  }

  /// The result of decoding a model without a field.
  enum Need: Sendable { case required, optional, defaulted }

  struct Model: Sendable, CustomTestStringConvertible {
    let name: String
    let fields: [(String, Form, Need)]
    let read: @Sendable ([UInt8]) throws -> (json: [UInt8], rest: Int)
    var testDescription: String { name }

    init<Value: JSONModel>(_ type: Value.Type, _ fields: [(String, Form, Need)]) {
      name = "\(type)"
      self.fields = fields
      read = { bytes in
        let value = try Value(json: bytes)
        return (value.json, value.rest.all.count)
      }
    }
  }

  private static let content: [(String, Form, Need)] = [
    ("original_str", .text, .optional), ("prepared", .values, .defaulted),
  ]
  private static let reaction: [(String, Form, Need)] = [
    ("name", .text, .required), ("users", .texts, .required), ("count", .number, .required),
  ]
  private static let summary: [(String, Form, Need)] = [
    ("date", .number, .required), ("sender", .text, .required), ("sender_name", .text, .required),
    ("title", .text, .required), ("text", .text, .optional),
  ]
  private static let headers: [(String, Form, Need)] = [
    ("title", .text, .required), ("body", .text, .required),
  ]
  private static let payload: [(String, Form, Need)] = [
    ("company_id", .text, .required), ("workspace_id", .text, .required),
    ("channel_id", .text, .required), ("thread_id", .text, .optional),
    ("message_id", .text, .required),
  ]
  private static let data: [(String, Form, Need)] = [
    ("action", .word("update"), .required), ("message_id", .text, .required),
    ("thread_id", .text, .required),
  ]

  static let models = [
    Model(
      Twake.Authentication.self,
      [
        ("token", .text, .required), ("refresh_token", .text, .required),
        ("expiration", .number, .required), ("refresh_expiration", .number, .required),
      ]),
    Model(
      Twake.Account.self,
      [
        ("id", .text, .required), ("email", .text, .required), ("firstname", .text, .optional),
        ("lastname", .text, .optional), ("username", .text, .required),
        ("thumbnail", .text, .optional), ("console_id", .text, .optional),
        ("status_icon", .text, .optional), ("status", .text, .optional),
        ("language", .text, .optional), ("last_activity", .number, .required),
      ]),
    Model(
      Twake.Company.self,
      [
        ("id", .text, .required), ("name", .text, .required), ("logo", .text, .optional),
        ("total_members", .number, .required), ("selected_workspace", .text, .optional),
        ("permissions", .texts, .defaulted),
      ]),
    Model(
      Twake.Workspace.self,
      [
        ("id", .text, .required), ("name", .text, .required), ("logo", .text, .optional),
        ("company_id", .text, .required), ("total_members", .number, .required),
        ("user_last_access", .number, .required), ("permissions", .texts, .defaulted),
      ]),
    Model(
      Twake.Channel.self,
      [
        ("id", .text, .required), ("name", .text, .defaulted), ("icon", .text, .optional),
        ("description", .text, .optional), ("company_id", .text, .required),
        ("workspace_id", .text, .required), ("members_count", .number, .defaulted),
        ("members", .texts, .defaulted), ("visibility", .word("direct"), .required),
        ("last_activity", .number, .defaulted), ("last_message", .object(summary), .optional),
        ("user_last_access", .number, .defaulted), ("draft", .text, .optional),
        ("permissions", .texts, .defaulted),
      ]),
    Model(
      Twake.Message.self,
      [
        ("id", .text, .required), ("thread_id", .text, .optional),
        ("channel_id", .text, .required), ("responses_count", .number, .defaulted),
        ("user_id", .text, .optional), ("app_id", .text, .optional),
        ("creation_date", .number, .required), ("modification_date", .number, .required),
        ("content", .object(content), .required), ("reactions", .objects(reaction), .required),
        ("username", .text, .required), ("firstname", .text, .optional),
        ("lastname", .text, .optional), ("thumbnail", .text, .optional),
        ("draft", .text, .optional), ("_is_read", .number, .defaulted),
      ]),
    Model(
      Twake.File.self,
      [
        ("id", .text, .required), ("name", .text, .required), ("preview", .text, .optional),
        ("download", .text, .optional), ("size", .number, .required),
      ]),
    Model(
      Twake.Badge.self,
      [
        ("type", .word("company"), .required), ("id", .text, .required),
        ("count", .number, .required),
      ]),
    Model(
      Twake.FirebaseNotification.self,
      [("headers", .object(headers), .required), ("payload", .object(payload), .required)]),
    Model(
      Twake.LocalNotification.self,
      [("type", .word("file"), .required), ("payload", .anyObject, .required)]),
    Model(
      Twake.SocketIOEvent.self,
      [("name", .text, .required), ("data", .object(data), .required)]),
    Model(
      Twake.SocketIOResource.self,
      [
        ("action", .word("saved"), .required), ("type", .word("channel"), .required),
        ("resource", .anyObject, .required),
      ]),
    Model(
      Twake.SocketIORoom.self,
      [
        ("key", .text, .required), ("type", .word("channel"), .required),
        ("id", .text, .required), ("subscribed", .word("true"), .defaulted),
      ]),
    Model(Twake.MessageSummary.self, summary), Model(Twake.MessageContent.self, content),
    Model(Twake.Reaction.self, reaction), Model(Twake.NotificationHeaders.self, headers),
    Model(Twake.NotificationPayload.self, payload), Model(Twake.MessageData.self, data),
  ]

  private static func json(_ fields: [(String, Form, Need)], seed: Int = 1) -> JSONValue {
    var object = JSONFields()
    for (index, field) in fields.enumerated() {
      object.append(.init(field.0, json(field.1, seed * 100 + index)))
    }
    return JSONValue(object)
  }

  private static func json(_ form: Form, _ number: Int) -> JSONValue {
    switch form {
    case .text: JSONValue("é\(number)")
    case .number: JSONValue(number)
    case .texts: JSONValue([JSONValue("a\(number)"), JSONValue("b")])
    case .values: JSONValue([JSONValue("a"), JSONValue(number), JSONValue(JSONFields())])
    case .word("true"): JSONValue(true)
    case .word(let word): JSONValue(word)
    case .object(let fields): json(fields, seed: number)
    case .objects(let fields): JSONValue([json(fields, seed: number), json(fields, seed: 7)])
    case .anyObject: ["x": JSONValue(number)]
    }
  }

  @Test("each is a property, and the model is written back as it was read", arguments: models)
  func fields(model: Model) throws {
    let whole = Self.json(model.fields)
    let read = try model.read(whole.utf8)
    #expect(read.rest == 0, "a field is not known")
    #expect(read.json == whole.utf8, "\(String(decoding: read.json, as: UTF8.self))")
    for (name, form, need) in model.fields {
      let others = Self.json(model.fields.filter { $0.0 != name })
      switch need {
      case .required:
        #expect(throws: ModelError.missing(field: name)) { try model.read(others.utf8) }
      case .optional: #expect(try model.read(others.utf8).json == others.utf8, "\(name)")
      case .defaulted: #expect(throws: Never.self, "\(name)") { try model.read(others.utf8) }
      }
      // A value of another type is an error that names the field.
      var wrong = try #require(whole.fields)
      wrong.remove(name)
      if case .values = form {
        wrong.append(.init(name, JSONValue("x")))
      } else {
        wrong.append(.init(name, JSONValue([JSONValue(1), JSONValue("x")])))
      }
      #expect(throws: ModelError.self, "\(name)") { try model.read(wrong.json) }
    }
  }

  @Test("words of lists are those of the family's apps, and unknown words are preserved")
  func words() {
    #expect(Twake.ChannelVisibility.known.map(\.rawValue) == ["public", "private", "direct"])
    #expect(Twake.ChannelsType.known.map(\.rawValue) == ["commons", "directs"])
    #expect(Twake.BadgeType.known.map(\.rawValue) == ["company", "workspace", "channel"])
    #expect(Twake.LocalNotificationType.known.map(\.rawValue) == ["message", "file"])
    #expect(Twake.IOEventAction.known.map(\.rawValue) == ["remove", "update"])
    for word in ["updated", "saved", "deleted"] {
      #expect(Twake.ResourceAction(rawValue: word).isKnown)
    }
    for word in ["channel", "channel_member", "channel_activity"] {
      #expect(Twake.ResourceType(rawValue: word).isKnown)
    }
    #expect(!Twake.ResourceType(rawValue: "film").isKnown)
    #expect(Twake.ResourceType(rawValue: "film").rawValue == "film")
  }

  @Test("a notification is a text for the system, and is read back from it")
  func stringified() throws {
    var payload = Twake.NotificationPayload()
    payload.companyID = "c"
    payload.threadID = "é\""
    #expect(try Twake.NotificationPayload(json: payload.stringified.utf8) == payload)
    var local = Twake.LocalNotification()
    local.type = .file
    local.payload = payload.fields
    #expect(try Twake.LocalNotification(json: local.stringified.utf8) == local)
  }
}
