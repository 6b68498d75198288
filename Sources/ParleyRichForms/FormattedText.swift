import OTCore

/// A formatted text as lines of pieces, for writers of its forms.
///
/// A line ends at a newline, and also at CR LF or CR, which views show as line ends. Each
/// attribute set is decoded once.
struct FormattedText {
  /// A piece of a line with uniform attributes: text, or one embed.
  struct Piece {
    let bytes: Range<Int>
    /// An index of ``FormattedText/styles``.
    let style: Int
    /// Whether the piece is the embed of its style.
    let isEmbed: Bool
  }

  /// A line without its end.
  struct Line {
    var pieces: [Piece] = []
    /// The attributes of the next newline; those of a plain line after the last one.
    var style = LineStyle()
    /// The line's text, embeds included.
    var bytes: Range<Int>
  }

  /// The whole text.
  let bytes: [UInt8]
  private(set) var styles: [TextStyle] = []
  /// The end of each run in ``bytes``, and the index of its style.
  private var runs: [(end: Int, style: Int)] = []

  init(_ document: RichDocument) {
    var bytes: [UInt8] = []
    document.text.forEachChunk { bytes.append(contentsOf: $0) }
    self.bytes = bytes
    var known: [AttributeSet: Int] = [:]
    var end = 0
    document.forEachRun { count, set in
      var left = count
      while left > 0 {
        end += 1
        while end < bytes.count, bytes[end] & 0xc0 == 0x80 { end += 1 }
        left -= 1
      }
      let style = known[set] ?? styles.count
      if style == styles.count {
        known[set] = style
        styles.append(TextStyle(set))
      }
      runs.append((end, style))
    }
  }

  /// Calls `body` with each line. Nothing follows a last newline.
  ///
  /// - Complexity: O(*n*).
  func forEachLine(_ body: (Line) throws(FormError) -> Void) throws(FormError) {
    var run = 0
    var newline = NewlineSearch()
    var start = 0
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != 0x0a, bytes[end] != 0x0d { end += 1 }
      var line = Line(bytes: start..<end)
      var place = start
      while place < end {
        while runs[run].end <= place { run += 1 }
        let pieceEnd = min(runs[run].end, end)
        append(place..<pieceEnd, runs[run].style, to: &line)
        place = pieceEnd
      }
      newline.move(to: end, in: self)
      if let style = newline.style { line.style = styles[style].line }
      try body(line)
      let isPair = end + 1 < bytes.count && bytes[end] == 0x0d && bytes[end + 1] == 0x0a
      start = end + (isPair ? 2 : 1)
    }
  }

  /// Appends a range with one style, each embed as a piece of its own.
  private func append(_ range: Range<Int>, _ style: Int, to line: inout Line) {
    var start = range.lowerBound
    if styles[style].embed != nil {
      while start < range.upperBound, bytes[start...].starts(with: Self.objectCharacter) {
        let end = start + Self.objectCharacter.count
        line.pieces.append(Piece(bytes: start..<end, style: style, isEmbed: true))
        start = end
      }
    }
    if start < range.upperBound {
      line.pieces.append(Piece(bytes: start..<range.upperBound, style: style, isEmbed: false))
    }
  }

  /// U+FFFC.
  private static let objectCharacter: [UInt8] = [0xef, 0xbf, 0xbc]

  /// The next newline and its attributes, found in one pass over the text.
  private struct NewlineSearch {
    private var place = 0
    private var run = 0
    /// The style of the newline; `nil` after the last one.
    private(set) var style: Int?
    private var isFound = false

    /// Finds the first newline at or behind a place.
    mutating func move(to start: Int, in text: FormattedText) {
      if isFound, place >= start { return }
      isFound = true
      place = max(place, start)
      while place < text.bytes.count, text.bytes[place] != 0x0a { place += 1 }
      style = nil
      guard place < text.bytes.count else { return }
      while text.runs[run].end <= place { run += 1 }
      style = text.runs[run].style
    }
  }
}
