public import ParleyGatewayPorts
import ParleyOTWorkloads

/// Requirements for every index of words.
public enum SearchIndexConformance {
  /// A requirement, which can be run against an empty index.
  public struct Check: Sendable, CustomStringConvertible {
    /// The checked requirement.
    public let description: String

    private let body: @Sendable (Rig) throws -> Void

    fileprivate init(_ description: String, _ body: @escaping @Sendable (Rig) throws -> Void) {
      self.description = description
      self.body = body
    }

    /// Runs the check.
    ///
    /// - Parameter index: An empty index.
    public func run(_ index: any SearchIndex) throws { try body(Rig(index: index)) }
  }

  /// An index with convenience functions.
  fileprivate struct Rig {
    let index: any SearchIndex

    /// Adds a note to the index, and returns whether its tags have changed.
    @discardableResult
    func put(
      _ id: DocumentID, _ title: String, _ text: String, revision: Int = 1, created: Timestamp = 1
    ) throws -> Bool {
      try index.put(
        IndexedNote(
          id: id, title: title, text: text,
          state: IndexedState(
            revision: revision, updatedAt: Timestamp(revision), createdAt: created)))
    }

    func find(_ words: String, skipping count: Int = 0, limit: Int = 99) throws -> [DocumentID] {
      try index.find(SearchQuery(words), skipping: count, limit: limit)
    }

    /// Verifies which notes a query finds, in any order.
    func expect(_ words: String, _ ids: DocumentID...) throws {
      try ParleyPortConformance.expect(find(words).sorted(), ids.sorted(), "what “\(words)” finds")
    }
  }

  /// All checks. Each needs an empty index.
  public static let checks: [Check] = [
    Check("notes are found by all words of a query, in title and text") { rig in
      try rig.put("a", "Shopping list", "Eggs, bread and Crème brûlée")
      try rig.put("b", "Plan", "The shop is closed")
      try rig.expect("eggs", "a")
      try rig.expect("LIST creme", "a")
      try rig.expect("shopping closed")
      try rig.expect("sho", "a", "b")
      try rig.expect("s")
      try rig.expect("")
    },
    Check("tags are listed with their notes, and go with them") { rig in
      try rig.put("a", "T", "#Plan and #home/garden")
      try rig.put("b", "T", "#plan, `#code` and #größe_1", revision: 2)
      func tags() throws -> [String] {
        var all: [String] = []
        var place: TaggedNote?
        while true {
          let page = try rig.index.tags(after: place, limit: 2)
          all += page.map { "\($0.tag) \($0.id)" }
          guard let last = page.last else { return all.sorted() }
          place = last
        }
      }
      try expect(tags(), ["größe_1 b", "home/garden a", "plan a", "plan b"], "the tags")
      try expect(rig.index.tags(of: "a"), ["home/garden", "plan"], "the tags of one note")
      try expect(rig.index.tags(of: "x"), [], "the tags of no note")
      try expect(
        rig.index.find(tag: "plan", skipping: 0, limit: 9), ["b", "a"], "notes with a tag")
      try expect(rig.index.find(tag: "plan", skipping: 1, limit: 9), ["a"], "the next")
      try expect(
        rig.put("a", "U", "#home/garden, then #plan", revision: 2), false, "news of the same tags")
      try expect(rig.put("a", "T", "#other", revision: 3), true, "news of another tag")
      try expect(rig.put("c", "T", "none"), false, "news of no tags")
      try rig.index.remove(["b", "c"])
      try expect(tags(), ["other a"], "the tags afterwards")
      try rig.index.clear()
      try expect(tags(), [], "the tags of nothing")
    },
    Check("words of a title count for more, and words that are there often") { rig in
      try rig.put("text", "Other", "a duck among many words that are about something else")
      try rig.put("title", "Duck", "words about something else, and more of them than that")
      try expect(rig.find("duck"), ["title", "text"], "the order")
      try expect(rig.find("duck", limit: 1), ["title"], "the first")
      try expect(rig.find("duck", skipping: 1), ["text"], "the rest")
    },
    Check("the order of two notes says nothing of a third") { rig in
      try rig.put("a", "", "duck duck goose")
      try rig.put("b", "", "duck goose goose")
      let before = try rig.find("duck goose")
      for number in 0..<20 { try rig.put("other \(number)", "", "goose") }
      try expect(rig.find("duck goose"), before, "the order")
    },
    Check("phrases are found in scripts without spaces, and across signs") { rig in
      try rig.put("a", "会議", "東京タワーで会う")
      try rig.put("b", "", "京東 e-mail")
      try rig.put("c", "", "mail e")
      try rig.expect("東京", "a")
      try rig.expect("京", "a", "b")
      try rig.expect("タワー 会議", "a")
      try rig.expect("e-mail", "b")
      try rig.expect("e-ma", "b")
      try rig.expect("e mail", "b", "c")
    },
    Check("tags are found as tags") { rig in
      try rig.put("a", "", "for #to-do and #été")
      try rig.put("b", "", "to do: ete")
      try rig.expect("#to-do", "a")
      try rig.expect("#ete", "a")
      try rig.expect("#to", "a")
      try rig.expect("ete", "a", "b")
      try rig.expect("do #ete", "a")
    },
    Check("signs of query languages mean nothing") { rig in
      try rig.put(
        "a", "near and or not", "x1 'quoted' \"twice\" \\ & | ! <-> : * ( ) {text} \u{1}\u{7f}")
      try rig.put("b", "", "nothing \u{0} of that")
      for words in [
        "\"", "'", "*", "a*", "^", "NEAR(", "\\", "&", "!", "|", ":*", "(((", "\u{0}", "--",
        "{text}:", "title:x1", "\u{E000}", "\u{E000}x",
      ] {
        _ = try rig.find(words)
      }
      try rig.expect("near AND or NOT", "a")
      try rig.expect("'quoted' \"twice\"", "a")
      try rig.expect("nothing\u{0}of", "b")
      try rig.expect("title:x1")
    },
    Check("a note that is put again is found as it is now") { rig in
      try rig.put("a", "Old", "first words")
      try rig.put("a", "New", "second words", revision: 2)
      try rig.expect("old")
      try rig.expect("first")
      try rig.expect("new second", "a")
      try expect(rig.index.text(of: "a"), "second words", "its text")
      // Another note with the id of a deleted note.
      try rig.put("a", "Third", "begins anew", revision: 0, created: 5)
      try rig.expect("second")
      try rig.expect("anew", "a")
    },
    Check("a note that is removed is gone, and others stay") { rig in
      for id: DocumentID in ["a", "b", "c"] { try rig.put(id, "Same", "words of \(id)x") }
      try rig.index.remove(["b", "nobody"])
      try rig.expect("same", "a", "c")
      try expect(rig.index.text(of: "b"), nil, "its text")
      try rig.index.remove(["b"])
      try rig.put("b", "Same", "again")
      try rig.expect("same again", "b")
      try rig.index.clear()
      try rig.expect("same")
      try expect(rig.index.ids(after: nil, limit: 9), [], "the ids")
      try rig.put("d", "Same", "")
      try rig.expect("same", "d")
    },
    Check("a query of signs finds the words in it, and nothing by its signs") { rig in
      let texts: [DocumentID: String] = ["a": "ann and bob", "b": "team #plan", "c": ""]
      for (id, text) in texts.sorted(by: { $0.key < $1.key }) { try rig.put(id, "", text) }
      for name in HostileNames.all {
        let words = try SearchQuery(name).terms.flatMap(\.words)
        let expected = texts.filter { text in
          !words.isEmpty && words.allSatisfy(SearchWords.joined(text.value).contains)
        }
        let found = try rig.find(name)
        try expect(
          Set(found).subtracting(expected.keys), [],
          "what \(name.debugDescription) finds beside its words")
        try expect(
          rig.index.find(tag: name, skipping: 0, limit: 9), [],
          "notes of a tag \(name.debugDescription)")
      }
    },
    Check("states and ids are listed, byte by byte") { rig in
      let ids: [DocumentID] = ["a", "b", "e\u{301}", "\u{e9}", "東"]
      for (revision, id) in ids.enumerated() { try rig.put(id, "", "", revision: revision) }
      let states = try rig.index.states(of: ["x"] + ids)
      let expected = [nil] + ids.indices.map { Optional($0) }
      try expect(states.map(\.?.revision), expected, "the revisions")
      try expect(states[1], IndexedState(revision: 0, updatedAt: 0, createdAt: 1), "a state")
      var found: [DocumentID] = []
      while true {
        let page = try rig.index.ids(after: found.last, limit: 2)
        if page.isEmpty { break }
        found += page
      }
      try expect(found, ids, "the ids, by their bytes")
    },
    Check("a very long text is found, as far as it goes") { rig in
      let words = (0..<60_000).map { "word\($0)" }.joined(separator: " ")
      try rig.put("a", "Long", words)
      try rig.put("b", "Dull", String(repeating: "same words ", count: 60_000))
      try rig.expect("word7", "a")
      try rig.expect("same words", "b")
      try rig.put("a", "Short", "now")
      try rig.expect("word7")
    },
  ]
}
