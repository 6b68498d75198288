import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Comments on notes")
struct CommentTests {
  private let rig: GatewayRig

  init() { self.init { _ in } }

  private init(_ change: (inout CommentSettings) -> Void) {
    rig = GatewayRig { change(&$0.comments) }
    for (name, verbs) in [
      ("manager", Verbs.all), ("reader", .read), ("writer", [.read, .write]),
      ("critic", [.read, .comment]), ("blind", .comment), ("typist", .write),
    ] {
      _ = rig.token(name, [Grant(.documents, NamePattern("n*"), verbs)])
    }
    _ = rig.token("rooms", [Grant(.rooms, NamePattern("*"), .all)])
    rig.make("n1", "other")
    let text = rig.request("PUT", "/api/notes/n1/text", token: "writer", "one two three")
    #expect(text.status == 200)
  }

  private let path = "/api/notes/n1/comments"

  private func remark(_ from: Int, _ to: Int, revision: Int = 1, _ text: String = "why?") -> String
  {
    #"{"text":"\#(text)","anchor":{"revision":\#(revision),"from":\#(from),"to":\#(to)}}"#
  }

  private func make(_ body: String, as token: String = "critic") -> (Int, JSONFields) {
    let answer = rig.request("POST", path, token: token, body)
    return (answer.status, JSONFields(answer.body.utf8) ?? [:])
  }

  private func list(as token: String = "reader", query: String = "") throws -> JSONFields {
    let answer = rig.request("GET", path + query, token: token)
    #expect(answer.status == 200)
    return try #require(JSONFields(answer.body.utf8))
  }

  private func comments(as token: String = "reader") throws -> [JSONFields] {
    try #require(list(as: token)["comments"]?.elements).compactMap(\.fields)
  }

  @Test("a comment is listed with its text, its current range and its owner")
  func roundTrip() throws {
    let (status, made) = make(remark(4, 7, "<b>\\\"é\\n"))
    #expect(status == 201)
    let id = try #require(made["id"]?.string)
    #expect(made["made"]?.fields?["quote"]?.string == "two")
    #expect(made["mine"]?.boolean == true)
    #expect(made["author"]?.string == "The critic")
    let (_, answer) = make(#"{"text":"yes","thread":"\#(id)"}"#, as: "writer")
    #expect(answer["thread"]?.string == id && answer["made"] == nil)
    let insertion = #"{"revision":1,"operation":["A ",13]}"#
    let change = rig.request("POST", "/api/notes/n1/changes", token: "writer", insertion)
    #expect(change.status == 200)
    let list = try list()
    #expect(list["revision"]?.integer == 2 && list["epoch"]?.string == "epoch of n1")
    #expect(list["mayComment"]?.boolean == false)
    #expect(list["limits"]?.fields?["textBytesMax"]?.integer == 4_096)
    let all = try comments()
    #expect(all.map { $0["text"]?.string } == ["<b>\"é\n", "yes"])
    let place = all[0]["place"]?.fields
    #expect(place?["from"]?.integer == 6 && place?["to"]?.integer == 9)
    #expect(all[0]["made"]?.fields?["from"]?.integer == 4)
    #expect(all.allSatisfy { $0["mine"]?.boolean == false })
    let past = try #require(self.list(query: "?revision=1")["comments"]?.elements?.first?.fields)
    #expect(past["place"]?.fields?["from"]?.integer == 4)
    #expect(
      rig.request("PUT", "/api/notes/n1/text?author=W", token: "writer", "short").status == 200)
    #expect(try comments()[0]["place"]?.isNull == true)
  }

  @Test(
    "readers can read comments, and only readers who may comment or write can make them",
    arguments: [
      ("reader", 200, 403), ("critic", 200, 201), ("writer", 200, 201), ("manager", 200, 201),
      ("blind", 403, 403), ("typist", 403, 403), ("rooms", 403, 403), (nil, 401, 401),
    ] as [(String?, Int, Int)])
  func rights(token: String?, reading: Int, writing: Int) throws {
    #expect(rig.request("GET", path, token: token).status == reading)
    #expect(rig.request("POST", path, token: token, remark(0, 3)).status == writing)
    let (_, made) = make(remark(0, 3), as: "manager")
    let one = path + "/" + (try #require(made["id"]?.string))
    let resolved = rig.request("PATCH", one, token: token, #"{"resolved":true}"#).status
    #expect(resolved == (writing == 201 ? 200 : writing))
    let removed = rig.request("DELETE", one, token: token).status
    #expect(removed == (token == "manager" ? 204 : writing == 201 ? 403 : writing))
    if let token, writing == 201 {
      #expect(try list(as: token)["mayComment"]?.boolean == true)
    }
    let elsewhere = rig.request("POST", "/api/notes/other/comments", token: token, remark(0, 1))
    #expect(elsewhere.status >= 400)
  }

  @Test("only its author can edit a comment; all who may comment can resolve and reopen it")
  func changing() throws {
    let (_, made) = make(remark(0, 3))
    let one = path + "/" + (try #require(made["id"]?.string))
    let edit = #"{"text":"new words"}"#
    #expect(rig.request("PATCH", one, token: "writer", edit).status == 403)
    #expect(rig.request("PATCH", one, token: "manager", edit).status == 403)
    #expect(rig.request("PATCH", one, token: "critic", edit).status == 200)
    #expect(rig.request("PATCH", one, token: "writer", #"{"resolved":true}"#).status == 200)
    var comment = try comments()[0]
    #expect(comment["text"]?.string == "new words" && comment["editedAt"] != nil)
    #expect(comment["resolved"]?.fields?["by"]?.string == "The writer")
    #expect(rig.request("PATCH", one, token: "critic", #"{"resolved":false}"#).status == 200)
    comment = try comments()[0]
    #expect(comment["resolved"] == nil)
    #expect(rig.request("DELETE", one, token: "critic").status == 204)
    #expect(rig.request("DELETE", one, token: "critic").status == 404)
    #expect(rig.request("PATCH", one, token: "critic", edit).status == 404)
    #expect(try comments().isEmpty)
  }

  @Test("guests can comment under their names if the link allows it, but not edit comments")
  func guests() throws {
    for (access, mayComment) in [("read", false), ("comment", true), ("write", true)] {
      let link = rig.request(
        "POST", "/api/notes/n1/share", token: "manager", #"{"access":"\#(access)"}"#)
      #expect(link.status == 201)
      let token = try #require(JSONFields(link.body.utf8)?["token"]?.string)
      #expect(try list(as: token)["mayComment"]?.boolean == mayComment)
      var body = remark(0, 3)
      body.removeLast()
      let (status, made) = make(body + #","author":"Gus"}"#, as: token)
      #expect(status == (mayComment ? 201 : 403))
      guard mayComment else { continue }
      #expect(made["author"]?.string?.hasPrefix("Gus") == true && made["mine"]?.boolean == false)
      let one = path + "/" + (try #require(made["id"]?.string))
      #expect(rig.request("PATCH", one, token: token, #"{"text":"x"}"#).status == 403)
      #expect(rig.request("DELETE", one, token: token).status == 403)
      #expect(rig.request("PATCH", one, token: token, #"{"resolved":true}"#).status == 200)
    }
    // A caller can share only rights that the caller has.
    _ = rig.token("sharer", [Grant(.documents, NamePattern("n1"), [.read, .presence, .manage])])
    let link = rig.request(
      "POST", "/api/notes/n1/share", token: "sharer", #"{"access":"comment"}"#)
    #expect(link.status == 403)
  }

  @Test(
    "an invalid comment is refused with a reason, and not stored",
    arguments: [
      ("", 400), ("[]", 400), ("{}", 400), (#"{"text":"x"}"#, 400),
      (#"{"text":"x","thread":"t","anchor":{"revision":1,"from":0,"to":1}}"#, 400),
      (#"{"text":1,"thread":"t"}"#, 400), (#"{"text":"x","thread":"none"}"#, 404),
      (#"{"text":"x","anchor":[]}"#, 400), (#"{"text":"x","anchor":{"revision":1,"from":0}}"#, 400),
      (#"{"text":"a\u0000","anchor":{"revision":1,"from":0,"to":1}}"#, 400),
      (#"{"text":"a\u007f","anchor":{"revision":1,"from":0,"to":1}}"#, 400),
      (#"{"text":"a\u0085","anchor":{"revision":1,"from":0,"to":1}}"#, 400),
      (#"{"text":"a\u009b","anchor":{"revision":1,"from":0,"to":1}}"#, 400),
      (#"{"text":" \n\u2003 ","anchor":{"revision":1,"from":0,"to":1}}"#, 400),
      (#"{"text":"x","anchor":{"revision":1,"from":0,"to":14}}"#, 409),
      (#"{"text":"x","anchor":{"revision":1,"from":2,"to":2}}"#, 409),
      (#"{"text":"x","anchor":{"revision":1,"from":-1,"to":2}}"#, 400),
      (#"{"text":"x","anchor":{"revision":1,"from":0,"to":9007199254740991}}"#, 409),
      (#"{"text":"x","anchor":{"revision":-1,"from":0,"to":1}}"#, 400),
      (#"{"text":"x","anchor":{"revision":2,"from":0,"to":1}}"#, 409),
      (#"{"text":"x","anchor":{"epoch":"else","revision":1,"from":0,"to":1}}"#, 409),
    ])
  func hostile(body: String, status: Int) throws {
    let answer = rig.request("POST", path, token: "critic", body)
    #expect(answer.status == status)
    #expect(JSONFields(answer.body.utf8)?["message"]?.string?.isEmpty == false)
    #expect(try comments().isEmpty)
    for query in ["?revision=x", "?revision=-1"] {
      #expect(rig.request("GET", path + query, token: "reader").status == 400)
    }
    for name in ["%ff", String(repeating: "x", count: 65)] {
      #expect(rig.request("DELETE", path + "/" + name, token: "critic").status == 404)
    }
    let both = #"{"text":"a","resolved":true}"#
    #expect(rig.request("PATCH", path + "/c", token: "critic", both).status == 400)
  }

  @Test("length, number and rate of comments are limited, and the list states the limits")
  func limits() throws {
    let few = CommentTests {
      $0.textBytesMax = 5
      $0.countMax = 2
      $0.perMinuteMax = 3
    }
    let limits = try few.list()["limits"]?.fields
    #expect(limits?["textBytesMax"]?.integer == 5 && limits?["commentsMax"]?.integer == 2)
    #expect(limits?["perMinuteMax"]?.integer == 3)
    #expect(few.make(few.remark(0, 3, "éééa")).0 == 413)
    #expect(few.make(few.remark(0, 3, "ééa")).0 == 201)
    #expect(few.make(few.remark(0, 3, "b")).0 == 201)
    #expect(few.make(few.remark(0, 3, "c")).0 == 413)
    let excess = few.rig.begin(
      "POST", few.path, headers: ["authorization": "Bearer critic"], few.remark(0, 3, "d"))
    let answer = try #require(few.rig.response(excess))
    #expect(answer.status == 429)
    #expect(answer.headers.contains { $0 == ("retry-after", "20") })
    // Each user has a separate rate limit.
    #expect(few.make(few.remark(0, 3, "e"), as: "writer").0 == 413)
    few.rig.pass(milliseconds: 20_000)
    #expect(few.make(few.remark(0, 3, "f")).0 == 413)
  }

  @Test("pending comments of one user leave room for those of others")
  func draftShares() throws {
    let many = CommentTests { $0.perMinuteMax = 1_000 }
    many.rig.isStepwise = true
    func begin(_ count: Int, as user: String) -> [UInt64] {
      (0..<count).map { _ in
        many.rig.begin(
          "POST", many.path, headers: ["authorization": "Bearer \(user)"], many.remark(0, 3))
      }
    }
    let flood = begin(200, as: "critic")
    #expect(flood.count { many.rig.answer($0)?.status == 503 } == 200 - 128)
    #expect(begin(60, as: "writer").allSatisfy { many.rig.answer($0) == nil })
    for _ in 0..<3 { many.rig.performStoreRequests() }
    #expect(begin(1, as: "critic").allSatisfy { many.rig.answer($0) == nil })
  }

  @Test("a comment with a key is made once, although requests or answers are lost")
  func once() throws {
    let headers = ["authorization": "Bearer critic", "idempotency-key": "k"]
    rig.isStepwise = true
    let first = rig.begin("POST", path, headers: headers, remark(0, 3))
    let again = rig.begin("POST", path, headers: headers, remark(0, 3))
    rig.abandon(first)
    for _ in 0..<4 { rig.performStoreRequests() }
    let answer = try #require(rig.answer(first))
    #expect(answer.status == 201)
    #expect(rig.answer(again)?.body == answer.body)
    let late = rig.begin("POST", path, headers: headers, remark(0, 3))
    rig.performStoreRequests()
    #expect(rig.answer(late)?.body == answer.body)
    let other = rig.begin("POST", path, headers: headers, remark(0, 4))
    rig.performStoreRequests()
    #expect(rig.answer(other)?.status == 422)
    rig.isStepwise = false
    #expect(try comments().count == 1)
  }

  @Test("readers of the note are notified in its room when its comments change")
  func news() throws {
    let (reader, _) = try rig.connectNative("reader")
    let (outsider, _) = try rig.connectNative("rooms")
    let room = "/note/n1"
    guard case .subscribed = rig.ask(reader, .subscribe(.init(room: room))) else {
      Issue.record("a reader cannot follow the note's comments")
      return
    }
    guard case .error(let error) = rig.ask(outsider, .subscribe(.init(room: room))) else {
      Issue.record("a user who may not read the note follows its comments")
      return
    }
    #expect(error.code == .notAllowed)
    #expect(
      rig.request("POST", "/api/rooms/%2Fnote%2Fn1/publish", token: "rooms", #"{"data":1}"#).status
        == 403)
    let (_, made) = make(remark(0, 3))
    let one = path + "/" + (try #require(made["id"]?.string))
    #expect(rig.request("PATCH", one, token: "critic", #"{"resolved":true}"#).status == 200)
    #expect(rig.request("PATCH", one, token: "critic", #"{"resolved":true}"#).status == 200)
    let news = rig.pushes(reader).compactMap { push in
      if case .resourceUpdate(let update) = push { update.resourceID } else { nil as String? }
    }
    #expect(news == [room, room])
  }

  @Test("deleting a note removes its comments, and restoring it restores them")
  func deletion() throws {
    let (_, made) = make(remark(0, 3))
    #expect(rig.request("DELETE", "/api/notes/n1", token: "manager").status == 204)
    #expect(rig.request("GET", path, token: "reader").status == 404)
    #expect(rig.request("POST", "/api/deleted/n1/restore", token: "manager").status == 200)
    #expect(try comments().map { $0["id"]?.string } == [made["id"]?.string])
  }

  @Test("a comment whose commit fails is not announced")
  func failure() throws {
    rig.store.commitsToFail = 1
    #expect(rig.request("POST", path, token: "critic", remark(0, 3)).status == 503)
    #expect(try comments().isEmpty)
  }
}
