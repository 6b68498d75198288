/// The words that a person looks for.
///
/// A note is found if it has all terms, in its title or its text. Spaces separate terms; the words of a
/// term are side by side, as in "e-mail" or "東京". The last word may be the beginning of one. No sign means
/// anything beside the `#` of a tag.
public struct SearchQuery: Sendable, Equatable {
  /// Bytes of a query, at most.
  public static let bytesMax = 1_000
  /// Words of a query, at most.
  public static let wordsMax = 32
  /// Letters that the beginning of a word has at least.
  private static let prefixMin = 2

  /// Words that are side by side.
  public struct Term: Sendable, Equatable {
    /// The folded words; at least one.
    public var words: [String]
    /// Whether the last of them may be the beginning of a word.
    public var isPrefix = false
  }

  /// The terms; none if there is no word in the query.
  public let terms: [Term]

  /// Reads a query.
  ///
  /// - Throws: The limit that it exceeds.
  public init(_ text: String) throws(SearchQueryError) {
    guard text.utf8.count <= Self.bytesMax else { throw .tooLong(bytes: text.utf8.count) }
    var terms: [Term] = []
    var count = 0
    for part in text.unicodeScalars.split(whereSeparator: { $0.properties.isWhitespace }) {
      // Some people write tags so in other programs.
      let isTag = part.count > 4 && String(part.prefix(4)).lowercased() == "tag:"
      let words = SearchWords.all(in: isTag ? "#" + String(part.dropFirst(4)) : String(part))
      let tags = words.filter(\.isTag)
      // A tag has the words in it already.
      let plain = words.filter { word in
        !word.isTag && !tags.contains { $0.range.overlaps(word.range) }
      }
      let found =
        (plain.isEmpty ? [] : [Term(words: plain.map(\.folded))])
        + tags.map { Term(words: [$0.folded]) }
      count += found.reduce(0) { $0 + $1.words.count }
      terms += found
    }
    guard count <= Self.wordsMax else { throw .tooMany(words: count) }
    if let last = terms.last?.words.last {
      let letters = last.unicodeScalars.count { $0 != SearchWords.tagMark }
      terms[terms.count - 1].isPrefix = letters >= Self.prefixMin
    }
    self.terms = terms
  }
}

/// The reason to reject a query.
public enum SearchQueryError: Error, Sendable, Equatable {
  /// More than ``SearchQuery/bytesMax``.
  case tooLong(bytes: Int)
  /// More than ``SearchQuery/wordsMax``.
  case tooMany(words: Int)
}
