/// A text that arrives as a whole: the body of a request, a file, a paste.
///
/// Systems end lines with LF, with CR LF or with CR, and some put a byte order mark in front of UTF-8. A note has `\n`
/// and no mark, whatever wrote the text. Operations are not whole texts: they are committed as sent, so a note can
/// contain CR, and each view shows CR LF and CR as one line end.
public enum WholeText {
  /// Returns a text in UTF-8 with `\n` at each line end, without a byte order mark at its beginning.
  ///
  /// U+0085, U+2028, U+2029 and form feed remain: Markdown and editors do not end a line there.
  ///
  /// - Complexity: O(*n*) bytes; nothing is copied if the text is as it should be.
  public static func normalized(_ utf8: [UInt8]) -> [UInt8] {
    let hasMark = utf8.starts(with: [0xef, 0xbb, 0xbf])
    guard hasMark || utf8.contains(0x0d) else { return utf8 }
    return withLineFeeds(utf8[(hasMark ? 3 : 0)...])
  }

  /// Returns a text with `\n` at each line end, without a byte order mark at its beginning.
  public static func normalized(_ text: String) -> String {
    String(decoding: normalized(Array(text.utf8)), as: UTF8.self)
  }

  /// Returns a note's text in UTF-8 as a view shows it: with `\n` at each line end.
  public static func shown(_ utf8: [UInt8]) -> [UInt8] {
    utf8.contains(0x0d) ? withLineFeeds(utf8[...]) : utf8
  }

  private static func withLineFeeds(_ utf8: ArraySlice<UInt8>) -> [UInt8] {
    // An array of no capacity is one that all threads share, and its count would be written.
    guard !utf8.isEmpty else { return [] }
    return [UInt8](unsafeUninitializedCapacity: utf8.count) { plain, count in
      var isAfterReturn = false
      for byte in utf8 {
        let isReturn = byte == 0x0d
        if byte != 0x0a || !isAfterReturn {
          plain[count] = isReturn ? 0x0a : byte
          count += 1
        }
        isAfterReturn = isReturn
      }
    }
  }
}
