/// A text's lengths in all units at once, added and subtracted in one step.
struct TextMetrics: Sendable, Equatable {
  /// Scalars, UTF-16 units, UTF-8 bytes, newlines.
  var lanes: SIMD4<UInt32>

  static let zero = TextMetrics(lanes: .zero)

  init(lanes: SIMD4<UInt32>) { self.lanes = lanes }

  init(scalars: Int, utf16: Int, utf8: Int, newlines: Int) {
    lanes = SIMD4(
      UInt32(truncatingIfNeeded: scalars), UInt32(truncatingIfNeeded: utf16),
      UInt32(truncatingIfNeeded: utf8), UInt32(truncatingIfNeeded: newlines))
  }

  /// Counts a text. - Complexity: O(*bytes*).
  init(_ text: UnsafeBufferPointer<UInt8>) {
    var continuations = 0
    var astral = 0
    var newlines = 0
    for byte in text {
      continuations &+= byte & 0xc0 == 0x80 ? 1 : 0
      astral &+= byte >= 0xf0 ? 1 : 0
      newlines &+= byte == 0x0a ? 1 : 0
    }
    let scalars = text.count - continuations
    self.init(scalars: scalars, utf16: scalars + astral, utf8: text.count, newlines: newlines)
  }

  var scalars: Int { Int(lanes[0]) }
  var utf16: Int { Int(lanes[1]) }
  var utf8: Int { Int(lanes[2]) }
  var newlines: Int { Int(lanes[3]) }

  @inline(__always)
  static func += (left: inout Self, right: Self) { left.lanes &+= right.lanes }
  @inline(__always)
  static func -= (left: inout Self, right: Self) { left.lanes &-= right.lanes }
}

extension UnsafePointer<UInt8> {
  /// Bytes taken by the first scalars of the text here.
  ///
  /// - Complexity: O(*scalars*), eight bytes at a time.
  @inline(__always)
  func byteCount(ofScalars scalars: Int, limit: Int) -> Int {
    var left = scalars
    var offset = 0
    while left > 8, offset + 8 <= limit {
      let eight = UnsafeRawPointer(self + offset).loadUnaligned(as: UInt64.self)
      let continuations = (eight >> 7) & ~(eight >> 6) & 0x0101_0101_0101_0101
      left -= 8 - Int((continuations &* 0x0101_0101_0101_0101) >> 56)
      offset += 8
    }
    while offset < limit, self[offset] & 0xc0 == 0x80 { offset += 1 }
    while left > 0 {
      offset += 1
      while offset < limit, self[offset] & 0xc0 == 0x80 { offset += 1 }
      left -= 1
    }
    return offset
  }
}
