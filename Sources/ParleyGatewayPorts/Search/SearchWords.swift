/// The tokens of a text, normalised for search.
///
/// A word is a run of letters, digits and combining marks, in lower case and without accents. In
/// scripts without spaces between words (Chinese, Japanese, Thai, …) each letter is a word, and
/// adjacent letters are found as a phrase. A tag, such as `#plan`, is an additional word. The words
/// in it count, too.
///
///     "Déjà-vu in 東京 #plan"  ─▶  deja vu in 東 京 plan, and the tag plan
public enum SearchWords {
  /// Maximum scalars of a text that are read. Later words are not found.
  public static let scalarsMax = 4_000_000
  /// Approximate maximum bytes of a folded word. The rest of a longer word is ignored.
  public static let wordBytesMax = 96
  /// The first scalar of a folded tag. It is a private-use scalar, which no word contains.
  public static let tagMark: Unicode.Scalar = "\u{E000}"

  /// A word in a text.
  public struct Word: Sendable, Equatable {
    /// The folded letters; a tag begins with ``tagMark``.
    public var folded: String
    /// The range in the text, in Unicode scalars.
    public var range: Range<Int>
    /// Whether the word is one letter of a script without spaces.
    public var isSingle = false

    /// Whether the word is a tag.
    public var isTag: Bool { folded.unicodeScalars.first == tagMark }
  }

  /// Calls `body` with each word until it returns `false`. Words are ordered by their ends, so that
  /// a tag follows the words in it.
  ///
  /// - Complexity: O(*n*) scalars.
  public static func forEach(in text: String, _ body: (Word) -> Bool) {
    withoutActuallyEscaping(body) { body in
      var scanner = Scanner(body)
      scanner.scan(text)
    }
  }

  /// Returns all words of a text.
  public static func all(in text: String) -> [Word] {
    var words: [Word] = []
    forEach(in: text) { word in
      words.append(word)
      return true
    }
    return words
  }

  /// Returns the folded words of a text, separated by spaces, for an index. Tags come last, so that
  /// they do not separate adjacent words.
  public static func joined(_ text: String) -> String {
    var words = ""
    words.reserveCapacity(min(text.utf8.count, scalarsMax) + 1)
    var tags = ""
    forEach(in: text) { word in
      if word.isTag {
        tags += " " + word.folded
      } else {
        if !words.isEmpty { words += " " }
        words += word.folded
      }
      return true
    }
    return words + tags
  }

  /// The role of a scalar in words.
  enum Kind {
    /// Between words.
    case gap
    /// A part of a word.
    case letter
    /// A separate word, with the marks that follow it.
    case single
    /// A combining mark that distinguishes words.
    case mark
    /// Belongs to the letter before it, and is ignored.
    case accent
  }

  static func kind(of scalar: Unicode.Scalar) -> Kind {
    let value = scalar.value
    if value < 0x80 {
      let isLetter =
        (0x61...0x7A).contains(value) || (0x41...0x5A).contains(value)
        || (0x30...0x39).contains(value)
      return isLetter ? .letter : .gap
    }
    switch value {
    case 0x0300...0x036F, 0x0591...0x05BD, 0x05BF, 0x05C1...0x05C2, 0x05C4...0x05C5, 0x05C7,
      0x0610...0x061A, 0x0640, 0x064B...0x065F, 0x0670, 0x200C...0x200D, 0xFE00...0xFE0F:
      return .accent
    default: break
    }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber:
      return isSpaceless(value) ? .single : .letter
    case .nonspacingMark, .spacingMark, .enclosingMark: return .mark
    default: return .gap
    }
  }

  /// Whether a letter belongs to a script that puts no spaces between words.
  private static func isSpaceless(_ value: UInt32) -> Bool {
    switch value {
    case 0x0E00...0x0FFF, 0x1000...0x109F, 0x1780...0x17FF, 0x2E80...0x2FDF, 0x3005...0x3007,
      0x3040...0x30FF, 0x3100...0x312F, 0x31A0...0x31BF, 0x31F0...0x31FF, 0x3400...0x4DBF,
      0x4E00...0x9FFF, 0xA9E0...0xA9FF, 0xAA60...0xAA7F, 0xF900...0xFAFF, 0xFF66...0xFF9F,
      0x20000...0x3FFFF:
      true
    default: false
    }
  }

  /// Appends a letter in lower case and without accents.
  static func fold(_ scalar: Unicode.Scalar, into word: inout String) {
    let value = scalar.value
    if value < 0x80 {
      let isCapital = (0x41...0x5A).contains(value)
      word.unicodeScalars.append(
        isCapital ? Unicode.Scalar(UInt8(value + 0x20)) : scalar)
      return
    }
    // Full-width forms of ASCII letters and digits.
    if (0xFF10...0xFF5A).contains(value), let plain = Unicode.Scalar(value - 0xFEE0) {
      fold(plain, into: &word)
      return
    }
    for small in scalar.properties.lowercaseMapping.unicodeScalars {
      if let plain = SearchLetters.plain[small] {
        word += plain
      } else if kind(of: small) != .accent {
        word.unicodeScalars.append(small)
      }
    }
  }
}

/// Reads a text scalar by scalar and reports its words.
private struct Scanner {
  private let body: (SearchWords.Word) -> Bool
  private var word = SearchWords.Word(folded: "", range: 0..<0)
  private var isInWord = false
  /// The tag that is being read.
  private var tag: SearchWords.Word?
  private var hasTagLetter = false
  private var continues = true

  init(_ body: @escaping (SearchWords.Word) -> Bool) { self.body = body }

  mutating func scan(_ text: String) {
    var place = 0
    var previous: Unicode.Scalar = " "
    for scalar in text.unicodeScalars {
      guard continues, place < SearchWords.scalarsMax else { break }
      let kind = SearchWords.kind(of: scalar)
      take(scalar, kind, at: place)
      takeForTag(scalar, kind, at: place, after: previous)
      previous = scalar
      place += 1
    }
    endWord(at: place)
    endTag(at: place)
  }

  private mutating func take(_ scalar: Unicode.Scalar, _ kind: SearchWords.Kind, at place: Int) {
    switch kind {
    case .gap: endWord(at: place)
    case .accent: break
    case .mark:
      if isInWord { append(scalar) }
    case .letter:
      if isInWord, word.isSingle { endWord(at: place) }
      begin(at: place, isSingle: false)
      append(scalar)
    case .single:
      endWord(at: place)
      begin(at: place, isSingle: true)
      append(scalar)
    }
  }

  private mutating func begin(at place: Int, isSingle: Bool) {
    guard !isInWord else { return }
    isInWord = true
    word = SearchWords.Word(folded: "", range: place..<place, isSingle: isSingle)
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    guard word.folded.utf8.count < SearchWords.wordBytesMax else { return }
    SearchWords.fold(scalar, into: &word.folded)
  }

  private mutating func endWord(at place: Int) {
    guard isInWord else { return }
    isInWord = false
    word.range = word.range.lowerBound..<place
    if continues, !word.folded.isEmpty { continues = body(word) }
  }

  // MARK: Tags

  private mutating func takeForTag(
    _ scalar: Unicode.Scalar, _ kind: SearchWords.Kind, at place: Int,
    after previous: Unicode.Scalar
  ) {
    if scalar == "#" {
      endTag(at: place)
      // No tag: the fragment of a URL ("a#b"), or a character reference ("&#9;").
      guard SearchWords.kind(of: previous) == .gap, previous != "&", previous != "#",
        previous != "/"
      else { return }
      tag = SearchWords.Word(
        folded: String(Character(SearchWords.tagMark)), range: place..<place)
      hasTagLetter = false
      return
    }
    guard tag != nil else { return }
    switch kind {
    case .gap where scalar == "-" || scalar == "_":
      // Replace "-" and "_" by non-ASCII variants: an index separates words at the ASCII signs.
      appendToTag(scalar == "-" ? "\u{2010}" : "\u{203F}")
    case .gap: endTag(at: place)
    case .accent: break
    case .letter, .single, .mark:
      if scalar.value >= 0x80 || !(0x30...0x39).contains(scalar.value) { hasTagLetter = true }
      guard var begun = tag, begun.folded.utf8.count < SearchWords.wordBytesMax else { return }
      tag = nil
      SearchWords.fold(scalar, into: &begun.folded)
      tag = begun
    }
  }

  private mutating func appendToTag(_ scalar: Unicode.Scalar) {
    guard let length = tag?.folded.utf8.count, length < SearchWords.wordBytesMax else { return }
    tag?.folded.unicodeScalars.append(scalar)
  }

  private mutating func endTag(at place: Int) {
    guard var ended = tag else { return }
    tag = nil
    // "#12" is a number.
    guard hasTagLetter else { return }
    ended.range = ended.range.lowerBound..<place
    if continues { continues = body(ended) }
  }
}
