/// The difference of two texts by words, for display.
///
/// Common lines are found first, then the common words of the lines between them. A word is a run
/// of letters and digits; in scripts without spaces (Chinese, Japanese, Thai, …) it is a single
/// letter. A run of spaces, and any other scalar, is also compared as one piece.
///
///     the quick fox / a quick dog  ─▶  [the]→[a] quick [fox]→[dog]
public enum WordDifference {
  /// A replaced range in both texts, in UTF-8 bytes. One of the ranges may be empty.
  public struct Change: Sendable, Equatable {
    /// The range in the old text.
    public var old: Range<Int>
    /// The range in the new text.
    public var new: Range<Int>

    /// Creates a replacement of one range by another.
    public init(old: Range<Int>, new: Range<Int>) {
      self.old = old
      self.new = new
    }
  }

  /// Maximum comparisons of one difference. When they are used up, the rest counts as changed:
  /// first whole lines, then everything between the first and the last change.
  public static let workMax = 20_000_000
  /// Maximum bytes of changed lines that are compared by words; longer ones are replaced whole.
  public static let wordBytesMax = 1 << 18

  /// Returns the changes that turn one text into the other, in the order of the text. The texts
  /// between changes are equal. No change splits a scalar, or a line break of two scalars.
  ///
  /// - Complexity: O(*n*) bytes of both texts, and `work`.
  public static func changes(
    from old: [UInt8], to new: [UInt8], work: Int = workMax
  ) -> [Change] {
    guard old != new else { return [] }
    var work = work
    let (start, end) = commonLines(old, new)
    var tokens = TokenTable(old, new)
    let oldLines = lines(of: old, start..<(old.count - end))
    let newLines = lines(of: new, start..<(new.count - end))
    let oldNumbers = oldLines.map { tokens.number(ofOld: $0) }
    let newNumbers = newLines.map { tokens.number(ofNew: $0) }
    let common = CommonTokens(oldNumbers, newNumbers, tokenCount: tokens.count, work: &work)
    var changes: [Change] = []
    for hunk in hunks(common, oldLines, newLines, end: (old.count - end, new.count - end)) {
      append(wordChanges(of: hunk, old, new, &work), to: &changes)
    }
    return changes
  }

  /// Appends changes. The first of them is merged into the last existing one if they touch.
  private static func append(_ more: [Change], to changes: inout [Change]) {
    for change in more {
      if let last = changes.last, last.old.upperBound == change.old.lowerBound,
        last.new.upperBound == change.new.lowerBound
      {
        changes[changes.count - 1] = Change(
          old: last.old.lowerBound..<change.old.upperBound,
          new: last.new.lowerBound..<change.new.upperBound)
      } else {
        changes.append(change)
      }
    }
  }

  // MARK: Lines

  private static let lineFeed = UInt8(ascii: "\n")

  /// Returns the bytes of the common beginning and the common end of both texts, in whole lines.
  private static func commonLines(_ old: [UInt8], _ new: [UInt8]) -> (start: Int, end: Int) {
    let shorter = min(old.count, new.count)
    var start = 0
    var lineStart = 0
    while start < shorter, old[start] == new[start] {
      start += 1
      if old[start - 1] == lineFeed { lineStart = start }
    }
    var end = 0
    var lineEnd = 0
    while end < shorter - lineStart, old[old.count - 1 - end] == new[new.count - 1 - end] {
      // The text after a line feed starts a line in both texts.
      if old[old.count - 1 - end] == lineFeed { lineEnd = end }
      end += 1
    }
    return (lineStart, lineEnd)
  }

  /// Returns the lines of a part of a text, each with its line feed.
  private static func lines(of text: [UInt8], _ range: Range<Int>) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    var start = range.lowerBound
    for place in range where text[place] == lineFeed {
      lines.append(start..<(place + 1))
      start = place + 1
    }
    if start < range.upperBound { lines.append(start..<range.upperBound) }
    return lines
  }

  /// Returns the changes between common tokens, whose ranges are given.
  ///
  /// - Parameter end: The end of the last token in both texts, or of the compared part.
  private static func hunks(
    _ common: CommonTokens, _ old: [Range<Int>], _ new: [Range<Int>], end: (old: Int, new: Int)
  ) -> [Change] {
    var hunks: [Change] = []
    var (x, y) = (0, 0)
    while x < old.count || y < new.count {
      let (oldStart, newStart) = (x, y)
      while x < old.count, !common.isCommonInFirst[x] { x += 1 }
      while y < new.count, !common.isCommonInSecond[y] { y += 1 }
      if x > oldStart || y > newStart {
        let oldPlace = oldStart < old.count ? old[oldStart].lowerBound : end.old
        let newPlace = newStart < new.count ? new[newStart].lowerBound : end.new
        hunks.append(
          Change(
            old: oldPlace..<(x < old.count ? old[x].lowerBound : end.old),
            new: newPlace..<(y < new.count ? new[y].lowerBound : end.new)))
      }
      // Both texts have the same number of common tokens.
      x += 1
      y += 1
    }
    return hunks
  }

  // MARK: Words

  /// Returns the changed words of changed lines.
  private static func wordChanges(
    of hunk: Change, _ old: [UInt8], _ new: [UInt8], _ work: inout Int
  ) -> [Change] {
    guard !hunk.old.isEmpty, !hunk.new.isEmpty, work > 0 else { return [hunk] }
    let part = withoutCommonSpacedEnds(hunk, old, new)
    guard part.old.count + part.new.count <= wordBytesMax else { return [part] }
    let oldWords = words(of: old, part.old)
    let newWords = words(of: new, part.new)
    var tokens = TokenTable(old, new)
    let oldNumbers = oldWords.map { tokens.number(ofOld: $0) }
    let newNumbers = newWords.map { tokens.number(ofNew: $0) }
    let common = CommonTokens(oldNumbers, newNumbers, tokenCount: tokens.count, work: &work)
    let ends = (part.old.upperBound, part.new.upperBound)
    return joined(hunks(common, oldWords, newWords, end: ends), old)
  }

  /// Returns a change without its common beginning and end, cut after spaces. Of a long line, only
  /// the changed part remains.
  private static func withoutCommonSpacedEnds(
    _ change: Change, _ old: [UInt8], _ new: [UInt8]
  ) -> Change {
    let shorter = min(change.old.count, change.new.count)
    var start = 0
    var cut = 0
    while start < shorter,
      old[change.old.lowerBound + start] == new[change.new.lowerBound + start]
    {
      start += 1
      if old[change.old.lowerBound + start - 1] == UInt8(ascii: " ") { cut = start }
    }
    var end = 0
    var endCut = 0
    while end < shorter - cut,
      old[change.old.upperBound - 1 - end] == new[change.new.upperBound - 1 - end]
    {
      if old[change.old.upperBound - 1 - end] == UInt8(ascii: " ") { endCut = end }
      end += 1
    }
    return Change(
      old: (change.old.lowerBound + cut)..<(change.old.upperBound - endCut),
      new: (change.new.lowerBound + cut)..<(change.new.upperBound - endCut))
  }

  /// Merges replacements that only spaces and signs separate, because these are equal by chance.
  private static func joined(_ changes: [Change], _ old: [UInt8]) -> [Change] {
    var joined: [Change] = []
    for change in changes {
      guard let last = joined.last, !last.old.isEmpty, !last.new.isEmpty, !change.old.isEmpty,
        !change.new.isEmpty, !hasWord(old, last.old.upperBound..<change.old.lowerBound)
      else {
        joined.append(change)
        continue
      }
      joined[joined.count - 1] = Change(
        old: last.old.lowerBound..<change.old.upperBound,
        new: last.new.lowerBound..<change.new.upperBound)
    }
    return joined
  }

  /// Whether a part of a text contains a word or a line break.
  private static func hasWord(_ text: [UInt8], _ range: Range<Int>) -> Bool {
    var place = range.lowerBound
    while place < range.upperBound {
      let scalar = scalar(of: text, at: &place)
      switch Piece(scalar) {
      case .word, .single, .lineBreak: return true
      case .mark, .space, .sign: break
      }
    }
    return false
  }

  /// Returns the ranges of the pieces that are compared.
  private static func words(of text: [UInt8], _ range: Range<Int>) -> [Range<Int>] {
    var words: [Range<Int>] = []
    var start = range.lowerBound
    var place = start
    var last: Piece?
    while place < range.upperBound {
      let before = place
      let scalar = scalar(of: text, at: &place)
      let piece = Piece(scalar)
      let isJoined: Bool =
        switch (last, piece) {
        case (nil, _): true
        case (_, .mark): last != .lineBreak
        case (.word, .word), (.space, .space): true
        // CR LF is one line break.
        case (.lineBreak, .lineBreak): scalar == "\n" && text[before - 1] == UInt8(ascii: "\r")
        default: false
        }
      if !isJoined {
        words.append(start..<before)
        start = before
      }
      if !isJoined || last == nil { last = piece }
    }
    if start < range.upperBound { words.append(start..<range.upperBound) }
    return words
  }

  /// The kind of a scalar, for the division into words.
  private enum Piece {
    case word, single, mark, space, lineBreak, sign

    init(_ scalar: Unicode.Scalar) {
      switch SearchWords.kind(of: scalar) {
      case .letter: self = .word
      case .single: self = .single
      case .mark, .accent: self = .mark
      case .gap:
        switch scalar {
        case "\n", "\r": self = .lineBreak
        case "_": self = .word
        // Flags are pairs of these scalars, and skin tones modify an emoji.
        case "\u{1F1E6}"..."\u{1F1FF}": self = .word
        case "\u{1F3FB}"..."\u{1F3FF}": self = .mark
        default: self = scalar.properties.isWhitespace ? .space : .sign
        }
      }
    }
  }

  /// Returns the scalar at an index of valid UTF-8, and moves the index past it.
  private static func scalar(of text: [UInt8], at place: inout Int) -> Unicode.Scalar {
    let first = text[place]
    place += 1
    guard first >= 0x80 else { return Unicode.Scalar(first) }
    let count = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1
    var value = UInt32(first) & (0x3F >> UInt32(count))
    for _ in 0..<count where place < text.count {
      value = value << 6 | UInt32(text[place] & 0x3F)
      place += 1
    }
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }
}

/// Numbers the pieces of two texts. Equal pieces have equal numbers.
private struct TokenTable {
  private let old: [UInt8]
  private let new: [UInt8]
  /// The first piece of each hash; further pieces of the same hash are linked in `next`.
  private var numbers: [Int: Int32] = [:]
  private var next: [Int32] = []
  private var samples: [(isOld: Bool, range: Range<Int>)] = []

  init(_ old: [UInt8], _ new: [UInt8]) {
    self.old = old
    self.new = new
  }

  var count: Int { samples.count }

  mutating func number(ofOld range: Range<Int>) -> Int32 { number(of: range, isOld: true) }
  mutating func number(ofNew range: Range<Int>) -> Int32 { number(of: range, isOld: false) }

  private mutating func number(of range: Range<Int>, isOld: Bool) -> Int32 {
    let text = isOld ? old : new
    // `Hasher` has a random seed per process, so an attacker cannot choose colliding pieces.
    var hasher = Hasher()
    text[range].withUnsafeBytes { hasher.combine(bytes: $0) }
    let hash = hasher.finalize()
    let first = numbers[hash]
    var found = first ?? -1
    while found >= 0 {
      let sample = samples[Int(found)]
      if text[range] == (sample.isOld ? old : new)[sample.range] { return found }
      found = next[Int(found)]
    }
    let number = Int32(samples.count)
    samples.append((isOld, range))
    next.append(first ?? -1)
    numbers[hash] = number
    return number
  }
}
