import ParleyGrowthKit
import OTCore
import ParleyOTWorkloads
import Testing

@Suite("The difference of two texts")
struct DifferenceTests {
  /// Returns random words and lines, short enough that many are equal.
  private static func prose(_ words: Int, using random: inout SplitMix64) -> String {
    var text = ""
    for _ in 0..<words {
      text += RandomTexts.text(
        scalars: random.between(1, 3), wide: random.chance(20), using: &random)
      text += [" ", ", ", "\n", "\r\n", "\n\n", "  "][random.below(6)]
    }
    return text
  }

  @Test(arguments: Seeds.smoke)
  func `applying a difference gives exactly the other text`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<25 {
      let old = Self.prose(random.below(60), using: &random)
      var new = Self.prose(random.below(60), using: &random)
      if round % 3 != 0 {
        let length = old.unicodeScalars.count
        new = try TextOperation.random(
          length: length, edits: random.between(1, 8), using: &random
        ).applied(to: old)
      }
      let difference = TextOperation(changing: Document(old), into: Document(new))
      #expect(scalars(try difference.applied(to: old)) == scalars(new))
      #expect(difference.baseLength == old.unicodeScalars.count)
      // The difference never inserts more than replacing all between the common prefix and suffix.
      let whole = TextOperation(replacing: Document(old), by: Document(new))
      #expect(difference.insertedBytes <= whole.insertedBytes)
      if old == new { #expect(difference.isIdentity) }
    }
  }

  @Test(arguments: Seeds.smoke)
  func `replacing keeps the common beginning and end of both texts`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    func part(_ most: Int) -> [Unicode.Scalar] {
      scalars(RandomTexts.text(scalars: random.below(most), using: &random))
    }
    for _ in 0..<25 {
      let (front, back) = (part(40), part(40))
      let old = front + part(4) + back
      let new = front + part(4) + back
      let operation = TextOperation(replacing: Document(string(old)), by: Document(string(new)))
      #expect(operation == TextOperation(replacing: Document(string(old)), by: string(new)))
      #expect(try scalars(operation.applied(to: string(old))) == new)
      let shorter = min(old.count, new.count)
      let start = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
      let end =
        (0..<(shorter - start)).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] }
        ?? shorter - start
      var expected = TextOperation.identity(length: start)
      expected.insert(string(Array(new[start..<(new.count - end)])))
      expected.delete(old.count - start - end)
      expected.retain(end)
      #expect(operation == expected)
    }
  }

  @Test(
    "common parts of the texts are retained",
    arguments: [
      ("one two three", "one 2 three", "=4 +2 -3 =6"),
      ("a\nb\nc\nd\n", "x\nb\nc\ny\n", "+x -1 =5 +y -1 =1"),
      ("the cat sat", "the cats sat", "=7 +s =4"),
      ("ä ö ü", "ä õ ü", "=2 +õ -1 =2"),
      ("中文字", "中書字", "=1 +書 -1 =1"),
      ("a😀b", "a😁b", "=1 +😁 -1 =1"),
      ("same", "same", "=4"),
      ("", "new", "+new"),
      ("gone", "", "-4"),
    ])
  func retained(old: String, new: String, expected: String) {
    #expect(TextOperation(changing: Document(old), into: Document(new)) == op(expected))
  }

  @Test("words written between changed paragraphs stay where they were written")
  func paragraphs() throws {
    let paragraphs = (1...10).map { "Paragraph \($0) says something of its own.\n" }
    var changed = paragraphs
    changed[0] = "The first paragraph is another now.\n"
    changed[9] = "Paragraph 10 says something else.\n"
    let old = Document(paragraphs.joined())
    let new = Document(changed.joined())

    var synchronizer = ClientSynchronizer(epoch: "old", revision: 7)
    synchronizer.disconnect()
    var local = old
    let end = paragraphs[..<5].joined().unicodeScalars.count
    let start = end - paragraphs[4].unicodeScalars.count
    // New words in the fifth paragraph, one of its words replaced.
    for (range, text) in [
      (end - 2..<end - 2, ", and more"), (start..<start + 9, "Chapter"),
    ] {
      let edit = try TextOperation(replacing: range, with: text, length: local.scalarCount)
      try local.apply(edit)
      #expect(try synchronizer.edit(edit) == nil)
    }
    let (apply, change) = try synchronizer.rebase(
      from: old, to: new, epoch: "new", revision: 20_000, lastSequence: 0)
    try local.apply(apply)
    var expected = changed
    expected[4] = "Chapter 5 says something of its own, and more.\n"
    #expect(local.text == expected.joined())
    let sent = try #require(change)
    #expect(try sent.operation.applied(to: new.text) == expected.joined())
  }

  @Test(arguments: Seeds.smoke)
  func `nothing typed is lost, and client and server get the same text`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<10 {
      let old = Document(Self.prose(random.between(1, 40), using: &random))
      let new = Document(
        try TextOperation.random(
          length: old.scalarCount, edits: random.between(1, 10), using: &random
        ).applied(to: old.text))
      var synchronizer = ClientSynchronizer(epoch: "old", revision: 0)
      var local = old
      var typed: [String] = []
      for index in 0..<random.between(1, 8) {
        // A letter that occurs nowhere else, so that it can be found.
        let mark = String(UnicodeScalar(UInt8(0x41 + index)))
        let place = random.between(0, local.scalarCount)
        let edit = try TextOperation(
          replacing: place..<place, with: mark, length: local.scalarCount)
        try local.apply(edit)
        typed.append(mark)
        _ = try synchronizer.edit(edit)
        if random.chance(30) { synchronizer.disconnect() }
      }
      let before = new.text.unicodeScalars.filter { $0.value >= 0x41 && $0.value < 0x50 }.count
      let (apply, change) = try synchronizer.rebase(
        from: old, to: new, epoch: "new", revision: 1, lastSequence: 0)
      try local.apply(apply)
      let marks = local.text.unicodeScalars.filter { $0.value >= 0x41 && $0.value < 0x50 }
      #expect(marks.count == before + typed.count)
      for mark in typed { #expect(marks.contains { String($0) == mark }) }
      // The change is complete: it turns the server's text into the local one.
      let sent = try #require(change)
      #expect(scalars(try sent.operation.applied(to: new.text)) == scalars(local.text))
    }
  }

  /// Returns two texts of `lines` lines that are all different.
  private static func limitedClients(_ lines: Int) -> (Document, Document) {
    let old = (0..<lines).map { "old line \($0 &* 7919)\n" }.joined()
    let new = (0..<lines).map { "new line \($0 &* 104_729)\n" }.joined()
    return (Document(old), Document(new))
  }

  private static let laws = [
    GrowthLaw("texts without a line in common", size: 8_000, prepare: limitedClients) { texts in
      let difference = TextOperation(changing: texts.0, into: texts.1)
      precondition(difference.componentCount <= 30_003)
    },
    GrowthLaw(
      "one line of words without a word in common", size: 20_000,
      prepare: { size -> (Document, Document) in
        (
          Document((0..<size).map { "o\($0) " }.joined()),
          Document((0..<size).map { "n\($0) " }.joined())
        )
      }
    ) { texts in
      let difference = TextOperation(changing: texts.0, into: texts.1)
      precondition(difference.componentCount <= 30_003)
    },
    GrowthLaw(
      "a word changed in some lines", size: 8_000,
      prepare: { size -> (Document, Document) in
        (
          Document((0..<size).map { "line \($0) of a text\n" }.joined()),
          Document(
            (0..<size).map { "line \($0) of \($0 % (size / 100) == 0 ? "the" : "a") text\n" }
              .joined())
        )
      }
    ) { texts in
      let difference = TextOperation(changing: texts.0, into: texts.1)
      precondition((200...500).contains(difference.componentCount))
    },
  ]

  @Test("eight times as much text costs at most sixteen times as much", arguments: laws)
  func growth(law: GrowthLaw) {
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
