import ParleyGatewayPorts
import OTCore
import ParleyOTWorkloads
import Testing

@Suite("Differences by words")
struct WordDifferenceTests {
  /// Returns both texts in one, with `[old→new]` for each change.
  private static func marked(_ old: String, _ new: String) -> String {
    let bytes = (old: Array(old.utf8), new: Array(new.utf8))
    var marked = ""
    var place = 0
    for change in WordDifference.changes(from: bytes.old, to: bytes.new) {
      marked += String(decoding: bytes.old[place..<change.old.lowerBound], as: UTF8.self)
      marked += "[" + String(decoding: bytes.old[change.old], as: UTF8.self) + "→"
      marked += String(decoding: bytes.new[change.new], as: UTF8.self) + "]"
      place = change.old.upperBound
    }
    return marked + String(decoding: bytes.old[place...], as: UTF8.self)
  }

  @Test(
    "whole words are replaced",
    arguments: [
      ("", "", ""), ("", "x", "[→x]"), ("x", "", "[x→]"), ("same", "same", "same"),
      ("cat", "cats", "[cat→cats]"), ("the cat sat", "the cats sat", "the [cat→cats] sat"),
      ("the fox", "the brown fox", "the [→brown ]fox"),
      ("the quick fox jumps", "a slow dog jumps", "[the quick fox→a slow dog] jumps"),
      ("one\ntwo\nthree\n", "one\nnew\ntwo\nthree, too\n", "one\n[→new\n]two\nthree[→, too]\n"),
      ("東京は晴れ", "東都は晴れ", "東[京→都]は晴れ"),
      ("e\u{301}a", "ea", "[e\u{301}a→ea]"), ("a\r\nb", "a\nb", "a[\r\n→\n]b"),
      ("👍🏻 ok", "👍🏿 ok", "[👍🏻→👍🏿] ok"), ("🇩🇪 ok", "🇩🇰 ok", "[🇩🇪→🇩🇰] ok"),
      ("don't", "don't!", "don't[→!]"), ("snake_case", "snake_cases", "[snake_case→snake_cases]"),
    ])
  func words(old: String, new: String, expected: String) {
    #expect(Self.marked(old, new).utf8.elementsEqual(expected.utf8))
  }

  private static let pieces = [
    "a", "bc", " ", "\n", "\r\n", "\r", "é", "東", "😀", "the", "👍🏻", ".", "_x", "e\u{301}", "🇩🇪",
  ]

  private static func text(_ count: Int, using rng: inout SplitMix64) -> String {
    (0..<count).map { _ in pieces.randomElement(using: &rng) ?? "" }.joined()
  }

  /// Returns two unrelated texts, or a text and an edited copy.
  private static func texts(using rng: inout SplitMix64) -> (String, String) {
    let old = text(Int.random(in: 0...30, using: &rng), using: &rng)
    guard Bool.random(using: &rng) else {
      return (old, text(Int.random(in: 0...30, using: &rng), using: &rng))
    }
    var new = ""
    for scalar in old.unicodeScalars {
      if Int.random(in: 0..<8, using: &rng) > 0 {
        new.unicodeScalars.append(scalar)
      } else {
        new += text(Int.random(in: 0...2, using: &rng), using: &rng)
      }
    }
    return (old, new)
  }

  @Test("changes turn the old text into the new one, at any limit of work")
  func laws() {
    for seed in UInt64(1)...5_000 {
      var rng = SplitMix64(seed: seed)
      let (old, new) = Self.texts(using: &rng)
      let bytes = (old: Array(old.utf8), new: Array(new.utf8))
      let work = [0, 10, 100, WordDifference.workMax].randomElement(using: &rng) ?? 0
      let changes = WordDifference.changes(from: bytes.old, to: bytes.new, work: work)
      var made: [UInt8] = []
      var place = 0
      for change in changes {
        made += bytes.old[place..<change.old.lowerBound]
        #expect(made.count == change.new.lowerBound, "seed \(seed)")
        made += bytes.new[change.new]
        place = change.old.upperBound
        let pieces = [bytes.old[change.old], bytes.new[change.new]]
        #expect(pieces.allSatisfy { String(validating: $0, as: UTF8.self) != nil }, "seed \(seed)")
        #expect(pieces.contains { !$0.isEmpty }, "seed \(seed)")
      }
      made += bytes.old[place...]
      #expect(made == bytes.new, "seed \(seed)")
      #expect(changes.isEmpty == (bytes.old == bytes.new), "seed \(seed)")
    }
  }

  @Test("a difference is an operation from the old text to the new one, with its authors")
  func operations() throws {
    for seed in UInt64(1)...2_000 {
      var rng = SplitMix64(seed: seed)
      let (old, new) = Self.texts(using: &rng)
      var authors: [AuthorRun] = []
      var left = new.unicodeScalars.count
      while left > 0 {
        let count = Int.random(in: 1...left, using: &rng)
        authors.append(AuthorRun(author: ["Ann", "Bo", "Çan"][authors.count % 3], count: count))
        left -= count
      }
      let difference = try #require(
        TextDifference(
          from: HistoricText(revision: 1, time: 1, content: NoteContent(old), authors: []),
          to: HistoricText(revision: 2, time: 2, content: NoteContent(new), authors: authors)))
      let made = try difference.operation.applied(to: old)
      #expect(made.utf8.elementsEqual(new.utf8), "seed \(seed)")
      let names = authors.flatMap { Array(repeating: $0.author, count: $0.count) }
      var place = 0
      for part in difference.parts {
        switch part {
        case .kept(let count): place += count
        case .deleted: break
        case .inserted(let text, let author):
          let count = text.unicodeScalars.count
          #expect(names[place..<(place + count)].allSatisfy { $0 == author }, "seed \(seed)")
          place += count
        }
      }
      #expect(place == names.count, "seed \(seed)")
    }
  }

  @Test("work is bounded for texts of four megabytes, and equal texts cost none")
  func bounded() {
    var rng = SplitMix64(seed: 7)
    /// Returns a text of four megabytes that repeats some random words.
    func text(_ end: String, wordCount: Int) -> [UInt8] {
      let words = (0..<wordCount).map { "w\($0 % 3)\(Int.random(in: 0..<3, using: &rng))\(end)" }
      let part = Array(words.shuffled(using: &rng).joined().utf8)
      return Array(repeatElement(part, count: 4_000_000 / part.count).joined())
    }
    let few = text("\n", wordCount: 10_007)
    let cases: [(String, [UInt8], [UInt8])] = [
      ("few different lines", few, text("\n", wordCount: 9_973)),
      ("one line", text(" ", wordCount: 10_007), text(" ", wordCount: 9_973)),
      ("empty lines", few, [UInt8](repeating: 10, count: 4_000_000)),
      ("one letter", few, few + [UInt8(ascii: "x")]),
    ]
    for (name, old, new) in cases {
      let clock = ContinuousClock()
      var changes: [WordDifference.Change] = []
      let time = clock.measure { changes = WordDifference.changes(from: old, to: new) }
      // A search without a bound takes minutes.
      #expect(time < .seconds(10), "\(name)")
      #expect(!changes.isEmpty, "\(name)")
    }
    #expect(WordDifference.changes(from: few, to: few, work: 0).isEmpty)
  }

  @Test("the difference of too long texts is not computed")
  func tooLong() {
    func text(_ count: Int) -> HistoricText {
      HistoricText(
        revision: count, time: 0, content: NoteContent(String(repeating: "x", count: count)),
        authors: [AuthorRun(author: "Ann", count: count)])
    }
    #expect(TextDifference(from: text(0), to: text(TextDifference.bytesMax - 200)) != nil)
    #expect(TextDifference(from: text(0), to: text(TextDifference.bytesMax)) == nil)
    #expect(TextDifference(from: text(TextDifference.bytesMax), to: text(0)) == nil)
  }
}
