import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Notices")
struct NoticeTests {
  private let rig: GatewayRig
  private let path = "/api/notes/n1/comments"

  init() { self.init() { _ in } }

  private init(users: (any UserSource)? = nil, _ change: (inout GatewaySettings) -> Void) {
    rig = GatewayRig(users: users, change: change)
    for name in ["ann", "bob", "eve", "__proto__"] {
      _ = rig.token(name, [Grant(.documents, NamePattern("n*"), .all)])
    }
    _ = rig.token("stranger", [Grant(.rooms, NamePattern("*"), .all)])
    rig.make("n1", "n2")
    #expect(
      rig.request("PUT", "/api/notes/n1/text", token: "ann", "one two three").status == 200)
  }

  private func remark(_ mentions: [String] = [], _ text: String = "why?") -> String {
    let names = mentions.map { "\"\($0)\"" }.joined(separator: ",")
    return #"{"text":"\#(text)","mentions":[\#(names)],"anchor":{"revision":1,"from":0,"to":3}}"#
  }

  /// Makes a comment, and returns its id.
  @discardableResult
  private func comment(_ body: String, as token: String) throws -> String {
    let answer = rig.request("POST", path, token: token, body)
    #expect(answer.status == 201)
    return try #require(JSONFields(answer.body.utf8)?["id"]?.string)
  }

  private func list(of token: String, _ query: String = "") throws -> [JSONFields] {
    let answer = rig.request("GET", "/api/notices" + query, token: token)
    #expect(answer.status == 200)
    return try #require(JSONFields(answer.body.utf8)?["notices"]?.elements).compactMap(\.fields)
  }

  private func kinds(of token: String) throws -> [String?] {
    try list(of: token).map { $0["kind"]?.string }
  }

  private func unread(of token: String) throws -> Int? {
    let answer = rig.request("GET", "/api/notices/unread", token: token)
    #expect(answer.status == 200)
    return JSONFields(answer.body.utf8)?["unread"]?.integer
  }

  @Test("a mention reaches the person, with its author, note and comment, and nobody else")
  func mention() throws {
    let id = try comment(remark(["bob", "bob", "ann", "__proto__"]), as: "ann")
    let notice = try #require(list(of: "bob").first)
    #expect(notice["kind"]?.string == "mention" && notice["author"]?.string == "The ann")
    #expect(notice["note"]?.string == "n1" && notice["title"]?.string == "n1")
    #expect(notice["comment"]?.string == id && notice["thread"]?.string == id)
    #expect(notice["read"]?.boolean == false)
    #expect(notice["createdAt"]?.integer == Int(rig.clock.now))
    #expect(try kinds(of: "bob") == ["mention"])
    #expect(try kinds(of: "__proto__") == ["mention"])
    #expect(try kinds(of: "ann").isEmpty && kinds(of: "eve").isEmpty)
  }

  @Test("an answer reaches all earlier writers of the thread once, and a mention is not doubled")
  func answer() throws {
    let thread = try comment(remark(), as: "ann")
    try comment(#"{"text":"a","thread":"\#(thread)"}"#, as: "bob")
    try comment(#"{"text":"b","thread":"\#(thread)"}"#, as: "bob")
    try comment(#"{"text":"c","thread":"\#(thread)","mentions":["ann"]}"#, as: "eve")
    #expect(try kinds(of: "ann") == ["mention", "answer", "answer"])
    #expect(try kinds(of: "bob") == ["answer"])
    #expect(try kinds(of: "eve").isEmpty)
    #expect(try list(of: "bob")[0]["thread"]?.string == thread)
  }

  @Test("a resolution reaches the writers of the thread, and a reopened thread nobody")
  func resolution() throws {
    let thread = try comment(remark(), as: "ann")
    try comment(#"{"text":"a","thread":"\#(thread)"}"#, as: "bob")
    let one = path + "/" + thread
    #expect(rig.request("PATCH", one, token: "bob", #"{"resolved":true}"#).status == 200)
    #expect(rig.request("PATCH", one, token: "bob", #"{"resolved":true}"#).status == 200)
    #expect(rig.request("PATCH", one, token: "bob", #"{"resolved":false}"#).status == 200)
    #expect(try kinds(of: "ann") == ["resolved", "answer"])
    #expect(try kinds(of: "bob").isEmpty)
  }

  @Test("a mention that an edit adds reaches the person once")
  func edit() throws {
    let id = try comment(remark(["bob"]), as: "ann")
    for text in ["x", "y"] {
      let edit = #"{"text":"\#(text)","mentions":["bob","eve"]}"#
      #expect(rig.request("PATCH", path + "/" + id, token: "ann", edit).status == 200)
      #expect(rig.request("PATCH", path + "/" + id, token: "bob", edit).status == 403)
    }
    #expect(try kinds(of: "bob") == ["mention"])
    #expect(try kinds(of: "eve") == ["mention"])
    #expect(try kinds(of: "ann").isEmpty)
  }

  @Test("too many mentions, invalid ones and those by guests are refused, and store nothing")
  func hostile() throws {
    let many = (0..<10_000).map { "person \($0)" }
    #expect(rig.request("POST", path, token: "ann", remark(many)).status == 413)
    #expect(rig.request("POST", path, token: "ann", remark(Array(many.prefix(21)))).status == 413)
    #expect(rig.request("POST", path, token: "ann", remark([""])).status == 400)
    let long = String(repeating: "x", count: 201)
    #expect(rig.request("POST", path, token: "ann", remark([long])).status == 400)
    for mentions in ["1", "{}", "[1]", "[[]]", "[null]", #"["bob"#] {
      let body = #"{"text":"a","thread":"t","mentions":\#(mentions)}"#
      #expect(rig.request("POST", path, token: "ann", body).status == 400)
    }
    let link = rig.request("POST", "/api/notes/n1/share", token: "ann", #"{"access":"write"}"#)
    let guest = try #require(JSONFields(link.body.utf8)?["token"]?.string)
    #expect(rig.request("POST", path, token: guest, remark(["bob"])).status == 403)
    #expect(try unread(of: "bob") == 0)
    #expect(rig.request("POST", path, token: "ann", remark(Array(many.prefix(20)))).status == 201)
  }

  @Test("a guest's answer reaches the writers, and guests and programs have no notices")
  func guests() throws {
    let thread = try comment(remark(), as: "ann")
    let link = rig.request("POST", "/api/notes/n1/share", token: "ann", #"{"access":"write"}"#)
    let guest = try #require(JSONFields(link.body.utf8)?["token"]?.string)
    try comment(#"{"text":"a","thread":"\#(thread)","author":"Gus"}"#, as: guest)
    #expect(try list(of: "ann")[0]["author"]?.string == "Gus (guest)")
    for token in [guest, "pk_operator"] {
      for (method, path) in [
        ("GET", "/api/notices"), ("GET", "/api/notices/unread"), ("POST", "/api/notices/read"),
      ] {
        let body = method == "POST" ? #"{"through":9}"# : ""
        #expect(rig.request(method, path, token: token, body).status == 403)
      }
    }
    #expect(rig.request("GET", "/api/notices").status == 401)
  }

  @Test("notices of a note that one may no longer read are neither shown nor counted")
  func lostRight() throws {
    try comment(remark(["bob"]), as: "ann")
    #expect(try unread(of: "bob") == 1)
    rig.book?.enter(
      "bob later", user: "bob", [Grant(.documents, NamePattern("other"), [.read, .write])])
    #expect(try unread(of: "bob later") == 0)
    #expect(try list(of: "bob later").isEmpty)
    rig.book?.enter("bob again", user: "bob", [Grant(.documents, NamePattern("n1"), .read)])
    #expect(try unread(of: "bob again") == 1)
  }

  /// Users with rights, as in a file.
  private final class Users: UserSource {
    let grants: [String: [Grant]]
    init(_ grants: [String: [Grant]]) { self.grants = grants }
    var generation: Int { 0 }
    func refresh(now: Timestamp) {}
    func user(_ id: String) -> User? {
      grants[id].map { User(id: id, name: id, grants: $0) }
    }
    func user(_ id: String, password: String) -> User? { nil }
  }

  @Test("a user who may not read the note gets no notice, also if the right comes later")
  func unreadable() throws {
    let users = Users(["bob": [], "eve": [Grant(.folders, NamePattern("team/*"), .read)]])
    let test = NoticeTests(users: users) { _ in }
    try test.comment(test.remark(["bob", "eve"]), as: "ann")
    #expect(try test.unread(of: "bob") == 0 && test.unread(of: "eve") == 0)
    let move = test.rig.request("PATCH", "/api/notes/n1", token: "ann", #"{"folder":"team/x"}"#)
    #expect(move.status == 200)
    try test.comment(test.remark(["bob", "eve"]), as: "ann")
    #expect(try test.unread(of: "bob") == 0 && test.unread(of: "eve") == 1)
  }

  @Test("pages of any size together have all notices, the newest first", arguments: [1, 2, 7, 200])
  func pages(limit: Int) throws {
    for number in 0..<250 {
      let notice = Notice(
        kind: .mention, note: number % 2 == 0 ? "n1" : "hidden", comment: "c\(number)",
        author: "A", time: 1)
      _ = rig.store.perform([.notices(.add(NoticeDraft(notice, for: ["bob"])))])
    }
    rig.make("hidden")
    for number in 0..<250 {
      let notice = Notice(
        kind: .mention, note: number % 2 == 0 ? "n2" : "hidden", comment: "d\(number)",
        author: "A", time: 1)
      _ = rig.store.perform([.notices(.add(NoticeDraft(notice, for: ["bob"])))])
    }
    var (found, next): ([String?], Int?) = ([], nil)
    repeat {
      let query = "?limit=\(limit)" + (next.map { "&before=\($0)" } ?? "")
      let answer = rig.request("GET", "/api/notices" + query, token: "bob")
      let body = try #require(JSONFields(answer.body.utf8))
      let page = try #require(body["notices"]?.elements).compactMap(\.fields)
      #expect(page.count == limit || body["next"] == nil)
      found += page.map { $0["comment"]?.string }
      next = body["next"]?.integer
    } while next != nil && found.count < 300
    let expected = ["d", "c"].flatMap { letter in
      stride(from: 248, through: 0, by: -2).map { letter + String($0) }
    }
    #expect(found == expected)
    #expect(try unread(of: "bob") == 250)
  }

  @Test("bad queries and bodies are refused", arguments: ["limit=0", "limit=201", "before=x"])
  func badQuery(query: String) {
    #expect(rig.request("GET", "/api/notices?" + query, token: "bob").status == 400)
    for body in [
      "", "[]", "{}", #"{"id":1,"through":2}"#, #"{"id":"1"}"#, #"{"note":1}"#, #"{"id":-1}"#,
    ] {
      #expect(rig.request("POST", "/api/notices/read", token: "bob", body).status == 400)
    }
  }

  @Test("a list that has not changed is not sent again")
  func unchanged() throws {
    try comment(remark(["bob"]), as: "ann")
    for path in ["/api/notices", "/api/notices/unread"] {
      func get(_ tag: String?) throws -> Response {
        var headers = ["authorization": "Bearer bob"]
        headers["if-none-match"] = tag
        return try #require(rig.response(rig.begin("GET", path, headers: headers)))
      }
      let first = try get(nil)
      let tag = try #require(first.headers.first { $0.name == "etag" }?.value)
      #expect(try get(tag).status == 304)
      #expect(
        rig.request("POST", "/api/notices/read", token: "bob", #"{"through":99}"#).status == 200)
      #expect(try get(tag).status == 200)
      _ = rig.store.perform([
        .notices(
          .add(
            NoticeDraft(Notice(kind: .shared, note: "n1", author: "", time: 1), for: ["bob"])))
      ])
    }
  }

  private func news(_ connection: UInt64) -> [String] {
    rig.pushes(connection).compactMap { push in
      if case .resourceUpdate(let update) = push { update.resourceID } else { nil as String? }
    }
  }

  @Test("all clients of a person are told of new notices and of those read elsewhere")
  func live() throws {
    let (phone, _) = try rig.connectNative("bob")
    let (desk, _) = try rig.connectNative("bob")
    let (other, _) = try rig.connectNative("eve")
    for device in [phone, desk] {
      guard case .subscribed = rig.ask(device, .subscribe(.init(room: "/notices/bob"))) else {
        Issue.record("a person cannot follow the own notices")
        return
      }
    }
    for token in ["eve", "stranger"] {
      let (connection, _) = try rig.connectNative(token)
      guard case .error(let error) = rig.ask(connection, .subscribe(.init(room: "/notices/bob")))
      else {
        Issue.record("\(token) follows another person's notices")
        return
      }
      #expect(error.code == .notAllowed)
    }
    for token in ["bob", "stranger"] {
      let publishing = rig.request(
        "POST", "/api/rooms/%2Fnotices%2Fbob/publish", token: token, #"{"data":1}"#)
      #expect(publishing.status == 403)
    }
    try comment(remark(["bob"]), as: "ann")
    #expect(news(phone) == ["notices"] && news(desk) == ["notices"] && news(other).isEmpty)
    // Further changes are told together at the next tick.
    for _ in 0..<5 { try comment(remark(["bob"]), as: "ann") }
    #expect(news(phone).isEmpty)
    rig.pass(milliseconds: 1_000)
    #expect(news(phone) == ["notices"] && news(desk) == ["notices"])
    rig.pass(milliseconds: 1_000)
    let id = try #require(list(of: "bob")[0]["id"]?.integer)
    let marked = rig.request("POST", "/api/notices/read", token: "bob", #"{"id":\#(id)}"#)
    #expect(marked.status == 200 && JSONFields(marked.body.utf8)?["marked"]?.integer == 1)
    #expect(news(phone) == ["notices"] && news(desk) == ["notices"])
    #expect(try unread(of: "bob") == 5)
    let again = rig.request("POST", "/api/notices/read", token: "bob", #"{"id":\#(id)}"#)
    #expect(JSONFields(again.body.utf8)?["marked"]?.integer == 0)
    rig.pass(milliseconds: 1_000)
    #expect(news(phone).isEmpty)
  }

  @Test("a comment whose commit fails causes no notice, and a repeated request causes one")
  func once() throws {
    rig.store.commitsToFail = 1
    #expect(rig.request("POST", path, token: "ann", remark(["bob"])).status == 503)
    #expect(try unread(of: "bob") == 0)
    let headers = ["authorization": "Bearer ann", "idempotency-key": "k"]
    for _ in 0..<2 {
      let request = rig.begin("POST", path, headers: headers, remark(["bob"]))
      #expect(rig.answer(request)?.status == 201)
    }
    #expect(try unread(of: "bob") == 1)
  }

  @Test("old notices are removed when the removal is due")
  func age() throws {
    let test = NoticeTests() { $0.notices = NoticeRule(milliseconds: 10_000_000) }
    try test.comment(test.remark(["bob"]), as: "ann")
    test.rig.pass(milliseconds: 3_600_000)
    #expect(try test.unread(of: "bob") == 1)
    for _ in 0..<2 { test.rig.pass(milliseconds: 3_600_000) }
    #expect(try test.unread(of: "bob") == 0)
  }
}
