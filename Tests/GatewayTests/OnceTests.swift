import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// Requests with an `Idempotency-Key` are performed once, however often they are sent.
@Suite("Requests with an idempotency key")
struct OnceTests {
  /// A request that writes.
  struct Writing: Sendable, CustomTestStringConvertible {
    var method: String
    var path: String
    var body: String
    var status: Int
    /// Whether the response contains a token, whose signature differs each time.
    var makesToken = false

    var testDescription: String { "\(method) \(path)" }
  }

  private static let all = [
    Writing(method: "POST", path: "/api/notes", body: #"{"title":"New"}"#, status: 201),
    Writing(method: "PUT", path: "/api/notes/own", body: #"{"title":"Own"}"#, status: 201),
    Writing(method: "PATCH", path: "/api/notes/n1", body: #"{"title":"Other"}"#, status: 200),
    Writing(method: "DELETE", path: "/api/notes/n1", body: "", status: 204),
    Writing(method: "PUT", path: "/api/notes/n1/text?author=A", body: "text", status: 200),
    Writing(method: "PUT", path: "/api/notes/n1/text?base=0", body: "text", status: 200),
    Writing(
      method: "POST", path: "/api/notes/n1/changes", body: #"{"revision":0,"operation":["x"]}"#,
      status: 200),
    Writing(
      method: "POST", path: "/api/notes/n1/versions", body: #"{"name":"V","revision":0}"#,
      status: 201),
    Writing(method: "DELETE", path: "/api/notes/n1/versions/0", body: "", status: 204),
    Writing(method: "POST", path: "/api/notes/n1/restore", body: #"{"revision":0}"#, status: 200),
    Writing(
      method: "POST", path: "/api/notes/n1/share", body: #"{"access":"read"}"#, status: 201,
      makesToken: true),
    Writing(method: "DELETE", path: "/api/notes/n1/share", body: "", status: 204),
    Writing(method: "POST", path: "/api/rooms/r/publish", body: #"{"data":1}"#, status: 200),
    Writing(
      method: "POST", path: "/api/publish",
      body: #"{"publications":[{"room":"r","data":1},{"room":"s","data":2,"key":"k"}]}"#,
      status: 200),
  ]

  private let rig = GatewayRig(isDemo: true)

  init() {
    rig.make("n1")
  }

  private func send(
    _ writing: Writing, key: String = "k1", to other: GatewayRig? = nil,
    _ headers: [String: String] = [:]
  ) -> UInt64 {
    (other ?? rig).begin(
      writing.method, writing.path,
      headers: headers.merging(["idempotency-key": key]) { $1 }, writing.body)
  }

  private func isReplayed(_ response: Response?) -> Bool {
    response?.headers.contains { $0 == ("idempotency-replayed", "true") } ?? false
  }

  /// Returns the newest offsets of the rooms of these tests.
  private func offsets(_ rig: GatewayRig) -> [Int] {
    (["r", "s"] as [RoomName]).map { room in
      let reply = rig.store.perform([
        .room(.recover(room, from: nil, limit: 1, bytesMax: 1, retention: .standard, now: 0))
      ])[0]
      guard case .room(.recovery(let recovery)) = reply else { return -1 }
      return recovery.head.offset
    }
  }

  private func notes(_ rig: GatewayRig) -> [NoteSummary] {
    guard case .notes(let notes) = rig.store.perform([.list])[0] else { return [] }
    return notes
  }

  @Test("a repeated request gets the first answer, without effect", arguments: all)
  func replay(writing: Writing) throws {
    let first = try #require(rig.response(send(writing)))
    #expect(first.status == writing.status)
    #expect(!isReplayed(first))
    let commits = rig.store.commitCount
    let before = (notes(rig), offsets(rig), rig.store.log(of: "n1")?.count)
    rig.clock.advance(milliseconds: 50_000)
    let second = try #require(rig.response(send(writing)))
    #expect(second.status == first.status)
    #expect(isReplayed(second))
    #expect(rig.store.commitCount == commits)
    #expect(notes(rig) == before.0)
    #expect(offsets(rig) == before.1)
    #expect(rig.store.log(of: "n1")?.count == before.2)
    guard !writing.makesToken else {
      // The tokens differ only in their signatures.
      let tokens = try ["own0", "own1"].map { try rig.ownTokens.identity(of: $0, now: 0) }
      #expect(tokens[0] == tokens[1])
      return
    }
    #expect(second.body == first.body)
    let headers = second.headers.filter { $0.name != "idempotency-replayed" }
    #expect(headers.map(\.name) == first.headers.map(\.name))
    #expect(headers.map(\.value) == first.headers.map(\.value))
  }

  @Test("a request performed without an answer is answered after a restart", arguments: all)
  func crash(writing: Writing) throws {
    rig.isStepwise = true
    let lost = send(writing)
    // Run until the result is in the store, but do not deliver the response.
    while rig.response(lost) == nil {
      _ = rig.endTurn()
      let isLast = rig.stored.contains { item in
        if case .once(.perform) = item.request { true } else { false }
      }
      if isLast {
        _ = rig.store.perform(rig.stored.map(\.request))
        break
      }
      try #require(!rig.stored.isEmpty)
      rig.performStoreRequests()
    }
    rig.store.restart()
    // The old gateway and the requests in its queue retain each other, so fail the requests.
    defer { while !rig.stored.isEmpty || rig.endTurn() { rig.failAsUnavailable() } }
    let next = GatewayRig(isDemo: true, store: rig.store, prefix: "h")
    let before = (notes(next), offsets(next), next.store.log(of: "n1")?.count)
    let response = try #require(next.response(send(writing, to: next)))
    #expect(response.status == writing.status)
    #expect(isReplayed(response))
    #expect(notes(next) == before.0)
    #expect(offsets(next) == before.1)
    #expect(next.store.log(of: "n1")?.count == before.2)
  }

  @Test("a link is made once, although the process ends at any point", arguments: 1...4)
  func crashAmongLinks(step: Int) throws {
    rig.isStepwise = true
    _ = send(Self.all[10])
    for _ in 0..<step {
      _ = rig.endTurn()
      rig.performStoreRequests()
    }
    rig.store.restart()
    // The old gateway and the requests in its queue retain each other, so fail the requests.
    defer { while !rig.stored.isEmpty || rig.endTurn() { rig.failAsUnavailable() } }
    let next = GatewayRig(isDemo: true, store: rig.store, prefix: "h")
    #expect(next.answer(send(Self.all[10], to: next))?.status == 201)
    let links = next.request("GET", "/api/notes/n1/share").body
    #expect(links.ranges(of: #""id":"#).count == 1)
  }

  @Test("a key is used for one request of its method and path")
  func reuse() {
    var writing = Self.all[4]
    #expect(rig.answer(send(writing))?.status == 200)
    writing.body = "other"
    let other = rig.answer(send(writing))
    #expect(other?.status == 422)
    #expect(other?.body.contains(#""code":"keyReused""#) ?? false)
    writing = Self.all[4]
    #expect(rig.answer(send(writing, ["if-match": "1"]))?.status == 422)
    writing.path = "/api/notes/n1/text?author=B"
    #expect(rig.answer(send(writing))?.status == 422)
    #expect(rig.store.log(of: "n1")?.count == 1)
    rig.make("n2")
    writing.path = "/api/notes/n2/text"
    #expect(rig.answer(send(writing))?.status == 200)
    #expect(rig.store.log(of: "n2")?.count == 1)
  }

  @Test("the keys of different users are independent")
  func users() {
    let rig = GatewayRig()
    rig.make("n1")
    for user in ["ada", "ben"] {
      _ = rig.token(user, [Grant(.documents, NamePattern("*"), .all)])
      let writing = Self.all[0]
      for isReplayed in [false, true] {
        let request = send(writing, to: rig, ["authorization": user])
        #expect(rig.answer(request)?.status == 201)
        #expect(self.isReplayed(rig.response(request)) == isReplayed)
      }
    }
    #expect(notes(rig).count == 3)
    #expect(rig.answer(send(Self.all[0], to: rig, ["authorization": "none"]))?.status == 401)
  }

  @Test("a repeated request waits for the first; a different request with the key is refused")
  func inWork() {
    rig.isStepwise = true
    let writing = Self.all[0]
    let requests = (0..<5).map { _ in send(writing) }
    let excess = rig.response(send(writing))
    #expect(excess?.status == 409)
    #expect(excess?.headers.contains { $0 == ("retry-after", "1") } ?? false)
    var other = writing
    other.body = #"{"title":"Other"}"#
    #expect(rig.answer(send(other))?.status == 422)
    #expect(requests.allSatisfy { rig.response($0) == nil })
    while !rig.stored.isEmpty { rig.performStoreRequests() }
    #expect(requests.map { rig.response($0)?.status } == Array(repeating: 201, count: 5))
    #expect(requests.map { isReplayed(rig.response($0)) } == [false, true, true, true, true])
    #expect(Set(requests.map { rig.answer($0)?.body }).count == 1)
    #expect(notes(rig).count == 2)
  }

  @Test("a refused request may be repeated")
  func refusals() {
    let writing = Self.all[4]
    #expect(rig.answer(send(writing, ["if-match": "1"]))?.status == 412)
    rig.store.commitsToFail = 1
    #expect(rig.answer(send(writing))?.status == 503)
    #expect(rig.answer(send(writing))?.status == 200)
    #expect(rig.answer(send(writing, ["if-match": "1"]))?.status == 422)
    var another = writing
    another.body += " and more"
    #expect(rig.answer(send(another, key: "k2", ["if-match": "1"]))?.status == 200)
    #expect(rig.store.log(of: "n1")?.count == 2)
  }

  @Test("a retried batch publishes only the failed parts")
  func batch() {
    let writing = Self.all[13]
    rig.isStepwise = true
    let first = send(writing)
    rig.performStoreRequests()
    rig.performStoreRequests(on: 1)
    rig.store.commitsToFail = 1
    rig.performStoreRequests()
    #expect(rig.answer(first)?.status == 200)
    #expect(rig.answer(first)?.body.contains(#""code":"unavailable""#) ?? false)
    #expect(offsets(rig) == [1, 0])
    rig.isStepwise = false
    let second = send(writing)
    #expect(rig.answer(second)?.body.contains(#""repeated":true"#) ?? false)
    #expect(!isReplayed(rig.response(second)))
    #expect(offsets(rig) == [1, 1])
    #expect(isReplayed(rig.response(send(writing))))
  }

  @Test(
    "an invalid key is refused",
    arguments: ["", " ", "a b", "é", "a\u{7f}", String(repeating: "k", count: 256)])
  func badKeys(key: String) {
    let refused = rig.answer(send(Self.all[0], key: key))
    #expect(refused?.status == 400)
    #expect(refused?.body.contains("Idempotency-Key") ?? false)
    #expect(rig.answer(send(Self.all[0], key: String(repeating: "k", count: 255)))?.status == 201)
  }

  @Test("keys are ignored for reading requests")
  func reading() {
    let request = rig.begin(
      "GET", "/api/notes", headers: ["idempotency-key": "a b"])
    #expect(rig.answer(request)?.status == 200)
  }

  @Test("answers are stored for a day, and up to a number for each user")
  func forgetting() {
    let rig = GatewayRig(isDemo: true) { $0.answers.countMax = 2 }
    for key in ["a", "b", "c"] { #expect(rig.answer(send(Self.all[0], key: key, to: rig)) != nil) }
    func isKept(_ key: String) -> Bool {
      isReplayed(rig.response(send(Self.all[0], key: key, to: rig)))
    }
    #expect(isKept("b"))
    #expect(isKept("c"))
    #expect(!isKept("a"))
    rig.clock.advance(milliseconds: 86_400_000)
    #expect(!isKept("c"))
  }

  @Test("a long answer is not stored, but a repetition is still recognised")
  func longAnswer() {
    let rooms = (0..<100).map { number in
      let name = String(repeating: "r", count: 190) + "\(number)"
      return #"{"room":"\#(name)","data":1}"#
    }
    let writing = Writing(
      method: "POST", path: "/api/publish",
      body: #"{"publications":[\#(rooms.joined(separator: ","))]}"#, status: 200)
    let first = rig.answer(send(writing))
    #expect(first?.body.utf8.count ?? 0 > 16_384)
    #expect(first?.body.contains(#""repeated":true"#) == false)
    let second = send(writing)
    #expect(!isReplayed(rig.response(second)))
    #expect(rig.answer(second)?.body.contains(#""repeated":false"#) == false)
  }

  @Test("a repeated request counts once towards the user's limits")
  func rates() {
    let rig = GatewayRig {
      $0.limits.userRequestsPerSecondMax = 1
      $0.limits.burstSeconds = 2
    }
    _ = rig.token("ada", [Grant(.documents, NamePattern("*"), .all)])
    let statuses = (0..<3).map { _ in
      rig.answer(send(Self.all[0], to: rig, ["authorization": "ada"]))?.status
    }
    #expect(statuses == [201, 201, 429])
  }

  // MARK: Rights that were lost since

  /// The requests of ``all`` for a note in folder `a`, and a comment, a rename and a folder's move.
  private static let inFolder =
    all.map { writing in
      var writing = writing
      if ["/api/notes", "/api/notes/own"].contains(writing.path) {
        writing.body = #"{"folder":"a","# + writing.body.dropFirst()
      }
      return writing
    } + [
      Writing(
        method: "POST", path: "/api/notes/n1/comments",
        body: #"{"text":"secret","anchor":{"revision":1,"from":0,"to":1}}"#, status: 201),
      Writing(
        method: "PATCH", path: "/api/notes/n1", body: #"{"folder":"a/b","title":"Other"}"#,
        status: 200),
      Writing(
        method: "POST", path: "/api/folders/move", body: #"{"from":"a","to":"a2"}"#, status: 200),
    ]

  private func grants(_ words: String...) throws -> [Grant] {
    try words.map { try Grant(word: $0) }
  }

  private func rigWithNote(in folder: String) -> GatewayRig {
    let rig = GatewayRig()
    let text = TextOperation(replacing: Document(""), by: Document("text"))
    _ = rig.store.perform([
      .create(
        id: "n1", epoch: "e", title: "n1", time: rig.clock.now, folder: FolderPath(stored: folder)),
      .append(
        id: "n1", epoch: "e",
        entries: [
          LogEntry(
            revision: 1, client: "c", sequence: 1, digest: 1, operation: text, author: "A",
            time: rig.clock.now)
        ]),
    ])
    return rig
  }

  @Test(
    "a stored answer is not sent after the right to the request is lost", arguments: inFolder,
    [["document:*=all"], ["folder:a/*=all", "folder:a2/*=all"]])
  func lostRights(writing: Writing, rights: [String]) throws {
    let rig = rigWithNote(in: "a")
    let book = try #require(rig.book)
    book.enter("before", user: "ada", try (rights + ["room:*=publish"]).map(Grant.init(word:)))
    book.enter("after", user: "ada", try grants("document:x=all", "folder:x=all", "room:x=publish"))
    let first = send(writing, to: rig, ["authorization": "before"])
    #expect(rig.answer(first)?.status == writing.status)
    let again = rig.response(send(writing, to: rig, ["authorization": "before"]))
    #expect(again?.status == writing.status && isReplayed(again))
    let log = rig.store.log(of: "n1")?.count
    let later = send(writing, to: rig, ["authorization": "after"])
    switch (writing.method, writing.path) {
    case ("DELETE", "/api/notes/n1"):
      // The note is gone, so its folder cannot be checked. The response says nothing about it.
      #expect(rig.answer(later)?.status == 204)
    case (_, "/api/publish"):
      #expect(rig.answer(later)?.status == 200)
      #expect(rig.answer(later)?.body.contains("epoch") == false)
    default:
      #expect(rig.answer(later)?.status == 403)
      #expect(!isReplayed(rig.response(later)))
    }
    #expect(rig.store.log(of: "n1")?.count == log)
    #expect(notes(rig).count <= 2)
    #expect(isReplayed(rig.response(send(writing, to: rig, ["authorization": "before"]))))
  }

  @Test("a stored answer is subject to the rights to a moved note")
  func movedAway() throws {
    let rig = rigWithNote(in: "a")
    rig.book?.enter("ada", user: "ada", try grants("folder:a=all"))
    rig.book?.enter("mover", user: "mover", try grants("document:*=all"))
    for (index, writing) in Self.inFolder.enumerated()
    where writing.path.hasPrefix("/api/notes/n1/") {
      func status() -> Int? {
        rig.answer(send(writing, key: "k\(index)", to: rig, ["authorization": "ada"]))?.status
      }
      #expect(status() == writing.status)
      for (folder, expected) in [("b", 403), ("a", writing.status)] {
        let moved = rig.request(
          "PATCH", "/api/notes/n1", token: "mover", #"{"folder":"\#(folder)"}"#)
        #expect(moved.status == 200)
        #expect(status() == expected, "\(writing) in \(folder)")
      }
    }
  }

  @Test("a stored answer is not sent to guests of other links or for a later note of the same id")
  func guests() throws {
    let rig = rigWithNote(in: "a")
    _ = rig.token("ada", try grants("document:*=all"))
    func link(_ access: String) throws -> String {
      let body = rig.request(
        "POST", "/api/notes/n1/share", token: "ada", #"{"access":"\#(access)"}"#
      ).body
      let token = try #require(JSONFields(Array(body.utf8))?["token"]?.string)
      return token
    }
    let (reading, commenting) = (try link("read"), try link("comment"))
    let writing = try #require(Self.inFolder.first { $0.path.hasSuffix("/comments") })
    func status(_ token: String) -> Int? {
      rig.answer(send(writing, to: rig, ["authorization": token]))?.status
    }
    #expect([commenting, commenting, reading, commenting].map(status) == [201, 201, 403, 201])
    #expect(rig.request("DELETE", "/api/notes/n1", token: "ada").status == 204)
    #expect(status(commenting) == 403)
    rig.clock.advance(milliseconds: 120_000)
    rig.make("n1")
    #expect(status(commenting) == 403)
  }

  @Test(
    "a request with another token does not wait for the first, which has other rights")
  func otherToken() throws {
    let rig = rigWithNote(in: "a")
    rig.book?.enter("all", user: "ada", try grants("document:*=all"))
    rig.book?.enter("less", user: "ada", try grants("document:x=all"))
    rig.isStepwise = true
    let writing = Self.all[2]
    let first = send(writing, to: rig, ["authorization": "all"])
    let second = send(writing, to: rig, ["authorization": "less"])
    while !rig.stored.isEmpty { rig.performStoreRequests() }
    #expect(rig.answer(first)?.status == 200)
    #expect(rig.answer(second)?.status == 409)
  }

  // MARK: Notes under their makers' ids

  @Test("a note is created once with an id chosen by the client")
  func ownID() {
    func put(_ title: String, token: String? = nil) -> Int {
      rig.request("PUT", "/api/notes/own%2F1", #"{"title":"\#(title)"}"#).status
    }
    #expect(put("One") == 201)
    #expect(put("One") == 200)
    #expect(put("Two") == 409)
    #expect(rig.request("PATCH", "/api/notes/own%2F1", #"{"title":"Two"}"#).status == 200)
    #expect(put("One") == 200)
    #expect(notes(rig).first { $0.id == "own/1" }?.title == "Two")
    #expect(rig.request("PUT", "/api/notes/n1", #"{"title":"n1"}"#).status == 409)
    #expect(rig.request("DELETE", "/api/notes/own%2F1").status == 204)
    #expect(put("One") == 410)
    #expect(rig.request("PUT", "/api/notes/x", "{}").status == 400)
    rig.clock.advance(milliseconds: 86_400_000)
    #expect(put("One") == 201)
  }

  @Test("creating a note with an id needs the right to this id")
  func ownIDRights() {
    let rig = GatewayRig()
    for (token, verbs) in [("writer", [.read, .write, .presence]), ("maker", .all)]
      as [(String, Verbs)]
    {
      _ = rig.token(token, [Grant(.documents, NamePattern("a-*"), verbs)])
    }
    func put(_ id: String, _ token: String) -> Int {
      rig.request("PUT", "/api/notes/" + id, token: token, #"{"title":"T"}"#).status
    }
    #expect(put("a-1", "writer") == 403)
    #expect(put("b-1", "maker") == 403)
    #expect(put("a-1", "maker") == 201)
    rig.book?.enter("other", user: "other", [Grant(.documents, NamePattern("*"), .all)])
    #expect(put("a-1", "other") == 409)
  }

  @Test("an id in the body is refused with its correct place")
  func idInBody() {
    let (status, body) = rig.request("POST", "/api/notes", #"{"title":"T","id":"own"}"#)
    #expect(status == 400)
    #expect(body.contains("PUT /api/notes/{id}"))
    #expect(notes(rig).count == 1)
  }

  @Test(
    "an id in the body that differs from the path is refused, and no note is created",
    arguments: [
      #""other""#, #""own""#, #""Own/1""#, #""""#, "1", "null", #"["own/1"]"#, #"{"a":1}"#,
    ])
  func otherID(id: String) {
    let answer = rig.request("PUT", "/api/notes/own%2F1", #"{"title":"T","id":\#(id)}"#)
    #expect(answer.status == 400)
    #expect(answer.body.contains(#""code":"badMessage""#))
    #expect(answer.body.contains("path"))
    #expect(notes(rig).count == 1)
    #expect(rig.request("PUT", "/api/notes/own%2F1", #"{"title":"T","id":"own/1"}"#).status == 201)
    #expect(rig.request("PUT", "/api/notes/own%2F1", #"{"id":"own\/1","title":"T"}"#).status == 200)
  }

  // MARK: Everything going wrong

  /// Programs that write over HTTP and repeat unanswered requests, to a server that fails, dies and
  /// restarts.
  @Test("failures neither lose nor duplicate requests", arguments: UInt64(1)...12)
  func faults(seed: UInt64) throws {
    var random = SimulationRandom(seed: seed)
    let store = MemoryStore()
    var rig = GatewayRig(isDemo: true, store: store)
    rig.make("n1")
    rig.isStepwise = true
    var restarts = 0
    struct Job {
      var writing: Writing
      var key: String
      var sent: UInt64?
      var isDone = false
    }
    var jobs: [Job] = (0..<40).map { number in
      let writing =
        switch number % 4 {
        case 0:
          Writing(
            method: "POST", path: "/api/notes/n1/changes",
            body: #"{"revision":0,"operation":["<\#(number)>"]}"#, status: 200)
        case 1:
          Writing(
            method: "POST", path: "/api/notes", body: #"{"title":"<\#(number)>"}"#, status: 201)
        case 2:
          Writing(
            method: "POST", path: "/api/rooms/r/publish", body: #"{"data":\#(number)}"#, status: 200
          )
        default:
          Writing(
            method: "POST", path: "/api/publish",
            body: #"{"publications":[{"room":"s","data":\#(number)},{"room":"t","data":0}]}"#,
            status: 200)
        }
      return Job(writing: writing, key: "key\(number)")
    }
    func isComplete(_ response: Response) -> Bool {
      response.status < 300
        && !String(decoding: response.body, as: UTF8.self).contains(#""code""#)
    }
    var steps = 0
    while !jobs.allSatisfy(\.isDone) {
      steps += 1
      try #require(steps < 20_000, "the writers do not come to an end")
      let isCalm = steps > 2_000
      let index = random.below(jobs.count)
      if !jobs[index].isDone {
        if let sent = jobs[index].sent, let response = rig.response(sent) {
          // Some responses are lost.
          let isLost = !isCalm && random.chance(30)
          jobs[index].isDone = !isLost && isComplete(response)
          jobs[index].sent = nil
        } else if jobs[index].sent == nil || random.chance(10) {
          jobs[index].sent = send(jobs[index].writing, key: jobs[index].key, to: rig)
        }
      }
      if random.chance(50) { _ = rig.endTurn() }
      if random.chance(40), !rig.stored.isEmpty {
        rig.performStoreRequests(on: 1 + random.below(rig.stored.count))
      }
      guard !isCalm else { continue }
      if random.chance(3) { store.commitsToFail = 1 }
      if random.chance(3) { store.syncsToFail = 1 }
      if random.chance(2) {
        // No client receives the replies to these performed requests.
        if random.chance(50) { _ = store.perform(rig.stored.map(\.request)) }
        store.restart(findsUnsynced: random.chance(50))
        restarts += 1
        rig = GatewayRig(isDemo: true, store: store, prefix: "r\(restarts)-")
        rig.isStepwise = true
        for index in jobs.indices { jobs[index].sent = nil }
      }
    }
    let text = store.document("n1")?.text ?? ""
    let titles = notes(rig).map(\.title)
    for number in 0..<40 {
      switch number % 4 {
      case 0: #expect(text.ranges(of: "<\(number)>").count == 1, "edit \(number)")
      case 1: #expect(titles.count { $0 == "<\(number)>" } == 1, "note \(number)")
      default: break
      }
    }
    #expect(offsets(rig) == [10, 10])
  }
}
