import Foundation
import JSON
import Synchronization
import Testing

import ParleyOffline

/// Answers in order, and notes what was asked.
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

@Suite("A REST service")
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

  @Test("each kind of change is its request, with its key, version and sender")
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

  @Test("answers are what they mean for a change")
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
  }

  @Test("no request leaves with another person's token, or without one")
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
    #expect(await away.send(request(.update)) == .unreachable)
    await #expect(throws: FetchError.signedOut) { try await other.get("contacts", as: "ann") }
    #expect(web.requests.withLock { $0.isEmpty })
  }

  @Test("a refused token gives way to a newer one")
  func renewal() async throws {
    let web = ScriptedWeb(answer(401), answer(200, "[]"))
    let service = RESTService("http://h", transport: web) { refused in
      Credentials(user: "ann", token: refused == nil ? "old" : "new")
    }
    #expect(try await service.get("contacts", as: "ann")?.elements?.isEmpty == true)
    let tokens = web.requests.withLock { $0.map { $0.headers.last?.value } }
    #expect(tokens == ["Bearer old", "Bearer new"])
  }

  @Test("the system's transport talks to a server, and says that there is none")
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
