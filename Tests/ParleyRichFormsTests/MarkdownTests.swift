import OTCore
import ParleyRichForms
import Testing

/// Markdown of formatted texts, read again by an independent parser.
@Suite("Markdown of formatted texts")
struct MarkdownTests {
  @Test(
    "examples",
    arguments: [
      (
        #"[{"insert":"Title"},{"insert":"\n","attributes":{"header":1}},{"insert":"text"}]"#,
        "# Title\n\ntext\n"
      ),
      (
        #"[{"insert":"a"},{"insert":"\n","attributes":{"list":"bullet"}},{"insert":"b"},"#
          + #"{"insert":"\n","attributes":{"list":"ordered","indent":1}},{"insert":"c"},"#
          + #"{"insert":"\n","attributes":{"list":"ordered","indent":1}},{"insert":"d"},"#
          + #"{"insert":"\n","attributes":{"list":"checked"}}]"#,
        "- a\n  1. b\n  2. c\n- [x] d\n"
      ),
      (
        #"[{"insert":"a"},{"insert":"\n","attributes":{"blockquote":true}},{"insert":"b"},"#
          + #"{"insert":"\n","attributes":{"blockquote":true}}]"#, "> a\n>\n> b\n"
      ),
      (
        #"[{"insert":"a```"},{"insert":"\n\n","attributes":{"code-block":"swift"}},{"insert":"b\n"}]"#,
        "````swift\na```\n\n````\n\nb\n"
      ),
      // Marks that overlap, and white space at their ends.
      (
        #"[{"insert":"a "},{"insert":"b","attributes":{"bold":true}},"#
          + #"{"insert":"c ","attributes":{"bold":true,"italic":true}},{"insert":"d","attributes":{"italic":true}}]"#,
        "a **&#98;_c_**_ d_\n"
      ),
      // A letter outside of a mark that begins with a sign.
      (
        #"[{"insert":"a"},{"insert":"(b)","attributes":{"bold":true}},{"insert":"c"}]"#,
        "&#97;**(b)**&#99;\n"
      ),
      (#"[{"insert":"a"},{"insert":"b","attributes":{"bold":true}},{"insert":"c"}]"#, "a**b**c\n"),
      (
        #"[{"insert":"see!"},{"insert":"here","attributes":{"link":"https://a/(b)"}}]"#,
        "see\\![here](<https://a/(b)>)\n"
      ),
      (#"[{"insert":"x","attributes":{"link":"javascript:a"}}]"#, "x\n"),
      (
        #"[{"insert":"snake_case, 2 * 3, 5 > 4, C:\\dir, $5, a & b; #plan, 100% [x] <b>"}]"#,
        "snake_case, 2 \\* 3, 5 > 4, C:\\dir, $5, a & b; #plan, 100% \\[x\\] \\<b>\n"
      ),
      (
        #"[{"insert":"$5 and $6\n1. a\n- b\n# c\n---\n#tag"}]"#,
        "\\$5 and \\$6\n\n1\\. a\n\n\\- b\n\n\\# c\n\n\\---\n\n#tag\n"
      ),
      (
        #"[{"insert":"a"},{"insert":"\n","attributes":{"list":"bullet"}},{"insert":"\nb"},"#
          + #"{"insert":"\n","attributes":{"list":"bullet"}}]"#, "- a\n\n* b\n"
      ),
      (
        #"[{"insert":{"rule":true}},{"insert":"\n"},{"insert":{"formula":"a^2"}}]"#,
        "***\n\n$a^2$\n"
      ),
    ] as [(String, String)])
  func examples(delta: String, expected: String) throws {
    let markdown = string(try note(delta).markdown())
    #expect(markdown == expected)
  }

  @Test func `another parser finds the lines and marks of the text`() throws {
    let documents = try (1...1_500).map { try RandomNotes.note(seed: $0) }
    let markdown = try documents.map { try $0.markdown() }
    let read = try CommonMarkReader.read(markdown)
    try #require(read.count == documents.count)
    for (index, document) in documents.enumerated() {
      let expected = ShownLine.lines(of: document)
      let found = read[index].flatMap { $0 ?? [] }
      if found != expected {
        let delta = string(try document.delta())
        Issue.record(
          "seed \(index + 1): \(delta)\n\(string(markdown[index]))\n\(found)\n\(expected)")
        return
      }
      // Two trips give the same text, but for two files with one name, which become one link.
      if string(markdown[index]).contains("x.pdf)[x.pdf]") { continue }
      let again = try ShownLine.document(read[index])
      let second = string(try again.markdown())
      #expect(second == string(markdown[index]), "seed \(index + 1)")
    }
  }
}
