package import OTCore

extension RichDocument {
  /// Returns the text as Markdown (CommonMark with GitHub's tasks and strikethrough), in UTF-8.
  ///
  /// Each line becomes a paragraph, a heading, an item of a list, a paragraph of a quote or a line
  /// of code. Empty lines are not contained, but end a list, a quote or code. Characters with a
  /// meaning are escaped. What Markdown cannot express is left out: colours, sizes, underlining,
  /// alignment, and white space at the ends of a line.
  ///
  /// - Throws: `tooLarge` beyond the maximum.
  /// - Complexity: O(*n*).
  package func markdown(bytesMax: Int = FormLimits.bytesMax) throws(FormError) -> [UInt8] {
    var writer = MarkdownWriter(FormattedText(self), bytesMax: bytesMax)
    return try writer.document()
  }
}

/// Writes lines as blocks of Markdown.
private struct MarkdownWriter {
  /// The last written block, which the next line may continue.
  private enum Block: Equatable {
    case none, other, list, quote
    case code(language: [UInt8]?)
  }

  /// An open list.
  private struct List {
    var indent: Int
    let isOrdered: Bool
    /// The bytes before an item's text, and those before the list's markers.
    var contentStart: Int
    let markerStart: Int
    var count = 0
    /// Whether the items have the second of the two markers, which parts two lists.
    let isAlternate: Bool
  }

  private let text: FormattedText
  private let bytesMax: Int
  private var out: [UInt8] = []
  private var block = Block.none
  private var lists: [List] = []
  /// Whether empty lines follow the last block.
  private var isParted = false
  /// Whether the last list at the left margin had the second marker.
  private var wasAlternate = false
  /// Whether the last item has text.
  private var hasItemText = false
  /// Whether the current quote has no text yet, and nothing of it is written.
  private var isQuoteEmpty = false
  /// The lines of the current code.
  private var code: [UInt8] = []

  init(_ text: FormattedText, bytesMax: Int) {
    self.text = text
    self.bytesMax = bytesMax
  }

  mutating func document() throws(FormError) -> [UInt8] {
    try text.forEachLine { (line) throws(FormError) in
      try write(line)
      try check()
    }
    endCode()
    endQuote()
    try check()
    return out
  }

  private func check() throws(FormError) {
    guard out.count + code.count <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
  }

  private mutating func write(_ line: FormattedText.Line) throws(FormError) {
    if line.style.kind == .code { return writeCode(line) }
    endCode()
    if line.pieces.count == 1, line.pieces[0].isEmbed, !line.style.isListItem,
      text.styles[line.pieces[0].style].embed == .rule
    {
      begin(.other)
      // Not `---`, which begins front matter at the start of a text.
      out.put("***\n")
      return
    }
    let content = try MarkdownLine(line, of: text, bytesMax: bytesMax)
    switch line.style.kind {
    case .code: break
    case .plain:
      if content.isEmpty {
        isParted = true
        return
      }
      begin(.other)
      content.append(to: &out)
      out.put("\n")
    case .heading(let level):
      begin(.other)
      for _ in 0..<level { out.put("#") }
      if !content.isEmpty { out.put(" ") }
      content.append(to: &out, isHeading: true)
      out.put("\n")
    case .quote: writeQuote(content)
    case .bullet, .ordered, .task, .done: writeItem(line.style, content)
    }
  }

  /// Writes a paragraph of a quote. Empty ones are left out, unless the quote has no others.
  private mutating func writeQuote(_ content: MarkdownLine) {
    let continues = block == .quote && !isParted
    if !continues { begin(.quote) }
    guard !content.isEmpty else {
      isQuoteEmpty = isQuoteEmpty || !continues
      return
    }
    // Paragraphs of one quote are parted by its mark alone.
    if continues, !isQuoteEmpty { out.put(">\n") }
    isQuoteEmpty = false
    out.put("> ")
    content.append(to: &out)
    out.put("\n")
  }

  /// Writes the mark of a quote without text.
  private mutating func endQuote() {
    if isQuoteEmpty { out.put(">\n") }
    isQuoteEmpty = false
  }

  /// Begins a block that does not continue the last one.
  private mutating func begin(_ next: Block) {
    endQuote()
    if block != .none { out.put("\n") }
    block = next
    isParted = false
    lists = []
  }

  // MARK: Lists

  private mutating func writeItem(_ style: LineStyle, _ content: MarkdownLine) {
    let isOrdered = style.kind == .ordered
    if isParted, let first = lists.first, first.isOrdered != isOrdered {
      // Lists of two kinds are two lists.
      lists = []
      isParted = false
      wasAlternate = false
    } else if block != .list || isParted {
      // Two lists of one kind that only empty lines part would be one, unless their markers differ.
      wasAlternate = block == .list && !wasAlternate
      begin(.list)
    }
    while let last = lists.last, last.indent > style.indent {
      // An item between two depths continues the deeper list: Markdown cannot part them.
      if lists.count == 1 || lists[lists.count - 2].indent < style.indent {
        lists[lists.count - 1].indent = style.indent
      } else {
        lists.removeLast()
      }
    }
    if let last = lists.last, last.indent == style.indent, last.isOrdered != isOrdered {
      lists.removeLast()
    }
    if lists.last?.indent != style.indent {
      // An empty item cannot follow a paragraph directly: it would be part of it.
      if content.isEmpty, !lists.isEmpty, hasItemText { out.put("\n") }
      lists.append(
        List(
          indent: style.indent, isOrdered: isOrdered, contentStart: 0,
          markerStart: lists.last?.contentStart ?? 0,
          isAlternate: lists.isEmpty && wasAlternate))
    }
    lists[lists.count - 1].count += 1
    let list = lists[lists.count - 1]
    for _ in 0..<list.markerStart { out.put(" ") }
    let start = out.count
    if isOrdered {
      out.put(list.count)
      out.put(list.isAlternate ? ")" : ".")
    } else {
      out.put(list.isAlternate ? "*" : "-")
    }
    lists[lists.count - 1].contentStart = list.markerStart + out.count - start + 1
    let isTask = style.kind == .task || style.kind == .done
    if isTask { out.put(style.kind == .task ? " [ ]" : " [x]") }
    if !content.isEmpty { out.put(" ") }
    // A task without text would be a text in brackets.
    if isTask, content.isEmpty { out.put(" &nbsp;") }
    content.append(to: &out)
    out.put("\n")
    hasItemText = !content.isEmpty || isTask
  }

  // MARK: Code

  private mutating func writeCode(_ line: FormattedText.Line) {
    let next = Block.code(language: line.style.language)
    if block != next || isParted {
      endCode()
      begin(next)
    }
    for piece in line.pieces where !piece.isEmbed {
      code += Characters.withoutControls(text.bytes[piece.bytes])
    }
    code.put("\n")
  }

  /// Writes the current code between fences that are longer than any run of backticks in it.
  private mutating func endCode() {
    guard case .code(let language) = block, !code.isEmpty else { return }
    let count = max(3, MarkdownLine.longestRun(of: UInt8(ascii: "`"), in: code) + 1)
    let fence = [UInt8](repeating: UInt8(ascii: "`"), count: count)
    out += fence
    out += language ?? []
    out.put("\n")
    out += code
    out += fence
    out.put("\n")
    code = []
    block = .other
  }
}
