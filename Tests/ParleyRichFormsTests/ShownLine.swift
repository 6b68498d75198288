import OTCore
import ParleyRichForms

/// A line as readers see it, in what Markdown can express.
struct ShownLine: Equatable {
  /// A scalar with its marks. White space has none: where marks end is not seen there.
  struct Unit: Equatable {
    var scalar: Unicode.Scalar
    var marks: Set<String> = []
    var link: String?
    var image: String?
  }

  var kind = "plain"
  var depth = 0
  var language: String?
  var units: [Unit] = []

  static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar == "\u{feff}"
  }

  /// Removes white space at both ends, and joins what cannot be told apart.
  mutating func trim() {
    while let last = units.last, last.image == nil, Self.isSpace(last.scalar) { units.removeLast() }
    let start = units.firstIndex { $0.image != nil || !Self.isSpace($0.scalar) } ?? units.count
    units.removeFirst(start)
    for index in units.indices where units[index].image == nil && Self.isSpace(units[index].scalar)
    {
      units[index].marks = []
      units[index].link = nil
    }
  }
}

// MARK: Lines of a text

extension ShownLine {
  /// Returns the lines that Markdown shows of a text, one scalar at a time.
  static func lines(of document: RichDocument) -> [ShownLine] {
    var lines: [ShownLine] = []
    var line = ShownLine()
    var pending: [ShownLine] = []
    var isAfterReturn = false
    var isParted = false
    var indents: [(indent: Int, isOrdered: Bool)] = []

    func end(_ attributes: [String: String]) {
      pending.append(line)
      line = ShownLine()
      for var ended in pending {
        ended.read(attributes)
        append(ended, attributes)
      }
      pending = []
    }
    func append(_ found: ShownLine, _ attributes: [String: String]) {
      var line = found
      if line.kind != "code" { line.trim() }
      let isItem = ["bullet", "ordered", "task", "done"].contains(line.kind)
      if isItem {
        let indent = Int(attributes["indent"] ?? "0") ?? 0
        let isOrdered = line.kind == "ordered"
        while let last = indents.last, last.indent > indent { indents.removeLast() }
        if let last = indents.last, last.indent == indent { indents.removeLast() }
        indents.append((indent, isOrdered))
        line.depth = indents.count
      } else {
        indents = []
        if line.kind == "plain", line.units.isEmpty {
          isParted = true
          return
        }
      }
      // Empty paragraphs of a quote are seen only if there are no others.
      if line.kind == "quote", lines.last?.kind == "quote", !isParted {
        if line.units.isEmpty { return }
        if lines[lines.count - 1].units.isEmpty { lines.removeLast() }
      }
      isParted = false
      lines.append(line)
    }

    var scalars = Array(document.text.text.unicodeScalars)[...]
    document.forEachRun { count, set in
      let attributes = Self.attributes(of: set)
      for _ in 0..<count {
        let scalar = scalars.removeFirst()
        defer { isAfterReturn = scalar == "\r" }
        if scalar == "\n" {
          if isAfterReturn {
            line = pending.removeLast()
          }
          end(attributes)
        } else if scalar == "\r" {
          pending.append(line)
          line = ShownLine()
        } else if !isControl(scalar) {
          line.append(scalar, attributes)
        }
      }
    }
    if !line.units.isEmpty || !pending.isEmpty { end([:]) }
    return lines
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7f
  }

  static func attributes(of set: AttributeSet) -> [String: String] {
    var attributes: [String: String] = [:]
    set.forEach { key, json in
      var value = String(decoding: json, as: UTF8.self)
      if value.hasPrefix("\"") { value = String(value.dropFirst().dropLast()) }
      attributes[String(decoding: key, as: UTF8.self)] = value
    }
    return attributes
  }

  private mutating func read(_ attributes: [String: String]) {
    let block = attributes["block"] ?? "plain"
    kind = block == "row" ? "plain" : block
    if kind == "code" {
      language = attributes["language"]
      units = units.filter { $0.image == nil && $0.link?.hasPrefix("files/") != true }.map {
        Unit(scalar: $0.scalar)
      }
    } else if units.contains(where: { $0.image != nil }) {
      let isRule = units.count == 1 && units[0].image == "rule"
      if isRule, !["bullet", "ordered", "task", "done"].contains(kind) {
        kind = "rule"
        units = []
      }
      units.removeAll { $0.image == "rule" || $0.image == "other" }
    }
  }

  private mutating func append(_ scalar: Unicode.Scalar, _ attributes: [String: String]) {
    var unit = Unit(scalar: scalar)
    for (key, mark) in [
      "bold": "strong", "italic": "emph", "strike": "strikethrough", "code": "code",
    ]
    where attributes[key] != nil { unit.marks.insert(mark) }
    if let link = attributes["link"], !link.hasPrefix("javascript:") { unit.link = link }
    if let embed = attributes["embed"] {
      unit.marks.remove("code")
      let parts = embed.split(separator: "\"").map(String.init)
      switch parts[1] {
      case "image": unit.image = "files/" + parts[3].replacing(" ", with: "%20")
      case "file":
        // Its name, linked to it.
        let path = "files/" + parts[3]
        for scalar in parts[3].split(separator: "/")[1].unicodeScalars {
          units.append(Unit(scalar: scalar, marks: unit.marks, link: path))
        }
        return
      default: unit.image = parts[1]
      }
    }
    units.append(unit)
  }
}

// MARK: Texts of lines

extension ShownLine {
  /// Returns the text of lines that were read; `nil` parts two blocks of one kind.
  static func document(_ blocks: [[ShownLine]?]) throws -> RichDocument {
    var builder = RichDocumentBuilder()
    func append(_ text: String, _ fields: [String]) throws {
      let number = builder.number(of: try AttributeSet(json: "{\(fields.joined(separator: ","))}"))
      var text = text
      text.withUTF8 { builder.append($0, with: number) }
    }
    for block in blocks {
      guard let block else {
        try append("\n", [])
        continue
      }
      for line in block {
        for unit in line.units {
          var fields = [
            "strong": "bold", "emph": "italic", "strikethrough": "strike", "code": "code",
          ]
          .filter { unit.marks.contains($0.key) }.map { "\"\($0.value)\":true" }
          if let link = unit.link { fields.append("\"link\":\"\(link)\"") }
          if let image = unit.image {
            fields.append(#""embed":{"image":"\#(image.dropFirst("files/".count))"}"#)
            fields.append(#""alt":"a [b] *c*""#)
          }
          try append(String(Character(unit.scalar)), fields)
        }
        var fields: [String] = []
        if line.kind == "rule" {
          try append("\u{fffc}", [#""embed":{"rule":true}"#])
        } else if line.kind != "plain" {
          fields.append(#""block":"\#(line.kind)""#)
        }
        if line.depth > 1 { fields.append(#""indent":\#(line.depth - 1)"#) }
        if let language = line.language { fields.append(#""language":"\#(language)""#) }
        try append("\n", fields)
      }
    }
    return try builder.finished()
  }
}
