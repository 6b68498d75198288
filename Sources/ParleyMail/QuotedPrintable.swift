/// The encoding of texts by RFC 2045, section 6.7: mostly readable, in short lines of ASCII.
enum QuotedPrintable {
  /// Maximum characters of a line, including the `=` of a soft line break.
  private static let lineMax = 76
  private static let digits = Array("0123456789ABCDEF".utf8)
  private static let lineBreak = Array("\r\n".utf8)

  /// Appends a text. Its line breaks (LF, CR or both) become CRLF; a text without a final line break
  /// gets one.
  static func append(_ text: String, _ output: inout [UInt8]) {
    var line: [UInt8] = []
    var isAfterReturn = false
    for byte in text.utf8 {
      defer { isAfterReturn = byte == UInt8(ascii: "\r") }
      switch byte {
      case UInt8(ascii: "\n") where isAfterReturn: break
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        append(line: line, &output)
        line = []
      default: line.append(byte)
      }
    }
    if !line.isEmpty || text.utf8.isEmpty { append(line: line, &output) }
  }

  private static func append(line: [UInt8], _ output: inout [UInt8]) {
    var column = 0
    for (index, byte) in line.enumerated() {
      let isLast = index == line.count - 1
      var token = token(byte, isFirst: column == 0, isLast: isLast)
      // Leave room for the `=` of a soft line break.
      if column + token.count > lineMax - 1 {
        output.append(UInt8(ascii: "="))
        output += lineBreak
        column = 0
        token = Self.token(byte, isFirst: true, isLast: isLast)
      }
      output += token
      column += token.count
    }
    output += lineBreak
  }

  /// Returns the form of a byte. Blanks at the end of a line are encoded, since servers remove them,
  /// and so is a dot at the beginning, which SMTP treats differently.
  private static func token(_ byte: UInt8, isFirst: Bool, isLast: Bool) -> [UInt8] {
    switch byte {
    case UInt8(ascii: "="): break
    case UInt8(ascii: " "), UInt8(ascii: "\t"): if !isLast { return [byte] }
    case UInt8(ascii: "."): if !isFirst { return [byte] }
    case 0x21...0x7e: return [byte]
    default: break
    }
    return [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}
