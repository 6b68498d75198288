/// A text's lengths in all units at once, added and subtracted in one step.
struct TextMetrics: Sendable, Equatable {
  // Four numbers, not a vector: a block of memory with vectors in it would have to be aligned for
  // them, and the allocator takes twice as long for that.
  private var scalarCount: UInt32
  private var utf16Count: UInt32
  private var utf8Count: UInt32
  private var newlineCount: UInt32

  static let zero = TextMetrics(lanes: .zero)

  @inline(__always)
  init(lanes: SIMD4<UInt32>) {
    scalarCount = lanes[0]
    utf16Count = lanes[1]
    utf8Count = lanes[2]
    newlineCount = lanes[3]
  }

  /// Scalars, UTF-16 units, UTF-8 bytes, newlines.
  @inline(__always)
  var lanes: SIMD4<UInt32> { SIMD4(scalarCount, utf16Count, utf8Count, newlineCount) }

  init(scalars: Int, utf16: Int, utf8: Int, newlines: Int) {
    scalarCount = UInt32(truncatingIfNeeded: scalars)
    utf16Count = UInt32(truncatingIfNeeded: utf16)
    utf8Count = UInt32(truncatingIfNeeded: utf8)
    newlineCount = UInt32(truncatingIfNeeded: newlines)
  }

  /// Counts a text.
  ///
  /// - Complexity: O(*bytes*), eight or more at a time.
  init(_ text: UnsafeBufferPointer<UInt8>) {
    let count = text.count
    var sum = SIMD4<UInt32>.zero
    var rest = 0
    if let start = text.baseAddress {
      let words = count >> 3
      var first = 0
      while first < words {
        // Each byte of these counts for itself: at most 255 steps before one is full.
        var continuations: UInt64 = 0
        var astral: UInt64 = 0
        var newlines: UInt64 = 0
        let part = UnsafeRawPointer(start + (first << 3))
        let stop = min(words &- first, 255)
        for index in 0..<stop {
          let eight = EightBytes(part + (index << 3))
          continuations &+= eight.continuations
          astral &+= eight.astral
          newlines &+= eight.newlines
        }
        sum &+= SIMD4(
          EightBytes.sum(continuations), EightBytes.sum(astral), 0, EightBytes.sum(newlines))
        first &+= stop
      }
      rest = words << 3
    }
    var last: UInt64 = 0
    for byte in text[rest...] { last = last << 8 | UInt64(byte) }
    let eight = EightBytes(last)
    sum &+= SIMD4(
      EightBytes.count(eight.continuations), EightBytes.count(eight.astral), 0,
      EightBytes.count(eight.newlines))
    let scalars = UInt32(truncatingIfNeeded: count) &- sum[0]
    self.init(
      lanes: SIMD4(scalars, scalars &+ sum[1], UInt32(truncatingIfNeeded: count), sum[3]))
  }

  /// Counts the text of an edit.
  @inline(__always)
  init(_ edit: InlineEdit) {
    let eight = EightBytes(edit.text)
    let scalars = UInt32(edit.scalars)
    let astral = EightBytes.count(eight.astral)
    scalarCount = scalars
    utf16Count = scalars &+ astral
    utf8Count = UInt32(edit.bytes)
    newlineCount = EightBytes.count(eight.newlines)
  }

  var scalars: Int { Int(scalarCount) }
  var utf16: Int { Int(utf16Count) }
  var utf8: Int { Int(utf8Count) }
  var newlines: Int { Int(newlineCount) }

  /// Whether all scalars are ASCII.
  @inline(__always)
  var isASCII: Bool { scalarCount == utf8Count }

  @inline(__always)
  static func += (left: inout Self, right: Self) {
    left = TextMetrics(lanes: left.lanes &+ right.lanes)
  }
  @inline(__always)
  static func -= (left: inout Self, right: Self) {
    left = TextMetrics(lanes: left.lanes &- right.lanes)
  }
}

/// Eight bytes of UTF-8 looked at as one; each answer has a 1 in every byte that it holds for.
struct EightBytes {
  private let bits: UInt64
  private static let ones: UInt64 = 0x0101_0101_0101_0101

  @inline(__always)
  init(_ bits: UInt64) { self.bits = bits }
  @inline(__always)
  init(_ bytes: UnsafeRawPointer) { bits = bytes.loadUnaligned(as: UInt64.self) }

  @inline(__always)
  var isASCII: Bool { bits & (Self.ones << 7) == 0 }
  /// Bytes that go on with a scalar.
  @inline(__always)
  var continuations: UInt64 { (bits >> 7) & ~(bits >> 6) & Self.ones }
  /// Bytes that begin a scalar beyond U+FFFF.
  @inline(__always)
  var astral: UInt64 { (bits >> 7) & (bits >> 6) & (bits >> 5) & (bits >> 4) & Self.ones }
  @inline(__always)
  var newlines: UInt64 {
    let other = bits ^ (Self.ones &* 0x0a)
    let low = ~(Self.ones << 7)
    return ~(((other & low) &+ low) | other) >> 7 & Self.ones
  }

  /// In how many bytes an answer has a 1.
  @inline(__always)
  static func count(_ answer: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: (answer &* ones) >> 56)
  }

  /// The sum of all eight bytes.
  @inline(__always)
  static func sum(_ bytes: UInt64) -> UInt32 {
    let pairs = (bytes & 0x00ff_00ff_00ff_00ff) &+ ((bytes >> 8) & 0x00ff_00ff_00ff_00ff)
    return UInt32(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) >> 48)
  }
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
      left -= 8 - Int(EightBytes.count(EightBytes(self + offset).continuations))
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

  /// Bytes taken by the last scalars of the text that ends here, which has as many.
  ///
  /// - Complexity: O(*scalars*).
  @inline(__always)
  func byteCount(ofScalarsBehind scalars: Int) -> Int {
    var left = scalars
    var offset = 0
    while left > 0 {
      offset -= 1
      if self[offset] & 0xc0 != 0x80 { left -= 1 }
    }
    return -offset
  }
}
