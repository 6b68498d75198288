/// The tags in a note's text, such as `#plan`.
///
/// A tag is a `#` followed by letters, digits, `-`, `_` and `/`, with at least one letter, at the
/// start of a line or after a space, an opening sign or a backtick. Code, addresses and link
/// targets contain no tags; a heading has a space after its `#`. Tags are compared in lower case.
///
///     "# Plan\nBring #Milk and #home/garden, not `#code` or a#b"  ─▶  home/garden, milk
public enum NoteTags {
  /// Maximum tags of one note.
  public static let countMax = 100
  /// Maximum tag length in bytes; longer words are ignored.
  public static let bytesMax = 96

  /// Returns the tags of a text, without duplicates, sorted by their bytes.
  ///
  /// - Complexity: O(*n*) scalars, at most ``SearchWords/scalarsMax``.
  public static func all(in text: String) -> [String] {
    var reader = TagReader()
    for scalar in text.unicodeScalars.prefix(SearchWords.scalarsMax) where !reader.isFull {
      reader.take(scalar)
    }
    // A line end completes the last tag.
    reader.take("\n")
    return reader.tags.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns a tag in the form in which tags are compared; `nil` if the text is not a tag. A
  /// leading `#` is optional.
  public static func tag(_ text: String) -> String? {
    let name = text.hasPrefix("#") ? String(text.dropFirst()) : text
    let found = all(in: "#" + name)
    guard found.count == 1, found[0].utf8.count == name.lowercased().utf8.count else { return nil }
    return found[0]
  }
}

/// Reads the tags of a text, scalar by scalar.
private struct TagReader {
  private(set) var tags: Set<ExactName> = []
  /// The kind and number of fence signs at the start of this line, if only spaces precede them.
  private var fenceSign: Unicode.Scalar?
  private var fenceLength = 0
  private var isAtBeginning = true
  /// The fence that encloses the current code block.
  private var fence: (sign: Unicode.Scalar, length: Int)?
  /// The backticks of a fence that may start with this line; `nil` again if more backticks follow,
  /// because they are inline code then.
  private var opening: Int?
  /// The number of backticks that end the inline code, and the number read in a row.
  private var codeLength = 0
  private var ticks = 0
  /// Tags that are not counted if the inline code is closed.
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
      // Only spaces may follow a closing fence.
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
    // Unclosed inline code is text.
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
