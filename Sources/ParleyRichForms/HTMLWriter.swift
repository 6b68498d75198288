package import OTCore

extension RichDocument {
  /// Returns the text as an HTML fragment, in UTF-8.
  ///
  /// It has a fixed list of elements and attributes. The text and all values are escaped. Links are
  /// `https:`, `http:`, `mailto:` or relative, and pictures are files of the note.
  ///
  /// - Parameter files: The address of the note's files, which `HASH/name` follows.
  /// - Throws: `tooLarge` beyond the maximum.
  /// - Complexity: O(*n*).
  package func html(
    files: String = "files/", bytesMax: Int = FormLimits.bytesMax
  ) throws(FormError) -> [UInt8] {
    var writer = HTMLWriter(FormattedText(self), files: Array(files.utf8), bytesMax: bytesMax)
    return try writer.fragment()
  }

  /// Returns the text as an HTML document, in UTF-8.
  ///
  /// - Throws: As ``html(files:bytesMax:)``.
  package func htmlPage(
    title: String, files: String = "files/", bytesMax: Int = FormLimits.bytesMax
  ) throws(FormError) -> [UInt8] {
    var page: [UInt8] = []
    page.put("<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n")
    page.put("<meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'; ")
    page.put("object-src 'none'; frame-src 'none'; base-uri 'none'; form-action 'none'\">\n")
    page.put("<meta name=\"viewport\" content=\"width=device-width\">\n<title>")
    HTMLWriter.appendEscaped(Array(title.utf8)[...], to: &page)
    page.put("</title>\n<style>\n")
    page.put("body { max-width: 45rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.5 }\n")
    page.put("p, li, h1, h2, h3, h4, h5, h6 { white-space: pre-wrap }\n")
    page.put("img { max-width: 100% }\npre { overflow: auto }\nul.tasks { list-style: none }\n")
    page.put("</style>\n</head>\n<body>\n<main>\n")
    page += try html(files: files, bytesMax: bytesMax)
    page.put("</main>\n</body>\n</html>\n")
    return page
  }
}

/// Writes lines as HTML blocks.
struct HTMLWriter {
  /// The element that several lines share.
  private enum Group: Equatable {
    case none
    case quote
    case code(language: [UInt8]?)
  }

  /// An open list. Its last item is open, too.
  private struct List {
    var kind: Kind
    var indent: Int
    enum Kind { case bullets, numbers, tasks }
  }

  private let text: FormattedText
  /// The address of the note's files.
  private let files: [UInt8]
  private let bytesMax: Int
  private var out: [UInt8] = []
  private var group = Group.none
  private var lists: [List] = []

  init(_ text: FormattedText, files: [UInt8], bytesMax: Int) {
    self.text = text
    self.files = files
    self.bytesMax = bytesMax
  }

  mutating func fragment() throws(FormError) -> [UInt8] {
    try text.forEachLine { (line) throws(FormError) in try write(line) }
    closeLists()
    close(group)
    guard out.count <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
    return out
  }

  private mutating func write(_ line: FormattedText.Line) throws(FormError) {
    let style = line.style
    let next: Group =
      style.kind == .quote ? .quote : style.kind == .code ? .code(language: style.language) : .none
    if next != group || style.isListItem != !lists.isEmpty {
      if !style.isListItem { closeLists() }
      if next != group {
        close(group)
        open(next)
      }
    }
    switch style.kind {
    case .code:
      for piece in line.pieces where !piece.isEmbed {
        Self.appendEscaped(text.bytes[piece.bytes], to: &out)
      }
      out.put("\n")
    case .bullet, .ordered, .task, .done: try writeItem(line)
    case .plain, .heading, .quote: try writeBlock(line)
    }
    guard out.count <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
  }

  private mutating func open(_ next: Group) {
    group = next
    switch next {
    case .none: break
    case .quote: out.put("<blockquote>\n")
    case .code(let language):
      out.put("<pre><code")
      if let language {
        out.put(" class=\"language-")
        out += language
        out.put("\"")
      }
      out.put(">")
    }
  }

  private mutating func close(_ last: Group) {
    switch last {
    case .none: break
    case .quote: out.put("</blockquote>\n")
    case .code: out.put("</code></pre>\n")
    }
  }

  /// Writes a paragraph or a heading; as a line across the page, if it has no other content.
  private mutating func writeBlock(_ line: FormattedText.Line) throws(FormError) {
    let isEmpty = line.pieces.isEmpty
    if line.pieces.count == 1, line.pieces[0].isEmbed,
      text.styles[line.pieces[0].style].embed == .rule
    {
      out.put("<hr>\n")
      return
    }
    // A heading without text would be read out as one.
    var name = Array("p".utf8)
    if case .heading(let level) = line.style.kind, !isEmpty { name = Array("h\(level)".utf8) }
    out.put("<")
    out += name
    appendBlockAttributes(line.style)
    out.put(">")
    if isEmpty { out.put("<br>") } else { try writeInline(line) }
    out.put("</")
    out += name
    out.put(">\n")
  }

  private mutating func appendBlockAttributes(_ style: LineStyle) {
    if let direction = style.direction {
      out.put(" dir=\"")
      out += direction
      out.put("\"")
    }
    let isIndented = style.indent > 0 && !style.isListItem
    guard style.align != nil || isIndented else { return }
    out.put(" style=\"")
    if let align = style.align {
      out.put("text-align:")
      out += align
    }
    if isIndented {
      if style.align != nil { out.put(";") }
      out.put("margin-inline-start:")
      out.put(3 * style.indent)
      out.put("em")
    }
    out.put("\"")
  }

  // MARK: Lists

  private mutating func writeItem(_ line: FormattedText.Line) throws(FormError) {
    let kind: List.Kind =
      switch line.style.kind {
      case .ordered: .numbers
      case .task, .done: .tasks
      case .plain, .heading, .bullet, .quote, .code: .bullets
      }
    while let last = lists.last, last.indent > line.style.indent {
      // An item between two depths continues the deeper list.
      if lists.count == 1 || lists[lists.count - 2].indent < line.style.indent {
        lists[lists.count - 1].indent = line.style.indent
      } else {
        closeList()
      }
    }
    if let last = lists.last, last.indent == line.style.indent {
      if last.kind == kind { out.put("</li>\n") } else { closeList() }
    }
    if lists.last.map({ $0.kind != kind || $0.indent != line.style.indent }) ?? true {
      switch kind {
      case .bullets: out.put("<ul>\n")
      case .numbers: out.put("<ol>\n")
      case .tasks: out.put("<ul class=\"tasks\">\n")
      }
      lists.append(List(kind: kind, indent: line.style.indent))
    }
    out.put("<li")
    appendBlockAttributes(line.style)
    out.put(">")
    if kind == .tasks {
      out.put("<label><input type=\"checkbox\" disabled")
      out.put(line.style.kind == .done ? " checked> " : "> ")
      try writeInline(line)
      out.put("</label>")
    } else {
      try writeInline(line)
    }
  }

  private mutating func closeList() {
    guard let list = lists.popLast() else { return }
    out.put(list.kind == .numbers ? "</li>\n</ol>\n" : "</li>\n</ul>\n")
  }

  private mutating func closeLists() { while !lists.isEmpty { closeList() } }
}

// MARK: Text in lines

extension HTMLWriter {
  /// An element around text, with the value that it is written with.
  private enum Element: Equatable {
    case link([UInt8])
    case strong, emphasis, underline, strike, sub, sup
    case span([UInt8])
    case mention([UInt8])
    case code
  }

  private mutating func writeInline(_ line: FormattedText.Line) throws(FormError) {
    var open: [Element] = []
    for piece in line.pieces {
      let style = text.styles[piece.style]
      let elements = Self.elements(of: style)
      var common = 0
      while common < min(open.count, elements.count), open[common] == elements[common] {
        common += 1
      }
      while open.count > common { end(open.removeLast()) }
      for element in elements[common...] { begin(element) }
      open = elements
      if piece.isEmbed, let embed = style.embed {
        write(embed)
      } else {
        Self.appendEscaped(text.bytes[piece.bytes], to: &out)
      }
      guard out.count <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
    }
    while let element = open.popLast() { end(element) }
  }

  /// Returns the elements of a style, the outermost first.
  private static func elements(of style: TextStyle) -> [Element] {
    var elements: [Element] = []
    // A link within a link is no HTML.
    if case .file = style.embed { return [] }
    if let link = style.link { elements.append(.link(link)) }
    if let mention = style.mention, style.embed == nil { elements.append(.mention(mention)) }
    if style.isBold { elements.append(.strong) }
    if style.isItalic { elements.append(.emphasis) }
    if style.isUnderlined { elements.append(.underline) }
    if style.isStruck { elements.append(.strike) }
    switch style.script {
    case .sub: elements.append(.sub)
    case .superscript: elements.append(.sup)
    case nil: break
    }
    let css = css(of: style)
    if !css.isEmpty { elements.append(.span(css)) }
    if style.isCode { elements.append(.code) }
    return elements
  }

  /// Returns the declarations of colours, size and font.
  private static func css(of style: TextStyle) -> [UInt8] {
    var css: [UInt8] = []
    func add(_ name: StaticString, _ value: [UInt8]?) {
      guard let value else { return }
      if !css.isEmpty { css.put(";") }
      css.put(name)
      css += value
    }
    add("color:", style.color)
    add("background-color:", style.background)
    add(
      "font-size:",
      style.size.map {
        Array(
          ($0.isEqual(to: "small") ? "0.75em" : $0.isEqual(to: "large") ? "1.5em" : "2.5em").utf8)
      })
    add("font-family:", style.font)
    return css
  }

  private mutating func begin(_ element: Element) {
    switch element {
    case .link(let address):
      out.put("<a href=\"")
      Self.appendEscaped(address[...], to: &out)
      out.put("\" rel=\"noopener nofollow\">")
    case .strong: out.put("<strong>")
    case .emphasis: out.put("<em>")
    case .underline: out.put("<u>")
    case .strike: out.put("<s>")
    case .sub: out.put("<sub>")
    case .sup: out.put("<sup>")
    case .span(let css):
      out.put("<span style=\"")
      out += css
      out.put("\">")
    case .mention(let person):
      out.put("<span class=\"mention\" data-mention=\"")
      Self.appendEscaped(person[...], to: &out)
      out.put("\">")
    case .code: out.put("<code>")
    }
  }

  private mutating func end(_ element: Element) {
    switch element {
    case .link: out.put("</a>")
    case .strong: out.put("</strong>")
    case .emphasis: out.put("</em>")
    case .underline: out.put("</u>")
    case .strike: out.put("</s>")
    case .sub: out.put("</sub>")
    case .sup: out.put("</sup>")
    case .span, .mention: out.put("</span>")
    case .code: out.put("</code>")
    }
  }

  private mutating func write(_ embed: TextStyle.Embed) {
    switch embed {
    case .image(let address, let alt, let width):
      out.put("<img src=\"")
      Self.appendEscaped(files[...], to: &out)
      Self.appendEscaped(address[...], to: &out)
      out.put("\" alt=\"")
      Self.appendEscaped(alt[...], to: &out)
      out.put("\"")
      if let width {
        out.put(" width=\"")
        out.put(width)
        out.put("\"")
      }
      out.put(">")
    case .file(let address):
      out.put("<a href=\"")
      Self.appendEscaped(files[...], to: &out)
      Self.appendEscaped(address[...], to: &out)
      out.put("\" rel=\"noopener nofollow\">")
      Self.appendEscaped(LinkAddress.name(ofFile: address)[...], to: &out)
      out.put("</a>")
    case .formula(let source):
      out.put("<code class=\"formula\">")
      Self.appendEscaped(source[...], to: &out)
      out.put("</code>")
    // A line across the page is no part of a paragraph.
    case .rule, .unknown: break
    }
  }

  /// Appends a text for elements and for attributes in double quotes, without control characters.
  static func appendEscaped(_ text: ArraySlice<UInt8>, to out: inout [UInt8]) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "&"): out.put("&amp;")
      case UInt8(ascii: "<"): out.put("&lt;")
      case UInt8(ascii: ">"): out.put("&gt;")
      case UInt8(ascii: "\""): out.put("&quot;")
      case UInt8(ascii: "'"): out.put("&#39;")
      default: if !Characters.isControl(byte) { out.append(byte) }
      }
    }
  }
}
