/// The bytes of a string between its quotes, as received: checked, but not copied.
///
/// Field names and types are compared in place, byte for byte; a `String` is created only for
/// stored values. It is valid as long as the bytes are.
@usableFromInline package struct JSONText {
  /// The bytes between the quotes.
  @usableFromInline package let content: UnsafeBufferPointer<UInt8>
  @usableFromInline let hasEscapes: Bool

  @usableFromInline init(content: UnsafeBufferPointer<UInt8>, hasEscapes: Bool) {
    self.content = content
    self.hasEscapes = hasEscapes
  }

  /// An empty text.
  package static var empty: JSONText {
    JSONText(content: UnsafeBufferPointer(start: nil, count: 0), hasEscapes: false)
  }

  /// Whether both texts are equal, with escapes resolved.
  #if hasFeature(Embedded)
    @inline(never)
  #endif
  @inlinable package static func == (text: JSONText, expected: StaticString) -> Bool {
    let count = expected.utf8CodeUnitCount
    let start = expected.utf8Start
    guard !text.hasEscapes else { return text.isWithEscapes(expected) }
    guard text.content.count == count, let content = text.content.baseAddress else {
      return text.content.count == count
    }
    return isEqual(UnsafeRawPointer(content), UnsafeRawPointer(start), count)
  }

  /// Compares bytes, eight at a time, because keys are compared very often.
  @inlinable package static func isEqual(
    _ one: UnsafeRawPointer, _ other: UnsafeRawPointer, _ count: Int
  ) -> Bool {
    var index = 0
    while count - index >= 8 {
      let ones = one.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let others = other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      guard ones == others else { return false }
      index += 8
    }
    while index < count {
      let byte = one.load(fromByteOffset: index, as: UInt8.self)
      guard byte == other.load(fromByteOffset: index, as: UInt8.self) else { return false }
      index += 1
    }
    return true
  }

  /// Whether both texts are equal byte for byte, with escapes resolved.
  @usableFromInline package func isEqual(to expected: String) -> Bool {
    var expected = expected
    return expected.withUTF8 { expected in
      guard content.count <= Self.escapedByteMax * expected.count else { return false }
      return withUTF8 { text in
        guard text.count == expected.count else { return false }
        for index in text.indices where text[index] != expected[index] { return false }
        return true
      }
    }
  }

  /// Maximum bytes of an escape for one byte of text.
  private static let escapedByteMax = 6

  /// Compares a text that contains escapes.
  @usableFromInline func isWithEscapes(_ expected: StaticString) -> Bool {
    let count = expected.utf8CodeUnitCount
    // Most texts differ in length, which needs no unescaping: an escape is longer than its byte.
    guard content.count > count, content.count <= Self.escapedByteMax * count else { return false }
    #if !hasFeature(Embedded)
      guard mayBegin(with: expected.utf8Start[0]) else { return false }
    #endif
    return withUTF8 { text in
      guard text.count == count, let start = text.baseAddress else { return text.count == count }
      return Self.isEqual(UnsafeRawPointer(start), UnsafeRawPointer(expected.utf8Start), count)
    }
  }

  #if !hasFeature(Embedded)
    /// Whether a text that contains escapes can begin with a byte. This excludes most texts without
    /// unescaping them.
    private func mayBegin(with byte: UInt8) -> Bool {
      guard let start = content.baseAddress else { return false }
      guard start[0] == UInt8(ascii: "\\") else { return start[0] == byte }
      guard start[1] == UInt8(ascii: "u") else { return Self.unescaped(start[1]) == byte }
      let value = Self.hexadecimalValue(at: start + 2)
      return value >= 0x80 || value == byte
    }
  #endif

  /// Matches a text with a literal in a `switch`.
  @inlinable package static func ~= (expected: StaticString, text: JSONText) -> Bool {
    text == expected
  }

  /// The text with escapes resolved.
  @usableFromInline package var string: String {
    guard hasEscapes else { return String(decoding: content, as: UTF8.self) }
    // An escape is never shorter than its UTF-8.
    return String(unsafeUninitializedCapacity: content.count) { unescape(into: $0) }
  }

  /// Calls `body` with the text's UTF-8, with escapes resolved.
  @inlinable package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result
  {
    guard hasEscapes else { return body(content) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: content.count) { buffer in
      let count = unescape(into: buffer)
      return body(UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// Copies the text with escapes resolved, and returns the number of bytes. Each escape is valid.
  @usableFromInline func unescape(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    guard let source = content.baseAddress, let target = buffer.baseAddress else { return 0 }
    let end = content.count
    var from = 0
    var count = 0
    while from < end {
      let byte = source[from]
      guard byte == UInt8(ascii: "\\") else {
        target[count] = byte
        from += 1
        count += 1
        continue
      }
      let escape = source[from + 1]
      guard escape == UInt8(ascii: "u") else {
        target[count] = Self.unescaped(escape)
        from += 2
        count += 1
        continue
      }
      var value = Self.hexadecimalValue(at: source + from + 2)
      from += 6
      if value & 0xfc00 == 0xd800 {
        // The reader has checked that each pair has both halves.
        let low = Self.hexadecimalValue(at: source + from + 2)
        value = 0x10000 + (value - 0xd800) << 10 + (low - 0xdc00)
        from += 6
      }
      count += Self.put(value, target + count)
    }
    return count
  }

  /// Returns the byte of an escape of one letter.
  private static func unescaped(_ escape: UInt8) -> UInt8 {
    switch escape {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0c
    case UInt8(ascii: "n"): 0x0a
    case UInt8(ascii: "r"): 0x0d
    case UInt8(ascii: "t"): 0x09
    default: escape
    }
  }

  /// Writes a scalar in UTF-8, and returns the number of its bytes.
  private static func put(_ value: UInt32, _ target: UnsafeMutablePointer<UInt8>) -> Int {
    func last(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: 0x80 | value >> shift & 0x3f) }
    switch value {
    case ..<0x80:
      target[0] = UInt8(truncatingIfNeeded: value)
      return 1
    case ..<0x800:
      target[0] = UInt8(truncatingIfNeeded: 0xc0 | value >> 6)
      target[1] = last(0)
      return 2
    case ..<0x10000:
      target[0] = UInt8(truncatingIfNeeded: 0xe0 | value >> 12)
      target[1] = last(6)
      target[2] = last(0)
      return 3
    default:
      target[0] = UInt8(truncatingIfNeeded: 0xf0 | value >> 18)
      target[1] = last(12)
      target[2] = last(6)
      target[3] = last(0)
      return 4
    }
  }

  /// Returns the value of four hexadecimal digits.
  private static func hexadecimalValue(at digits: UnsafePointer<UInt8>) -> UInt32 {
    hexadecimalValue(digits[0]) << 12 | hexadecimalValue(digits[1]) << 8
      | hexadecimalValue(digits[2]) << 4 | hexadecimalValue(digits[3])
  }

  /// Returns the value of a hexadecimal digit; undefined for other bytes.
  static func hexadecimalValue(_ digit: UInt8) -> UInt32 {
    UInt32(digit & 15 &+ 9 &* (digit >> 6))
  }

  /// Whether a byte is a hexadecimal digit.
  static func isHexadecimal(_ byte: UInt8) -> Bool {
    byte &- UInt8(ascii: "0") < 10 || byte | 0x20 &- UInt8(ascii: "a") < 6
  }
}
