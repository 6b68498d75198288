/// Header lines, with text in any language as encoded words of RFC 2047.
enum HeaderText {
  /// Maximum characters of a line that this module folds.
  private static let lineMax = 76

  /// Returns a whole header with unstructured text, such as a subject, without the final line break.
  static func header(_ name: String, text: String) -> String {
    let start = "\(name): "
    let isShort = start.utf8.count + text.utf8.count <= lineMax
    return start + (isShort && isPlain(text) ? text : encodedWords(text, after: start.utf8.count))
  }

  /// Returns a whole header with a mailbox, without the final line break.
  static func header(_ name: String, mailbox: MailAddress) -> String {
    let start = "\(name): "
    guard let shown = mailbox.name, !shown.isEmpty else { return start + mailbox.address }
    let quoted = "\"" + shown.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" } + "\""
    let isShort = start.utf8.count + quoted.utf8.count <= lineMax
    let phrase =
      isShort && isPlain(shown) ? quoted : encodedWords(shown, after: start.utf8.count)
    let lastLine = phrase.utf8.split(separator: UInt8(ascii: "\n")).last?.count ?? 0
    let isOneLine = start.utf8.count + lastLine + mailbox.address.utf8.count + 3 <= lineMax
    return start + phrase + (isOneLine ? " " : "\r\n ") + "<\(mailbox.address)>"
  }

  /// Whether a text can be written as it is: printable ASCII with single blanks inside, and without
  /// the beginning of an encoded word.
  private static func isPlain(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let space = UInt8(ascii: " ")
    return bytes.allSatisfy { (0x20...0x7e).contains($0) } && bytes.first != space
      && bytes.last != space
      && !zip(bytes, bytes.dropFirst()).contains { pair in
        pair == (space, space) || pair == (UInt8(ascii: "="), UInt8(ascii: "?"))
      }
  }

  /// Returns the text as encoded words, one on each line. Decoders join them without blanks.
  ///
  /// - Parameter used: The characters that the first line has already.
  private static func encodedWords(_ text: String, after used: Int) -> String {
    let (start, end) = ("=?UTF-8?B?", "?=")
    var words: [String] = []
    var chunk: [UInt8] = []
    var used = used
    func capacity() -> Int {
      max((lineMax - used - start.utf8.count - end.utf8.count) / 4 * 3, 4)
    }
    func close() {
      words.append(start + Base64.text(of: chunk) + end)
      chunk = []
      // Further lines begin with a blank.
      used = 1
    }
    for scalar in text.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if !chunk.isEmpty, chunk.count + bytes.count > capacity() { close() }
      chunk += bytes
    }
    close()
    return words.joined(separator: "\r\n ")
  }
}

/// Base64 in the alphabet of RFC 4648, with padding.
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func text(of bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var word = 0
      for byte in group { word = word << 8 | Int(byte) }
      word <<= 8 * (3 - group.count)
      for place in 0..<4 {
        text.append(
          place <= group.count ? alphabet[word >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
