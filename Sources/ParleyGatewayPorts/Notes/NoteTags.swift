/// The tags that a note's text has, such as `#plan`.
///
/// A tag is a `#` and letters, digits, `-`, `_` and `/` behind it, with a letter among them. It occurs at
/// the beginning of a line, behind a blank, an opening sign or a backtick. Code, addresses and link targets
/// contain no tags, and a heading has a blank behind its `#`. Tags are compared in small letters.
///
///     "# Plan\nBring #Milk and #home/garden, not `#code` or a#b"  ─▶  home/garden, milk
public enum NoteTags {
  /// Tags of one note, at most.
  public static let countMax = 100
  /// Maximum tag length in bytes; longer words are ignored.
  public static let bytesMax = 96

  /// Returns the tags of a text, each once, in the order of their bytes.
  ///
  /// - Complexity: O(*n*) scalars, of which ``SearchWords/scalarsMax`` are looked at.
  public static func all(in text: String) -> [String] {
    var reader = TagReader()
    for scalar in text.unicodeScalars.prefix(SearchWords.scalarsMax) where !reader.isFull {
      reader.take(scalar)
    }
    // The end of a line ends everything.
    reader.take("\n")
    return reader.tags.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// A tag as it is compared; `nil` if a text is not a tag. A `#` before it is passed over.
  public static func tag(_ text: String) -> String? {
    let name = text.hasPrefix("#") ? String(text.dropFirst()) : text
    let found = all(in: "#" + name)
    guard found.count == 1, found[0].utf8.count == name.lowercased().utf8.count else { return nil }
    return found[0]
  }
}

/// Goes through a text, scalar by scalar.
private struct TagReader {
  private(set) var tags: Set<ExactName> = []
  /// The line up to here has only blanks; then the number of a fence's signs.
  private var fenceSign: Unicode.Scalar?
  private var fenceLength = 0
  private var isAtBeginning = true
  /// The fence within which lines are code.
  private var fence: (sign: Unicode.Scalar, length: Int)?
  /// Backticks of the fence that begins with this line, unless another follows: then it was code.
  private var opening: Int?
  /// The number of backticks that end code within a line, and those that were read in a row.
  private var codeLength = 0
  private var ticks = 0
  /// Tags in what may be code.
  private var inCode: [ExactName] = []
  private var isInAddress = false
  private var isInTarget = false
  private var word = ""
  private var tag: String?
  private var previous: Unicode.Scalar = "\n"

  var isFull: Bool { tags.count >= NoteTags.countMax }

  mutating func take(_ scalar: Unicode.Scalar) {
    if scalar == "\n" || scalar == "\r" {
      endLine()
      return
    }
    if isAtBeginning { readFence(scalar) }
    guard fence == nil else {
      previous = scalar
      return
    }
    if scalar == "`" {
      endTag()
      opening = nil
      ticks += 1
      previous = scalar
      return
    }
    endTicks()
    read(scalar)
    previous = scalar
  }

  // MARK: Code

  private mutating func readFence(_ scalar: Unicode.Scalar) {
    if fenceSign == nil, scalar == " " { return }
    if scalar == "`" || scalar == "~", fenceSign == nil || previous == scalar {
      fenceSign = scalar
      fenceLength += 1
      return
    }
    if fence != nil, fenceSign != nil, scalar == " " || scalar == "\t" { return }
    isAtBeginning = false
    beginOrEndFence(isWhole: false)
  }

  private mutating func beginOrEndFence(isWhole: Bool) {
    guard let sign = fenceSign, fenceLength >= 3 else { return }
    if let open = fence {
      // A closing fence has only blanks behind it.
      if isWhole, open.sign == sign, fenceLength >= open.length { fence = nil }
    } else if sign == "`", !isWhole {
      opening = fenceLength
    } else {
      fence = (sign, fenceLength)
    }
  }

  private mutating func endTicks() {
    guard ticks > 0 else { return }
    if codeLength == 0 {
      codeLength = ticks
    } else if codeLength == ticks {
      codeLength = 0
      inCode = []
    }
    ticks = 0
  }

  private mutating func endLine() {
    if isAtBeginning { beginOrEndFence(isWhole: true) }
    endTag()
    endTicks()
    if let length = opening {
      fence = ("`", length)
      inCode = []
      opening = nil
    }
    // An unclosed part is not code.
    for found in inCode where !isFull { tags.insert(found) }
    inCode = []
    (fenceSign, fenceLength, isAtBeginning) = (nil, 0, true)
    (codeLength, ticks, isInAddress, isInTarget, word) = (0, 0, false, false, "")
    previous = "\n"
  }

  // MARK: Tags

  private mutating func read(_ scalar: Unicode.Scalar) {
    let isBlank = scalar.properties.isWhitespace
    if isBlank {
      endTag()
      (isInAddress, word) = (false, "")
      return
    }
    if previous == "]", scalar == "(" { isInTarget = true }
    if isInTarget {
      if scalar == ")" { isInTarget = false }
      endTag()
      return
    }
    if word.utf8.count < 16 {
      word.unicodeScalars.append(scalar)
      if word.hasSuffix("://") || word.lowercased().hasPrefix("www.") { isInAddress = true }
    }
    guard !isInAddress else {
      endTag()
      return
    }
    if scalar == "#" {
      endTag()
      if Self.opens(previous) { tag = "" }
    } else if tag != nil {
      if Self.isPart(scalar) { tag?.unicodeScalars.append(scalar) } else { endTag() }
    }
  }

  private mutating func endTag() {
    guard var found = tag else { return }
    tag = nil
    while let last = found.unicodeScalars.last, last == "-" || last == "_" || last == "/" {
      found.unicodeScalars.removeLast()
    }
    guard !found.isEmpty, found.utf8.count <= NoteTags.bytesMax, !isFull,
      found.unicodeScalars.contains(where: { $0.properties.isAlphabetic })
    else { return }
    let read = ExactName(found.lowercased())
    if codeLength == 0 { tags.insert(read) } else { inCode.append(read) }
  }

  private static func opens(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .openPunctuation, .initialPunctuation: true
    default:
      scalar.properties.isWhitespace || scalar == "\"" || scalar == "'" || scalar == ","
        || scalar == "`"
    }
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == "-" || scalar == "_" || scalar == "/" { return true }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark:
      return true
    default: return scalar == "\u{200C}" || scalar == "\u{200D}"
    }
  }
}
