import ParleyJSON
import ParleyModel

/// The passage of a text that is shown for a search result.
public struct SearchPassage: Sendable, Equatable {
  /// The passage. Each line break and each other control character is replaced by one space.
  public var text: String
  /// The start of the passage in the text, in Unicode scalars.
  public var start: Int
  /// The matches, as ascending ranges of Unicode scalars in the passage.
  public var marks: [Range<Int>]

  /// Maximum length of a passage, in Unicode scalars.
  public static let scalarsMax = 200
  /// The approximate number of scalars before the first match.
  private static let before = 40
  /// Maximum number of matches of a text that are considered.
  private static let hitsMax = 2_000

  /// Creates a passage with its matches.
  public init(text: String, start: Int, marks: [Range<Int>]) {
    self.text = text
    self.start = start
    self.marks = marks
  }

  /// Finds the first of the passages with the most distinct terms of a query; the beginning of the
  /// text if it contains no term.
  ///
  /// - Complexity: O(*n*) scalars of the text.
  public init(of query: SearchQuery, in text: String) {
    let hits = query.hits(
      in: text, max: Self.hitsMax, together: Self.scalarsMax - Self.before)
    var best: (count: Int, first: Int) = (0, 0)
    var counts = [Int](repeating: 0, count: query.terms.count)
    var (count, end) = (0, 0)
    for first in hits.indices {
      while end < hits.count,
        hits[end].range.upperBound - hits[first].range.lowerBound
          <= Self.scalarsMax - Self.before
      {
        if counts[hits[end].term] == 0 { count += 1 }
        counts[hits[end].term] += 1
        end += 1
      }
      if count > best.count { best = (count, first) }
      guard end > first else {
        end = first + 1
        continue
      }
      counts[hits[first].term] -= 1
      if counts[hits[first].term] == 0 { count -= 1 }
    }
    let focus = hits.isEmpty ? 0 : hits[best.first].range.lowerBound
    let scalars = text.unicodeScalars
    // Start at the beginning of a nearby word or line.
    var start = max(0, focus - Self.before)
    var index = scalars.index(scalars.startIndex, offsetBy: start)
    if start > 0 {
      var (place, look) = (start, index)
      while place < focus {
        defer { place += 1 }
        let isGap = SearchWords.kind(of: scalars[look]) == .gap
        look = scalars.index(after: look)
        guard isGap else { continue }
        (start, index) = (place + 1, look)
        break
      }
    }
    var piece = ""
    var length = 0
    while index < scalars.endIndex, length < Self.scalarsMax {
      let scalar = scalars[index]
      piece.unicodeScalars.append(CharacterRules.isBreak(scalar) ? " " : scalar)
      length += 1
      index = scalars.index(after: index)
    }
    self.init(
      text: piece, start: start,
      marks: Self.joined(hits.map(\.range), in: start..<(start + length)))
  }

  /// Returns the matches of a query in a short text, such as a title.
  public static func marks(of query: SearchQuery, in text: String) -> [Range<Int>] {
    joined(query.hits(in: text, max: hitsMax).map(\.range), in: 0..<text.unicodeScalars.count)
  }

  /// Returns the ranges within a passage, relative to its start. Touching ranges are merged.
  private static func joined(_ ranges: [Range<Int>], in piece: Range<Int>) -> [Range<Int>] {
    var marks: [Range<Int>] = []
    for range in ranges where piece.lowerBound <= range.lowerBound {
      guard range.upperBound <= piece.upperBound else { continue }
      let mark =
        (range.lowerBound - piece.lowerBound)..<(range.upperBound - piece.lowerBound)
      if let last = marks.last, mark.lowerBound <= last.upperBound {
        marks[marks.count - 1] = last.lowerBound..<max(last.upperBound, mark.upperBound)
      } else {
        marks.append(mark)
      }
    }
    return marks
  }
}

extension SearchQuery {
  /// An occurrence of a term in a text.
  struct Hit: Equatable {
    var term: Int
    var range: Range<Int>
  }

  /// Returns the occurrences of the query's terms in a text, sorted by start.
  ///
  /// - Parameter together: A length in scalars. The search ends after a passage of at most this
  ///   length that contains all terms.
  func hits(in text: String, max hitsMax: Int, together: Int = .max) -> [Hit] {
    guard !terms.isEmpty else { return [] }
    var hits: [Hit] = []
    /// The start of each term's last occurrence.
    var last = [Int?](repeating: nil, count: terms.count)
    var end = Int.max
    func note(_ hit: Hit) {
      hits.append(hit)
      last[hit.term] = hit.range.lowerBound
      guard end == .max, together < .max else { return }
      let first = last.reduce(Int.max) { min($0, $1 ?? -.max) }
      if first >= 0, hit.range.upperBound - first <= together { end = first + together }
    }
    let longest = terms.reduce(0) { max($0, $1.words.count) }
    var recent: [SearchWords.Word] = []
    SearchWords.forEach(in: text) { word in
      guard word.range.lowerBound < end else { return false }
      guard !word.isTag else {
        for (term, wanted) in terms.enumerated()
        where wanted.words.count == 1 && wanted.matches(word, at: 0) {
          note(Hit(term: term, range: word.range))
        }
        return hits.count < hitsMax
      }
      recent.append(word)
      if recent.count > longest { recent.removeFirst() }
      for (term, wanted) in terms.enumerated() where wanted.words.count <= recent.count {
        let tail = recent.suffix(wanted.words.count)
        guard zip(0..., tail).allSatisfy({ wanted.matches($0.1, at: $0.0) }),
          let first = tail.first
        else { continue }
        note(Hit(term: term, range: first.range.lowerBound..<word.range.upperBound))
      }
      return hits.count < hitsMax
    }
    // The range of a phrase or a tag may begin before that of a word that has ended earlier.
    return hits.sorted {
      ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
    }
  }
}

extension SearchQuery.Term {
  /// Whether a word of a text matches the term's word at an index.
  func matches(_ word: SearchWords.Word, at place: Int) -> Bool {
    let wanted = words[place]
    if isPrefix, place == words.count - 1 { return word.folded.utf8.starts(with: wanted.utf8) }
    return word.folded.isExactly(wanted)
  }
}
