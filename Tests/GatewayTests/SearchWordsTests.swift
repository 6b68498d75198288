import ParleyGatewayPorts
import ParleyGrowthKit
import Testing

@Suite("Words for search")
struct SearchWordsTests {
  @Test(
    "a text is cut into folded words",
    arguments: [
      ("Déjà-vu, ÜBER Straße", "deja vu uber strasse"),
      ("e\u{301}te\u{301} = été", "ete ete"),
      ("東京タワー is tall", "東 京 タ ワ ー is tall"),
      ("ภาษา", "ภ า ษ า"),
      ("Ёлка й\u{0}и\u{306}", "елка и и"),
      ("हिन्दी भाषा", "हिन्दी भाषा"),
      ("שָׁלוֹם", "שלום"),
      ("مَرْحَبًا أهلا", "مرحبا اهلا"),
      ("ＡＢＣ１２ x²", "abc12 x²"),
      ("İstanbul ΣΊΣΥΦΟΣ", "istanbul σισυφοσ"),
      ("'; DROP TABLE \"x\" -- NEAR(a b) a* ^b", "drop table x near a b a b"),
      ("", ""), ("—… 😀 \u{1}\u{7f}", ""),
    ])
  func words(text: String, joined: String) {
    #expect(Array(SearchWords.joined(text).unicodeScalars) == Array(joined.unicodeScalars))
  }

  @Test(
    "a tag is a word in addition to the words in it",
    arguments: [
      ("#Plan", ["plan"]), ("a #to-do, (#été)", ["to\u{2010}do", "ete"]), ("#会議", ["会議"]),
      ("a#b &#39; ##x #12 # x http://y/#z", []), ("#v2_x", ["v2\u{203F}x"]),
    ])
  func tags(text: String, tags: [String]) {
    let found = SearchWords.all(in: text).filter(\.isTag).map { String($0.folded.dropFirst()) }
    #expect(found == tags)
  }

  @Test("positions of words are in scalars")
  func places() {
    let words = SearchWords.all(in: "😀 e\u{301}te\u{301}! 東京 #a")
    #expect(words.map(\.range) == [2..<7, 9..<10, 10..<11, 13..<14, 12..<14])
  }

  @Test("a long word is compared by its beginning")
  func longWord() {
    let words = SearchWords.all(in: String(repeating: "x", count: 10_000) + " y")
    #expect(words.map(\.folded.utf8.count) == [SearchWords.wordBytesMax, 1])
    #expect(words[0].range == 0..<10_000)
  }

  @Test(
    "a query consists of terms, and its last word may be incomplete",
    arguments: [
      ("budget meet", [["budget"], ["meet"]], true), ("e-mail a", [["e", "mail"], ["a"]], false),
      ("東京", [["東", "京"]], false), (" \"\" * -- ", [], false),
      ("#to-do x1", [["\u{E000}to\u{2010}do"], ["x1"]], true),
    ])
  func queries(text: String, terms: [[String]], isPrefix: Bool) throws {
    let query = try SearchQuery(text)
    #expect(query.terms.map(\.words) == terms)
    #expect(query.terms.last?.isPrefix ?? false == isPrefix)
  }

  @Test("a query is limited in length and in words")
  func bounds() throws {
    #expect(throws: SearchQueryError.tooLong(bytes: 100_000)) {
      try SearchQuery(String(repeating: "x", count: 100_000))
    }
    #expect(throws: SearchQueryError.tooMany(words: 33)) {
      try SearchQuery(String(repeating: "x ", count: 33))
    }
    #expect(try SearchQuery(String(repeating: "x ", count: 32)).terms.count == 32)
  }

  @Test("the excerpt is the first passage with the most words")
  func place() throws {
    let filler = String(repeating: "and so on ", count: 60)
    let text = "duck\n" + filler + "a duck\nand a goose. " + filler
    let place = SearchPassage(of: try SearchQuery("goose duck"), in: text)
    let scalars = Array(place.text.unicodeScalars)
    #expect(scalars.count == SearchPassage.scalarsMax)
    #expect(
      place.marks.map { String(String.UnicodeScalarView(scalars[$0])) } == ["duck", "goose"])
    #expect(!scalars.contains("\n"))
    // The marked range contains the word.
    let all = Array(text.unicodeScalars)
    let there = all[(place.start + place.marks[0].lowerBound)...].prefix(4)
    #expect(String(String.UnicodeScalarView(there)) == "duck")
  }

  @Test("the excerpt of a text without the words is its beginning")
  func noPlace() throws {
    let query = try SearchQuery("x")
    #expect(SearchPassage(of: query, in: "") == SearchPassage(text: "", start: 0, marks: []))
    #expect(
      SearchPassage(of: query, in: "a\u{1}b") == SearchPassage(text: "a b", start: 0, marks: []))
    #expect(SearchPassage.marks(of: try SearchQuery("東京 pla"), in: "東京 Plan 京") == [0..<2, 3..<7])
    let none = try SearchQuery("")
    #expect(SearchPassage(of: none, in: "text").marks == [])
  }

  @Test("the cost is proportional to the text", arguments: ["joined", "place", "hits"])
  func growth(of work: String) throws {
    let query = try SearchQuery("duck 東京 on")
    let law = GrowthLaw("\(work) of a text", size: 40_000) { size in
      String(repeating: work == "hits" ? "duck on 東京 " : "été and so 京 #x ", count: size / 12)
    } run: { text in
      if work == "joined" {
        _ = SearchWords.joined(text)
      } else {
        _ = SearchPassage(of: query, in: text)
      }
    }
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
