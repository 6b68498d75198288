import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import Testing

/// Edits over HTTP. They are answered when they are durable, and rejected if they expect another
/// revision.
@Suite("Edits over HTTP")
struct ServerEditTests {
  private let rig = GatewayRig(isDemo: true)

  init() {
    rig.make("n1")
  }

  /// Begins a request that replaces the text of a note.
  private func replace(_ text: String, ifMatch revision: Int? = nil) -> UInt64 {
    rig.begin(
      "PUT", "/api/notes/n1/text", headers: revision.map { ["if-match": "\"\($0)\""] } ?? [:], text)
  }

  private var text: String? { rig.store.document("n1")?.text }

  @Test("an edit whose commit fails is refused with all edits based on it")
  func failedCommit() {
    #expect(rig.answer(replace("first"))?.status == 200)
    rig.isStepwise = true
    let committing = replace("lost")
    _ = rig.endTurn()
    let waiting = replace("lost too")
    #expect(rig.answer(committing) == nil)
    rig.store.commitsToFail = 1
    rig.performStoreRequests()
    for request in [committing, waiting] {
      #expect(rig.answer(request)?.status == 503)
      #expect(rig.answer(request)?.body.contains(#""code":"unavailable""#) ?? false)
    }
    #expect(text == "first")
    rig.isStepwise = false
    let next = rig.answer(replace("second", ifMatch: 1))
    #expect(next?.status == 200)
    #expect(next?.body == #"{"revision":2}"#)
    #expect(text == "second")
  }

  @Test("an edit whose outcome is unknown is answered as unknown", arguments: [false, true])
  func unknownOutcome(isStored: Bool) {
    #expect(rig.answer(replace("first"))?.status == 200)
    rig.isStepwise = true
    let edit = replace("second")
    _ = rig.endTurn()
    rig.failWithUnknownOutcome(afterDoing: isStored)
    #expect(rig.answer(edit)?.status == 503)
    #expect(rig.answer(edit)?.body.contains("it is unknown whether the edit was stored") ?? false)
    rig.isStepwise = false
    #expect(rig.answer(replace("third"))?.body == #"{"revision":\#(isStored ? 3 : 2)}"#)
    #expect(text == "third")
  }

  @Test("an edit's expected revision is compared with the newest one, including pending commits")
  func expectedRevision() {
    #expect(rig.answer(replace("first"))?.status == 200)
    rig.isStepwise = true
    let first = replace("second", ifMatch: 1)
    _ = rig.endTurn()
    // Two clients have read revision 1. The first client's edit is being committed.
    let second = replace("third", ifMatch: 1)
    #expect(rig.answer(first) == nil)
    #expect(rig.answer(second)?.status == 412)
    rig.performStoreRequests()
    #expect(rig.answer(first)?.status == 200)
    #expect(text == "second")
  }

  private var revisions: Int { rig.store.log(of: "n1")?.count ?? 0 }

  @Test(
    "writing the current text makes no revision",
    arguments: [
      ("", [:]), ("", ["if-match": "\"2\""]), ("?base=2", [:]),
      ("?author=Eve", ["idempotency-key": "same"]),
    ])
  func sameText(query: String, headers: [String: String]) {
    for text in ["first", "the text"] { #expect(rig.answer(replace(text))?.status == 200) }
    for _ in 1...2 {
      let request = rig.begin("PUT", "/api/notes/n1/text" + query, headers: headers, "the text")
      #expect(rig.answer(request)?.status == 200)
      #expect(rig.answer(request)?.body == #"{"revision":2}"#)
      #expect(rig.response(request)?.headers.first { $0.name == "etag" }?.value == #""2""#)
    }
    #expect(revisions == 2)
    let outdated = replace("the text", ifMatch: 1)
    #expect(rig.answer(outdated)?.status == 412)
    #expect(rig.answer(replace("another"))?.body == #"{"revision":3}"#)
  }

  @Test(
    "a future revision is refused in all requests, without effect")
  func futureRevisions() {
    for text in ["first", "the text"] { #expect(rig.answer(replace(text))?.status == 200) }
    for (method, path, body) in [
      ("GET", "/text?revision=3", ""), ("GET", "/text?revision=9007199254740992&format=text", ""),
      ("PUT", "/text?base=3", "another"), ("PUT", "/text?base=3", "the text"),
      ("POST", "/changes", #"{"revision":3,"operation":[8,"!"]}"#),
      ("POST", "/restore", #"{"revision":3}"#), ("GET", "/comments?revision=3", ""),
      ("POST", "/versions", #"{"name":"v","revision":3}"#),
      ("POST", "/comments", #"{"text":"?","anchor":{"revision":3,"from":0,"to":1}}"#),
    ] {
      let answer = rig.request(method, "/api/notes/n1\(path)", body)
      #expect(answer.status == 409, "\(method) \(path)")
      #expect(answer.body.contains(#""code":"futureRevision""#), "\(method) \(path)")
    }
    #expect(rig.request("GET", "/api/notes/n1/text?time=9007199254740992").status == 200)
    #expect(rig.request("GET", "/api/notes/n1/comments?revision=2").status == 200)
    let history = rig.request("GET", "/api/notes/n1/history?after=9")
    #expect(history.status == 200 && history.body == #"{"head":2,"groups":[]}"#)
    #expect(revisions == 2)
  }

  @Test("writing the text of the edit's base does not revert later changes")
  func sameBase() {
    for text in ["first", "first and second"] { #expect(rig.answer(replace(text))?.status == 200) }
    let request = rig.begin("PUT", "/api/notes/n1/text?base=1", headers: [:], "first")
    #expect(rig.answer(request)?.body == #"{"revision":2}"#)
    #expect(text == "first and second")
    #expect(revisions == 2)
  }

  @Test("writing the committed text does not revert pending changes")
  func sameAsDurable() {
    #expect(rig.answer(replace("first"))?.status == 200)
    rig.isStepwise = true
    let committing = replace("second")
    _ = rig.endTurn()
    let same = replace("first")
    #expect(rig.answer(same)?.body == #"{"revision":1}"#)
    rig.performStoreRequests()
    #expect(rig.answer(committing)?.body == #"{"revision":2}"#)
    #expect(text == "second")
    #expect(revisions == 2)
  }

  @Test("an operation without effect and a restored text make revisions")
  func otherIdentities() {
    #expect(rig.answer(replace("first"))?.status == 200)
    let change = rig.request(
      "POST", "/api/notes/n1/changes", #"{"revision":1,"operation":[5]}"#)
    #expect(change.body == #"{"revision":2}"#)
    #expect(
      rig.request("POST", "/api/notes/n1/restore", #"{"revision":1}"#).body == #"{"revision":3}"#)
  }
}
