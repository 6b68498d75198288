/// A text's lengths in all units, added and subtracted together.
struct TextMetrics: Sendable, Equatable {
  // Each word contains two numbers that are added as one: 32 bits are enough for any length, so
  // nothing is carried over. A difference may borrow, which the next addition undoes. A vector
  // would need a larger alignment, with which allocation takes twice as long.
  private var scalarsAndUTF16: UInt64
  private var utf8AndNewlines: UInt64

  static let zero = TextMetrics(scalars: 0, utf16: 0, utf8: 0, newlines: 0)

  @inline(__always)
  private init(scalars: UInt32, utf16: UInt32, utf8: UInt32, newlines: UInt32) {
    scalarsAndUTF16 = UInt64(scalars) | UInt64(utf16) << 32
    utf8AndNewlines = UInt64(utf8) | UInt64(newlines) << 32
  }

  /// Counts the lengths of a text.
  ///
  /// - Complexity: O(bytes), eight or more at a time.
  @inline(__always)
  init(_ text: UnsafeBufferPointer<UInt8>) {
    let count = text.count
    guard count <= 16, count > 0, let start = text.baseAddress else {
      self.init(long: text)
      return
    }
    var first: UInt64 = 0
    if count >= 8 { first = UnsafeRawPointer(start).loadUnaligned(as: UInt64.self) }
    let last =
      count == 16
      ? UnsafeRawPointer(start + 8).loadUnaligned(as: UInt64.self)
      : count == 8 ? 0 : EightBytes.last(count & 7, of: count, start)
    self.init(EightBytes(first), EightBytes(last), count: count)
  }

  /// Counts two words, which are padded with zeros.
  private init(_ first: EightBytes, _ last: EightBytes, count: Int) {
    let bytes = UInt32(truncatingIfNeeded: count)
    // A byte position counts at most 2 in both words together, so the sum of all eight fits into
    // one byte.
    let newlines = EightBytes.count(first.newlines &+ last.newlines)
    if EightBytes(first.bits | last.bits).isASCII {
      self.init(scalars: bytes, utf16: bytes, utf8: bytes, newlines: newlines)
      return
    }
    let scalars = bytes &- EightBytes.count(first.continuations &+ last.continuations)
    self.init(
      scalars: scalars, utf16: scalars &+ EightBytes.count(first.astral &+ last.astral),
      utf8: bytes, newlines: newlines)
  }

  private init(long text: UnsafeBufferPointer<UInt8>) {
    let count = text.count
    var continuations: UInt32 = 0
    var astral: UInt32 = 0
    var newlines: UInt32 = 0
    var last: UInt64 = 0
    if let start = text.baseAddress {
      let words = count >> 3
      var first = 0
      while first < words {
        // Each byte of the sums is a separate counter: after 255 steps it might overflow.
        let part = UnsafeRawPointer(start + (first << 3))
        let stop = min(words &- first, 255)
        var newlinesOfEach: UInt64 = 0
        var all: UInt64 = 0
        for index in 0..<stop {
          let eight = EightBytes(part + (index << 3))
          all |= eight.bits
          newlinesOfEach &+= eight.newlines
        }
        newlines &+= EightBytes.sum(newlinesOfEach)
        if !EightBytes(all).isASCII {
          var continuationsOfEach: UInt64 = 0
          var astralOfEach: UInt64 = 0
          for index in 0..<stop {
            let eight = EightBytes(part + (index << 3))
            continuationsOfEach &+= eight.continuations
            astralOfEach &+= eight.astral
          }
          continuations &+= EightBytes.sum(continuationsOfEach)
          astral &+= EightBytes.sum(astralOfEach)
        }
        first &+= stop
      }
      last = EightBytes.last(count & 7, of: count, start)
    }
    let eight = EightBytes(last)
    continuations &+= EightBytes.count(eight.continuations)
    astral &+= EightBytes.count(eight.astral)
    newlines &+= EightBytes.count(eight.newlines)
    let scalars = UInt32(truncatingIfNeeded: count) &- continuations
    self.init(
      scalars: scalars, utf16: scalars &+ astral, utf8: UInt32(truncatingIfNeeded: count),
      newlines: newlines)
  }

  /// Counts an ASCII scalar.
  @inline(__always)
  init(ascii byte: UInt8) {
    scalarsAndUTF16 = 0x1_0000_0001
    utf8AndNewlines = byte == 0x0a ? 0x1_0000_0001 : 1
  }

  /// Counts the text of an edit.
  @inline(__always)
  init(_ edit: InlineEdit) {
    if edit.bytes == 1 {
      self.init(ascii: UInt8(truncatingIfNeeded: edit.text))
    } else {
      let eight = EightBytes(edit.text)
      let scalars = UInt32(edit.scalars)
      self.init(
        scalars: scalars, utf16: scalars &+ EightBytes.count(eight.astral),
        utf8: UInt32(edit.bytes), newlines: EightBytes.count(eight.newlines))
    }
  }

  @inline(__always)
  var scalars: Int { Int(scalarsAndUTF16 & 0xffff_ffff) }
  @inline(__always)
  var utf16: Int { Int(scalarsAndUTF16 >> 32) }
  @inline(__always)
  var utf8: Int { Int(utf8AndNewlines & 0xffff_ffff) }
  @inline(__always)
  var newlines: Int { Int(utf8AndNewlines >> 32) }

  /// The length in a unit: 0 for scalars, 1 for UTF-16 units, 2 for UTF-8 bytes, 3 for newlines.
  @inline(__always)
  subscript(lane: Int) -> UInt32 {
    let both = lane < 2 ? scalarsAndUTF16 : utf8AndNewlines
    return UInt32(truncatingIfNeeded: lane & 1 == 0 ? both : both >> 32)
  }

  /// Whether all scalars are ASCII.
  @inline(__always)
  var isASCII: Bool {
    UInt32(truncatingIfNeeded: scalarsAndUTF16) == UInt32(truncatingIfNeeded: utf8AndNewlines)
  }

  @inline(__always)
  static func += (left: inout Self, right: Self) {
    left.scalarsAndUTF16 &+= right.scalarsAndUTF16
    left.utf8AndNewlines &+= right.utf8AndNewlines
  }
  @inline(__always)
  static func -= (left: inout Self, right: Self) {
    left.scalarsAndUTF16 &-= right.scalarsAndUTF16
    left.utf8AndNewlines &-= right.utf8AndNewlines
  }
}

/// Eight bytes of UTF-8, examined together. Each mask has a 1 in every byte to which it applies.
struct EightBytes {
  let bits: UInt64
  private static let ones: UInt64 = 0x0101_0101_0101_0101

  @inline(__always)
  init(_ bits: UInt64) { self.bits = bits }
  @inline(__always)
  init(_ bytes: UnsafeRawPointer) { bits = bytes.loadUnaligned(as: UInt64.self) }

  /// Returns the last bytes of a text, at most seven, padded with zeros.
  @inline(__always)
  static func last(_ few: Int, of count: Int, _ text: UnsafePointer<UInt8>) -> UInt64 {
    if few == 0 { return 0 }
    let end = UnsafeRawPointer(text + count)
    if count >= 8 {
      return (end - 8).loadUnaligned(as: UInt64.self) >> UInt64(truncatingIfNeeded: 64 &- few &* 8)
    }
    if count >= 4 {
      // Two overlapping halves, which are equal where they overlap.
      let low = UnsafeRawPointer(text).loadUnaligned(as: UInt32.self)
      let high = (end - 4).loadUnaligned(as: UInt32.self)
      return UInt64(low) | UInt64(high) << UInt64(truncatingIfNeeded: (count &- 4) &* 8)
    }
    var last: UInt64 = 0
    for index in 0..<count { last = last << 8 | UInt64(text[index]) }
    return last
  }

  @inline(__always)
  var isASCII: Bool { bits & (Self.ones << 7) == 0 }
  /// The continuation bytes of scalars.
  @inline(__always)
  var continuations: UInt64 { (bits >> 7) & ~(bits >> 6) & Self.ones }
  /// The bytes that begin a scalar beyond U+FFFF.
  @inline(__always)
  var astral: UInt64 { (bits >> 7) & (bits >> 6) & (bits >> 5) & (bits >> 4) & Self.ones }
  @inline(__always)
  var newlines: UInt64 {
    let other = bits ^ (Self.ones &* 0x0a)
    let low = ~(Self.ones << 7)
    return ~(((other & low) &+ low) | other) >> 7 & Self.ones
  }

  /// Returns the number of bytes with a 1 in a mask.
  @inline(__always)
  static func count(_ answer: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: (answer &* ones) >> 56)
  }

  /// Returns the sum of all eight bytes.
  @inline(__always)
  static func sum(_ bytes: UInt64) -> UInt32 {
    let pairs = (bytes & 0x00ff_00ff_00ff_00ff) &+ ((bytes >> 8) & 0x00ff_00ff_00ff_00ff)
    return UInt32(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) >> 48)
  }
}

extension UnsafePointer<UInt8> {
  /// Returns the number of bytes of the first scalars.
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

  /// Returns the number of bytes of the last scalars of a text that ends here and has at least so
  /// many.
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
