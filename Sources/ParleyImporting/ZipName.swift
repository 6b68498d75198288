/// Decoding of names in ZIP archives, whose encoding depends on the program that wrote them.
enum ZipName {
  /// Decodes a name, like Info-ZIP's `unzip`.
  ///
  /// A valid name in Info-ZIP's Unicode field is used first. Otherwise the bytes are decoded as
  /// UTF-8 if they are valid. Otherwise they are code page 437 for programs of DOS and Windows, and
  /// Windows-1252 for others, or if the entry is marked as UTF-8.
  ///
  /// - Parameter version: The version of the writing program, with its system in the upper byte.
  static func text(
    _ name: ArraySlice<UInt8>, extra: ArraySlice<UInt8>, isUTF8: Bool, version: Int
  ) -> String {
    let bytes = Array(name)
    if let unicode = unicodeName(in: Array(extra), for: name) { return unicode }
    if isUTF8 && !ImportedText.isUTF8(bytes) { return decoded(bytes, by: windows1252) }
    if ImportedText.isUTF8(bytes) { return String(decoding: bytes, as: UTF8.self) }
    return decoded(bytes, by: isOEM(version) ? codePage437 : windows1252)
  }

  /// Whether the program uses a DOS code page for names: on FAT, HPFS, or NTFS by version 5.0.
  private static func isOEM(_ version: Int) -> Bool {
    switch version >> 8 {
    case 0, 6: true
    case 11: version & 0xff == 50
    default: false
    }
  }

  /// Returns the name in the field 0x7075, if its checksum matches this name.
  private static func unicodeName(in extra: [UInt8], for name: ArraySlice<UInt8>) -> String? {
    var place = 0
    while place + 4 <= extra.count {
      let size = ZipArchive.number(extra, place + 2)
      let start = place + 4
      guard start + size <= extra.count else { return nil }
      if ZipArchive.number(extra, place) == 0x7075, size > 5, extra[start] == 1,
        ZipArchive.wide(extra, start + 1) == Int64(CRC32.checksum(of: name))
      {
        let unicode = Array(extra[start + 5..<start + size])
        return ImportedText.isUTF8(unicode) ? String(decoding: unicode, as: UTF8.self) : nil
      }
      place = start + size
    }
    return nil
  }

  private static func decoded(_ bytes: [UInt8], by upper: String) -> String {
    let letters = Array(upper.unicodeScalars)
    var name = String.UnicodeScalarView()
    for byte in bytes {
      name.append(byte < 0x80 ? Unicode.Scalar(byte) : letters[Int(byte) - 0x80])
    }
    return String(name)
  }

  private static let codePage437 =
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀"
    + "αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}"

  private static let windows1252 =
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿"
    + "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ"
}
