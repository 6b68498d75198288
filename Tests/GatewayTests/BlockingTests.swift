import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import SocketMessages
import Testing

/// Blocks apply to every access to a room, not only to pushed publications.
@Suite("Blocks on every way")
struct BlockingTests {
  private let rig = GatewayRig()

  private func enter(_ user: String, _ verbs: Verbs = .all) throws -> UInt64 {
    try rig.connectNative(rig.token(user, [Grant(.rooms, NamePattern("*"), verbs)])).0
  }

  private func publish(_ id: UInt64, _ json: String, in room: String = "r") throws {
    let data = try #require(JSONValue(json.utf8))
    guard case .published = rig.ask(id, .publish(.init(room: room, data: data))) else {
      throw Unexpected(message: nil)
    }
  }

  private func block(_ id: UInt64, _ person: String) {
    rig.ask(id, .block(.init(personID: person, isBlocked: true)))
  }

  private func page(
    _ id: UInt64, since: Int? = nil, before: Int? = nil, limit: Int? = nil
  ) throws -> ServerMessage.RoomHistory {
    let reply = rig.ask(
      id, .roomHistory(.init(room: "r", since: since, before: before, limit: limit)))
    guard case .roomHistory(let page) = reply else { throw Unexpected(message: reply) }
    return page
  }

  @Test("history, people and group messages over HTTP leave out people that the reader blocks")
  func http() throws {
    let ann = try enter("ann")
    let ben = try enter("ben")
    let line = #"{"type":"line.create","subject":{"text":"secret of ann"}}"#
    for room in ["r", "/group/9"] { try publish(ann, line, in: room) }
    rig.ask(ann, .subscribe(.init(room: "r", isPresent: true)))
    block(ben, "ann")
    for path in [
      "/api/rooms/r/history", "/api/rooms/r/presence", "/v3/groups/9/messages",
    ] {
      let forBen = rig.request("GET", path, token: "ben")
      #expect(forBen.status == 200 && !forBen.body.contains("ann"), "\(path)")
      #expect(rig.request("GET", path, token: "ann").body.contains("ann"), "\(path)")
    }
    // Programs read everything; blocks do not apply to them.
    let app = rig.token("app", [Grant(.rooms, NamePattern("*"), .read)])
    #expect(rig.request("GET", "/api/rooms/r/history", token: app).body.contains("secret of ann"))
  }

  @Test("a page is not empty while visible publications remain")
  func pages() throws {
    let ann = try enter("ann")
    let ben = try enter("ben")
    try publish(ben, "1")
    for number in 2...250 { try publish(ann, "\(number)") }
    for number in 251...253 { try publish(ben, "\(number)") }
    block(ben, "ann")
    let forwards = try page(ben, since: 1, limit: 2)
    #expect(forwards.publications.map(\.offset) == [251, 252])
    #expect(forwards.hasMore && !forwards.hasGap)
    let last = try page(ben, since: 252, limit: 2)
    #expect(last.publications.map(\.offset) == [253])
    #expect(!last.hasMore)
    let backwards = try page(ben, before: 251, limit: 20)
    #expect(backwards.publications.map(\.offset) == [1])
    #expect(!backwards.hasMore)
    let newest = try page(ben, limit: 2)
    #expect(newest.publications.map(\.offset) == [252, 253])
    #expect(newest.hasMore)
  }

  @Test("a gap is reported even if the publications after it are hidden")
  func gap() throws {
    let rig = GatewayRig {
      $0.roomRetention = RoomRetention(publicationsMax: 150, ageMax: 1_000_000)
      $0.limits.pageMax = 20
    }
    let all = [Grant(.rooms, NamePattern("*"), .all)]
    let (ann, _) = try rig.connectNative(rig.token("ann", all))
    let (ben, _) = try rig.connectNative(rig.token("ben", all))
    for number in 1...160 {
      rig.ask(number > 100 ? ben : ann, .publish(.init(room: "r", data: .null)))
    }
    rig.ask(ben, .block(.init(personID: "ann", isBlocked: true)))
    let reply = rig.ask(ben, .roomHistory(.init(room: "r", since: 0, limit: 3)))
    guard case .roomHistory(let page) = reply else { throw Unexpected(message: reply) }
    #expect(page.publications.map(\.offset) == [101, 102, 103])
    #expect(page.hasGap && page.hasMore)
  }

  @Test("paging through group messages skips other publications")
  func groupMessages() throws {
    let ann = try enter("ann")
    for number in 1...30 { try publish(ann, "\(number)", in: "/group/9") }
    try publish(ann, #"{"type":"line.create","subject":{"text":"found"}}"#, in: "/group/9")
    let page = rig.request("GET", "/v3/groups/9/messages?since_id=0", token: "ann").body
    #expect(page.contains(#""text":"found""#))
  }

  @Test("a publisher at the path for backends has the token's name, and can be blocked")
  func pusher() throws {
    let ann = rig.token("ann", [Grant(.rooms, NamePattern("*"), .publish)])
    let ben = try enter("ben")
    let cid = try enter("cid")
    for id in [ben, cid] { rig.ask(id, .subscribe(.init(room: "r"))) }
    block(ben, "ann")
    let body = #"{"room":"r","data":{"user_id":"somebody else"}}"#
    #expect(rig.request("POST", "/private/pusher", token: ann, body).status == 200)
    let people = rig.pushes(cid).compactMap {
      if case .publication(let push) = $0 { push.publication.personID } else { nil }
    }
    #expect(people == ["ann"])
    #expect(rig.pushes(ben) == [])
  }

  @Test("a user can block 1,000 people, and another one after unblocking one")
  func bound() throws {
    let ben = try enter("ben")
    for number in 0..<1_000 {
      block(ben, "p\(number)")
      // Block messages count towards `signsPerSecondMax`.
      if number % 20 == 19 { rig.pass(milliseconds: 1_000) }
    }
    func blockOneMore() -> ServerMessage? {
      rig.ask(ben, .block(.init(personID: "one more", isBlocked: true)))
    }
    guard case .error(let error) = blockOneMore() else {
      Issue.record("blocked")
      return
    }
    #expect(error.code == .tooMany)
    rig.ask(ben, .block(.init(personID: "p0", isBlocked: false)))
    guard case .blocks(let blocks) = blockOneMore() else {
      Issue.record("not blocked")
      return
    }
    #expect(blocks.people.count == 1_000 && blocks.people.contains("one more"))
  }

  @Test("concurrent blocks do not exceed the limit")
  func boundAtOnce() throws {
    let ben = try enter("ben")
    for number in 0..<990 {
      block(ben, "p\(number)")
      if number % 20 == 19 { rig.pass(milliseconds: 1_000) }
    }
    rig.pass(milliseconds: 10_000)
    rig.isStepwise = true
    for number in 0..<32 { block(ben, "q\(number)") }
    rig.performStoreRequests()
    rig.isStepwise = false
    _ = rig.pushes(ben)
    guard case .blocks(let blocks) = rig.ask(ben, .blocks) else {
      Issue.record("not listed")
      return
    }
    #expect(blocks.people.count == 1_000)
  }

  @Test("publications of programs cannot be blocked, and no person can have a program's name")
  func programs() throws {
    let ben = try enter("ben")
    rig.ask(ben, .subscribe(.init(room: "r")))
    let reply = rig.ask(ben, .block(.init(personID: "key:pk_publisher", isBlocked: true)))
    guard case .error(let failure) = reply else { throw Unexpected(message: reply) }
    #expect(failure.code == .notAllowed)
    let body = #"{"data":1}"#
    #expect(rig.request("POST", "/api/rooms/r/publish", token: "pk_publisher", body).status == 200)
    #expect(rig.pushes(ben).count == 1)
    for user in ["key:pk_publisher", "key:", "share/n1"] {
      rig.book?.enter("pretender", user: user, [Grant(.rooms, NamePattern("*"), .all)])
      #expect(
        rig.request("POST", "/api/rooms/r/publish", token: "pretender", body).status == 401)
      let id = rig.connect()
      guard case .error = rig.ask(id, .hello(.init(name: "", token: "pretender"))) else {
        throw Unexpected(message: nil)
      }
      let made = #"{"user":"\#(user)","rooms":["*=publish"]}"#
      #expect(rig.request("POST", "/api/tokens", token: "pk_operator", made).status == 400)
    }
  }

  /// A store whose replies are sent by the test.
  private final class SlowStore: PeopleStore {
    var waiting: [(PeopleReply) -> Void] = []

    func perform(_ request: PeopleRequest, then proceed: @escaping (PeopleReply) -> Void) {
      waiting.append(proceed)
    }
  }

  @Test("until the blocks can be read, publications of all people are hidden")
  func unreadable() {
    let store = SlowStore()
    let blocking = StoredBlocking(isMutual: false)
    blocking.start(store: store)
    #expect(blocking.separates("ben", from: "ann"))
    #expect(store.waiting.count == 1)
    store.waiting.removeFirst()(.failed(.unavailable("the disk does not answer")))
    #expect(blocking.conceals("ann") && blocking.concerns("ben"))
    #expect(store.waiting.count == 1)
    store.waiting.removeFirst()(.blocks([PersonBlock(person: "ben", blocked: "cyd")]))
    #expect(!blocking.separates("ben", from: "ann") && blocking.separates("ben", from: "cyd"))
    #expect(!blocking.conceals("ann") && blocking.conceals("cyd"))
    #expect(store.waiting.isEmpty)
  }
}
