/// Base64 encodings: four letters for three bytes (RFC 4648).
public struct Base64: Sendable {
  /// The standard alphabet with `+` and `/`, with padding (section 4).
  public static let standard = Base64(last: "+/", isPadded: true)
  /// The alphabet with `-` and `_`, without padding, as in tokens (section 5; RFC 7515, section 2).
  public static let url = Base64(last: "-_", isPadded: false)

  private let letters: [UInt8]
  private let isPadded: Bool

  private init(last: String, isPadded: Bool) {
    letters = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
    self.isPadded = isPadded
  }

  /// Encodes bytes.
  public func encode(_ bytes: some Collection<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(letters[Int(bits >> UInt32(count)) & 63])
      }
      bits &= (1 << UInt32(count)) - 1
    }
    if count > 0 { text.append(letters[Int(bits << UInt32(6 - count)) & 63]) }
    while isPadded, !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes a text; `nil` if ``encode(_:)`` could not have returned it. Other padding, line breaks
  /// and unused bits are rejected, so that each value has exactly one text.
  ///
  /// - Parameter takesBitsLeft: Whether unused bits of the last letter may be set.
  public func decode(_ text: some Collection<UInt8>, takesBitsLeft: Bool = false) -> [UInt8]? {
    let digits = text.prefix { $0 != UInt8(ascii: "=") }
    let padding = isPadded ? -digits.count & 3 : 0
    guard text.count == digits.count + padding,
      text.dropFirst(digits.count).allSatisfy({ $0 == UInt8(ascii: "=") })
    else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for letter in digits {
      guard let value = value(of: letter) else { return nil }
      bits = bits << 6 | value
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      bits &= (1 << UInt32(count)) - 1
    }
    return count < 6 && (bits == 0 || takesBitsLeft) ? bytes : nil
  }

  private func value(of letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
    case letters[62]: 62
    case letters[63]: 63
    default: nil
    }
  }
}
