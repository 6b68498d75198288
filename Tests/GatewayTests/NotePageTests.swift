import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleyOTWorkloads
import ParleySimulationKit
import Testing

/// `GET /api/notes`: whole, and in pages.
@Suite("Lists of notes")
struct NotePageTests {
  private let rig = GatewayRig()

  init() {
    _ = rig.token("all", [Grant(.documents, NamePattern("*"), .all)])
    _ = rig.token("few", [Grant(.documents, NamePattern("few-*"), .read)])
  }

  /// The content of a list.
  private struct List {
    var ids: [String]
    var next: String?
    var link: String?
    var isCut: Bool
  }

  private func list(_ query: String, token: String = "all") throws -> List {
    let request = rig.begin(
      "GET", "/api/notes" + query, headers: ["authorization": "Bearer \(token)"])
    let response = try #require(rig.response(request))
    #expect(response.status == 200)
    let fields = try #require(JSONFields(response.body))
    return List(
      ids: fields["notes"]?.elements?.compactMap { $0.fields?["id"]?.string } ?? [],
      next: fields["next"]?.string,
      link: response.headers.first { $0.name == "link" }?.value,
      isCut: fields["more"] != nil)
  }

  @Test(
    "a field with an invalid encoding is refused, not treated as missing",
    arguments: [
      "notes?after=%FF", "notes?folder=%FF", "notes?tag=%FF&limit=3", "notes?limit=3&after=%zz",
      "folders?after=%FF", "search?q=%FF", "notes/n/text?format=%FF",
    ])
  func brokenField(query: String) throws {
    make(1)
    let request = rig.begin(
      "GET", "/api/" + query, headers: ["authorization": "Bearer all"])
    let response = try #require(rig.response(request))
    #expect(response.status == 400)
  }

  /// Reads all pages.
  private func walk(
    limit: Int, token: String = "all", between: () -> Void = {}
  ) throws -> [[String]] {
    var pages: [[String]] = []
    var query = "?limit=\(limit)"
    while true {
      let page = try list(query, token: token)
      pages.append(page.ids)
      guard let next = page.next else {
        #expect(page.link == nil)
        return pages
      }
      #expect(page.link == "</api/notes?limit=\(limit)&after=\(next)>; rel=\"next\"")
      query = "?limit=\(limit)&after=\(next)"
      between()
    }
  }

  private func make(_ count: Int, prefix: String = "n") {
    _ = rig.store.perform(
      (0..<count).map {
        .create(id: "\(prefix)-\($0)", epoch: "e", title: "N", time: Timestamp(1_000 + $0 / 3))
      })
  }

  @Test("pages list every note once, newest first", arguments: [1, 2, 3, 7, 99, 100, 101])
  func pages(limit: Int) throws {
    make(100)
    let pages = try walk(limit: limit)
    #expect(pages.dropLast().allSatisfy { $0.count == limit })
    let ids = pages.flatMap(\.self)
    #expect(ids.count == 100)
    #expect(Set(ids) == Set(try list("").ids))
    #expect(pages.last?.isEmpty == false)
    let times = ids.compactMap { Int($0.dropFirst(2)).map { $0 / 3 } }
    #expect(times == times.sorted(by: >))
  }

  @Test("notes that exist throughout are listed once during changes", arguments: 1...8)
  func changes(seed: UInt64) throws {
    make(60)
    var random = SimulationRandom(seed: seed)
    var deleted: Set<String> = []
    var count = 0
    let ids = try walk(limit: 7) {
      for _ in 0..<6 {
        count += 1
        rig.clock.advance(milliseconds: 1)
        let id = "n-\(random.below(60))"
        switch random.below(3) {
        case 0: _ = rig.request("PATCH", "/api/notes/\(id)", token: "all", #"{"title":"R"}"#)
        case 1:
          if rig.request("DELETE", "/api/notes/\(id)", token: "all").status == 204 {
            deleted.insert(id)
          }
        default: _ = rig.request("POST", "/api/notes", token: "all", #"{"title":"New"}"#)
        }
      }
    }.flatMap(\.self)
    #expect(count > 0)
    #expect(Set(ids).count == ids.count)
    for number in 0..<60 where !deleted.contains("n-\(number)") {
      #expect(ids.contains("n-\(number)"))
    }
  }

  @Test("unreadable notes are not listed, and do not hide readable ones")
  func rights() throws {
    make(3, prefix: "few")
    make(5_000)
    #expect(try walk(limit: 2, token: "few").map(\.count).reduce(0, +) == 3)
    #expect(try list("", token: "few").ids.count == 3)
    #expect(try list("?limit=1000", token: "few").ids == ["few-2", "few-1", "few-0"])
    let limitedClient = try list("?limit=1", token: "few")
    #expect(limitedClient.ids.allSatisfy { $0.hasPrefix("few-") })
  }

  @Test("a page that requires checking too many notes is short, and has a next page")
  func shortPages() throws {
    make(2, prefix: "few")
    make(21_000)
    let pages = try walk(limit: 5, token: "few")
    #expect(pages.count > 1)
    #expect(pages.flatMap(\.self) == ["few-1", "few-0"])
  }

  @Test("a page has 100 notes by default, and at most 1,000")
  func sizes() throws {
    make(1_100)
    let first = try list("?limit=1000")
    #expect(first.ids.count == 1_000)
    #expect(try list("?limit=1000&after=\(first.next ?? "")").ids.count == 100)
    #expect(try list("?after=\(first.next ?? "")").ids.count == 100)
    #expect(try list("").ids.count == 1_100)
  }

  @Test(
    "an invalid parameter is refused",
    arguments: [
      "limit=0", "limit=1001", "limit=-1", "limit=x", "limit=", "after=", "after=0", "after=zz",
      "after=31", "after=3120ff", "after=782031", "limit=1&after=é",
    ])
  func badParameters(query: String) {
    let answer = rig.request("GET", "/api/notes?" + query, token: "all")
    #expect(answer.status == 400)
    #expect(answer.body.contains("expected"))
  }

  @Test("the whole list is read in steps, between which other requests are served")
  func steps() throws {
    make(2_500)
    for number in [0, 7, 1_700, 2_499] {
      rig.clock.advance(milliseconds: 1)
      #expect(
        rig.request("PATCH", "/api/notes/n-\(number)", token: "all", #"{"title":"R"}"#).status
          == 200)
    }
    rig.isStepwise = true
    let request = rig.begin("GET", "/api/notes", headers: ["authorization": "Bearer all"])
    var sizes: [Int] = []
    while let next = rig.stored.first?.request {
      #expect(rig.stored.count == 1)
      guard case .notes(_, let limit) = next else {
        Issue.record("expected some notes to be asked for, found \(next)")
        return
      }
      sizes.append(limit)
      rig.performStoreRequests()
    }
    #expect(sizes == Array(repeating: 250, count: 11))
    let fields = try #require(rig.response(request).flatMap { JSONFields($0.body) })
    let ids = fields["notes"]?.elements?.compactMap { $0.fields?["id"]?.string } ?? []
    guard case .notes(let all) = rig.store.perform([.list])[0] else { return }
    #expect(ids == all.map(\.id.text))
    #expect(ids.prefix(4) == ["n-2499", "n-1700", "n-7", "n-0"])
  }

  @Test("the whole list contains the 10,000 most recently changed notes")
  func bound() throws {
    make(10_001)
    let cut = try list("")
    #expect(cut.ids.count == 10_000)
    #expect(cut.isCut)
    // Among the notes that changed first, the last by name is left out.
    #expect(!cut.ids.contains("n-2"))
    #expect(rig.request("DELETE", "/api/notes/n-1", token: "all").status == 204)
    #expect(try !list("").isCut)
  }
}
