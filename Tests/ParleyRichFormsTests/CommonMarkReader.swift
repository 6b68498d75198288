import Glibc
import Testing

/// Markdown as Debian's `cmark-gfm` reads it.
enum CommonMarkReader {
  private static let mark = "<!--next-->"

  /// An element or a text of the parser's XML.
  private struct Node {
    var name: String
    var attributes: [String: String] = [:]
    var text = ""
    var children: [Node] = []
  }

  /// Reads texts together. Each becomes its blocks, with `nil` between two that are alike.
  static func read(_ markdown: [[UInt8]]) throws -> [[[ShownLine]?]] {
    var whole: [UInt8] = []
    for text in markdown { whole += text + Array("\n\(mark)\n\n".utf8) }
    let document = parse(try run(whole))
    var result: [[[ShownLine]?]] = []
    var blocks: [[ShownLine]?] = []
    var last: Node?
    for node in document.children {
      if node.name == "html_block", node.text.hasPrefix(mark) {
        result.append(blocks)
        blocks = []
        last = nil
        continue
      }
      if let last, last.name == node.name, last.attributes["info"] == node.attributes["info"],
        last.attributes["type"] == node.attributes["type"],
        ["list", "block_quote", "code_block"].contains(node.name)
      {
        blocks.append(nil)
      }
      blocks.append(lines(of: node))
      last = node
    }
    return result
  }

  private static func run(_ input: [UInt8]) throws -> String {
    var path = Array("/tmp/parley-markdown-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    try #require(file >= 0)
    defer {
      close(file)
      unlink(path)
    }
    var rest = input[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      try #require(count > 0)
      rest = rest.dropFirst(count)
    }
    let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let command = "cmark-gfm -t xml -e strikethrough -e tasklist -e table < \(name)"
    let stream = try #require(popen(command, "r"))
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 {
      output += buffer[..<count]
    }
    #expect(pclose(stream) == 0, "cmark-gfm is not installed, or has failed")
    return String(decoding: output, as: UTF8.self)
  }

  // MARK: XML

  private static func parse(_ xml: String) -> Node {
    var open = [Node(name: "")]
    var rest = Array(xml.utf8)[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      let between = rest[..<start]
      open[open.count - 1].text += unescaped(between)
      guard let end = rest[start...].firstIndex(of: UInt8(ascii: ">")) else { break }
      let tag = String(decoding: rest[(start + 1)..<end], as: UTF8.self)
      rest = rest[(end + 1)...]
      if tag.hasPrefix("?") || tag.hasPrefix("!") { continue }
      if tag.hasPrefix("/") {
        let node = open.removeLast()
        open[open.count - 1].children.append(node)
        continue
      }
      let node = element(tag)
      if tag.hasSuffix("/") {
        open[open.count - 1].children.append(node)
      } else {
        open.append(node)
      }
    }
    return open[0].children.first ?? open[0]
  }

  private static func element(_ tag: String) -> Node {
    let parts = tag.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
    let words = parts[0].split(whereSeparator: { $0 == " " || $0 == "/" }).map(String.init)
    var node = Node(name: words.first ?? "")
    var key = words.last ?? ""
    for index in stride(from: 1, to: parts.count, by: 2) {
      node.attributes[String(key.dropLast())] = unescaped(Array(parts[index].utf8)[...])
      if index + 1 < parts.count {
        key = parts[index + 1].split(separator: " ").last.map(String.init) ?? ""
      }
    }
    return node
  }

  private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
    var text = String(decoding: bytes, as: UTF8.self)
    for (name, sign) in [("lt", "<"), ("gt", ">"), ("quot", "\""), ("amp", "&")] {
      text.replace("&\(name);", with: sign)
    }
    return text
  }

  // MARK: Lines

  private static func lines(of node: Node, depth: Int = 0) -> [ShownLine] {
    switch node.name {
    case "paragraph": return [line("plain", node)]
    case "heading": return [line("h" + (node.attributes["level"] ?? ""), node)]
    case "thematic_break": return [ShownLine(kind: "rule")]
    case "code_block":
      let info = node.attributes["info"] ?? ""
      return node.text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        .dropLast().map { text in
          ShownLine(
            kind: "code", language: info.isEmpty ? nil : info,
            units: text.map { ShownLine.Unit(scalar: $0) })
        }
    case "block_quote":
      let lines = node.children.flatMap { Self.lines(of: $0) }.map { line in
        var line = line
        if line.kind == "plain" { line.kind = "quote" }
        return line
      }
      return lines.isEmpty ? [ShownLine(kind: "quote")] : lines
    case "list":
      return node.children.flatMap { item(of: node, $0, depth: depth + 1) }
    default: return [ShownLine(kind: node.name)]
    }
  }

  private static func item(of list: Node, _ item: Node, depth: Int) -> [ShownLine] {
    let kind =
      item.name == "tasklist"
      ? item.attributes["completed"] == "true" ? "done" : "task"
      : list.attributes["type"] == "ordered" ? "ordered" : "bullet"
    var lines = item.children.flatMap { Self.lines(of: $0, depth: depth) }
    if item.children.first?.name != "paragraph" { lines.insert(ShownLine(), at: 0) }
    lines[0].kind = kind
    lines[0].depth = depth
    return lines
  }

  private static func line(_ kind: String, _ node: Node) -> ShownLine {
    var line = ShownLine(kind: kind)
    for child in node.children { append(child, [], nil, to: &line.units) }
    line.trim()
    return line
  }

  private static func append(
    _ node: Node, _ marks: Set<String>, _ link: String?, to units: inout [ShownLine.Unit]
  ) {
    switch node.name {
    case "text", "code":
      let own = node.name == "code" ? marks.union(["code"]) : marks
      units += node.text.unicodeScalars.map {
        ShownLine.Unit(scalar: $0, marks: own, link: link)
      }
    case "image":
      units.append(
        ShownLine.Unit(
          scalar: "\u{fffc}", marks: marks, link: link, image: node.attributes["destination"]))
    case "link":
      for child in node.children {
        append(child, marks, node.attributes["destination"], to: &units)
      }
    case "strong", "emph", "strikethrough":
      for child in node.children { append(child, marks.union([node.name]), link, to: &units) }
    default: units.append(ShownLine.Unit(scalar: "\u{fffd}", marks: [node.name]))
    }
  }
}
