enum UTF8Check {
  static func scalarCount(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var count = bytes.count
    var index = 0
    while index + 8 <= bytes.count {
      let eight = EightBytes(bytes.baseAddress.unsafelyUnwrapped + index)
      count -= Int(EightBytes.count(eight.continuations))
      index += 8
    }
    for byte in bytes[index...] where byte & 0xc0 == 0x80 { count -= 1 }
    return count
  }

  /// Returns the offset of the first byte that is not valid UTF-8 (RFC 3629); `nil` if all are
  /// valid.
  static func firstInvalid(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var index = 0
    let count = bytes.count
    while index < count {
      let first = bytes[index]
      if first < 0x80 {
        index += 1
        while index + 8 <= count,
          EightBytes(bytes.baseAddress.unsafelyUnwrapped + index).isASCII
        {
          index += 8
        }
        continue
      }
      let length: Int
      var low: UInt8 = 0x80
      var high: UInt8 = 0xbf
      switch first {
      case 0xc2...0xdf: length = 2
      case 0xe0: (length, low) = (3, 0xa0)
      case 0xe1...0xec, 0xee...0xef: length = 3
      case 0xed: (length, high) = (3, 0x9f)
      case 0xf0: (length, low) = (4, 0x90)
      case 0xf1...0xf3: length = 4
      case 0xf4: (length, high) = (4, 0x8f)
      default: return index
      }
      guard index + length <= count, (low...high).contains(bytes[index + 1]) else { return index }
      for step in 2..<max(length, 2) where bytes[index + step] & 0xc0 != 0x80 { return index }
      index += length
    }
    return nil
  }
}
