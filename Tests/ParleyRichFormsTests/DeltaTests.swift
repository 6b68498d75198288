import OTCore
import ParleyGrowthKit
import ParleyRichForms
import Testing

/// Deltas of whole texts.
@Suite("Deltas")
struct DeltaTests {
  @Test(arguments: 1...400 as ClosedRange<UInt64>)
  func `a text and its Delta are the same`(seed: UInt64) throws {
    let document = try RandomNotes.note(seed: seed)
    // A whole text has one kind of line end.
    guard !document.text.text.unicodeScalars.contains("\r"),
      document.text.text.unicodeScalars.first != "\u{feff}"
    else { return }
    let delta = try document.delta()
    let read = try RichDocument(delta: delta)
    read.checkInvariants()
    #expect(read == document, "\(string(delta))")
    let again = try read.delta()
    #expect(again == delta)
  }

  @Test(
    "each form that is read has one form that is written",
    arguments: [
      (#"[]"#, #"[]"#),
      (#" {"ops" : [{"insert":"a"}], "x":[{}]} "#, #"[{"insert":"a"}]"#),
      (#"[{"insert":"a"},{"insert":"b"}]"#, #"[{"insert":"ab"}]"#),
      // Nothing, in several ways.
      (
        #"[{"insert":""},{"retain":0},{"delete":0},{"insert":"","attributes":{"bold":true}}]"#, "[]"
      ),
      (
        #"[{"insert":"a","attributes":null},{"insert":"b","attributes":{}}]"#, #"[{"insert":"ab"}]"#
      ),
      (
        #"[{"insert":"a","attributes":{"bold":false,"italic":null,"header":null}}]"#,
        #"[{"insert":"a"}]"#
      ),
      // Kinds of lines.
      (
        #"[{"insert":"a\n","attributes":{"block":"h2"}}]"#,
        #"[{"insert":"a\n","attributes":{"header":2}}]"#
      ),
      (
        #"[{"insert":"\n","attributes":{"header":1,"list":"checked"}}]"#,
        #"[{"insert":"\n","attributes":{"list":"checked"}}]"#
      ),
      (
        #"[{"insert":"\n","attributes":{"list":"unchecked","indent":2}}]"#,
        #"[{"insert":"\n","attributes":{"list":"unchecked","indent":2}}]"#
      ),
      (
        #"[{"insert":"\n","attributes":{"code-block":"plain"}}]"#,
        #"[{"insert":"\n","attributes":{"code-block":true}}]"#
      ),
      (
        #"[{"insert":"\n","attributes":{"code-block":"swift"}}]"#,
        #"[{"insert":"\n","attributes":{"code-block":"swift"}}]"#
      ),
      (
        #"[{"insert":"\n","attributes":{"block":"code","language":"c"}}]"#,
        #"[{"insert":"\n","attributes":{"code-block":"c"}}]"#
      ),
      // What is unknown is carried, values of known names included.
      (
        #"[{"insert":"\n","attributes":{"header":9,"table-cell":"x","block":"row"}}]"#,
        #"[{"insert":"\n","attributes":{"block":"row","header":9,"table-cell":"x"}}]"#
      ),
      (
        #"[{"insert":{"video":"https:\/\/v"},"attributes":{"width":3}},{"insert":{"rule":true}}]"#,
        #"[{"insert":{"video":"https://v"},"attributes":{"width":3}},{"insert":{"rule":true}}]"#
      ),
      (
        #"[{"insert":{"rule":true}},{"insert":{"rule":true}}]"#,
        #"[{"insert":{"rule":true}},{"insert":{"rule":true}}]"#
      ),
      // Line ends, also between two operations, and the byte order mark.
      (#"[{"insert":"\ufeffa\r\nb\r"},{"insert":"\nc\rd"}]"#, #"[{"insert":"a\nb\nc\nd"}]"#),
      // A character that is not an embed.
      (#"[{"insert":"\ufffc\ud83d\ude00"}]"#, "[{\"insert\":\"\u{fffc}\u{1f600}\"}]"),
    ] as [(String, String)])
  func forms(read: String, written: String) throws {
    let found = string(try note(read).delta())
    #expect(found == written)
  }

  @Test(
    "what is no Delta of a whole text is refused, with its place",
    arguments: [
      ("", .malformed(offset: 0)), ("[", .malformed(offset: 1)), ("[]x", .malformed(offset: 2)),
      ("{}", .malformed(offset: 0)), ("7", .wrongType(offset: 0, expected: "an array")),
      ("[7]", .wrongType(offset: 1, expected: "an object")), ("[{}]", .noInsert(operation: 0)),
      (#"[{"insert":null}]"#, .noInsert(operation: 0)),
      (#"[{"insert":7}]"#, .noInsert(operation: 0)),
      (#"[{"insert":["a"]}]"#, .noInsert(operation: 0)),
      (#"[{"insert":{}}]"#, .noInsert(operation: 0)),
      (#"[{"insert":{"a":1,"b":2}}]"#, .noInsert(operation: 0)),
      (#"[{"insert":{"a":{"b":2}}}]"#, .noInsert(operation: 0)),
      (#"[{"insert":{"a":false}}]"#, .noInsert(operation: 0)),
      (#"[{"insert":"a"},{"retain":1}]"#, .notAnInsert(operation: 1)),
      (#"[{"insert":"a"},{"delete":2}]"#, .notAnInsert(operation: 1)),
      (#"[{"retain":{"image":1}}]"#, .notAnInsert(operation: 0)),
      (#"[{"retain":0.5}]"#, .wrongType(offset: 11, expected: "an integer")),
      (#"[{"insert":"a","attributes":[]}]"#, .wrongType(offset: 28, expected: "an object")),
      (#"[{"insert":"a","attributes":{"bold":{}}}]"#, .badAttributes(operation: 0)),
      (#"[{"insert":"a","attributes":{"bold":[]}}]"#, .badAttributes(operation: 0)),
      (#"[{"insert":"a","attributes":{"bold":1.5}}]"#, .badAttributes(operation: 0)),
      (#"[{"insert":"a","attributes":{"__proto__":true}}]"#, .badAttributes(operation: 0)),
      (#"[{"insert":"a","attributes":{"Bold":true}}]"#, .badAttributes(operation: 0)),
      (#"[{"insert":"a","attributes":{"embed":{"rule":true}}}]"#, .badAttributes(operation: 0)),
      (
        #"[{"insert":"a","attributes":{"\u0065mbed":{"rule":true}}}]"#, .badAttributes(operation: 0)
      ),
      (#"[{"insert":"\ud83d"}]"#, .malformed(offset: 18)),
      (#"[{"insert":"\ude00"}]"#, .malformed(offset: 18)),
      (#"[{"insert":"a","attributes":{"link":"\ud83d"}}]"#, .malformed(offset: 43)),
    ] as [(String, DeltaError)])
  func refusals(delta: String, error: DeltaError) {
    #expect(throws: error) { _ = try note(delta) }
    #expect(!"\(error)".contains("__proto__"))
  }

  @Test func `limits are checked before anything beyond them is read`() throws {
    let many =
      "["
      + (0..<50).map { #"{"insert":"a","attributes":{"color":"\#($0)"}}"# }.joined(separator: ",")
      + "]"
    let bytes = Array(many.utf8)
    #expect(throws: DeltaError.tooManySets(max: 20)) {
      _ = try RichDocument(delta: bytes, limits: DeltaLimits(format: FormatLimits(setsMax: 20)))
    }
    #expect(throws: DeltaError.tooManyRuns(max: 49)) {
      _ = try RichDocument(delta: bytes, limits: DeltaLimits(format: FormatLimits(runsMax: 49)))
    }
    #expect(throws: DeltaError.tooLong(scalarsMax: 49)) {
      _ = try RichDocument(delta: bytes, limits: DeltaLimits(scalarsMax: 49))
    }
    let fits = try RichDocument(
      delta: bytes,
      limits: DeltaLimits(scalarsMax: 50, format: FormatLimits(setsMax: 50, runsMax: 50)))
    #expect(fits.text.scalarCount == 50)
  }

  @Test func `a form that would be too long is refused`() throws {
    let link = String(repeating: "x", count: 2_000)
    let document = try note(#"[{"insert":"a"},{"insert":"b","attributes":{"link":"\#(link)"}}]"#)
    #expect(throws: FormError.tooLarge(bytesMax: 1_000)) { _ = try document.delta(bytesMax: 1_000) }
    #expect(throws: FormError.tooLarge(bytesMax: 1_000)) { _ = try document.html(bytesMax: 1_000) }
    #expect(throws: FormError.tooLarge(bytesMax: 1_000)) {
      _ = try document.markdown(bytesMax: 1_000)
    }
  }

  /// A Delta with two runs a line.
  private static func large(_ runs: Int) -> [UInt8] {
    var delta = Array("[".utf8)
    for index in 0..<runs / 2 {
      if index > 0 { delta += Array(",".utf8) }
      delta += Array(
        ##"{"insert":"Some words of a line.","attributes":{"bold":true,"color":"#0000\##(10 + index % 90)"}},"##
          .utf8)
      delta += Array(
        #"{"insert":"\n","attributes":{"list":"bullet","indent":\#(1 + index % 8)}}"#.utf8)
    }
    return delta + Array("]".utf8)
  }

  @Test("200,000 runs take linear time", arguments: ["read", "delta", "html", "markdown"])
  func growth(form: String) throws {
    let law = GrowthLaw(form, size: 25_000) { size in
      let delta = Self.large(size)
      return (delta, try? RichDocument(delta: delta))
    } run: { (delta: [UInt8], document: RichDocument?) in
      switch form {
      case "read": _ = try? RichDocument(delta: delta)
      case "delta": _ = try? document?.delta()
      case "html": _ = try? document?.html()
      default: _ = try? document?.markdown()
      }
    }
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
