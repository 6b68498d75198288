import ParleyModel

/// Titles for imported notes.
enum ImportedTitle {
  /// Maximum scalars of a title, as in the page's title field.
  static let lettersMax = 200
  /// Maximum bytes of a line that are searched for a heading.
  private static let lineMax = 4_000
  /// Maximum lines of front matter.
  private static let frontMatterLinesMax = 200

  /// Returns the title of a text: from its front matter, its first heading, or the file's name.
  ///
  /// - Returns: A title of one line; empty if none of them contains a visible character.
  static func title(of text: [UInt8], name: String, bytesMax: Int) -> String {
    for found in [FrontMatter.title(in: text, linesMax: frontMatterLinesMax), heading(in: text)] {
      let title = clean(found ?? "", bytesMax: bytesMax)
      if !title.isEmpty { return title }
    }
    return clean(FilePath.baseName(name), bytesMax: bytesMax)
  }

  /// Returns a title in one line, without direction marks, truncated to the limits.
  static func clean(
    _ title: String, bytesMax: Int, lettersMax: Int = Self.lettersMax
  ) -> String {
    var line: [Unicode.Scalar] = []
    for scalar in title.unicodeScalars.prefix(4 * lettersMax) {
      if CharacterRules.isBlankInTitle(scalar) {
        if let last = line.last, last != " " { line.append(" ") }
      } else {
        line.append(scalar)
      }
    }
    var bytes = 0
    var cut = String.UnicodeScalarView()
    for scalar in line.prefix(lettersMax) {
      bytes += UTF8.width(scalar)
      guard bytes <= bytesMax else { break }
      cut.append(scalar)
    }
    while cut.last == " " { cut.removeLast() }
    return String(cut)
  }

  /// Returns a name without surrounding white space, truncated to `lettersMax` scalars.
  static func trimmed(_ name: String, lettersMax: Int) -> String {
    var letters = name.unicodeScalars.drop { $0.properties.isWhitespace }.prefix(lettersMax)
    while let last = letters.last, last.properties.isWhitespace { letters.removeLast() }
    return String(String.UnicodeScalarView(letters))
  }

  // MARK: Headings

  /// Returns the first heading outside of code: a line that begins with `#`, or lines underlined
  /// with `=`. An underline of dashes is ignored, because it may be a separator.
  private static func heading(in text: [UInt8]) -> String? {
    var fence: ArraySlice<UInt8>?
    var paragraph: [ArraySlice<UInt8>] = []
    var start = 0
    while start <= text.count {
      let end = text[start...].firstIndex(of: 0x0a) ?? text.count
      let line = text[start..<min(end, start + lineMax)]
      start = end + 1
      let mark = fenceMark(of: line)
      if let open = fence {
        if let mark, mark.count >= open.count, mark.first == open.first { fence = nil }
        continue
      }
      if let mark {
        (fence, paragraph) = (mark, [])
        continue
      }
      if let found = numberSignHeading(line) {
        paragraph = []
        let plain = withoutMarks(found)
        if !plain.isEmpty { return plain }
      } else if isUnderline(line), !paragraph.isEmpty {
        let plain = withoutMarks(ArraySlice(paragraph.joined(separator: [0x20])))
        if !plain.isEmpty { return plain }
        paragraph = []
      } else {
        follow(line, in: &paragraph)
      }
    }
    return nil
  }

  /// Adds a line to the paragraph that an underline may make a heading. Lines of lists, quotes,
  /// tables and code are excluded, because they contain the lines after them.
  private static func follow(_ line: ArraySlice<UInt8>, in paragraph: inout [ArraySlice<UInt8>]) {
    let indent = line.prefix { $0 == 0x20 }.count
    let rest = line.dropFirst(indent)
    guard let first = rest.first, !rest.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else {
      paragraph = []
      return
    }
    let isOther =
      first == 0x3e || first == 0x7c || first == 0x3c
      || ((first == 0x2d || first == 0x2a || first == 0x2b) && rest.dropFirst().first.isBlankOrNil)
      || isNumbered(rest)
    if paragraph.isEmpty {
      guard !isOther, indent < 4, first != 0x09 else {
        isInContainer(&paragraph)
        return
      }
      if paragraph.count < 8 { paragraph.append(rest) }
    } else if paragraph[0].isEmpty || isOther {
      isInContainer(&paragraph)
    } else if paragraph.count < 8 {
      paragraph.append(rest)
    }
  }

  /// Marks the paragraph as one that cannot become a heading, until the next blank line.
  private static func isInContainer(_ paragraph: inout [ArraySlice<UInt8>]) { paragraph = [[]] }

  private static func isNumbered(_ line: ArraySlice<UInt8>) -> Bool {
    let digits = line.prefix { (0x30...0x39).contains($0) }
    let rest = line.dropFirst(digits.count)
    return !digits.isEmpty && (rest.first == 0x2e || rest.first == 0x29)
      && rest.dropFirst().first.isBlankOrNil
  }

  private static func isUnderline(_ line: ArraySlice<UInt8>) -> Bool {
    let indent = line.prefix { $0 == 0x20 }.count
    let marks = line.dropFirst(indent).prefix { $0 == 0x3d }
    return indent < 4 && !marks.isEmpty
      && line.dropFirst(indent + marks.count).allSatisfy { $0 == 0x20 || $0 == 0x09 }
  }

  /// Returns the fence that starts or ends a code block.
  private static func fenceMark(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let rest = line.dropFirst(min(3, line.prefix { $0 == 0x20 }.count))
    guard let sign = rest.first, sign == 0x60 || sign == 0x7e else { return nil }
    let mark = rest.prefix { $0 == sign }
    return mark.count >= 3 ? mark : nil
  }

  private static func numberSignHeading(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let rest = line.dropFirst(min(3, line.prefix { $0 == 0x20 }.count))
    let signs = rest.prefix { $0 == 0x23 }.count
    guard (1...6).contains(signs), let blank = rest.dropFirst(signs).first,
      blank == 0x20 || blank == 0x09
    else { return nil }
    return rest.dropFirst(signs + 1)
  }

  // MARK: Marks

  /// Returns a heading's text, without closing number signs, link targets and Markdown marks.
  private static func withoutMarks(_ heading: ArraySlice<UInt8>) -> String {
    var line = trimmed(heading)
    let closing = line.reversed().prefix { $0 == 0x23 }.count
    let before = line.dropLast(closing)
    if before.isEmpty || before.last == 0x20 || before.last == 0x09 { line = before }
    let bytes = Array(line)
    var plain: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let next = index + 1 < bytes.count ? bytes[index + 1] : 0
      let isPicture = bytes[index] == 0x21 && next == 0x5b
      if isPicture || bytes[index] == 0x5b,
        let link = link(in: bytes, at: index + (isPicture ? 1 : 0))
      {
        // The link's text may contain marks, but no other link.
        appendPlain(bytes[link.words], to: &plain)
        index = link.end
        continue
      }
      let count = markLength(bytes[index], next)
      if count > 0 {
        index += count
        if bytes[index - count] == 0x5c {
          plain.append(bytes[index])
          index += 1
        }
      } else {
        plain.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: trimmed(plain[...]), as: UTF8.self)
  }

  private static func appendPlain(_ words: ArraySlice<UInt8>, to plain: inout [UInt8]) {
    var index = words.startIndex
    while index < words.endIndex {
      let next = index + 1 < words.endIndex ? words[index + 1] : 0
      let count = markLength(words[index], next)
      if count == 0 { plain.append(words[index]) }
      if count > 0, words[index] == 0x5c { plain.append(next) }
      index += count == 0 ? 1 : words[index] == 0x5c ? 2 : count
    }
  }

  /// Returns the length of a mark in bytes: `*`, a backtick, `__`, `~~`, or a backslash before a
  /// punctuation character; otherwise 0.
  private static func markLength(_ byte: UInt8, _ next: UInt8) -> Int {
    switch byte {
    case 0x2a, 0x60: 1
    case 0x5f, 0x7e: next == byte ? 2 : 0
    case 0x5c: isSign(next) ? 1 : 0
    default: 0
    }
  }

  private static func isSign(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21...0x2f, 0x3a...0x40, 0x5b...0x60, 0x7b...0x7e: true
    default: false
    }
  }

  /// Returns the text of `[text](target)`, and the index after the link.
  private static func link(in bytes: [UInt8], at start: Int) -> (words: Range<Int>, end: Int)? {
    var index = start + 1
    while index < bytes.count, bytes[index] != 0x5b, bytes[index] != 0x5d { index += 1 }
    guard index + 1 < bytes.count, bytes[index] == 0x5d, bytes[index + 1] == 0x28 else {
      return nil
    }
    var end = index + 2
    while end < bytes.count, bytes[end] != 0x28, bytes[end] != 0x29 { end += 1 }
    guard end < bytes.count, bytes[end] == 0x29 else { return nil }
    return (start + 1..<index, end + 1)
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var line = line
    while let first = line.first, first == 0x20 || first == 0x09 { line.removeFirst() }
    while let last = line.last, last == 0x20 || last == 0x09 { line.removeLast() }
    return line
  }
}

extension UInt8? {
  /// Whether the line ends here, or a blank follows.
  fileprivate var isBlankOrNil: Bool { self == nil || self == 0x20 || self == 0x09 }
}
