/// Rules for texts that arrive as a whole: the body of a request, a file, a paste.
///
/// Systems end lines with LF, CR LF or CR, and some add a byte order mark to UTF-8. A whole text is
/// stored with `\n` and without the mark. Operations are not whole texts: they are committed as
/// sent, so a note can contain CR, and each view shows CR LF and CR as one line end.
public enum WholeText {
  /// Returns a UTF-8 text with `\n` at each line end, and without a byte order mark at the start.
  ///
  /// U+0085, U+2028, U+2029 and form feed remain: Markdown and editors do not end a line there.
  ///
  /// - Complexity: O(*n*) bytes; a text that is already normalised is not copied.
  public static func normalized(_ utf8: [UInt8]) -> [UInt8] {
    let hasMark = utf8.starts(with: [0xef, 0xbb, 0xbf])
    guard hasMark || utf8.contains(0x0d) else { return utf8 }
    return withLineFeeds(utf8[(hasMark ? 3 : 0)...])
  }

  /// Returns a text with `\n` at each line end, and without a byte order mark at the start.
  public static func normalized(_ text: String) -> String {
    String(decoding: normalized(Array(text.utf8)), as: UTF8.self)
  }

  /// Returns a note's UTF-8 text as views show it, with `\n` at each line end.
  public static func shown(_ utf8: [UInt8]) -> [UInt8] {
    utf8.contains(0x0d) ? withLineFeeds(utf8[...]) : utf8
  }

  private static func withLineFeeds(_ utf8: ArraySlice<UInt8>) -> [UInt8] {
    // All empty arrays share one buffer, whose count must not be written.
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
