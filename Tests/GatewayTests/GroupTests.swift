import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Groups, likes and badges over HTTP")
struct GroupTests {
  private let rig = GatewayRig()

  init() {
    for user in ["ann", "ben", "cid"] {
      _ = rig.token(user, [Grant(.rooms, NamePattern("/group/*"), [.read, .publish])])
    }
    _ = rig.token("boss", [Grant(.rooms, NamePattern("*"), .all)])
    _ = rig.token("reader", [Grant(.rooms, NamePattern("/group/*"), [.read])])
  }

  /// Sends a request about the room `/group/g`.
  private func ask(
    _ user: String, _ method: String, _ below: String, _ body: String = ""
  ) -> (status: Int, body: String) {
    rig.request(method, "/api/rooms//group/\(below)", token: user, body)
  }

  private func make() {
    #expect(ask("ann", "PUT", "g/group", #"{"name":"Hikers"}"#).status == 201)
    #expect(ask("ann", "PUT", "g/members?person=ben", #"{"nickname":"Ben"}"#).status == 201)
  }

  private func code(_ answer: (status: Int, body: String)) -> String? {
    JSONFields(Array(answer.body.utf8))?["code"]?.string
  }

  @Test("a group is made once, and shown with its creator")
  func making() throws {
    make()
    let group = try #require(JSONFields(Array(ask("cid", "GET", "g/group").body.utf8)))
    #expect(group["room"]?.string == "/group/g")
    #expect(group["name"]?.string == "Hikers")
    #expect(group["creatorId"]?.string == "ann")
    #expect(group["memberCount"]?.integer == 2)
    #expect(ask("ann", "PUT", "g/group", #"{"name":"Hikers"}"#).status == 200)
    let groups = try #require(
      JSONFields(Array(rig.request("GET", "/api/groups", token: "ben").body.utf8)))
    #expect(groups["groups"]?.elements?.map { $0.fields?["room"]?.string } == ["/group/g"])
    #expect(groups["next"] == nil)
    #expect(rig.request("GET", "/api/groups", token: "cid").body == #"{"groups":[]}"#)
  }

  @Test("tokens decide access, and membership decides changes")
  func rights() {
    #expect(ask("ann", "GET", "g/group").status == 404)
    make()
    let requests: [(String, String, String, String, Int)] = [
      ("reader", "GET", "g/group", "", 200), ("reader", "GET", "g/members", "", 200),
      ("reader", "PUT", "g/group", #"{"name":"x"}"#, 403),
      ("reader", "PUT", "g/likes?offset=1", "", 403),
      ("cid", "PUT", "g/group", #"{"name":"x"}"#, 403),
      ("cid", "PUT", "g/members?person=cid", "", 403),
      ("ben", "PUT", "g/members?person=cid", "", 201),
      ("ben", "PUT", "g/members?person=ann", #"{"nickname":"x"}"#, 403),
      ("ben", "DELETE", "g/members?person=cid", "", 403),
      ("cid", "DELETE", "g/members?person=cid", "", 204),
      ("ben", "DELETE", "g/group", "", 403),
      ("boss", "PUT", "g/group", #"{"name":"y"}"#, 200),
      ("boss", "DELETE", "g/members?person=ben", "", 204),
      ("ann", "DELETE", "g/group", "", 204),
    ]
    for (user, method, below, body, status) in requests {
      #expect(ask(user, method, below, body).status == status, "\(user) \(method) \(below)")
    }
    #expect(rig.request("GET", "/api/groups").status == 401)
    // A program is not a member.
    #expect(rig.request("GET", "/api/badges", token: "pk_operator").status == 403)
  }

  @Test("an impossible request is refused with the reason")
  func refusals() {
    make()
    let long = String(repeating: "x", count: 5_000)
    let requests: [(String, String, String, Int, String)] = [
      ("PUT", "g/group", "7", 400, "badMessage"),
      ("PUT", "g/group", #"{"name":""}"#, 400, "badMessage"),
      ("PUT", "g/group", #"{"name":"a\u0000b"}"#, 400, "badMessage"),
      ("PUT", "g/members?person=cid", #"{"nickname":"a\nb"}"#, 400, "badMessage"),
      ("PUT", "new/group", #"{"open":true}"#, 404, "unknownDocument"),
      ("PUT", "g/group", #"{"name":"\#(long)"}"#, 413, "tooLarge"),
      ("PUT", "g/group", #"{"description":"\#(long)"}"#, 413, "tooLarge"),
      ("PUT", "g/group", #"{"picture":"\#(long)"}"#, 413, "tooLarge"),
      ("PUT", "g/members", "", 400, "badMessage"),
      ("PUT", "g/members?person=\(long)", "", 400, "badMessage"),
      ("PUT", "g/members?person=cid", #"{"nickname":"\#(long)"}"#, 413, "tooLarge"),
      ("PUT", "g/members?person=cid", "[]", 400, "badMessage"),
      ("DELETE", "new/members?person=cid", "", 404, "unknownDocument"),
      ("GET", "g/members?limit=0", "", 400, "badMessage"),
      ("PUT", "g/likes", "", 400, "badMessage"),
      ("PUT", "g/likes?offset=-1", "", 400, "badMessage"),
      ("PUT", "g/likes?offset=99", "", 404, "unknownPublication"),
      ("PUT", "g/likes?offset=1", #"{"reaction":"\#(long)"}"#, 413, "tooLarge"),
      ("GET", "g/likes?since=x", "", 400, "badMessage"),
      ("PUT", "g/read", "{}", 400, "badMessage"),
      ("PUT", "g/read", #"{"offset":-1}"#, 400, "badMessage"),
    ]
    for (method, below, body, status, expected) in requests {
      let answer = ask("ann", method, below, body)
      #expect(answer.status == status, "\(method) \(below.prefix(40)) \(answer.body.prefix(200))")
      #expect(code(answer) == expected, "\(method) \(below.prefix(40))")
    }
  }

  @Test("subscribers receive the events of a group, in parts and in order")
  func events() throws {
    let (id, _) = try rig.connectNative("cid")
    _ = rig.ask(id, .subscribe(.init(room: "/group/g")))
    make()
    _ = ask("ann", "PUT", "g/group", #"{"name":"Climbers","picture":"p"}"#)
    _ = ask("ann", "PUT", "g/group", #"{"name":"Climbers"}"#)
    _ = ask("ben", "PUT", "g/members?person=ben", #"{"nickname":"Benny"}"#)
    _ = ask("ann", "DELETE", "g/members?person=ben")
    let pushes = rig.pushes(id)
    let types = pushes.compactMap { push -> String? in
      guard case .publication(let publication) = push else { return nil }
      let subject = publication.publication.data?.fields?["subject"]?.fields
      return subject?["event"]?.fields?["type"]?.string
    }
    #expect(
      types == [
        "membership.announce.added", "group.name_change", "group.avatar_change",
        "membership.nickname_changed", "membership.notifications.removed",
      ])
    #expect(pushes.contains { if case .resourceUpdate = $0 { true } else { false } })
    // Old clients receive a sentence for each event.
    let page = rig.request("GET", "/v3/groups/g/messages", token: "cid").body
    #expect(page.contains("ann added Ben to the group."))
    #expect(page.contains("ann changed the group's name to Climbers"))
    #expect(page.contains("ann removed Benny from the group."))
  }

  @Test("likes are one for each person and message, and subscribers are notified")
  func likes() throws {
    make()
    _ = ask("ben", "POST", "g/publish", #"{"data":"hello"}"#)
    let (id, _) = try rig.connectNative("cid")
    _ = rig.ask(id, .subscribe(.init(room: "/group/g")))
    #expect(ask("ann", "PUT", "g/likes?offset=2").status == 200)
    #expect(rig.pushes(id).count == 1)
    #expect(ask("ann", "PUT", "g/likes?offset=2").status == 200)
    #expect(rig.pushes(id).isEmpty)
    _ = ask("cid", "PUT", "g/likes?offset=2", #"{"reaction":"👍"}"#)
    #expect(
      ask("ben", "GET", "g/likes").body
        == #"{"likes":[{"offset":2,"personId":"ann","reaction":"like"},"#
        + #"{"offset":2,"personId":"cid","reaction":"👍"}]}"#)
    #expect(ask("ann", "DELETE", "g/likes?offset=2").status == 204)
    #expect(!ask("ben", "GET", "g/likes").body.contains("ann"))
    #expect(ask("ben", "GET", "g/likes?since=2").body == #"{"likes":[]}"#)
  }

  @Test("badges count what others have published and one has not read")
  func badges() throws {
    make()
    func badge(_ user: String) -> String {
      rig.request("GET", "/api/badges", token: user).body
    }
    #expect(badge("ann").contains(#""unread":0"#))
    for _ in 0..<3 { _ = ask("ben", "POST", "g/publish", #"{"data":"hello"}"#) }
    #expect(badge("ann").contains(#""unread":3"#))
    #expect(badge("ben").contains(#""unread":0"#))
    let read = ask("ann", "PUT", "g/read", #"{"offset":3}"#)
    #expect(read.body == #"{"room":"/group/g","readThrough":3,"unread":1}"#)
    // A read receipt over the socket has the same effect.
    let (id, _) = try rig.connectNative("ann")
    _ = rig.ask(id, .receipt(.init(room: "/group/g", offset: 4, state: .read)))
    #expect(badge("ann").contains(#""unread":0"#))
    #expect(badge("cid") == #"{"badges":[]}"#)
  }

  @Test("a request that is sent again under its key is done once")
  func once() {
    make()
    func put(_ name: String) -> (Int, String)? {
      let request = rig.begin(
        "PUT", "/api/rooms//group/g/group",
        headers: ["authorization": "Bearer ann", "idempotency-key": "k"],
        #"{"name":"\#(name)"}"#)
      return rig.answer(request)
    }
    let first = put("Climbers")
    _ = ask("ann", "PUT", "g/group", #"{"name":"Hikers"}"#)
    #expect(put("Climbers")?.1 == first?.1)
    #expect(ask("ann", "GET", "g/group").body.contains("Hikers"))
    #expect(put("Others")?.0 == 422)
  }
}
