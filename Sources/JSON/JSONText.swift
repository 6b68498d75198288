/// A string as it stands between its quotes in the received bytes: checked, not yet copied.
///
/// Field names and types are compared where they are, byte for byte; only what a message keeps
/// becomes a `String`. Valid as long as the bytes are.
@usableFromInline package struct JSONText {
  /// The bytes between the quotes.
  @usableFromInline package let content: UnsafeBufferPointer<UInt8>
  @usableFromInline let hasEscapes: Bool

  @usableFromInline init(content: UnsafeBufferPointer<UInt8>, hasEscapes: Bool) {
    self.content = content
    self.hasEscapes = hasEscapes
  }

  /// A text without a byte.
  package static var empty: JSONText {
    JSONText(content: UnsafeBufferPointer(start: nil, count: 0), hasEscapes: false)
  }

  /// Whether it is this text, escapes resolved.
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

  /// Compares bytes, eight at a time: keys are compared more often than anything else is done.
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

  /// Whether it is this text, byte for byte, escapes resolved.
  @usableFromInline package func isEqual(to expected: String) -> Bool {
    var expected = expected
    return expected.withUTF8 { expected in
      withUTF8 { text in
        guard text.count == expected.count else { return false }
        for index in text.indices where text[index] != expected[index] { return false }
        return true
      }
    }
  }

  /// Compares a text that has escapes.
  @usableFromInline func isWithEscapes(_ expected: StaticString) -> Bool {
    let count = expected.utf8CodeUnitCount
    let start = expected.utf8Start
    var index = 0
    var isEqual = true
    forEachByte { byte in
      isEqual = isEqual && index < count && start[index] == byte
      index += 1
    }
    return isEqual && index == count
  }

  /// Lets a `switch` over a text have literals as its cases.
  @inlinable package static func ~= (expected: StaticString, text: JSONText) -> Bool {
    text == expected
  }

  /// The text with its escapes resolved.
  @usableFromInline package var string: String {
    guard hasEscapes else { return String(decoding: content, as: UTF8.self) }
    // An escape is never shorter than what it stands for.
    return String(unsafeUninitializedCapacity: content.count) { unescape(into: $0) }
  }

  /// Gives `body` the text's UTF-8, escapes resolved.
  @inlinable package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result
  {
    guard hasEscapes else { return body(content) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: content.count) { buffer in
      let count = unescape(into: buffer)
      return body(UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
  }

  @usableFromInline func unescape(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var count = 0
    forEachByte { byte in
      buffer.initializeElement(at: count, to: byte)
      count += 1
    }
    return count
  }

  /// Gives out the UTF-8 with its escapes resolved. The reader has checked each of them.
  private func forEachByte(_ emit: (UInt8) -> Void) {
    var index = 0
    func hexadecimal() -> UInt32 {
      var value: UInt32 = 0
      for digit in content[index..<(index + 4)] {
        value = value << 4 | (JSONReader.hexadecimalDigit(digit) ?? 0)
      }
      index += 4
      return value
    }
    while index < content.count {
      let byte = content[index]
      index += 1
      guard byte == UInt8(ascii: "\\") else {
        emit(byte)
        continue
      }
      let escape = content[index]
      index += 1
      switch escape {
      case UInt8(ascii: "b"): emit(0x08)
      case UInt8(ascii: "f"): emit(0x0c)
      case UInt8(ascii: "n"): emit(0x0a)
      case UInt8(ascii: "r"): emit(0x0d)
      case UInt8(ascii: "t"): emit(0x09)
      case UInt8(ascii: "u"):
        var value = hexadecimal()
        if value & 0xfc00 == 0xd800 {
          index += 2
          value = 0x10000 + (value - 0xd800) << 10 + (hexadecimal() - 0xdc00)
        }
        // The reader has seen both halves of each pair.
        if let scalar = Unicode.Scalar(value), let bytes = UTF8.encode(scalar) {
          for byte in bytes { emit(byte) }
        }
      default: emit(escape)
      }
    }
  }
}
