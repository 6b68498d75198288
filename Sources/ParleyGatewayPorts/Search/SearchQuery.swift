/// A full-text query.
///
/// A note matches if its title and text together contain all terms. Spaces separate terms; the
/// words of one term must be adjacent, as in "e-mail" or "東京". The last word may be a prefix. There
/// are no operators except the `#` of a tag.
public struct SearchQuery: Sendable, Equatable {
  /// Maximum bytes of a query.
  public static let bytesMax = 1_000
  /// Maximum words of a query.
  public static let wordsMax = 32
  /// Minimum letters of a prefix.
  private static let prefixMin = 2

  /// Words that must be adjacent.
  public struct Term: Sendable, Equatable {
    /// The folded words; at least one.
    public var words: [String]
    /// Whether the last word may be a prefix.
    public var isPrefix = false
  }

  /// The terms; empty if the query contains no word.
  public let terms: [Term]

  /// Parses a query.
  ///
  /// - Throws: The limit that the query exceeds.
  public init(_ text: String) throws(SearchQueryError) {
    guard text.utf8.count <= Self.bytesMax else { throw .tooLong(bytes: text.utf8.count) }
    var terms: [Term] = []
    var count = 0
    for part in text.unicodeScalars.split(whereSeparator: { $0.properties.isWhitespace }) {
      // `tag:plan` is how other programs search for the tag `#plan`.
      let isTag = part.count > 4 && String(part.prefix(4)).lowercased() == "tag:"
      let words = SearchWords.all(in: isTag ? "#" + String(part.dropFirst(4)) : String(part))
      let tags = words.filter(\.isTag)
      // A tag contains its words, so they are not required in addition.
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
  /// The query has more than ``SearchQuery/bytesMax`` bytes.
  case tooLong(bytes: Int)
  /// The query has more than ``SearchQuery/wordsMax`` words.
  case tooMany(words: Int)
}
