import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import Testing

@Suite("Searching notes over HTTP")
struct SearchTests {
  private let rig = GatewayRig()

  init() {
    _ = rig.token("reader", [Grant(.documents, NamePattern("*"), .read)])
    _ = rig.token("few", [Grant(.documents, NamePattern("few-*"), .read)])
    _ = rig.token("writer", [Grant(.documents, NamePattern("*"), [.write, .presence])])
    _ = rig.token("nobody", [])
  }

  /// Makes the index find notes with these ids.
  private func fill(_ ids: [DocumentID]) {
    rig.index = { search in
      switch search {
      case .find(_, let skipped, let limit, _), .tagged(_, let skipped, let limit, _):
        .ids(Array(ids.dropFirst(skipped).prefix(limit)))
      case .tags:
        .tags([TagCount(tag: "plan", notes: ids.count)], isCut: false)
      case .places(_, let ids):
        .hits(
          ids.map { id in
            SearchHit(
              note: NoteSummary(id: id, title: "T", revision: 1, createdAt: 1, updatedAt: 2),
              titleMarks: [0..<1], place: SearchPassage(text: "a duck", start: 7, marks: [2..<6]))
          })
      }
    }
  }

  private func found(_ query: String, token: String) throws -> (ids: [String], isCut: Bool) {
    let (status, body) = rig.request("GET", "/api/search?" + query, token: token)
    #expect(status == 200)
    let answer = try #require(JSONFields(Array(body.utf8)))
    let ids = answer["notes"]?.elements?.compactMap { $0.fields?["id"]?.string }
    return (ids ?? [], body.contains(#""more":true"#))
  }

  @Test("unreadable notes are not found, and not searched in the index")
  func rights() throws {
    fill(["few-1", "secret", "few-2"])
    #expect(try found("q=x", token: "reader").ids == ["few-1", "secret", "few-2"])
    #expect(try found("q=x", token: "few").ids == ["few-1", "few-2"])
    #expect(
      rig.searches.last == .places(try SearchQuery("x"), ["few-1", "few-2"]))
    for token in ["nobody", "writer"] {
      let before = rig.searches.count
      #expect(try found("q=x", token: token).ids == [])
      #expect(rig.searches.count == before + 1, "no place is looked for")
    }
    #expect(rig.request("GET", "/api/search?q=x").status == 401)
  }

  @Test("readable notes are found after very many unreadable ones")
  func manySecrets() throws {
    fill((0..<9_000).map { "secret-\($0)" } + ["few-1", "few-2"])
    #expect(try found("q=x&limit=1", token: "few") == (["few-1"], true))
    #expect(try found("q=x&limit=2", token: "few") == (["few-1", "few-2"], false))
    #expect(try found("q=x&limit=50", token: "reader").isCut)
    #expect(rig.searches.count == 3 + 3 + 2)
    // The first step finds as many notes as are asked for, and does not see the next one.
    fill(["few-1"] + (0..<199).map { "secret-\($0)" } + ["few-2"])
    #expect(try found("q=x&limit=1", token: "few") == (["few-1"], true))
    // Two steps and the excerpts, however many notes there are.
    #expect(rig.searches.count == 3 + 3 + 2 + 3)
  }

  @Test("the answer contains the ranges of matches")
  func answer() {
    fill(["n"])
    let (status, body) = rig.request("GET", "/api/search?q=duck", token: "reader")
    #expect(status == 200)
    #expect(
      body == #"{"notes":[{"id":"n","title":"T","revision":1,"createdAt":1,"updatedAt":2,"#
        + #""titleMarks":[{"from":0,"to":1}],"#
        + #""place":{"text":"a duck","start":7,"marks":[{"from":2,"to":6}]}}]}"#)
  }

  @Test(
    "an invalid search is refused",
    arguments: [
      ("", 400), ("q=%zz", 400), ("q=x&limit=0", 400), ("q=x&limit=51", 400), ("q=x&limit=x", 400),
      ("q=" + String(repeating: "x", count: 100_000), 413),
      ("q=" + String(repeating: "x+", count: 33), 413),
    ])
  func refused(query: String, status: Int) {
    #expect(rig.request("GET", "/api/search?" + query, token: "reader").status == status)
    #expect(rig.searches.isEmpty)
  }

  @Test("signs find nothing", arguments: ["q=", "q=%22*%22", "q=%00%1f%7f", "q=AND+(+OR+-"])
  func signs(query: String) throws {
    #expect(try found(query, token: "reader").ids == [])
  }

  @Test("a token that ends while the index works finds nothing", arguments: [1, 2])
  func ended(steps: Int) throws {
    let end = rig.clock.now + 1_000
    rig.book?.enter(
      "short", user: "short", expiresAt: end, [Grant(.documents, NamePattern("*"), .read)])
    for token in ["short", "reader"] {
      fill(["secret"])
      let answered = rig.index
      var left = steps
      rig.index = { [unowned rig] search in
        left -= 1
        if left == 0, token == "short" { rig.clock.advance(milliseconds: 1_000) }
        if left == 0, token == "reader" {
          rig.revocations.add([.user("reader", before: rig.clock.now + 1)]) { _ in }
        }
        return answered(search)
      }
      let (status, body) = rig.request("GET", "/api/search?q=duck", token: token)
      #expect(status == 403)
      #expect(!body.contains("secret"))
      #expect(rig.searches.count == steps * (token == "short" ? 1 : 2))
    }
  }

  @Test("a user can run at most two searches at a time")
  func twoAtOnce() {
    var statuses: [Int] = []
    fill(["n"])
    let answered = rig.index
    var depth = 0
    rig.index = { [rig] search in
      depth += 1
      defer { depth -= 1 }
      if depth < 4, case .find = search {
        statuses.append(rig.request("GET", "/api/search?q=x", token: "reader").status)
        if depth == 2 {
          statuses.append(rig.request("GET", "/api/search?q=x", token: "writer").status)
        }
      }
      return answered(search)
    }
    statuses.append(rig.request("GET", "/api/search?q=x", token: "reader").status)
    // The reader's third search, then a third one during the writer's; then the writer's, the
    // reader's second and first.
    #expect(statuses == [503, 503, 200, 200, 200])
    // Answered searches no longer count.
    fill(["n"])
    #expect(rig.request("GET", "/api/search?q=x", token: "reader").status == 200)
  }

  @Test("a busy or unavailable index is reported")
  func failing() {
    rig.index = { _ in .busy }
    #expect(rig.request("GET", "/api/search?q=x", token: "reader").status == 503)
    rig.index = { _ in .failed(.unavailable("secret words")) }
    let (status, body) = rig.request("GET", "/api/search?q=x", token: "reader")
    #expect(status == 503)
    #expect(!body.contains("secret"))
  }
}
