import OTCore
import ParleyClient
import ParleyOTWorkloads
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Notes as Delta")
struct NoteDeltaTests {
  private static func content(_ text: String, _ format: String = "{}") throws -> RichDocument {
    try RichDocument(Document(text), formatJSON: Array(format.utf8))
  }

  /// Returns an operation on a text as its notation and the JSON of its format.
  private static func words(_ operation: RichOperation) -> String {
    var json: [UInt8] = []
    operation.changeFormat?.appendJSON(to: &json)
    return operation.text.notation + (json.isEmpty ? "" : " ")
      + String(decoding: json, as: UTF8.self)
  }

  @Test func `a document has Quill's names and UTF-16 lengths`() throws {
    let content = try Self.content(
      "😀b\n\u{fffc}",
      #"{"sets":[{"bold":true},{"block":"h2"},{"embed":{"image":"h/a.png"},"width":9}],"runs":[1,1,1,0,1,2,1,3]}"#
    )
    let delta = NoteDelta(content)
    #expect(
      delta
        == NoteDelta([
          .insert("😀", ["bold": .set]), .insert("b", [:]), .insert("\n", ["header": .number(2)]),
          .embed("image", .text("h/a.png"), ["width": .number(9)]),
        ]))
    let change = NoteDelta([
      .retain(2, ["bold": .removed]), .insert("é", ["link": .text("/\"")]), .retain(1, [:]),
      .retain(1, ["list": .text("checked")]), .delete(1), .embed("video", .text("v"), [:]),
    ])
    #expect(
      Self.words(try change.operation(on: content))
        == #"=1 +é =2 -1 +￼ {"sets":[{"bold":null},{"block":"done"},{"link":"/\""},"#
        + #"{"embed":{"video":"v"}}],"kept":[0,1,1,1,1,2],"put":[1,3,1,4]}"#)
  }

  @Test func `a kind of line is removed only where the line is of that kind`() throws {
    let content = try Self.content(
      "a\nb\n", #"{"sets":[{"block":"h1"},{"block":"bullet"}],"runs":[1,0,1,1,1,0,1,2]}"#)
    let change = try NoteDelta([.retain(4, ["header": .removed])]).operation(on: content)
    #expect(Self.words(change) == #"=4 {"sets":[{"block":null}],"kept":[1,1,1]}"#)
  }

  @Test func `a range is formatted by lines and by text`() throws {
    let change = try NoteDelta.formatting(
      1..<5, ["bold": .set, "header": .number(2)], of: try Self.content("one\ntwo"))
    #expect(change.targetLength == 8)
    #expect(
      Self.words(change).hasSuffix(
        #"{"sets":[{"bold":true},{"block":"h2"}],"kept":[1,2,1,0,1,2,0,1,1],"put":[1,2]}"#))
  }

  @Test func `what cannot be in a note throws`() throws {
    let content = try Self.content("a😀\n")
    let wrong: [NoteDelta] = [
      NoteDelta([.retain(5, [:])]), NoteDelta([.delete(5)]), NoteDelta([.retain(-1, [:])]),
      NoteDelta([.retain(2, [:])]), NoteDelta([.retain(1, ["Bold": .set])]),
      NoteDelta([.retain(1, ["embed": .text("x")])]), NoteDelta([.embed("image", .removed, [:])]),
      NoteDelta([.retain(4, ["list": .text("other")])]), NoteDelta([.retain(.max, [:])]),
    ]
    for delta in wrong {
      #expect(throws: NoteError.self) { try delta.operation(on: content) }
    }
  }

  @Test(arguments: 1...UInt64(40))
  func `a text there and back is the same`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let content = ReferenceRich.document(ReferenceRich.text(scalars: 30, using: &random))
    var again = RichDocument()
    try again.apply(NoteDelta(content).operation(on: again))
    #expect(again == content)
  }

  @Test func `an attributed string has the note's attributes`() throws {
    let delta = NoteDelta([
      .insert("a", ["bold": .set, "italic": .set]),
      .insert("b", ["link": .text("https://example.org")]),
      .embed("image", .text("x"), [:]), .insert("c", [:]),
    ])
    let text = delta.attributedString
    #expect(String(text.characters) == "ab\u{fffc}c")
    let runs = Array(text.runs)
    #expect(runs[0][NoteAttributesKey.self] == ["bold": .set, "italic": .set])
    #expect(runs[1][NoteAttributesKey.self] == ["link": .text("https://example.org")])
    #if !canImport(FoundationEssentials)
      #expect(runs[0].inlinePresentationIntent == [.stronglyEmphasized, .emphasized])
      #expect(runs[1].link?.absoluteString == "https://example.org")
    #endif
  }
}
