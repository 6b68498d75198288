import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Messages of group chats over HTTP, in the format of group chat clients.
///
///     GET  /v3/groups/{id}/messages?before_id=|since_id=&limit=  the default limit is 20
///     POST /v3/groups/{id}/messages  {"message": {"source_guid", "text", "attachments"}}
///
/// A group's messages are the publications of the room `/group/{id}`; a message's id is its offset.
/// `since_id` returns the next messages, oldest first, so that paging leaves no gap. Otherwise the
/// newest messages come first.
extension AppRequests {
  /// Answers a request about a group's messages.
  func receiveGroupChat(
    _ request: RequestID, _ head: RequestHead, _ body: [UInt8], aboutGroup name: Substring
  ) throws(Response) {
    guard let group = PercentEncoding.decoded(name), !group.isEmpty, group.utf8.count <= 128
    else { throw Self.refusal(400, "the group's id is not valid") }
    let identity = try access.identity(of: Self.groupHead(head))
    count(request, towards: identity, from: head.limitedAddress)
    let room = RoomName("/group/" + group)
    let reads = head.method == "GET"
    guard reads || head.method == "POST" else { throw .methodNotAllowed("GET", "POST") }
    guard identity.may(reads ? .read : .publish, .room(room)) else {
      throw Self.refusal(403, "the token does not grant this group")
    }
    if reads {
      try readMessages(request, of: room, QueryFields(head.query), identity)
    } else {
      try postMessage(request, group: group, in: room, body, identity)
    }
  }

  /// Returns the head with the token of `x-access-token` in `authorization`.
  static func groupHead(_ head: RequestHead) -> RequestHead {
    var head = head
    if let token = head.headers["x-access-token"], head.headers["authorization"] == nil {
      head.headers["authorization"] = token
    }
    return head
  }

  private static func refusal(_ status: Int, _ message: String) -> Response {
    envelope(status, errors: [message])
  }

  /// `{"meta": {"code", "errors"}, "response": …}`.
  private static func envelope(
    _ status: Int, _ response: JSONFields? = nil, errors: [String]? = nil
  ) -> Response {
    var meta: JSONFields = ["code": JSONValue(status)]
    if let errors {
      meta.append(.init("errors", JSONValue(errors.map { JSONValue($0) })))
    }
    let whole: JSONFields = [
      "meta": JSONValue(meta), "response": response.map { JSONValue($0) } ?? .null,
    ]
    return .json(status, whole.json)
  }

  // MARK: Reading

  private func readMessages(
    _ request: RequestID, of room: RoomName, _ query: QueryFields, _ identity: Identity
  ) throws(Response) {
    let unfit = Self.refusal(400, "expected since_id or before_id, and a limit, as numbers")
    func number(_ text: String?) throws(Response) -> Int? {
      guard let text else { return nil }
      guard let number = Int(text), number >= 0 else { throw unfit }
      return number
    }
    let since = try number(query["since_id"] ?? query["after_id"])
    let before = try number(query["before_id"])
    let asked = try number(query["limit"])
    guard since == nil || before == nil, asked != 0 else { throw unfit }
    let range: RoomRange = since.map { .since($0) } ?? before.map { .before($0) } ?? .newest
    let limit = min(asked ?? GroupChatForm.pageMessages, settings.limits.pageMax)
    rooms.read(
      RoomReading(
        room: room, range: range, limit: limit, filter: .messages(to: identity.person),
        reader: .groupChat(request, isSince: since != nil)))
  }

  /// Responds with messages.
  func answer(groupChat request: RequestID, _ outcome: StoreOutcome<RoomPage>, isSince: Bool) {
    guard case .success(let page) = outcome else {
      return respond(
        request, Self.refusal(503, "the store cannot do this now; try again later"))
    }
    var lines = page.publications.compactMap { publication in
      RoomView.placed(publication)?.value(of: "subject")
    }
    if !isSince { lines.reverse() }
    let response: JSONFields = [
      "count": JSONValue(page.head.offset), "messages": JSONValue(lines),
      "has_gap": JSONValue(page.hasGap), "has_more": JSONValue(page.hasMore),
    ]
    respond(request, Self.envelope(200, response))
  }

  // MARK: Writing

  private func postMessage(
    _ request: RequestID, group: String, in room: RoomName, _ body: [UInt8], _ identity: Identity
  ) throws(Response) {
    guard let message = GroupChatMessage(body), let guid = message.sourceGUID, !guid.isEmpty,
      message.text != nil || message.attachments != nil
    else {
      throw Self.refusal(400, "expected a message with source_guid, and text or attachments")
    }
    let byteCount = (message.text?.utf8.count ?? 0) + guid.utf8.count
    if let problem = rooms.checks.problem(ofData: byteCount) { throw Self.refusal(413, problem) }
    let now = dependencies.clock.now
    let name = OneLine.made(of: identity.name ?? identity.user)
    let text = message.text
    let subject = GroupChatForm.subject(
      group: group, user: identity.user, name: name, text: text, sourceGUID: guid,
      attachments: message.attachments ?? [])
    let push = GroupChatForm.push(subject, alert: "\(name): \(text ?? "")")
    rooms.publish(
      PublishRequest(
        room: room, data: JSONValue(push), key: "\(identity.user) \(guid)",
        person: identity.person),
      for: .groupChat(request, subject: subject, time: now))
  }

  /// Responds to the request that posted a message.
  func answer(
    groupChat request: RequestID, _ subject: JSONFields, at time: Timestamp,
    _ result: PublishResult
  ) {
    switch result {
    case .published(let position, let isRepeated):
      var subject = subject
      subject.set("id", JSONValue(String(position.offset)))
      subject.set("created_at", JSONValue(Int(time / 1_000)))
      let response: JSONFields = ["message": JSONValue(subject)]
      respond(request, Self.envelope(isRepeated ? 409 : 201, response))
    case .refused(let code, let message):
      respond(request, Self.refusal(code.status, message))
    case .unmet(let condition):
      respond(request, Self.refusal(condition.code.status, condition.message))
    }
  }
}

/// A group's message in the client's format.
private struct GroupChatMessage {
  var sourceGUID: String?
  var text: String?
  var attachments: [JSONValue]?

  /// Maximum attachments of a message.
  private static let attachmentsMax = 1_000

  /// Reads `{"message": {…}}`; `nil` for any other body. Fields of wrong types count as missing.
  init?(_ body: [UInt8]) {
    let found = JSONBody.fields(in: body, Self?.none) { found, key, reader throws(JSONError) in
      guard key == "message" else {
        try reader.skipValue()
        return
      }
      found = nil
      var message = Self()
      var isObject = false
      try reader.objectIfAny { key, reader throws(JSONError) in
        isObject = true
        try message.read(key, &reader)
      }
      if isObject { found = message }
    }
    guard let message = found ?? nil else { return nil }
    self = message
  }

  private init() {}

  private mutating func read(
    _ key: JSONText, _ reader: inout JSONReader
  ) throws(JSONError) {
    switch key {
    case "source_guid": sourceGUID = try reader.stringIfAny()
    case "text": text = try reader.stringIfAny()
    case "attachments":
      attachments = nil
      guard reader.isAtArray() else {
        try reader.skipValue()
        return
      }
      var elements: [JSONValue] = []
      try reader.array { reader throws(JSONError) in
        guard elements.count < Self.attachmentsMax else {
          throw .tooManyValues(valuesMax: Self.attachmentsMax)
        }
        elements.append(try reader.value())
      }
      attachments = elements
    default: try reader.skipValue()
    }
  }
}
