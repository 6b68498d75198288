import ParleyGatewayPorts
import ParleyOTWorkloads
import Testing

@Suite("Tags in texts")
struct NoteTagTests {
  @Test(
    "a tag is a word after #, outside of code and addresses",
    arguments: [
      ("#plan", "plan"), ("a #Plan b", "plan"), ("# Plan", ""), ("## Plan", ""), ("a#b", ""),
      ("#12", ""),
      ("#12a", "12a"), ("#a-b_c/d", "a-b_c/d"), ("#a-, (#b) \"#c\"", "a b c"),
      ("#größe #東京 #семь", "größe семь 東京"),
      ("`#a` #b", "b"), ("``#a` #c`` #b", "b"), ("`#a", "a"), ("```\n#a\n```\n#b", "b"),
      ("~~~\n#a\n```\n#b", ""), ("```x``` and more\n\n#plan", "plan"),
      ("```x #a``` #b\n#c", "b c"), ("```x #a `\n#b", "a b"), ("~~~x`\n#a\n~~~\n#b", "b"),
      ("``` x #a\n#b\n```\n#c", "c"), ("```#a\r\n#b", ""), ("```\n#a\n``` \t\n#b", "b"),
      ("```\n#a\n``` ```\n#b", ""), ("```\n#a\n``` x\n#b", ""), ("~~~ \n#a\n~~~ \n#b", "b"),
      ("  ```x\n#a\n  ````\n#b", "b"), ("https://x.org/ #a https://x.org/#b", "a"),
      ("[t](#b) #a", "a"),
      ("www.x.org/#b #a", "a"), ("#a#b", "a"), ("&#65;", ""), ("#/", ""), ("\r\n#a\r\n", "a"),
    ])
  func examples(text: String, tags: String) {
    #expect(NoteTags.all(in: text).joined(separator: " ") == tags)
  }

  @Test("every tag found in a random text is valid", arguments: 1...20 as ClosedRange<UInt64>)
  func laws(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let pieces = [
      "#", "a", "é", "`", "```", "\n", " ", "/", "-", "(", "]", "://", "www.", "1", "\u{301}",
      "\u{200D}",
    ]
    let text = (0..<400).map { _ in pieces[Int.random(in: pieces.indices, using: &random)] }
      .joined()
    let tags = NoteTags.all(in: text)
    #expect(Set(tags).count == tags.count && tags.count <= NoteTags.countMax)
    for tag in tags {
      #expect(NoteTags.all(in: "#" + tag) == [tag], "seed \(seed)")
      #expect(text.lowercased().contains("#" + tag))
    }
    #expect(
      NoteTags.all(in: (0..<200).map { "#t\($0)x" }.joined(separator: " ")).count
        == NoteTags.countMax)
    #expect(
      NoteTags.tag("#Plan") == "plan" && NoteTags.tag("a b") == nil && NoteTags.tag("") == nil)
  }
}
