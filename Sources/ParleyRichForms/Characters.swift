/// Kinds of bytes and scalars that the forms distinguish.
enum Characters {
  /// Whether a byte is an ASCII letter or digit.
  static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

  /// Whether a byte is an ASCII letter.
  static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }

  /// Whether a byte is an ASCII digit.
  static func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  /// Whether a byte is a space or a tab.
  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Whether a byte is a control character without a meaning in a line: all except the tab.
  static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7f }

  /// Returns a text without control characters.
  static func withoutControls(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    bytes.contains(where: isControl) ? bytes.filter { !isControl($0) } : Array(bytes)
  }

  /// Whether a scalar is white space in a common definition: that of CommonMark, or of JavaScript.
  static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x80 { return scalar == " " || scalar == "\t" }
    return scalar.properties.isWhitespace || scalar == "\u{feff}"
  }

  /// Returns the scalar that begins at an index of valid UTF-8.
  static func scalar(in bytes: ArraySlice<UInt8>, at index: Int) -> Unicode.Scalar {
    let first = bytes[index]
    let count = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    var value = count == 1 ? UInt32(first) : UInt32(first & (0x7f >> count))
    for place in index + 1..<index + count { value = value << 6 | UInt32(bytes[place] & 0x3f) }
    return Unicode.Scalar(value) ?? "\u{fffd}"
  }

  /// Returns the index of the last scalar of valid UTF-8 that is not empty.
  static func lastScalarIndex(in bytes: ArraySlice<UInt8>) -> Int {
    var index = bytes.endIndex - 1
    while index > bytes.startIndex, bytes[index] & 0xc0 == 0x80 { index -= 1 }
    return index
  }

  /// Returns the index of the first scalar that is no white space.
  static func endOfLeadingSpace(in bytes: ArraySlice<UInt8>) -> Int {
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let scalar = scalar(in: bytes, at: index)
      guard isSpace(scalar) else { break }
      index += UTF8.width(scalar)
    }
    return index
  }

  /// Returns the index after the last scalar that is no white space.
  static func startOfTrailingSpace(in bytes: ArraySlice<UInt8>) -> Int {
    var end = bytes.endIndex
    while end > bytes.startIndex {
      let index = lastScalarIndex(in: bytes[..<end])
      guard isSpace(scalar(in: bytes, at: index)) else { break }
      end = index
    }
    return end
  }
}
