import Glibc
import OTCore
import ParleyOTWorkloads
import Testing

/// Rich operations: their laws, compared with a naive model, and the rules as examples.
///
/// `make test` runs 4,000 cases, `make oracle` millions; see OracleTests.
@Suite("Rich operations")
struct RichTests {
  private static let cases = number("ORACLE_CASES") ?? 4_000
  private static let first = number("ORACLE_FIRST") ?? 1
  private static let shares = 4

  private static func number(_ name: String) -> Int? {
    getenv(name).flatMap { Int(String(cString: $0)) }
  }

  @Test("OTCore and the reference agree", arguments: 0..<shares)
  func agreement(share: Int) throws {
    for seed in stride(from: Self.first + share, to: Self.first + Self.cases, by: Self.shares) {
      try RichOracleCase(seed: UInt64(seed)).check()
    }
  }

  /// Returns an operation from a text notation and the JSON of its format.
  private static func rich(_ notation: String, _ format: String) throws -> RichOperation {
    try RichOperation(text: op(notation), formatJSON: Array(format.utf8))
  }

  private static func json(_ operation: RichOperation) -> String {
    var json: [UInt8] = []
    operation.format?.appendJSON(to: &json)
    return operation.text.notation + " " + String(decoding: json, as: UTF8.self)
  }

  private static let nothing = "{}"
  private static let bold = #"{"sets":[{"bold":true}],"kept":[0,14,1]}"#

  @Test(
    "the rules of concurrent formatting",
    arguments: [
      // Text inserted within a range takes the range's formatting, even if it has no attributes.
      (
        ["=15", bold], ["=4 +brown =11", nothing],
        #"=4 +brown =11 {"sets":[{"bold":true}],"put":[5,1]}"#,
        #"=20 {"sets":[{"bold":true}],"kept":[0,19,1]}"#
      ),
      // The committed value wins.
      (
        ["=7", #"{"sets":[{"color":"red"}],"kept":[0,5,1]}"#],
        ["=7", #"{"sets":[{"color":"blue","bold":true}],"kept":[2,5,1]}"#],
        #"=7 {"sets":[{"bold":true},{"bold":true,"color":"blue"}],"kept":[2,3,1,0,2,2]}"#,
        #"=7 {"sets":[{"color":"red"}],"kept":[0,5,1]}"#
      ),
      (
        ["=6", #"{"sets":[{"block":"h1"}],"kept":[5,1,1]}"#],
        ["=6", #"{"sets":[{"block":"bullet"}],"kept":[5,1,1]}"#],
        "=6 ", #"=6 {"sets":[{"block":"h1"}],"kept":[5,1,1]}"#
      ),
      // A removal extends over inserted text, too, and leaves no empty runs.
      (
        ["=8", #"{"sets":[{"link":null}],"kept":[0,8,1]}"#],
        ["=4 +right =4", #"{"sets":[{"link":"a"}],"put":[5,1]}"#],
        "=4 +right =4 ", #"=13 {"sets":[{"link":null}],"kept":[0,13,1]}"#
      ),
      // Text inserted at the end of a range is outside of it.
      (
        ["=7", #"{"sets":[{"bold":true}],"kept":[0,7,1]}"#], ["=7 +ran", nothing],
        "=7 +ran ", #"=10 {"sets":[{"bold":true}],"kept":[0,7,1]}"#
      ),
      // The position of a group of insertions and deletions is its start.
      (
        ["=11", #"{"sets":[{"link":"a"}],"kept":[0,5,1]}"#], ["=2 -3 +y =6", nothing],
        #"=2 -3 +y =6 {"sets":[{"link":"a"}],"put":[1,1]}"#,
        #"=9 {"sets":[{"link":"a"}],"kept":[0,3,1]}"#
      ),
      // Keys that the committed operation sets itself do not extend over its insertion.
      (
        ["=1 +xy =1", #"{"sets":[{"bold":null}],"kept":[0,1,1]}"#],
        ["=2", #"{"sets":[{"bold":true,"font":"a"}],"kept":[0,2,1]}"#],
        #"=4 {"sets":[{"font":"a"},{"bold":true,"font":"a"}],"kept":[0,3,1,0,1,2]}"#,
        #"=1 +xy =1 {"sets":[{"bold":null},{"font":"a"}],"kept":[0,1,1],"put":[2,2]}"#
      ),
    ])
  func rules(a: [String], b: [String], bAfterA: String, aAfterB: String) throws {
    let result = try RichOperation.transform(Self.rich(a[0], a[1]), Self.rich(b[0], b[1]))
    #expect(Self.json(result.bAfterA) == bAfterA)
    #expect(Self.json(result.aAfterB) == aAfterB)
  }

  @Test func `a large document's runs are the model's over many edits`() throws {
    var random = SplitMix64(seed: 41)
    var units = ReferenceRich.text(scalars: 1_500, using: &random)
    var document = ReferenceRich.document(units)
    for step in 1...300 {
      let operation = ReferenceRich(
        formatting: .random(
          length: units.count, edits: random.chance(10) ? 40 : 2, wide: false, using: &random),
        using: &random)
      let packed = operation.packed
      let before = document
      try document.apply(packed)
      if step % 50 == 0 {
        // A copy does not change, and the inverse restores it.
        #expect(ReferenceRich.units(of: before) == units)
        var back = document
        try back.apply(packed.inverted(on: before))
        #expect(back == before)
      }
      units = operation.applied(to: units)
      document.checkInvariants()
    }
    #expect(ReferenceRich.units(of: document) == units)
    // An unformatted document has no runs.
    var plain = RichOperationBuilder()
    plain.retain(
      units.count, setting: try AttributeSet(json: #"{"bold":null,"color":null,"link":null}"#))
    try document.apply(plain.finished())
    #expect(!document.hasAttributes)
    document.checkInvariants()
  }

  @Test func `parts are within limits`() throws {
    var random = SplitMix64(seed: 42)
    let units = ReferenceRich.text(scalars: 400, using: &random)
    let document = ReferenceRich.document(units)
    let operation = ReferenceRich(
      formatting: .random(length: 400, edits: 150, wide: true, using: &random), using: &random)
    let limits = OperationLimits(componentsMax: 60, jsonBytesMax: 600)
    var changed = document
    let parts = operation.packed.split(within: limits)
    #expect(parts.count > 5)
    for part in parts {
      #expect(part.fits(within: limits))
      try changed.apply(part)
    }
    #expect(ReferenceRich.units(of: changed) == operation.applied(to: units))
  }

  @Test func `an insertion is split between any two scalars`() throws {
    let scalars = ["a", "é", "\u{fffc}", "🦊"]
    for first in scalars {
      for second in scalars {
        for third in [""] + scalars {
          let count = third.isEmpty ? 1 : 2
          let operation = try Self.rich(
            "=1 +\(first)\(second)\(third) =1",
            #"{"sets":[{"a":1},{"b":1}],"put":[1,1,\#(count),2]}"#)
          let parts = operation.split(within: OperationLimits(componentsMax: 4))
          var document = RichDocument(Document("xy"))
          for part in parts {
            #expect(part.componentCount <= 4)
            try document.apply(part)
          }
          var whole = RichDocument(Document("xy"))
          try whole.apply(operation)
          #expect(document == whole)
        }
      }
    }
  }

  @Test(
    "text of clients that know only text takes the attributes around it",
    arguments: [
      // Bold continues, a link only inside; neither at a line's start.
      ("=5 +x =9", #"{"sets":[{"bold":true}],"put":[1,1]}"#),
      ("=3 +xy =11", #"{"sets":[{"bold":true,"link":"a"}],"put":[2,1]}"#),
      ("+x =14", ""), ("=6 +x =8", ""), ("=14 +x", ""),
      // The scalars around a replacement, in either order of insertion and deletion.
      ("=3 -2 +x =9", #"{"sets":[{"bold":true}],"put":[1,1]}"#),
      ("=1 +x -1 =12", #"{"sets":[{"bold":true,"link":"a"}],"put":[1,1]}"#),
      // A newline takes the attributes of its line; text behind an inserted one takes none.
      ("=8 +x\ny =6", #"{"sets":[{"block":"bullet"}],"put":[1,0,1,1]}"#),
      // At the end of a heading, at its start, and within it.
      (
        "=5 +\n =9",
        #"{"sets":[{"block":null},{"align":"right","block":"h1"}],"kept":[5,1,1],"put":[1,2]}"#
      ),
      ("+\n =14", #"{"sets":[{"align":"right"}],"put":[1,1]}"#),
      ("=2 +\n =12", #"{"sets":[{"align":"right","block":"h1"}],"put":[1,1]}"#),
      // An embed is not repeated.
      ("=12 +\u{fffc} =2", #"{"sets":[{"link":"b"}],"put":[1,1]}"#),
    ])
  func inheriting(notation: String, expected: String) throws {
    // A linked title in bold, a bullet, and a line with two equal images.
    let runs =
      #"{"sets":[{"bold":true,"link":"a"},{"block":"h1","align":"right"},{"block":"bullet"},"#
      + #"{"embed":{"rule":true},"link":"b"}],"runs":[5,1,1,2,4,0,1,3,2,4]}"#
    let document = try RichDocument(
      Document("Title\nitem\n\u{fffc}\u{fffc}\n"), formatJSON: Array(runs.utf8))
    let operation = RichOperation(op(notation), inheritingFrom: document)
    #expect(Self.json(operation) == "\(op(notation).notation) \(expected)")
    var changed = document
    try changed.apply(operation)
    changed.checkInvariants()
  }

  @Test func `text of clients that know only text is rebased, then takes attributes`() throws {
    let runs = #"{"sets":[{"bold":true},{"italic":true}],"runs":[3,1,3,2]}"#
    let document = try RichDocument(Document("aaabbb"), formatJSON: Array(runs.utf8))
    var sequencer = ServerSequencer(content: document, revision: 0)
    // The place behind the third letter is in the middle of the bold text now.
    _ = try sequencer.submit(
      Self.rich("+xxx =3 -3", #"{"sets":[{"bold":true}],"put":[3,1]}"#), at: 0)
    let inserted = try sequencer.submit(inheriting: op("=6 +y"), at: 0)
    #expect(Self.json(inserted) == #"=6 +y {"sets":[{"bold":true}],"put":[1,1]}"#)
    #expect(sequencer.document == Document("xxxaaay"))
    sequencer.content.checkInvariants()
    #expect(throws: SequencerError.operation(.lengthMismatch(expected: 7, found: 3))) {
      try sequencer.submit(inheriting: op("=3 +z"), at: 2)
    }
  }

  @Test func `text of clients that know only text is committed at the limits`() throws {
    let runs = #"{"sets":[{"bold":true,"link":"a"}],"runs":[3,1]}"#
    let document = try RichDocument(Document("aaa"), formatJSON: Array(runs.utf8))
    for (setsMax, expected) in [
      (2, #"=3 +z {"sets":[{"bold":true}],"put":[1,1]}"#), (1, "=3 +z "),
    ] {
      var sequencer = ServerSequencer(content: document, revision: 0)
      let stored = try sequencer.submit(
        inheriting: op("=3 +z"), at: 0, within: FormatLimits(setsMax: setsMax))
      #expect(Self.json(stored) == expected)
      #expect(sequencer.document == Document("aaaz"))
    }
  }

  @Test func `an embed that becomes another one is replaced, as embeds cannot change`() throws {
    func document(_ runs: String) throws -> RichDocument {
      try RichDocument(Document("a\u{fffc}\u{fffc}b"), formatJSON: Array(runs.utf8))
    }
    let one = #"{"embed":{"image":"one"}}"#
    let forms = [
      #"{"sets":[\#(one)],"runs":[1,0,1,1,2,0]}"#, #"{"sets":[\#(one)],"runs":[1,0,2,1,1,0]}"#,
      #"{"sets":[{"embed":{"image":"two"}},{"width":9}],"runs":[1,2,2,1,1,2]}"#, "{}",
    ]
    for old in forms {
      for new in forms {
        var changed = try document(old)
        let difference = RichOperation(changing: changed, into: try document(new))
        try changed.apply(difference)
        #expect(changed == (try document(new)))
        var json: [UInt8] = []
        difference.format?.appendJSON(to: &json)
        guard difference.format != nil else { continue }
        #expect(try RichOperation(text: difference.text, formatJSON: json) == difference)
      }
    }
  }

  // MARK: JSON

  @Test(arguments: [
    // Ranges over deleted text, beyond the end, out of bounds, incomplete.
    ("=3 -2 +ab", #"{"sets":[{"bold":true}],"kept":[2,2,1]}"#),
    ("=3", #"{"sets":[{"bold":true}],"kept":[0,4,1]}"#),
    ("=3", #"{"sets":[{"bold":true}],"kept":[1073741823,1073741823,1]}"#),
    ("=3", #"{"sets":[{"bold":true}],"kept":[0,0,1]}"#),
    ("=3", #"{"sets":[{"bold":true}],"kept":[0,1]}"#),
    ("=3 +a", #"{"sets":[{"bold":true}],"put":[2,1]}"#),
    ("=3 +a", #"{"sets":[{"bold":true}],"put":[1]}"#),
    // Undefined sets, and invalid sets.
    ("=3", #"{"sets":[{"bold":true}],"kept":[0,1,2]}"#),
    ("=3", #"{"sets":[{"bold":true}],"kept":[0,1,0]}"#),
    ("=3 +a", #"{"sets":[{"bold":null}],"put":[1,1]}"#),
    ("=3", #"{"sets":[{"__proto__":true}]}"#),
    ("=3", #"{"sets":[{"Bold":true}]}"#),
    ("=3", #"{"sets":[{"bold":false}]}"#),
    ("=3", #"{"sets":[{"bold":1.5}]}"#),
    ("=3", #"{"sets":[{"bold":1e3}]}"#),
    ("=3", #"{"sets":[{"bold":01}]}"#),
    ("=3", #"{"sets":[{"bold":{}}]}"#),
    ("=3", #"{"sets":[{"bold":[]}]}"#),
    ("=3", #"{"sets":[{"bold":"\ud800"}]}"#),
    ("=3", #"{"sets":[{"embed":{}}]}"#),
    ("=3", #"{"sets":[{"embed":{"image":"a","file":"b"}}]}"#),
    ("=3", #"{"sets":[{"embed":true}]}"#),
    // An embed is one U+FFFC, inserted together with its set.
    ("=3", #"{"sets":[{"embed":null}],"kept":[0,1,1]}"#),
    ("=3 +a", #"{"sets":[{"embed":{"rule":true}}],"put":[1,1]}"#),
    // Invalid JSON.
    ("=3", ""), ("=3", "{"), ("=3", "[]"), ("=3", "{}x"), ("=3", #"{"sets":[{}}"#),
    ("=3", #"{"kept":[-1,1,1]}"#), ("=3", #"{"x":[[[[[[[[[[1]]]]]]]]]]}"#),
  ])
  func `refuses what is no format`(text: String, json: String) {
    #expect(throws: OperationError.self) { try Self.rich(text, json) }
  }

  @Test(arguments: [
    // Unknown fields, escapes, repeated keys, equal and unused sets.
    (
      "=3 +a",
      #" { "kind" : "rich" , "sets" : [ {"x":"\u0061\/"} , {"x":1,"x":"a/"} , {"b":true} ], "kept":[0,1,1,0,1,2] , "put": [1,0] } "#,
      #"=3 +a {"sets":[{"x":"a/"}],"kept":[0,2,1]}"#
    ),
    ("=2", #"{"sets":[{}],"kept":[0,2,1]}"#, "=2 "),
    (
      "+\u{fffc}x", #"{"sets":[{"embed":{"image":"h/a.png"},"width":20}],"put":[1,1]}"#,
      "+\u{fffc}x " + #"{"sets":[{"embed":{"image":"h/a.png"},"width":20}],"put":[1,1]}"#
    ),
    (
      "=1", #"{"sets":[{"n":-0,"m":-12,"e":""}],"kept":[0,1,1]}"#,
      #"=1 {"sets":[{"e":"","m":-12,"n":0}],"kept":[0,1,1]}"#
    ),
  ])
  func `reads formats in any spelling`(text: String, json: String, expected: String) throws {
    #expect(Self.json(try Self.rich(text, json)) == expected)
  }

  @Test func `limits of sets`() throws {
    func set(_ keys: Int, bytes: Int) -> String {
      let value = String(repeating: "x", count: bytes)
      return "{\((0..<keys).map { "\"k\($0)\":\"\(value)\"" }.joined(separator: ","))}"
    }
    _ = try AttributeSet(json: set(AttributeSet.keysMax, bytes: AttributeSet.valueBytesMax - 2))
    #expect(throws: OperationError.self) { try AttributeSet(json: set(17, bytes: 1)) }
    #expect(throws: OperationError.self) { try AttributeSet(json: set(1, bytes: 2_047)) }
    func format(_ sets: Int) -> String {
      "{\"sets\":[" + (0..<sets).map { "{\"a\":\($0)}" }.joined(separator: ",") + "]}"
    }
    _ = try Self.rich("=1", format(Format.setsMax))
    #expect(throws: OperationError.tooLong) { try Self.rich("=1", format(Format.setsMax + 1)) }
  }

  @Test func `a piece of text has no more attributes than can be read`() throws {
    func sixteen(_ letter: String) -> String {
      "{" + (0..<16).map { "\"\(letter)\($0)\":1" }.joined(separator: ",") + "}"
    }
    var sequencer = ServerSequencer(document: Document("abc"), revision: 0)
    func submit(_ format: String, at base: Int? = nil) throws {
      _ = try sequencer.submit(Self.rich("=3", format), at: base ?? sequencer.revision)
    }
    try submit(#"{"sets":[\#(sixteen("a"))],"kept":[0,2,1]}"#)
    let before = sequencer.content
    for (base, format) in [
      (1, #"{"sets":[{"b":1}],"kept":[1,1,1]}"#),
      (0, #"{"sets":[\#(sixteen("b"))],"kept":[0,2,1]}"#),
    ] {
      #expect(throws: SequencerError.operation(.tooManyKeys(max: 16))) {
        try submit(format, at: base)
      }
    }
    // Inserted text that grows.
    #expect(throws: SequencerError.operation(.tooManyKeys(max: 16))) {
      _ = try sequencer.submit(
        Self.rich("=1 +x =2", #"{"sets":[{"b":1}],"put":[1,1]}"#), at: 0)
    }
    #expect(sequencer.content == before)
    try submit(#"{"sets":[{"b":1}],"kept":[2,1,1]}"#)
    try submit(#"{"sets":[{"b":1,"a0":null}],"kept":[1,1,1]}"#)
    var json: [UInt8] = []
    sequencer.content.appendFormatJSON(to: &json)
    #expect(try RichDocument(sequencer.document, formatJSON: json) == sequencer.content)
  }

  @Test func `a document at its limits takes text, removals and known attributes`() throws {
    let limits = FormatLimits(setsMax: 3, runsMax: 8)
    var sequencer = ServerSequencer(document: Document("abcdefghijkl"), revision: 0)
    func submit(_ notation: String, _ format: String) throws {
      _ = try sequencer.submit(
        Self.rich(notation, format), at: sequencer.revision, within: limits)
      sequencer.content.checkInvariants()
    }
    func error(_ error: OperationError, _ notation: String, _ format: String) {
      let before = sequencer.content
      #expect(throws: SequencerError.operation(error)) { try submit(notation, format) }
      #expect(sequencer.content == before)
    }
    let three = #"{"sets":[{"a":1},{"a":2},{"a":3}],"kept":[0,2,1,1,2,2,1,2,3]}"#
    try submit("=12", three)
    error(.tooManySets(max: 3), "=12", #"{"sets":[{"b":1}],"kept":[1,1,1]}"#)
    // The last text of a set takes another one, and a known set needs no room.
    try submit("=12", #"{"sets":[{"a":4}],"kept":[0,2,1]}"#)
    try submit("=12", #"{"sets":[{"a":2}],"kept":[9,1,1]}"#)
    #expect(sequencer.content.runCount == 8)
    error(.tooManyRuns(max: 8), "=12", #"{"sets":[{"a":2}],"kept":[11,1,1]}"#)
    error(.tooManyRuns(max: 8), "=12 +ab", #"{"sets":[{"a":2}],"put":[1,1]}"#)
    try submit("=1 +text =11", "{}")
    #expect(sequencer.content.runCount == 10)
    try submit("=16", #"{"sets":[{"a":null}],"kept":[8,1,1]}"#)
    // Above the limit, what adds neither runs nor sets is applied.
    try submit("=16", #"{"sets":[{"a":4}],"kept":[1,4,1]}"#)
    try submit("=16", #"{"sets":[{"a":null}],"kept":[0,16,1]}"#)
    #expect(!sequencer.content.hasAttributes)
  }

  @Test func `any bytes are read, or refused with an error of operations`() {
    let start = Array(
      #"{"sets":[{"bold":true,"embed":{"a":"\u00e9"}},{"n":-12}],"kept":[0,1,2],"put":[1,1]}"#.utf8)
    var random = SplitMix64(seed: 43)
    for _ in 0..<3_000 {
      var bytes = start
      for _ in 0..<random.between(1, 3) {
        let place = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[place] = UInt8(random.below(256))
        case 1: bytes.remove(at: place)
        default: bytes.insert(start[random.below(start.count)], at: place)
        }
      }
      do throws(OperationError) {
        let read = try RichOperation(text: op("=3 +\u{fffc}"), formatJSON: bytes)
        var json: [UInt8] = []
        read.format?.appendJSON(to: &json)
        if read.format != nil {
          #expect(try RichOperation(text: read.text, formatJSON: json) == read)
        }
      } catch {}
    }
  }
}
