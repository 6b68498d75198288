/// Escapes of characters that have a meaning in Markdown.
enum MarkdownEscapes {
  /// Returns the index of a byte that would begin a block at the start of a line; `nil` if none
  /// would.
  ///
  /// - Parameter isWhole: Whether nothing follows the text in its line.
  static func blockMark(_ text: [UInt8], isWhole: Bool) -> Int? {
    guard let first = text.first else { return nil }
    /// Whether a mark may end before an index.
    func isEnd(_ index: Int) -> Bool {
      index < text.count ? Characters.isBlank(text[index]) : isWhole
    }
    switch first {
    case UInt8(ascii: ">"): return 0
    case UInt8(ascii: "#"):
      let count = text.prefix { $0 == UInt8(ascii: "#") }.count
      return count <= 6 && isEnd(count) ? 0 : nil
    case UInt8(ascii: "-"), UInt8(ascii: "+"):
      // A line of hyphens alone is a line across the page.
      let isAlone = isWhole && text.allSatisfy { $0 == first || Characters.isBlank($0) }
      return isAlone || isEnd(1) ? 0 : nil
    case let digit where Characters.isDigit(digit):
      let count = text.prefix(while: Characters.isDigit).count
      guard count <= 9, count < text.count,
        text[count] == UInt8(ascii: ".") || text[count] == UInt8(ascii: ")"), isEnd(count + 1)
      else { return nil }
      return count
    default: return nil
    }
  }

  /// Whether a byte within a text must be escaped wherever it is.
  static func isAlwaysEscaped(_ byte: UInt8) -> Bool {
    "*`[]~".utf8.contains(byte)
  }

  /// Whether the text from `&` on is a character reference.
  static func isReference(_ text: ArraySlice<UInt8>) -> Bool {
    let name = text.dropFirst().prefix(40)
    guard let end = name.firstIndex(of: UInt8(ascii: ";")) else { return false }
    let content = name[..<end]
    return !content.isEmpty
      && content.allSatisfy { Characters.isAlphanumeric($0) || $0 == UInt8(ascii: "#") }
  }

  /// Returns the address of a link in parentheses.
  static func address(_ address: [UInt8]) -> [UInt8] {
    let isPlain =
      !address.isEmpty && address.first != UInt8(ascii: "<")
      && address.allSatisfy { $0 > 0x20 && !"()\\&<>".utf8.contains($0) }
    if isPlain { return address }
    var out: [UInt8] = Array("<".utf8)
    for (index, byte) in address.enumerated() {
      if byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "\\")
        || byte == UInt8(ascii: "&") && isReference(address[index...])
      {
        out.put("\\")
      }
      out.append(byte)
    }
    out.put(">")
    return out
  }

  /// Returns a name in brackets, as one line.
  static func escapedName(_ name: [UInt8]) -> [UInt8] {
    let line = name.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
    let plain = Characters.withoutControls(line[...])
    let start = Characters.endOfLeadingSpace(in: plain[...])
    let end = max(start, Characters.startOfTrailingSpace(in: plain[...]))
    var out: [UInt8] = []
    for byte in plain[start..<end] {
      if byte < 0x80, byte > 0x20, !Characters.isAlphanumeric(byte), !",-.:/;+".utf8.contains(byte)
      {
        out.put("\\")
      }
      out.append(byte)
    }
    return out
  }
}

extension MarkdownLine {
  /// Appends the line.
  func append(to out: inout [UInt8], isHeading: Bool = false) {
    let dollars = items.reduce(0) { count, item in
      guard case .text = item.content else { return count }
      return count + item.bytes.count { $0 == UInt8(ascii: "$") }
    }
    for (index, item) in items.enumerated() {
      switch item.content {
      case .literal: out += item.bytes
      case .open(let mark), .close(let mark): out.put(mark.delimiter)
      case .openLink: out.put("[")
      case .closeLink:
        out.put("](")
        out += MarkdownEscapes.address(item.bytes)
        out.put(")")
      case .text:
        let isLast = index == items.count - 1
        let writer = EscapedText(
          item: item, isLast: isLast, escapesDollars: dollars > 1,
          blockMark: index == 0
            ? MarkdownEscapes.blockMark(item.bytes, isWhole: isLast) : nil,
          isHeadingEnd: isHeading && isLast)
        writer.append(to: &out)
      }
    }
  }
}

/// Text between delimiters.
private struct EscapedText {
  let item: MarkdownLine.Item
  let isLast: Bool
  let escapesDollars: Bool
  let blockMark: Int?
  /// Whether number signs at the end would be part of a heading's marks.
  let isHeadingEnd: Bool

  func append(to out: inout [UInt8]) {
    let bytes = item.bytes
    let lastScalar = Characters.lastScalarIndex(in: bytes[...])
    var index = 0
    while index < bytes.count {
      let isEncoded = item.encodesFirst && index == 0 || item.encodesLast && index == lastScalar
      if isEncoded {
        let scalar = Characters.scalar(in: bytes[...], at: index)
        out.put("&#")
        out.put(Int(scalar.value))
        out.put(";")
        index += UTF8.width(scalar)
        continue
      }
      if mustEscape(index) { out.put("\\") }
      out.append(bytes[index])
      index += 1
    }
  }

  private func mustEscape(_ index: Int) -> Bool {
    let byte = item.bytes[index]
    if byte >= 0x80 || Characters.isAlphanumeric(byte) || byte == 0x20 { return false }
    if index == blockMark || MarkdownEscapes.isAlwaysEscaped(byte) { return true }
    let next = index + 1 < item.bytes.count ? item.bytes[index + 1] : nil
    switch byte {
    case UInt8(ascii: "\\"): return !isPlainNeighbour(index + 1)
    case UInt8(ascii: "_"): return !isPlainNeighbour(index - 1) || !isPlainNeighbour(index + 1)
    case UInt8(ascii: "$"): return escapesDollars
    case UInt8(ascii: "&"):
      return next == nil || MarkdownEscapes.isReference(item.bytes[index...])
    case UInt8(ascii: "<"): return next.map { !Characters.isBlank($0) } ?? true
    case UInt8(ascii: "!"): return next == nil && !isLast
    case UInt8(ascii: "#"): return isHeadingEnd && next == nil
    default: return false
    }
  }

  /// Whether an ASCII letter or digit is written at an index as it is.
  private func isPlainNeighbour(_ index: Int) -> Bool {
    guard item.bytes.indices.contains(index) else { return false }
    let isEncoded =
      item.encodesFirst && index == 0 || item.encodesLast && index == item.bytes.count - 1
    return Characters.isAlphanumeric(item.bytes[index]) && !isEncoded
  }
}
