/// Addresses that the forms may contain.
enum LinkAddress {
  /// Returns the address of a link if it is safe: `https:`, `http:`, `mailto:`, or relative to the
  /// note.
  ///
  /// Browsers ignore control characters and spaces around an address, and some within it. So an
  /// address with any of them is refused, rather than cleaned.
  static func safe(_ address: [UInt8]) -> [UInt8]? {
    guard let first = address.first, first != 0x20, address.last != 0x20,
      !address.contains(where: { $0 < 0x20 || $0 == 0x7f })
    else { return nil }
    let slash = UInt8(ascii: "/")
    // Two slashes lead to another server, without its scheme; browsers take a backslash for one.
    if first == UInt8(ascii: "\\") { return nil }
    if first == slash, address.count > 1, [slash, UInt8(ascii: "\\")].contains(address[1]) {
      return nil
    }
    let ends = [slash, UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\")]
    guard let colon = address.firstIndex(of: UInt8(ascii: ":")),
      !address[..<colon].contains(where: ends.contains)
    else { return address }
    let scheme = address[..<colon].map { Characters.isLetter($0) ? $0 | 0x20 : $0 }
    let isKnown =
      scheme.isEqual(to: "https") || scheme.isEqual(to: "http") || scheme.isEqual(to: "mailto")
    return isKnown ? address : nil
  }

  /// Returns the address of a note's file, `HASH/name`, as part of a URL; `nil` for any other text.
  ///
  /// The name is percent-encoded, except for what is encoded already.
  static func file(_ value: [UInt8]) -> [UInt8]? {
    let digits = 64
    guard value.count > digits + 1, value[digits] == UInt8(ascii: "/"),
      value[..<digits].allSatisfy({
        Characters.isDigit($0) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
      })
    else { return nil }
    let name = value[(digits + 1)...]
    guard !name.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }),
      !isDots(name)
    else { return nil }
    var address = Array(value[...digits])
    for byte in name {
      if Characters.isAlphanumeric(byte) || "-._~%!$&'()*+,;=:@".utf8.contains(byte) {
        address.append(byte)
      } else {
        address.append(UInt8(ascii: "%"))
        address.append(hexadecimal(byte >> 4))
        address.append(hexadecimal(byte & 15))
      }
    }
    return address
  }

  /// Whether a name leads out of the note: one or two dots, each perhaps percent-encoded.
  private static func isDots(_ name: ArraySlice<UInt8>) -> Bool {
    let plain = String(decoding: name, as: UTF8.self).lowercased().utf8
    for dots in [".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"] where plain.elementsEqual(dots.utf8) {
      return true
    }
    return false
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
  }

  /// Returns the name of a file for readers: its last path component, without percent-encoding.
  static func name(ofFile address: [UInt8]) -> [UInt8] {
    let name = address.drop { $0 != UInt8(ascii: "/") }.dropFirst()
    var shown: [UInt8] = []
    var index = name.startIndex
    while index < name.endIndex {
      if name[index] == UInt8(ascii: "%"), index + 2 < name.endIndex,
        let high = value(name[index + 1]), let low = value(name[index + 2])
      {
        shown.append(high << 4 | low)
        index += 3
      } else {
        shown.append(name[index])
        index += 1
      }
    }
    return Array(String(decoding: shown, as: UTF8.self).utf8)
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    if Characters.isDigit(digit) { return digit - UInt8(ascii: "0") }
    let letter = digit | 0x20
    return UInt8(ascii: "a")...UInt8(ascii: "f") ~= letter
      ? letter - UInt8(ascii: "a") + 10 : nil
  }
}
