import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import Testing

/// `GET /api/notes?parts=`: the parts of the list that the client does not have.
@Suite("Lists of notes in parts")
struct NotePartTests {
  private let rig = GatewayRig()

  init() {
    _ = rig.token("all", [Grant(.documents, NamePattern("*"), .all)])
    _ = rig.token("few", [Grant(.documents, NamePattern("n-1*"), .read)])
    _ = rig.token("none", [Grant(.documents, NamePattern("other-*"), .read)])
  }

  private static let columns = [
    "parts", "may", "ids", "titles", "folders", "rights", "revisions", "createdAt", "updatedAt",
  ]

  /// A client that stores the list as the web page does.
  private struct Reader {
    var tag: String?
    var digests: [String] = []
    var parts: [[String]] = []
    /// The parts and bytes of the last answer.
    var sent: [Int] = []
    var byteCount = 0
    var status = 0

    /// All notes as strings: id, title, folder, rights, revision; sorted by bytes.
    var all: [String] { parts.flatMap(\.self).sorted() }
  }

  private func make(_ count: Int, prefix: String = "n") {
    _ = rig.store.perform(
      (0..<count).map {
        .create(id: "\(prefix)-\($0)", epoch: "e", title: "N\($0)", time: Timestamp(1_000 + $0))
      })
  }

  private func ask(
    _ query: String, _ token: String, _ headers: [String: String] = [:]
  ) throws -> Response {
    let headers = headers.merging(["authorization": "Bearer \(token)"]) { one, _ in one }
    return try #require(rig.response(rig.begin("GET", "/api/notes?" + query, headers: headers)))
  }

  private func refresh(_ reader: inout Reader, _ token: String = "all") throws {
    let response = try ask(
      "parts=" + reader.digests.joined(), token, reader.tag.map { ["if-none-match": $0] } ?? [:])
    reader.status = response.status
    reader.byteCount = response.body.count
    reader.sent = []
    guard response.status == 200 else { return }
    reader.tag = response.headers.first { $0.name == "etag" }?.value
    let fields = try #require(JSONFields(response.body))
    let count = try #require(fields["count"]?.integer)
    if reader.digests.count != count {
      reader.digests = Array(repeating: "", count: count)
      reader.parts = Array(repeating: [], count: count)
    }
    var columns: [String: [JSONValue]] = [:]
    for name in Self.columns { columns[name] = fields[name]?.elements ?? [] }
    let column = { (name: String) in columns[name] ?? [] }
    let may = column("may").map { $0.elements?.compactMap(\.string) ?? [] }
    var next = 0
    for part in column("parts") {
      let place = try #require(part.elements?[0].integer)
      let size = try #require(part.elements?[2].integer)
      reader.sent.append(place)
      reader.digests[place] = try #require(part.elements?[1].string)
      reader.parts[place] = try (next..<next + size).map { index in
        let rights = try #require(column("rights")[index].integer)
        let words = may[rights]
        return try #require(column("ids")[index].string)
          + " \(column("titles")[index].string ?? "") in \(column("folders")[index].string ?? "")"
          + " \(words) \(column("revisions")[index].integer ?? -1)"
      }
      next += size
    }
    for name in Self.columns.dropFirst(2) { #expect(column(name).count == next, "\(name)") }
  }

  /// Returns the same strings, read from the whole list.
  private func whole(_ token: String = "all") throws -> [String] {
    let fields = try #require(JSONFields(try ask("", token).body))
    return (fields["notes"]?.elements ?? []).map { note in
      let note = note.fields
      let words = note?["may"]?.elements?.compactMap(\.string) ?? []
      return "\(note?["id"]?.string ?? "") \(note?["title"]?.string ?? "")"
        + " in \(note?["folder"]?.string ?? "") \(words) \(note?["revision"]?.integer ?? -1)"
    }.sorted()
  }

  @Test("the parts make the whole list", arguments: [0, 1, 31, 33, 500])
  func sameList(count: Int) throws {
    make(count)
    var reader = Reader()
    try refresh(&reader)
    #expect(try reader.all == whole())
    #expect(reader.all.count == count)
    try refresh(&reader)
    #expect(reader.status == 304)
    #expect(reader.byteCount == 0)
  }

  @Test("after a change one part of about 32 notes is sent")
  func oneChange() throws {
    make(1_000)
    var reader = Reader()
    try refresh(&reader)
    let first = reader.byteCount
    #expect(reader.sent.count == 32)
    let changes: [(String, String, String)] = [
      ("PATCH", "/api/notes/n-17", #"{"title":"Other"}"#),
      ("PATCH", "/api/notes/n-17", #"{"folder":"a/b"}"#),
      ("DELETE", "/api/notes/n-18", ""),
      ("PUT", "/api/notes/own", #"{"title":"Own"}"#),
      ("PUT", "/api/notes/n-19/text", "Text."),
    ]
    for (method, path, body) in changes {
      #expect((200...299).contains(rig.request(method, path, token: "all", body).status))
      try refresh(&reader)
      #expect(reader.status == 200)
      #expect(reader.sent.count == 1, "\(method) \(path)")
      #expect(reader.byteCount < first / 12)
      #expect(try reader.all == whole())
    }
  }

  @Test("the number of parts does not change when the list grows and shrinks around a limit")
  func growth() throws {
    make(65)
    var reader = Reader()
    try refresh(&reader)
    #expect(reader.digests.count == 4)
    #expect(rig.request("DELETE", "/api/notes/n-1", token: "all").status == 204)
    try refresh(&reader)
    #expect((reader.digests.count, reader.sent.count) == (4, 1))
    make(300, prefix: "more")
    try refresh(&reader)
    #expect(reader.digests.count == 16)
    #expect(try reader.all == whole())
  }

  @Test("the tag and the parts change with the reader's rights")
  func rights() throws {
    make(40)
    var reader = Reader()
    try refresh(&reader)
    let tag = reader.tag
    _ = rig.token("all", [Grant(.documents, NamePattern("*"), [.read])])
    try refresh(&reader)
    #expect(reader.status == 200)
    #expect(reader.tag != tag)
    #expect(reader.all.allSatisfy { $0.contains(#"["read"]"#) })
    // More rights to one note than to the others.
    _ = rig.token(
      "all",
      [
        Grant(.documents, NamePattern("*"), [.read]),
        Grant(.documents, NamePattern("n-7"), [.read, .write]),
      ])
    try refresh(&reader)
    #expect(reader.sent.count == 1)
    #expect(try reader.all == whole())
  }

  @Test(
    "with another user's tag and digests, a reader gets the own list", arguments: ["few", "none"])
  func strangersTag(token: String) throws {
    make(200)
    var reader = Reader()
    try refresh(&reader)
    let all = reader.all
    try refresh(&reader, token)
    #expect(reader.status == 200)
    #expect(try reader.all == whole(token))
    #expect(reader.all.count < all.count)
  }

  @Test(
    "malformed digests are refused",
    arguments: [
      "abc", "abcdefgh1", "abcdefg!", "abcdefg%20", "%FF", "&limit=3", "&folder=", "&tag=plan",
      "&after=00",
    ])
  func wrongForm(parts: String) throws {
    make(3)
    let answer = try ask("parts=" + parts, "all")
    #expect(answer.status == 400)
  }

  @Test("too many digests are refused", arguments: [3, 257, 512, 10_000])
  func wrongNumber(count: Int) throws {
    make(3)
    let answer = try ask("parts=" + String(repeating: "abcdefgh", count: count), "all")
    #expect(answer.status == 400)
  }

  @Test("unknown digests give the whole list")
  func wrongDigests() throws {
    make(100)
    var reader = Reader()
    reader.tag = "W/\"other\""
    reader.digests = Array(repeating: "abcdefgh", count: 4)
    reader.parts = Array(repeating: [], count: 4)
    try refresh(&reader)
    #expect(reader.sent == [0, 1, 2, 3])
    #expect(try reader.all == whole())
  }

  @Test("a change while the list is read is in this answer or the next one")
  func changeMeanwhile() throws {
    make(1_000)
    var reader = Reader()
    try refresh(&reader)
    rig.isStepwise = true
    let request = rig.begin(
      "GET", "/api/notes?parts=" + reader.digests.joined(),
      headers: ["authorization": "Bearer all"])
    rig.performStoreRequests()
    let renamed = rig.begin(
      "PATCH", "/api/notes/n-3", headers: ["authorization": "Bearer all"], #"{"title":"Late"}"#)
    let again = rig.begin(
      "PATCH", "/api/notes/n-999", headers: ["authorization": "Bearer all"], #"{"title":"Late"}"#)
    while !rig.stored.isEmpty { rig.performStoreRequests() }
    rig.isStepwise = false
    #expect(rig.response(renamed)?.status == 200 && rig.response(again)?.status == 200)
    #expect(rig.response(request)?.status == 200)
    try refresh(&reader)
    #expect(try reader.all == whole())
  }

  @Test("parts contain the 10,000 most recently changed notes, and state that there are more")
  func bound() throws {
    make(10_001)
    var reader = Reader()
    try refresh(&reader)
    #expect(reader.digests.count == 256)
    #expect(reader.all.count == 10_000)
    #expect(!reader.all.contains { $0.hasPrefix("n-0 ") })
    let tag = reader.tag
    #expect(rig.request("DELETE", "/api/notes/n-1", token: "all").status == 204)
    try refresh(&reader)
    #expect(reader.tag != tag)
    #expect(reader.all.count == 10_000)
    #expect(reader.all.contains { $0.hasPrefix("n-0 ") })
    // At most the part of the removed note and the part of its replacement.
    #expect(reader.sent.count <= 2)
  }

  @Test(
    "lists are compressed for clients that accept it, without revealing other notes' names",
    arguments: ["notes?parts=", "folders", "tags", "notes/n-1/comments"])
  func packing(path: String) throws {
    make(3)
    let answer = { (coding: String?) throws -> Response in
      var headers = ["authorization": "Bearer all"]
      headers["accept-encoding"] = coding
      return try #require(rig.response(rig.begin("GET", "/api/" + path, headers: headers)))
    }
    #expect(try answer(nil).packing == nil)
    #expect(try answer("br, gzip;q=0").packing == nil)
    let packed = try answer("gzip, deflate, br")
    let packing = try #require(packed.packing)
    let repeating = String(decoding: packed.body.prefix(packing.repeatingCount), as: UTF8.self)
    for name in ["N1", "n-1"] where path != "notes/n-1/comments" {
      #expect(!repeating.contains(name), "\(repeating)")
    }
    // The same list has the same tag in both codings.
    #expect(try answer(nil).body == packed.body)
    let headers = Dictionary(uniqueKeysWithValues: packed.headers.map { ($0.name, $0.value) })
    #expect(headers["cache-control"] == "private, no-cache")
    #expect(headers["vary"] == "authorization, accept-encoding")
    let tag = try #require(headers["etag"])
    let same = try #require(
      rig.response(
        rig.begin(
          "GET", "/api/" + path, headers: ["authorization": "Bearer all", "if-none-match": tag])))
    #expect(same.status == 304 && same.body.isEmpty && same.packing == nil)
  }

  @Test("without parts, lists have the former form")
  func formerForm() throws {
    make(3)
    for query in ["", "limit=2", "folder="] {
      let answer = try ask(query, "all", ["accept-encoding": "gzip", "if-none-match": "*"])
      #expect(answer.status == 200)
      #expect(answer.packing == nil)
      #expect(!answer.headers.contains { ["etag", "vary"].contains($0.name) })
      #expect(answer.headers.contains { $0 == ("cache-control", "no-store") })
    }
  }

  @Test("hashes are SipHash-2-4, of every length")
  func hash() {
    // From the paper's appendix, and the reference implementation's first vectors.
    let bytes = Array(UInt8(0)..<15)
    #expect(StableHash.of(bytes) == 0xa129_ca61_49be_45e5)
    #expect(StableHash.of([]) == 0x726f_db47_dd0e_0e31)
    #expect(StableHash.of([0]) == 0x74f8_39c5_93dc_67fd)
  }
}
