/// The text of a line as Markdown: items with delimiters between them.
///
/// A delimiter such as `**` begins or ends emphasis only beside certain characters. So marks never
/// begin or end at white space, and where a delimiter would not be read as one, the letter outside
/// of it is written as a character reference, `&#97;`, which counts as punctuation.
struct MarkdownLine {
  /// A mark with delimiters of its own.
  enum Mark: CaseIterable {
    case bold, italic, strike

    var delimiter: StaticString {
      switch self {
      case .bold: "**"
      case .italic: "_"
      case .strike: "~~"
      }
    }
  }

  /// A part of the line.
  struct Item {
    enum Content {
      /// Text, which is escaped when it is written.
      case text
      /// Markdown that is complete: code, a picture, a formula.
      case literal
      case open(Mark)
      case close(Mark)
      case openLink
      /// The end of a link, with its address.
      case closeLink
    }
    let content: Content
    var bytes: [UInt8] = []
    /// Whether the first and the last scalar are written as character references.
    var encodesFirst = false
    var encodesLast = false
  }

  private(set) var items: [Item] = []

  /// Whether nothing is left of the line.
  var isEmpty: Bool { items.isEmpty }

  init(
    _ line: FormattedText.Line, of text: FormattedText, bytesMax: Int
  ) throws(FormError) {
    let segments = MarkdownSegment.segments(of: line, text)
    var size = 0
    var open: [Mark] = []
    var link: [UInt8]?
    let ends = Self.ends(of: segments)
    for (index, segment) in segments.enumerated() {
      let isOtherLink = segment.link != link
      while let last = open.last, isOtherLink || !open.allSatisfy({ segment.has($0) }) {
        items.append(Item(content: .close(last)))
        open.removeLast()
      }
      if isOtherLink {
        if let link { items.append(Item(content: .closeLink, bytes: link)) }
        link = segment.link
        if link != nil { items.append(Item(content: .openLink)) }
      }
      // What ends last is the outermost, so that fewer marks are ended and begun again.
      let next = Mark.allCases.filter { segment.has($0) && !open.contains($0) }
      for mark in next.sorted(by: { ends[index][$0.index] > ends[index][$1.index] }) {
        open.append(mark)
        items.append(Item(content: .open(mark)))
      }
      items.append(Item(content: segment.isLiteral ? .literal : .text, bytes: segment.bytes))
      size += segment.bytes.count + (segment.link?.count ?? 0)
      guard size <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
    }
    while let mark = open.popLast() { items.append(Item(content: .close(mark))) }
    if let link { items.append(Item(content: .closeLink, bytes: link)) }
    encodeNeighbours()
  }

  /// Returns the index of the segment behind each mark's range, for each segment.
  private static func ends(of segments: [MarkdownSegment]) -> [[Int]] {
    var ends = segments.map { _ in [0, 0, 0] }
    var next = [0, 0, 0]
    for index in segments.indices.reversed() {
      for mark in Mark.allCases {
        if !segments[index].has(mark) {
          next[mark.index] = 0
        } else if next[mark.index] == 0 {
          next[mark.index] = index + 1
        }
      }
      ends[index] = next
    }
    return ends
  }

  // MARK: Neighbours of delimiters

  /// A character beside a delimiter, as parsers of Markdown distinguish them.
  private enum Edge {
    case space, punctuation, other
    /// A character beyond ASCII that only some parsers take for punctuation.
    case either

    /// Whether some parser takes the character for a letter.
    var maybeOther: Bool { self == .other || self == .either }
    /// Whether some parser takes the character for punctuation.
    var maybePunctuation: Bool { self == .punctuation || self == .either }
  }

  /// Encodes the characters beside which a delimiter would be text.
  private mutating func encodeNeighbours() {
    // An encoded character counts as punctuation, which its other neighbour may have to follow.
    var waiting = Array(items.indices.reversed())
    while let index = waiting.popLast() {
      guard let (mark, isOpening) = items[index].delimiter else { continue }
      let (inside, _) = edge(from: index, step: isOpening ? 1 : -1)
      let (outside, neighbour) = edge(from: index, step: isOpening ? -1 : 1)
      // An underscore within a word is text, whatever is inside.
      guard outside.maybeOther, mark == .italic || inside.maybePunctuation else { continue }
      if isOpening {
        items[neighbour].encodesLast = true
      } else {
        items[neighbour].encodesFirst = true
      }
      waiting += (neighbour - 2...neighbour + 2).filter { items.indices.contains($0) }
    }
  }

  /// Returns the character beside a delimiter, and the index of its item.
  ///
  /// GitHub's parser ignores the tildes of strikethrough between a delimiter and a character.
  private func edge(from index: Int, step: Int) -> (Edge, item: Int) {
    let next = index + step
    guard items.indices.contains(next) else { return (.space, next) }
    if let (mark, _) = items[next].delimiter {
      guard mark == .strike, items.indices.contains(next + step) else {
        return (.punctuation, next)
      }
      let beyond = items[next + step]
      let edge = step > 0 ? edge(startOf: beyond) : edge(endOf: beyond)
      return (edge.maybeOther ? .either : .punctuation, next + step)
    }
    return (step > 0 ? edge(startOf: items[next]) : edge(endOf: items[next]), next)
  }

  private func edge(startOf item: Item) -> Edge {
    guard case .text = item.content, let first = item.bytes.first else { return .punctuation }
    if item.encodesFirst || item.encodesLast && item.hasOneScalar { return .punctuation }
    return first < 0x80
      ? Self.edge(of: Unicode.Scalar(first))
      : Self.edge(of: Characters.scalar(in: item.bytes[...], at: 0))
  }

  private func edge(endOf item: Item) -> Edge {
    guard case .text = item.content, !item.bytes.isEmpty else { return .punctuation }
    if item.encodesLast || item.encodesFirst && item.hasOneScalar { return .punctuation }
    let bytes = item.bytes[...]
    return Self.edge(of: Characters.scalar(in: bytes, at: Characters.lastScalarIndex(in: bytes)))
  }

  private static func edge(of scalar: Unicode.Scalar) -> Edge {
    if scalar.value < 0x80 {
      if Characters.isBlank(UInt8(scalar.value)) { return .space }
      return Characters.isAlphanumeric(UInt8(scalar.value)) ? .other : .punctuation
    }
    switch scalar.properties.generalCategory {
    case .spaceSeparator: return .space
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
      return .other
    default: return .either
    }
  }

  /// Returns the length of the longest run of a byte.
  static func longestRun(of byte: UInt8, in bytes: [UInt8]) -> Int {
    var longest = 0
    var count = 0
    for found in bytes {
      count = found == byte ? count + 1 : 0
      longest = max(longest, count)
    }
    return longest
  }
}

extension MarkdownLine.Mark {
  var index: Int {
    switch self {
    case .bold: 0
    case .italic: 1
    case .strike: 2
    }
  }
}

extension MarkdownLine.Item {
  var delimiter: (MarkdownLine.Mark, isOpening: Bool)? {
    switch content {
    case .open(let mark): (mark, true)
    case .close(let mark): (mark, false)
    case .text, .literal, .openLink, .closeLink: nil
    }
  }

  var hasOneScalar: Bool {
    !bytes.isEmpty && Characters.lastScalarIndex(in: bytes[...]) == 0
  }
}

/// A part of a line with uniform marks.
struct MarkdownSegment {
  var bytes: [UInt8]
  var marks: [Bool]
  var link: [UInt8]?
  var isCode: Bool
  /// Whether the bytes are complete Markdown, and not text.
  var isLiteral: Bool

  func has(_ mark: MarkdownLine.Mark) -> Bool { marks[mark.index] }

  private func isLike(_ other: MarkdownSegment) -> Bool {
    marks == other.marks && link == other.link && isCode == other.isCode
      && !isLiteral && !other.isLiteral
  }

  /// Returns a line's segments without white space at the ends of the line and of marks.
  static func segments(
    of line: FormattedText.Line, _ text: FormattedText
  ) -> [MarkdownSegment] {
    var parts: [MarkdownSegment] = []
    for piece in line.pieces {
      let style = text.styles[piece.style]
      var part = MarkdownSegment(
        bytes: [], marks: [style.isBold, style.isItalic, style.isStruck], link: style.link,
        isCode: style.isCode && !piece.isEmbed, isLiteral: piece.isEmbed)
      part.bytes =
        piece.isEmbed
        ? markdown(of: style.embed ?? .unknown)
        : Characters.withoutControls(text.bytes[piece.bytes])
      if case .file = style.embed, piece.isEmbed { part.link = nil }
      if !part.bytes.isEmpty { put(part, &parts) }
    }
    return joined(parts.flatMap(\.split)).map(\.written)
  }

  /// Appends a segment, or adds it to the last one if that has the same marks.
  private static func put(_ segment: MarkdownSegment, _ list: inout [MarkdownSegment]) {
    if let last = list.last, last.isLike(segment) {
      list[list.count - 1].bytes += segment.bytes
    } else {
      list.append(segment)
    }
  }

  /// The white space at the start, the rest, and the white space at the end.
  private var split: [MarkdownSegment] {
    if isLiteral { return [self] }
    let start = Characters.endOfLeadingSpace(in: bytes[...])
    let end = max(start, Characters.startOfTrailingSpace(in: bytes[...]))
    return [bytes[..<start], bytes[start..<end], bytes[end...]].filter { !$0.isEmpty }.map {
      var part = self
      part.bytes = Array($0)
      return part
    }
  }

  private var isBlank: Bool {
    !isLiteral && Characters.endOfLeadingSpace(in: bytes[...]) == bytes.count
  }

  /// Joins segments. White space between two has the marks of both, and none at the line's ends.
  private static func joined(_ parts: [MarkdownSegment]) -> [MarkdownSegment] {
    var result: [MarkdownSegment] = []
    var last: MarkdownSegment?
    var space: [UInt8] = []
    for part in parts {
      if part.isBlank {
        space += part.bytes
        continue
      }
      if let last, !space.isEmpty {
        var between = last
        between.bytes = space
        between.isLiteral = false
        between.marks = zip(last.marks, part.marks).map { $0 && $1 }
        between.link = last.link == part.link ? last.link : nil
        between.isCode = last.isCode && part.isCode
        put(between, &result)
      }
      space = []
      put(part, &result)
      last = part
    }
    return result
  }

  /// The segment with its code as Markdown.
  private var written: MarkdownSegment {
    guard isCode else { return self }
    let tick = UInt8(ascii: "`")
    let count = MarkdownLine.longestRun(of: tick, in: bytes) + 1
    let fence = [UInt8](repeating: tick, count: count)
    let isPadded =
      bytes.first == tick || bytes.last == tick || bytes.first == 0x20 && bytes.last == 0x20
    let pad: [UInt8] = isPadded ? [0x20] : []
    var segment = self
    segment.bytes = fence + pad + bytes + pad + fence
    segment.isLiteral = true
    return segment
  }

  private static func markdown(of embed: TextStyle.Embed) -> [UInt8] {
    switch embed {
    case .image(let address, let alt, _):
      var out = Array("![".utf8)
      out += MarkdownEscapes.escapedName(alt)
      out.put("](")
      out += MarkdownEscapes.address(Array("files/".utf8) + address)
      out.put(")")
      return out
    case .file(let address):
      var out = Array("[".utf8)
      out += MarkdownEscapes.escapedName(LinkAddress.name(ofFile: address))
      out.put("](")
      out += MarkdownEscapes.address(Array("files/".utf8) + address)
      out.put(")")
      return out
    case .formula(let source):
      let source = Characters.withoutControls(source[...])
      guard !source.contains(UInt8(ascii: "$")), !source.contains(0x0a),
        let first = source.first, let last = source.last, first != 0x20, last != 0x20
      else { return [] }
      return [UInt8(ascii: "$")] + source + [UInt8(ascii: "$")]
    // A line across the page is no part of a paragraph.
    case .rule, .unknown: return []
    }
  }
}
