import ParleyJSON
public import ParleyOffline

/// A transport that translates a `RESTService`'s requests to the gateway's requests for groups.
/// Its collections are `groups`, `members` and `messages`.
///
/// | collection | its ids | at the gateway |
/// | --- | --- | --- |
/// | `groups` | the change's key | `…/rooms/{room}/group`, `/api/groups`, `/api/badges` |
/// | `members` | group and person | `…/rooms/{room}/members?person=` |
/// | `messages` | group and offset | `…/rooms/{room}/publish`, `history`, `likes` |
public struct GroupRoutes: WebTransport {
  private let base: String
  private let person: @Sendable () -> String?
  private let transport: any WebTransport

  /// Creates routes.
  ///
  /// - Parameters:
  ///   - base: The gateway's API, `https://notes.example.org/api`.
  ///   - person: Returns the signed-in person, whose own likes are separated from others'.
  public init(
    _ base: String, transport: any WebTransport = SystemWebTransport(),
    person: @escaping @Sendable () -> String?
  ) {
    self.base = base
    self.transport = transport
    self.person = person
  }

  /// Maximum messages of one page.
  public static let pageMessages = 20

  /// Sends a request of a `RESTService` as one or more requests to the gateway.
  public func send(_ request: WebRequest) async throws -> WebResponse {
    guard request.url.hasPrefix(base + "/") else { return WebResponse(status: 404) }
    let parts = request.url.dropFirst(base.count + 1).split(separator: "?", maxSplits: 1)
    let path = (parts.first ?? "").split(separator: "/").map { Escapes.decoded($0) }
    let query = Escapes.fields(parts.count > 1 ? parts[1] : "")
    switch (path.first, path.count) {
    case ("groups", 1): return try await groups(request)
    case ("groups", 2): return try await group(request, path[1])
    case ("groups", 3) where path[2] == "read":
      let answer = try await ask(
        request, "PUT", room(path[1]) + "/read", JSONFields(request.body))
      return (200..<300).contains(answer.status) ? WebResponse(status: 204) : answer
    case ("members", 1): return try await members(request, query["group"])
    case ("members", 2): return try await member(request, path[1])
    case ("messages", 1): return try await messages(request, query)
    case ("messages", 2): return try await message(request, path[1])
    default: return WebResponse(status: 404)
    }
  }

  // MARK: Requests to the gateway

  private func ask(
    _ request: WebRequest, _ method: String, _ path: String, _ body: JSONFields? = nil
  ) async throws -> WebResponse {
    var asked = WebRequest(
      method, base + path, headers: request.headers, body: body?.json ?? [])
    // A condition on one resource does not fit the several requests that it becomes.
    asked.headers.removeAll { $0.name == "If-Match" }
    var answer = try await transport.send(asked)
    // A limit is reached. This is no conflict, because there is nothing to merge.
    if answer.status == 409, JSONFields(answer.body)?["code"]?.string == "tooMany" {
      answer.status = 422
    }
    return answer
  }

  private func room(_ group: String) -> String { "/rooms/" + Escapes.encoded("/group/" + group) }

  private static func ok(_ value: JSONValue, _ status: Int = 200) -> WebResponse {
    WebResponse(status: status, body: value.utf8)
  }

  /// Returns all pages of a list, or the first response that is not a page.
  private func all(
    _ request: WebRequest, _ path: String, _ name: String
  ) async throws -> Result<[JSONFields], Refused> {
    var found: [JSONFields] = []
    var next: String?
    repeat {
      let mark = path.contains("?") ? "&" : "?"
      let answer = try await ask(
        request, "GET",
        next.map { "\(path)\(mark)after=\(Escapes.encoded($0))" } ?? path)
      guard answer.status == 200, let fields = JSONFields(answer.body),
        let elements = fields[name]?.elements
      else { return .failure(Refused(answer: answer)) }
      found += elements.compactMap(\.fields)
      next = fields["next"]?.string
    } while next != nil && found.count < Self.listedMax
    return .success(found)
  }

  /// The limit at which no further page of a list is fetched.
  private static let listedMax = 10_000

  private struct Refused: Error { let answer: WebResponse }

  // MARK: Groups

  private func groups(_ request: WebRequest) async throws -> WebResponse {
    guard request.method == "GET" else {
      // Each change has its own key, so the key also identifies the new group.
      let key = request.headers.last { $0.name == "Idempotency-Key" }?.value ?? ""
      let body = JSONFields(request.body) ?? JSONFields()
      return shown(try await ask(request, "PUT", room(key) + "/group", body), key)
    }
    let (groups, badges): ([JSONFields], [JSONFields])
    switch (
      try await all(request, "/groups", "groups"), try await all(request, "/badges", "badges")
    ) {
    case (.success(let found), .success(let counts)): (groups, badges) = (found, counts)
    case (.failure(let refused), _), (_, .failure(let refused)): return refused.answer
    }
    var unread: [String: JSONValue] = [:]
    for badge in badges {
      if let room = badge["room"]?.string, let count = badge["unread"] { unread[room] = count }
    }
    let prefix = "/group/"
    return Self.ok(
      JSONValue(
        groups.compactMap { group -> JSONValue? in
          guard let room = group["room"]?.string, room.hasPrefix(prefix) else { return nil }
          var fields = [JSONFields.Field("id", JSONValue(String(room.dropFirst(prefix.count))))]
          fields += group.all.filter { $0.name != "room" }
          if let count = unread[room] { fields.append(.init("unread", count)) }
          return JSONValue(JSONFields(fields))
        }))
  }

  private func group(_ request: WebRequest, _ id: String) async throws -> WebResponse {
    switch request.method {
    case "GET": return shown(try await ask(request, "GET", room(id) + "/group"), id)
    case "DELETE": return try await ask(request, "DELETE", room(id) + "/group")
    default:
      return shown(
        try await ask(request, "PUT", room(id) + "/group", JSONFields(request.body)), id)
    }
  }

  /// Returns a response about a group, with the group's id.
  private func shown(_ answer: WebResponse, _ id: String) -> WebResponse {
    guard (200..<300).contains(answer.status), let fields = JSONFields(answer.body) else {
      return answer
    }
    var answer = answer
    answer.body =
      JSONFields([.init("id", JSONValue(id))] + fields.all.filter { $0.name != "room" }).json
    return answer
  }

  // MARK: Members

  private func members(_ request: WebRequest, _ group: String?) async throws -> WebResponse {
    if request.method == "GET" {
      guard let group else { return WebResponse(status: 400) }
      // The group is not created on the server yet.
      if group.hasPrefix("t:") { return Self.ok(JSONValue([JSONValue]())) }
      switch try await all(request, room(group) + "/members", "members") {
      case .success(let found):
        return Self.ok(JSONValue(found.compactMap { member($0, of: group) }))
      case .failure(let refused): return refused.answer
      }
    }
    guard let body = JSONFields(request.body), let group = body["group"]?.string,
      let person = body["personId"]?.string
    else { return WebResponse(status: 400) }
    return try await put(request, person, body, in: group)
  }

  private func member(_ request: WebRequest, _ id: String) async throws -> WebResponse {
    guard let (group, person) = PairID.parts(id) else { return WebResponse(status: 404) }
    if request.method == "DELETE" {
      return try await ask(
        request, "DELETE", room(group) + "/members?person=" + Escapes.encoded(person))
    }
    return try await put(request, person, JSONFields(request.body) ?? JSONFields(), in: group)
  }

  private func put(
    _ request: WebRequest, _ person: String, _ body: JSONFields, in group: String
  ) async throws -> WebResponse {
    let nickname = body["nickname"].map { [JSONFields.Field("nickname", $0)] } ?? []
    var answer = try await ask(
      request, "PUT", room(group) + "/members?person=" + Escapes.encoded(person),
      JSONFields(nickname))
    if (200..<300).contains(answer.status), let fields = JSONFields(answer.body),
      let member = member(fields, of: group)
    {
      answer.body = member.utf8
    }
    return answer
  }

  private func member(_ fields: JSONFields, of group: String) -> JSONValue? {
    guard let person = fields["personId"]?.string else { return nil }
    return JSONValue(
      JSONFields(
        [
          .init("id", JSONValue(PairID.make(group, person))), .init("group", JSONValue(group)),
        ] + fields.all.filter { $0.name != "joinedAt" }))
  }

  // MARK: Messages

  private func messages(
    _ request: WebRequest, _ query: [String: String]
  ) async throws -> WebResponse {
    guard request.method == "GET" else { return try await publish(request) }
    guard let group = query["group"] else { return WebResponse(status: 400) }
    if group.hasPrefix("t:") { return Self.ok(JSONValue([JSONValue]())) }
    let range = ["before", "since"].compactMap { name in
      query[name].map { "&\(name)=\(Escapes.encoded($0))" }
    }
    let answer = try await ask(
      request, "GET", room(group) + "/history?limit=\(Self.pageMessages)\(range.joined())")
    guard answer.status == 200,
      let publications = JSONFields(answer.body)?["publications"]?.elements
    else { return answer }
    let lines = publications.compactMap(\.fields)
    // Do not rely on the order: a range with its bounds swapped would trap.
    let offsets = lines.compactMap { $0["offset"]?.integer }
    guard let first = offsets.min(), let last = offsets.max() else {
      return Self.ok(JSONValue([JSONValue]()))
    }
    let likes: [Int: [(person: String, reaction: String)]]
    switch try await self.likes(request, in: group, first...last) {
    case .success(let found): likes = found
    case .failure(let refused): return refused.answer
    }
    return Self.ok(
      JSONValue(lines.compactMap { line($0, in: group, likes: likes) }))
  }

  private func likes(
    _ request: WebRequest, in group: String, _ offsets: ClosedRange<Int>
  ) async throws -> Result<[Int: [(person: String, reaction: String)]], Refused> {
    var found: [Int: [(person: String, reaction: String)]] = [:]
    var since = offsets.lowerBound - 1
    while since < offsets.upperBound {
      let answer = try await ask(request, "GET", room(group) + "/likes?since=\(since)")
      guard answer.status == 200, let fields = JSONFields(answer.body),
        let elements = fields["likes"]?.elements
      else { return .failure(Refused(answer: answer)) }
      for like in elements.compactMap(\.fields) {
        guard let offset = like["offset"]?.integer, offsets.contains(offset),
          let person = like["personId"]?.string, let reaction = like["reaction"]?.string
        else { continue }
        found[offset, default: []].append((person, reaction))
      }
      guard let next = fields["next"]?.string.flatMap({ Int($0) }), next > since else { break }
      since = next
    }
    return .success(found)
  }

  /// Returns a publication as a message; `nil` if it is not one.
  private func line(
    _ publication: JSONFields, in group: String,
    likes: [Int: [(person: String, reaction: String)]]
  ) -> JSONValue? {
    guard let offset = publication["offset"]?.integer,
      let subject = publication["data"]?.fields?["subject"]?.fields
    else { return nil }
    var fields: [JSONFields.Field] = [
      .init("id", JSONValue(PairID.make(group, "\(offset)"))), .init("group", JSONValue(group)),
    ]
    func add(_ name: String, _ value: JSONValue?) {
      if let value { fields.append(.init(name, value)) }
    }
    add("personId", publication["personId"])
    add("time", publication["time"])
    add("text", subject["text"])
    add("event", subject["event"]?.fields?["type"])
    add("sourceGuid", subject["source_guid"])
    let attached = (subject["attachments"]?.elements ?? []).compactMap { $0.fields?["url"] }
    if !attached.isEmpty { add("attachments", JSONValue(attached)) }
    let own = person()
    let others = (likes[offset] ?? []).filter { $0.person != own }
    if !others.isEmpty {
      add("likes", JSONValue(JSONFields(others.map { .init($0.person, JSONValue($0.reaction)) })))
    }
    add("reaction", (likes[offset] ?? []).first { $0.person == own }.map { JSONValue($0.reaction) })
    return JSONValue(JSONFields(fields))
  }

  private func publish(_ request: WebRequest) async throws -> WebResponse {
    guard let body = JSONFields(request.body), let group = body["group"]?.string else {
      return WebResponse(status: 400)
    }
    let key = request.headers.last { $0.name == "Idempotency-Key" }?.value ?? ""
    var subject: [JSONFields.Field] = [
      .init("group_id", JSONValue(group)), .init("source_guid", JSONValue(key)),
    ]
    if let person = person() { subject.append(.init("user_id", JSONValue(person))) }
    if let text = body["text"], text.string != nil { subject.append(.init("text", text)) }
    let attachments = (body["attachments"]?.elements ?? []).map { address in
      JSONValue(JSONFields([.init("type", JSONValue("image")), .init("url", address)]))
    }
    subject.append(.init("attachments", JSONValue(attachments)))
    let data = JSONFields([
      .init("type", JSONValue("line.create")), .init("subject", JSONValue(JSONFields(subject))),
    ])
    let sender = request.headers.last { $0.name == "X-Sender-Id" }?.value
    var whole: [JSONFields.Field] = [
      .init("data", JSONValue(data)), .init("key", JSONValue(key)), .init("push", JSONValue(true)),
    ]
    if let sender { whole.append(.init("senderId", JSONValue(sender))) }
    var answer = try await ask(request, "POST", room(group) + "/publish", JSONFields(whole))
    guard answer.status == 200, let offset = JSONFields(answer.body)?["offset"]?.integer else {
      return answer
    }
    var made = [JSONFields.Field("id", JSONValue(PairID.make(group, "\(offset)")))]
    made += body.all
    made.append(.init("sourceGuid", JSONValue(key)))
    if let person = person() { made.append(.init("personId", JSONValue(person))) }
    answer.body = JSONFields(made).json
    // A like was added before the message was sent. A retry sends both again, each applied once.
    if let reaction = body["reaction"], reaction.string.map({ !$0.isEmpty }) ?? false {
      _ = try await ask(
        request, "PUT", room(group) + "/likes?offset=\(offset)",
        JSONFields([.init("reaction", reaction)]))
    }
    return answer
  }

  /// Changes the person's own reaction, the only part of a message that can be changed.
  private func message(_ request: WebRequest, _ id: String) async throws -> WebResponse {
    guard let (group, offset) = PairID.parts(id), request.method != "GET",
      let reaction = JSONFields(request.body)?["reaction"]
    else { return WebResponse(status: 405) }
    let path = room(group) + "/likes?offset=" + Escapes.encoded(offset)
    let answer =
      reaction.string.map { !$0.isEmpty } ?? false
      ? try await ask(request, "PUT", path, JSONFields([.init("reaction", reaction)]))
      : try await ask(request, "DELETE", path)
    // Without a body in the response, the message remains as it is shown.
    return (200..<300).contains(answer.status) ? WebResponse(status: 204) : answer
  }
}

/// Ids of resources that belong to a group: the group's id, a space, and the rest.
enum PairID {
  static func make(_ group: String, _ rest: String) -> String { "\(group) \(rest)" }

  static func parts(_ id: String) -> (group: String, rest: String)? {
    let parts = id.split(separator: " ", maxSplits: 1)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
  }
}

/// Percent-encoding of paths and queries.
enum Escapes {
  static func encoded(_ text: String) -> String { RESTService.escaped(text) }

  static func decoded(_ text: some StringProtocol) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func fields(_ query: some StringProtocol) -> [String: String] {
    var fields: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1)
      if parts.count == 2 { fields[decoded(parts[0])] = decoded(parts[1]) }
    }
    return fields
  }
}
