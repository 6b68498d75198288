import Foundation
import ParleyJSON
import Synchronization
import Testing

import ParleyOffline

/// A transport that gives its answers in order, and records the requests.
final class ScriptedWeb: WebTransport, Sendable {
  private let answers: Mutex<[WebResponse]>
  let requests = Mutex<[WebRequest]>([])

  init(_ answers: WebResponse...) { self.answers = Mutex(answers) }

  struct NoAnswer: Error {}

  func send(_ request: WebRequest) async throws -> WebResponse {
    requests.withLock { $0.append(request) }
    return try answers.withLock { answers in
      guard !answers.isEmpty else { throw NoAnswer() }
      return answers.removeFirst()
    }
  }
}

/// An app's place for its token, over a line that is weak when a newer one is asked for.
private final class WeakSource: Sendable {
  struct State {
    var failures: Int
    var asked: [String?] = []
  }

  struct NoLine: Error {}

  let state: Mutex<State>

  init(failures: Int) { state = Mutex(State(failures: failures)) }

  func answer(_ refused: Credentials?) throws -> Credentials? {
    try state.withLock { state in
      state.asked.append(refused?.token)
      guard refused != nil else { return Credentials(user: "ann", token: "old") }
      guard state.failures == 0 else {
        state.failures -= 1
        throw NoLine()
      }
      return Credentials(user: "ann", token: "new")
    }
  }
}

/// An app's place for its token that answers when the test lets it.
private final class HeldSource: Sendable {
  let asked = Mutex<[Credentials?]>([])
  private let arrived = AsyncStream.makeStream(of: Void.self)
  private let allowed = AsyncStream.makeStream(of: Void.self)

  func answer(_ refused: Credentials?) async -> Credentials? {
    asked.withLock { $0.append(refused) }
    arrived.continuation.yield()
    for await _ in allowed.stream { break }
    return Credentials(user: "ann", token: refused == nil ? "first" : "second")
  }

  func arrival() async {
    for await _ in arrived.stream { return }
  }

  func allow() { allowed.continuation.yield() }
}

@Suite("A REST service", .timeLimit(.minutes(30)))
struct RESTServiceTests {
  private func request(
    _ kind: MutationKind, id: ResourceID? = 7, base: String? = nil
  ) -> MutationRequest {
    MutationRequest(
      key: "k", user: "ann", kind: kind, resource: "contacts", id: id,
      body: Array(#"{"a":1}"#.utf8), base: base)
  }

  private func answer(_ status: Int, _ body: String = "", _ headers: (String, String)...)
    -> WebResponse
  {
    WebResponse(
      status: status, headers: headers.map { (name: $0.0, value: $0.1) }, body: Array(body.utf8))
  }

  @Test("each kind of change becomes a request with its key, version and sender")
  func requests() async {
    let web = ScriptedWeb(answer(201), answer(200), answer(204), answer(201))
    let service = RESTService("https://h/v1/", transport: web) { _ in
      Credentials(user: "ann", token: "t")
    }
    service.use(senderID: "me")
    for kind: MutationKind in [.create, .update, .delete, .action("comments")] {
      _ = await service.send(request(kind, id: kind == .create ? nil : "a/b", base: "3"))
    }
    let sent = web.requests.withLock { $0 }
    #expect(
      sent.map { "\($0.method) \($0.url)" } == [
        "POST https://h/v1/contacts", "PATCH https://h/v1/contacts/a%2Fb",
        "DELETE https://h/v1/contacts/a%2Fb", "POST https://h/v1/contacts/a%2Fb/comments",
      ])
    for request in sent {
      let headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { $1 }
      #expect(headers["Idempotency-Key"] == "k")
      #expect(headers["If-Match"] == "\"3\"")
      #expect(headers["X-Sender-Id"] == "me")
      #expect(headers["Authorization"] == "Bearer t")
    }
  }

  @Test("each answer is translated into its meaning for the change")
  func answers() async {
    let current = #"{"id":7,"version":4}"#
    let cases: [(WebResponse, MutationKind, MutationAnswer)] = [
      (
        answer(201, #"{"id":"x","version":"2"}"#), .create,
        .done(id: "x", body: Array(#"{"id":"x","version":"2"}"#.utf8), version: "2")
      ),
      (answer(201, "", ("location", "/contacts/12")), .create, .done(id: "12")),
      (answer(200, "nonsense"), .update, .done()),
      (answer(404), .delete, .done()),
      (answer(404), .update, .refused(status: 404)),
      (answer(412, current), .update, .conflict(theirs: Array(current.utf8), version: "4")),
      (
        answer(409, #"{"message":"x","current":\#(current)}"#), .update,
        .conflict(theirs: Array(current.utf8), version: "4")
      ),
      (answer(409, "", ("retry-after", "2")), .update, .busy(retryAfter: 2_000)),
      (answer(429, "", ("retry-after", "9")), .update, .busy(retryAfter: 9_000)),
      (answer(503, "", ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")), .update, .busy()),
      (answer(500), .create, .busy()),
      (answer(401), .create, .unauthorised),
      (answer(422, #"{"message":"no"}"#), .create, .refused(status: 422, reason: "no")),
      (answer(301), .create, .refused(status: 301)),
    ]
    for (response, kind, expected) in cases {
      let service = RESTService("http://h", transport: ScriptedWeb(response))
      #expect(await service.send(request(kind)) == expected)
    }
    let silent = RESTService("http://h", transport: ScriptedWeb())
    #expect(await silent.send(request(.create)) == .unreachable)
    // Nothing listens on this port.
    #expect(await RESTService("http://127.0.0.1:1").send(request(.create)) == .notSent)
  }

  @Test("no request is sent with another person's token, or without a token")
  func tokens() async {
    let web = ScriptedWeb()
    let other = RESTService("http://h", transport: web) { _ in
      Credentials(user: "ben", token: "b")
    }
    #expect(await other.send(request(.update)) == .noToken)
    let nobody = RESTService("http://h", transport: web) { _ in nil }
    #expect(await nobody.send(request(.update)) == .noToken)
    struct Away: Error {}
    let away = RESTService("http://h", transport: web) { _ in throw Away() }
    #expect(await away.send(request(.update)) == .notSent)
    await #expect(throws: FetchError.signedOut) { try await other.get("contacts", as: "ann") }
    #expect(web.requests.withLock { $0.isEmpty })
  }

  @Test("after a refusal of its token a request is sent with a newer token")
  func renewal() async throws {
    let web = ScriptedWeb(answer(401), answer(200, "[]"))
    let service = RESTService("http://h", transport: web) { refused in
      Credentials(user: "ann", token: refused == nil ? "old" : "new")
    }
    #expect(try await service.get("contacts", as: "ann")?.elements?.isEmpty == true)
    let tokens = web.requests.withLock { $0.map { $0.headers.last?.value } }
    #expect(tokens == ["Bearer old", "Bearer new"])
  }

  @Test(
    "after a failed renewal of the token a change is sent after a pause", arguments: [1, 2, 5])
  func failedRenewal(failures: Int) async throws {
    let web = ScriptedWeb(answer(401), answer(200))
    let source = WeakSource(failures: failures)
    let service = RESTService("http://h", transport: web) { try source.answer($0) }
    let time = ManualTime()
    let folder = TemporaryFolder()
    let outbox = try Outbox(
      OfflineStore(folder: folder.path), user: "ann", sender: service, time: time)
    let draft = MutationDraft(.update, "contacts", 7, body: Array(#"{"a":1}"#.utf8))
    let steps = try await outbox.add(draft)
    let clock = Task {
      while !Task.isCancelled {
        time.pass(60_000)
        await Task.yield()
      }
    }
    defer { clock.cancel() }
    var last: MutationStep?
    for await step in steps { last = step }
    #expect(last == .saved(7, body: nil))
    #expect(
      source.state.withLock { $0.asked } == [nil] + Array(repeating: "old", count: failures + 1))
    let tokens = web.requests.withLock { $0.map { $0.headers.last { $0.name == "Authorization" } } }
    #expect(tokens.map { $0?.value } == ["Bearer old", "Bearer new"])
  }

  @Test("while the token of a list cannot be renewed, the list is unreachable, not signed out")
  func failedRenewalOfList() async throws {
    let source = WeakSource(failures: 1)
    let service = RESTService(
      "http://h", transport: ScriptedWeb(answer(401), answer(200, "[]"))
    ) { try source.answer($0) }
    await #expect {
      try await service.get("contacts", as: "ann")
    } throws: { error in
      if case FetchError.unreachable = error { true } else { false }
    }
    #expect(try await service.get("contacts", as: "ann")?.elements?.isEmpty == true)
  }

  @Test("a token of another person makes the service ask its source again")
  func anotherPerson() async throws {
    let web = ScriptedWeb(answer(200, "[]"), answer(200), answer(200, "[]"))
    let names = Names(["ben", "ann", "ben"])
    let service = RESTService("http://h", transport: web) { _ in
      names.next().map { Credentials(user: $0, token: $0) }
    }
    _ = try await service.get("contacts", as: "ben")
    #expect(await service.send(request(.update)) == .done())
    _ = try await service.get("contacts", as: "ben")
    let tokens = web.requests.withLock { $0.map { $0.headers.last { $0.name == "Authorization" } } }
    #expect(tokens.map { $0?.value } == ["Bearer ben", "Bearer ann", "Bearer ben"])
  }

  private final class Names: Sendable {
    private let left: Mutex<[String]>
    init(_ names: [String]) { left = Mutex(names) }
    func next() -> String? { left.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
  }

  @Test("credentials that come after their person has signed out are neither used nor kept")
  func lateCredentials() async throws {
    let web = ScriptedWeb(answer(401), answer(200))
    let source = HeldSource()
    let service = RESTService("http://h", transport: web) { await source.answer($0) }
    let change = request(.update)
    let sending = Task { await service.send(change) }
    await source.arrival()
    service.signOut()
    source.allow()
    #expect(await sending.value == .notSent)
    #expect(web.requests.withLock { $0.isEmpty })
    // Nothing is known: it is asked again.
    let again = Task { await service.send(change) }
    await source.arrival()
    source.allow()
    #expect(await again.value == .unauthorised)
    let renewing = Task { await service.renewToken(of: "ann") }
    await source.arrival()
    service.signOut()
    source.allow()
    #expect(await renewing.value)
    let last = Task { await service.send(change) }
    await source.arrival()
    source.allow()
    #expect(await last.value == .done())
    #expect(source.asked.withLock { $0.map { $0?.token } } == [nil, nil, "first", nil])
  }

  @Test("the system's transport talks to a server, and reports that a server is missing")
  func system() async throws {
    let backEnd = try BackEnd()
    let web = SystemWebTransport()
    let response = try await web.send(
      WebRequest("POST", backEnd.address + "/things", body: Array(#"{"a":1}"#.utf8)))
    #expect(response.status == 201)
    #expect(text(response.body) == #"{"a":1,"id":1}"#)
    backEnd.close()
    await #expect(throws: (any Error).self) {
      try await web.send(WebRequest("GET", "http://127.0.0.1:1/"))
    }
    await #expect(throws: (any Error).self) { try await web.send(WebRequest("GET", "nonsense")) }
  }
}
