import ParleyModel

/// Decoding of text files.
enum ImportedText {
  /// Returns the text of a file in UTF-8, decoded from UTF-8, or from UTF-16 with a byte order
  /// mark. Other encodings are not guessed, because a wrong guess is noticed too late.
  ///
  /// - Complexity: O(*n*) bytes.
  static func text(_ bytes: [UInt8]) throws(ImportProblem) -> [UInt8] {
    let utf8: [UInt8]
    if bytes.starts(with: [0xff, 0xfe]) {
      utf8 = try fromUTF16(bytes, isBigEndian: false)
    } else if bytes.starts(with: [0xfe, 0xff]) {
      utf8 = try fromUTF16(bytes, isBigEndian: true)
    } else {
      guard isUTF8(bytes) else { throw .notText }
      utf8 = bytes
    }
    // Binary files may be valid UTF-8 by accident; UTF-16 without a mark also contains NUL.
    guard !utf8.contains(0) else { throw .notText }
    return WholeText.normalized(utf8)
  }

  /// Returns a text from another format, with `\n` as line ends.
  static func whole(_ utf8: [UInt8]) -> [UInt8] { WholeText.normalized(utf8) }

  private static func fromUTF16(
    _ bytes: [UInt8], isBigEndian: Bool
  ) throws(ImportProblem) -> [UInt8] {
    guard bytes.count % 2 == 0 else { throw .notText }
    func unit(_ index: Int) -> UInt32 {
      isBigEndian
        ? UInt32(bytes[index]) << 8 | UInt32(bytes[index + 1])
        : UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index])
    }
    var utf8: [UInt8] = []
    utf8.reserveCapacity(bytes.count)
    var index = 2
    while index < bytes.count {
      var value = unit(index)
      index += 2
      if value & 0xfc00 == 0xd800, index < bytes.count, unit(index) & 0xfc00 == 0xdc00 {
        value = 0x10000 + (value & 0x3ff) << 10 + (unit(index) & 0x3ff)
        index += 2
      }
      guard let scalar = Unicode.Scalar(value) else { throw .notText }
      append(scalar, to: &utf8)
    }
    return utf8
  }

  static func append(_ scalar: Unicode.Scalar, to utf8: inout [UInt8]) {
    utf8.append(contentsOf: String(scalar).utf8)
  }

  static func append(_ scalar: Unicode.Scalar, to utf8: inout [UInt8]?) {
    utf8?.append(contentsOf: String(scalar).utf8)
  }

  /// Whether bytes are UTF-8 (RFC 3629).
  static func isUTF8(_ bytes: [UInt8]) -> Bool {
    var index = 0
    while index < bytes.count {
      let lead = bytes[index]
      let (count, least, most): (Int, UInt8, UInt8)
      switch lead {
      case 0..<0x80: (count, least, most) = (1, 0x80, 0xbf)
      case 0xc2...0xdf: (count, least, most) = (2, 0x80, 0xbf)
      case 0xe0: (count, least, most) = (3, 0xa0, 0xbf)
      case 0xed: (count, least, most) = (3, 0x80, 0x9f)
      case 0xe1...0xef: (count, least, most) = (3, 0x80, 0xbf)
      case 0xf0: (count, least, most) = (4, 0x90, 0xbf)
      case 0xf1...0xf3: (count, least, most) = (4, 0x80, 0xbf)
      case 0xf4: (count, least, most) = (4, 0x80, 0x8f)
      default: return false
      }
      guard index + count <= bytes.count else { return false }
      for place in 1..<max(count, 1) {
        let byte = bytes[index + place]
        guard place == 1 ? (least...most).contains(byte) : byte & 0xc0 == 0x80 else { return false }
      }
      index += count
    }
    return true
  }

  /// Returns the number of scalars of valid UTF-8.
  static func scalarCount(_ utf8: [UInt8]) -> Int {
    utf8.reduce(0) { $0 + ($1 & 0xc0 == 0x80 ? 0 : 1) }
  }
}
