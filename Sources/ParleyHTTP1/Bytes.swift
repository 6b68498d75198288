/// Classes of bytes, and functions on ranges of a head.
enum Bytes {
  static let tab: UInt8 = 0x09
  static let lineFeed: UInt8 = 0x0a
  static let carriageReturn: UInt8 = 0x0d
  static let space: UInt8 = 0x20

  /// A set of ASCII characters, a bit for each.
  struct Class {
    let low: UInt64
    let high: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
      let bits = byte & 0x40 == 0 ? low : high
      return byte < 0x80 && bits >> UInt64(byte & 63) & 1 != 0
    }
  }

  /// Characters of names and methods (RFC 9110, section 5.6.2): letters, digits and
  /// ``!#$%&'*+-.^_`|~``.
  @inline(__always)
  static var token: Class {
    Class(low: 0x03ff_6cfa_0000_0000, high: 0x57ff_ffff_c7ff_fffe)
  }

  /// Characters that never need percent-encoding (RFC 3986, section 2.3): letters, digits and
  /// `-._~`.
  @inline(__always)
  static var unreserved: Class {
    Class(low: 0x03ff_6000_0000_0000, high: 0x47ff_fffe_87ff_fffe)
  }

  /// Characters of a path's segments, without the percent sign: the unreserved ones and
  /// `!$&'()*+,;=:@`.
  @inline(__always)
  static var segment: Class {
    Class(low: 0x2fff_7fd2_0000_0000, high: 0x47ff_fffe_87ff_ffff)
  }

  /// Characters of a host that is a name or an IPv4 address: the unreserved ones and
  /// `!$&'()*+,;=%`.
  @inline(__always)
  static var hostName: Class {
    Class(low: 0x2bff_7ff2_0000_0000, high: 0x47ff_fffe_87ff_fffe)
  }

  /// Characters of an IPv6 address: hexadecimal digits, `:` and `.`.
  @inline(__always)
  static var hostAddress: Class {
    Class(low: 0x07ff_4000_0000_0000, high: 0x0000_007e_0000_007e)
  }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  /// Returns the value of a hexadecimal digit.
  @inline(__always)
  static func hex(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }

  /// Returns the index of the first control character other than a tab, from `start` to `end`.
  static func firstControl(in bytes: Span<UInt8>, from start: Int, to end: Int) -> Int? {
    let raw = bytes.bytes
    var index = start
    while index < end {
      if index <= end &- 8 {
        let word = UInt64(
          littleEndian: raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
        // Only the lowest set bit is exact; higher ones may come from a borrow.
        let below = (word &- 0x2020_2020_2020_2020) & ~word
        let delete = word ^ 0x7f7f_7f7f_7f7f_7f7f
        let isDelete = (delete &- 0x0101_0101_0101_0101) & ~delete
        let found = (below | isDelete) & 0x8080_8080_8080_8080
        if found == 0 {
          index &+= 8
          continue
        }
        index &+= found.trailingZeroBitCount >> 3
      }
      let byte = bytes[index]
      if byte < 0x20 ? byte != tab : byte == 0x7f { return index }
      index &+= 1
    }
    return nil
  }

  /// Whether a range contains this word, ignoring case. The word has only letters and hyphens.
  @inline(__always)
  static func equals(
    _ bytes: Span<UInt8>, _ range: Range<Int>, _ word: StaticString
  ) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    for index in 0..<range.count
    where bytes[range.lowerBound + index] | 0x20 != (word.utf8Start + index).pointee {
      return false
    }
    return true
  }

  /// Returns a range without the spaces and tabs around it.
  @inline(__always)
  static func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, bytes[start] == space || bytes[start] == tab { start += 1 }
    while start < end, bytes[end - 1] == space || bytes[end - 1] == tab { end -= 1 }
    return start..<end
  }

  /// Calls `body` with each element of a comma-separated list, without the empty ones.
  @inline(__always)
  static func forEachElement(
    _ bytes: Span<UInt8>, _ range: Range<Int>, _ body: (Range<Int>) -> Void
  ) {
    var start = range.lowerBound
    while start <= range.upperBound {
      var end = start
      while end < range.upperBound, bytes[end] != 0x2c { end += 1 }
      let element = trimmed(bytes, start..<end)
      if !element.isEmpty { body(element) }
      start = end + 1
    }
  }

  static func string(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }
}
