/// The YAML front matter between two lines of dashes, at the beginning of a text.
enum FrontMatter {
  /// Returns the `title`; `nil` if missing, or the front matter has no end.
  static func title(in text: [UInt8], linesMax: Int) -> String? {
    guard text.starts(with: Array("---\n".utf8)) else { return nil }
    var title: String?
    var start = 4
    for _ in 1..<linesMax where start <= text.count {
      let end = text[start...].firstIndex(of: 0x0a) ?? text.count
      let line = text[start..<end]
      if isEnd(line) { return title }
      if title == nil, let value = value(of: "title:", in: line.prefix(4_000)) {
        title = scalar(value)
      }
      start = end + 1
    }
    return nil
  }

  private static func isEnd(_ line: ArraySlice<UInt8>) -> Bool {
    guard line.starts(with: Array("---".utf8)) || line.starts(with: Array("...".utf8)) else {
      return false
    }
    return line.dropFirst(3).allSatisfy { $0 == 0x20 || $0 == 0x09 }
  }

  private static func value(of key: StaticString, in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>?
  {
    let key = key.withUTF8Buffer { Array($0) }
    guard line.starts(with: key) else { return nil }
    var rest = line.dropFirst(key.count)
    guard rest.isEmpty || rest.first == 0x20 || rest.first == 0x09 else { return nil }
    while let first = rest.first, first == 0x20 || first == 0x09 { rest.removeFirst() }
    while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
    return rest
  }

  /// Parses a YAML value in one line; `nil` for blocks, lists, references and unclosed quotes.
  static func scalar(_ value: ArraySlice<UInt8>) -> String? {
    switch value.first {
    case UInt8(ascii: "\""): return doubleQuoted(value.dropFirst())
    case UInt8(ascii: "'"): return singleQuoted(value.dropFirst())
    case UInt8(ascii: "|"), UInt8(ascii: ">"), UInt8(ascii: "["), UInt8(ascii: "{"),
      UInt8(ascii: "&"), UInt8(ascii: "*"), UInt8(ascii: "!"):
      return nil
    default:
      var end = value.startIndex
      while end < value.endIndex {
        let isBeforeRemark =
          end == value.startIndex || value[end - 1] == 0x20 || value[end - 1] == 0x09
        if value[end] == UInt8(ascii: "#"), isBeforeRemark { break }
        end += 1
      }
      return String(decoding: value[..<end], as: UTF8.self)
    }
  }

  private static func singleQuoted(_ value: ArraySlice<UInt8>) -> String? {
    var text: [UInt8] = []
    var index = value.startIndex
    while index < value.endIndex {
      if value[index] == UInt8(ascii: "'") {
        guard index + 1 < value.endIndex, value[index + 1] == UInt8(ascii: "'") else {
          return String(decoding: text, as: UTF8.self)
        }
        index += 1
      }
      text.append(value[index])
      index += 1
    }
    return nil
  }

  private static func doubleQuoted(_ value: ArraySlice<UInt8>) -> String? {
    var text: [UInt8] = []
    var index = value.startIndex
    while index < value.endIndex {
      let byte = value[index]
      index += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard index < value.endIndex else { return nil }
      let sign = value[index]
      index += 1
      guard let digits = hexDigits(after: sign) else {
        guard sign < 0x80 else {
          text.append(sign)
          continue
        }
        ImportedText.append(escaped(sign), to: &text)
        continue
      }
      guard var code = hex(value[index...].prefix(digits), digits) else { return nil }
      index += digits
      // JSON writers encode a character beyond U+FFFF as a surrogate pair.
      if code & 0xfc00 == 0xd800, value[index...].starts(with: Array("\\u".utf8)),
        let low = hex(value[index...].dropFirst(2).prefix(4), 4), low & 0xfc00 == 0xdc00
      {
        code = 0x10000 + (code & 0x3ff) << 10 + (low & 0x3ff)
        index += 6
      }
      ImportedText.append(Unicode.Scalar(code) ?? "\u{fffd}", to: &text)
    }
    return nil
  }

  private static func hexDigits(after sign: UInt8) -> Int? {
    switch sign {
    case UInt8(ascii: "x"): 2
    case UInt8(ascii: "u"): 4
    case UInt8(ascii: "U"): 8
    default: nil
    }
  }

  private static func hex(_ digits: ArraySlice<UInt8>, _ count: Int) -> UInt32? {
    guard digits.count == count else { return nil }
    var number: UInt32 = 0
    for digit in digits {
      let value: UInt8
      switch digit {
      case 0x30...0x39: value = digit - 0x30
      case 0x41...0x46: value = digit - 0x37
      case 0x61...0x66: value = digit - 0x57
      default: return nil
      }
      number = number &* 16 &+ UInt32(value)
    }
    return number
  }

  /// Returns the character of a YAML escape of one letter; other characters are returned unchanged.
  private static func escaped(_ sign: UInt8) -> Unicode.Scalar {
    switch sign {
    case UInt8(ascii: "0"): "\0"
    case UInt8(ascii: "a"): "\u{07}"
    case UInt8(ascii: "b"): "\u{08}"
    case UInt8(ascii: "t"): "\t"
    case UInt8(ascii: "n"): "\n"
    case UInt8(ascii: "v"): "\u{0b}"
    case UInt8(ascii: "f"): "\u{0c}"
    case UInt8(ascii: "r"): "\r"
    case UInt8(ascii: "e"): "\u{1b}"
    case UInt8(ascii: "N"): "\u{85}"
    case UInt8(ascii: "_"): "\u{a0}"
    case UInt8(ascii: "L"): "\u{2028}"
    case UInt8(ascii: "P"): "\u{2029}"
    default: Unicode.Scalar(sign)
    }
  }
}
