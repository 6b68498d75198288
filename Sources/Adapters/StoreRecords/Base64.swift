/// Bytes as text, four letters for three bytes (RFC 4648, section 4).
enum Base64 {
  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text of some bytes.
  static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var word = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      word <<= UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        text.append(
          place <= group.count ? letters[Int(word >> UInt32(18 - 6 * place)) & 63] : 0x3d)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text; `nil` if it is none in this form.
  static func bytes(_ text: String) -> [UInt8]? {
    let utf8 = Array(text.utf8)
    guard utf8.count.isMultiple(of: 4) else { return nil }
    let padding = utf8.suffix(2).count { $0 == 0x3d }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count / 4 * 3)
    var word: UInt32 = 0
    for (index, letter) in utf8.dropLast(padding).enumerated() {
      guard let value = value(of: letter) else { return nil }
      word = word << 6 | value
      if index % 4 == 3 {
        for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(shift))) }
        word = 0
      }
    }
    switch padding {
    case 1:
      guard word & 3 == 0 else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: word >> 10))
      bytes.append(UInt8(truncatingIfNeeded: word >> 2))
    case 2:
      guard word & 15 == 0 else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: word >> 4))
    default: break
    }
    return bytes
  }

  private static func value(of letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
