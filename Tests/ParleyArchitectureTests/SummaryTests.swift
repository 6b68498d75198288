import Testing

/// Summaries of doc comments, of which each names its subject: a noun for a type or a property, a
/// verb for a function.
@Suite("Summaries")
struct SummaryTests {
  /// Words that begin a summary without a subject.
  private static let headless: Set<Substring> = [
    "What", "Who", "Whose", "Whoever", "Those", "One", "Somebody", "Nobody", "Everybody",
    "As",
    "By", "How", "When", "Where", "Which", "None",
  ]

  private let tree = SourceTree()

  @Test("summaries name their subject")
  func subjects() throws {
    for (module, folder) in try tree.modules() {
      let files = try tree.files(in: folder, endings: ["swift"])
      var found: [String] = []
      for file in files {
        for summary in Self.summaries(of: file.text) {
          if Self.headless.contains(summary.text.prefix { $0.isLetter }) {
            found.append("\(file.path):\(summary.line): \(summary.text)")
          }
        }
      }
      #expect(found.isEmpty, "\(module): these name none\n\(found.joined(separator: "\n"))")
    }
  }

  @Test("the first line of each comment is its summary")
  func reading() {
    let text = """
      /// What it is.
      ///
      /// Who reads this.
      struct A {
        /// The name.
        let name: String  /// How so.
        // What is plain.
      }
      """
    let summaries = Self.summaries(of: text)
    #expect(summaries.map(\.line) == [1, 5])
    #expect(summaries.map(\.text) == ["What it is.", "The name."])
  }

  /// The first line of each doc comment.
  private static func summaries(of text: String) -> [(line: Int, text: Substring)] {
    var summaries: [(line: Int, text: Substring)] = []
    var isInComment = false
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.drop { $0 == " " }
      if words.hasPrefix("///"), !isInComment {
        summaries.append((number + 1, words.dropFirst(3).drop { $0 == " " }))
      }
      isInComment = words.hasPrefix("///")
    }
    return summaries
  }
}
