import Gateway
import OTCore
import ParleyGatewayPorts
import ParleyOTWorkloads
import ParleyRichForms
import ParleySimulationKit
import Testing

/// Whole notes over HTTP as Delta, HTML and Markdown.
@Suite("Forms of notes over HTTP")
struct NoteFormsTests {
  private let rig: GatewayRig
  private static let delta = "application/vnd.parley.delta+json"

  init() {
    rig = GatewayRig(isDemo: true)
    rig.make("n1")
  }

  private func makeRich() {
    #expect(change(#"{"revision":0,"operation":[0],"format":{"kind":"rich"}}"#)?.status == 200)
  }

  private func change(_ body: String) -> (status: Int, body: String)? {
    rig.answer(rig.begin("POST", "/api/notes/n1/changes", headers: [:], body))
  }

  private func put(
    _ body: [UInt8], query: String = "", headers: [String: String] = ["content-type": delta]
  ) -> (status: Int, body: String)? {
    rig.answer(rig.begin("PUT", "/api/notes/n1/text" + query, headers: headers, bytes: body))
  }

  private func put(_ delta: String, query: String = "") -> (status: Int, body: String)? {
    put(Array(delta.utf8), query: query)
  }

  private func response(_ query: String, headers: [String: String] = [:]) throws -> Response {
    let request = rig.begin("GET", "/api/notes/n1/text" + query, headers: headers)
    return try #require(rig.response(request))
  }

  private func get(_ format: String) throws -> String {
    String(decoding: try response("?format=" + format).body, as: UTF8.self)
  }

  private static let title =
    #"[{"insert":"Title"},{"insert":"\n","attributes":{"header":1}},{"insert":"a "},"#
    + #"{"insert":"b","attributes":{"bold":true}}]"#

  @Test func `a note has all forms, with their types`() throws {
    makeRich()
    #expect(put(Self.title)?.body == #"{"revision":2}"#)
    for (format, type, body) in [
      ("delta", Self.delta, Self.title), ("text", "text/plain; charset=utf-8", "Title\na b"),
      ("markdown", "text/markdown; charset=utf-8", "# Title\n\na **b**\n"),
      (
        "html", "text/html; charset=utf-8",
        "<h1>Title</h1>\n<p>a <strong>b</strong></p>\n"
      ),
    ] {
      let found = try response("?format=" + format)
      #expect(String(decoding: found.body, as: UTF8.self) == body)
      #expect(found.headers.first { $0.name == "content-type" }?.value == type)
      #expect(found.headers.first { $0.name == "etag" }?.value == #""2""#)
    }
    let page = try response("?format=html")
    #expect(
      page.headers.first { $0.name == "content-security-policy" }?.value.hasSuffix("sandbox")
        == true)
    let accepted = try response("", headers: ["accept": Self.delta])
    #expect(String(decoding: accepted.body, as: UTF8.self) == Self.title)
    #expect(
      try response("?format=delta", headers: ["if-none-match": #""2""#]).status == 304)
    // A former revision has its formatting.
    #expect(put(#"[{"insert":"x"}]"#)?.body == #"{"revision":3}"#)
    let former = try response("?format=markdown&revision=2").body
    #expect(String(decoding: former, as: UTF8.self) == "# Title\n\na **b**\n")
    let unknown = try get("pdf")
    #expect(unknown.contains("html or delta"))
  }

  @Test func `a plain note has them without formatting, and takes none`() throws {
    #expect(put(#"[{"insert":"*a*\nb"}]"#)?.body == #"{"revision":1}"#)
    #expect(try get("markdown") == "*a*\nb")
    #expect(try get("html") == "<p>*a*</p>\n<p>b</p>\n")
    #expect(try get("delta") == #"[{"insert":"*a*\nb"}]"#)
    let refused = try #require(put(#"[{"insert":"a","attributes":{"bold":true}}]"#))
    #expect(refused.status == 409)
    #expect(refused.body.contains(#""code":"notAllowed""#))
    #expect(try get("text") == "*a*\nb")
  }

  @Test(
    "what is no Delta is refused, and changes nothing",
    arguments: [
      ("", 400, "badOperation"), (#"[{"retain":1}]"#, 400, "badOperation"),
      (#"[{"insert":"\ud800"}]"#, 400, "badOperation"),
      (#"[{"insert":"a","attributes":{"__proto__":{}}}]"#, 400, "badOperation"),
    ])
  func refusals(delta: String, status: Int, code: String) throws {
    makeRich()
    let refused = try #require(put(delta))
    #expect(refused.status == status)
    #expect(refused.body.contains("\"code\":\"\(code)\""))
    #expect(!refused.body.contains("proto"))
    #expect(rig.store.log(of: "n1")?.count == 1)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `a Delta that was written is read, and written without a change again`(seed: UInt64) throws {
    makeRich()
    var random = SplitMix64(seed: seed)
    let notes = try (0..<3).map { _ in try Self.note(using: &random) }
    for note in notes {
      #expect(put(note)?.status == 200)
      let found = try get("delta")
      #expect(found == String(decoding: note, as: UTF8.self))
      let revisions = rig.store.log(of: "n1")?.count
      #expect(put(note)?.status == 200)
      #expect(rig.store.log(of: "n1")?.count == revisions)
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `a plain edit keeps the formatting of what remains`(seed: UInt64) throws {
    makeRich()
    var random = SplitMix64(seed: seed)
    let first = try RichDocument(delta: Self.note(using: &random))
    let delta = try first.delta()
    #expect(put(delta)?.status == 200)
    let base = try #require(rig.store.log(of: "n1")?.count)
    // An operation without formatting, and a whole text.
    let length = first.text.scalarCount
    let operation = TextOperation.random(length: length, edits: 2, wide: false, using: &random)
    var json: [UInt8] = []
    operation.appendJSON(to: &json)
    #expect(
      change(#"{"revision":\#(base),"operation":\#(String(decoding: json, as: UTF8.self))}"#)?
        .status == 200)
    var expected = first
    try expected.apply(RichOperation(operation, inheritingFrom: first))
    let (found, wanted) = (try get("delta"), try expected.delta())
    #expect(found == String(decoding: wanted, as: UTF8.self))
    let appended = expected.text.text + "\nend"
    #expect(put(Array(appended.utf8), headers: ["content-type": "text/plain"])?.status == 200)
    let after = try RichDocument(delta: Array(try get("delta").utf8))
    #expect(
      after.text.text.unicodeScalars.elementsEqual(WholeText.normalized(appended).unicodeScalars))
    // Other line ends move what follows.
    let isMoved = appended.unicodeScalars.contains("\r")
    for position in 0..<(isMoved ? 0 : min(expected.text.scalarCount, 3)) {
      #expect(after.attributes(at: position) == expected.attributes(at: position))
    }
    // A Delta made from the text before both is merged with them.
    let second = try Self.note(using: &random)
    #expect(put(second, query: "?base=\(base)")?.status == 200)
  }

  /// Returns a Delta in the form that is written, whose text has one kind of line end.
  private static func note(using random: inout SplitMix64) throws -> [UInt8] {
    let units = ReferenceRich.text(scalars: 1 + random.below(30), using: &random)
    let document = ReferenceRich.document(
      units.filter { $0.scalar != "\r" && $0.scalar != "\u{feff}" })
    return try document.delta()
  }
}
