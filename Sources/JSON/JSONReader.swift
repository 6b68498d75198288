/// Reads JSON straight from the received bytes, front to back, once.
///
/// Total: any input gives a value or a `JSONError`. Strings are checked as UTF-8 (RFC 3629) and
/// may not hold half a surrogate pair; numbers are integers of 53 bits, since nothing on this wire
/// is anything else; of a key that comes twice the last one counts. Nothing is allocated but the
/// strings and lists that a caller asks for.
///
/// Other modules call it for each field, so what is short or takes a closure is `@inlinable`.
@usableFromInline package struct JSONReader {
  /// Deeper nesting than this is refused.
  @usableFromInline package static let depthMax = 32

  @usableFromInline let bytes: UnsafeBufferPointer<UInt8>
  @usableFromInline var position: Int
  @usableFromInline let end: Int
  @usableFromInline var depth = 0

  /// The offset of the byte to be read next.
  @inlinable package var offset: Int { position }

  /// Reads a range of the bytes, or all of them.
  @inlinable package init(_ bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>? = nil) {
    self.bytes = bytes
    position = range?.lowerBound ?? 0
    end = range?.upperBound ?? bytes.count
  }

  @inlinable var current: UInt8? { position < end ? bytes[position] : nil }

  @inlinable mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
      position += 1
    }
  }

  @inlinable mutating func expect(_ byte: UInt8) throws(JSONError) {
    guard current == byte else { throw .malformed(offset: position) }
    position += 1
  }

  /// Only space may be left.
  @inlinable package mutating func finish() throws(JSONError) {
    skipSpace()
    guard position == end else { throw .malformed(offset: position) }
  }

  @inlinable func mismatch(_ expected: String) -> JSONError {
    current == nil ? .malformed(offset: position) : .wrongType(expected: expected, offset: position)
  }

  // MARK: Objects and arrays

  @inlinable mutating func open(_ bracket: UInt8, _ expected: String) throws(JSONError) {
    skipSpace()
    guard current == bracket else { throw mismatch(expected) }
    guard depth < Self.depthMax else { throw .tooDeep(offset: position) }
    depth += 1
    position += 1
    skipSpace()
  }

  /// Passes a closing bracket if one stands here.
  @inlinable mutating func passes(_ bracket: UInt8) -> Bool {
    guard current == bracket else { return false }
    position += 1
    depth -= 1
    return true
  }

  /// Passes a comma, or the closing bracket; whether it was a comma.
  @inlinable mutating func passesComma(or bracket: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    guard current == UInt8(ascii: ",") else {
      guard passes(bracket) else { throw .malformed(offset: position) }
      return false
    }
    position += 1
    skipSpace()
    return true
  }

  /// Passes a key with its colon.
  @inlinable package mutating func key() throws(JSONError) -> JSONText {
    guard isAtString else { throw .malformed(offset: position) }
    let key = try text()
    skipSpace()
    try expect(UInt8(ascii: ":"))
    skipSpace()
    return key
  }

  /// Reads an object, calling `body` for each key with the reader at its value, which `body` must
  /// read or skip.
  @inlinable package mutating func object(
    _ body: (JSONText, inout JSONReader) throws(JSONError) -> Void
  ) throws(JSONError) {
    guard try beginObject() else { return }
    repeat { try body(try key(), &self) } while try nextField()
  }

  /// Begins an object; whether a field follows. Then come as many calls of ``nextField()`` as return
  /// true, each with a key, and a value read or skipped, before it.
  @inlinable package mutating func beginObject() throws(JSONError) -> Bool {
    try open(UInt8(ascii: "{"), "an object")
    return !passes(UInt8(ascii: "}"))
  }

  /// Whether another field follows, or the object is over.
  @inlinable package mutating func nextField() throws(JSONError) -> Bool {
    try passesComma(or: UInt8(ascii: "}"))
  }

  /// Begins an array; whether an element follows. To be followed by as many calls of
  /// ``nextElement()`` as return true, each with an element read or skipped before it.
  @inlinable package mutating func beginArray() throws(JSONError) -> Bool {
    try open(UInt8(ascii: "["), "an array")
    return !passes(UInt8(ascii: "]"))
  }

  /// Whether another element follows, or the array is over.
  @inlinable package mutating func nextElement() throws(JSONError) -> Bool {
    try passesComma(or: UInt8(ascii: "]"))
  }

  /// Reads an array, calling `body` for each element, which it must read or skip.
  @inlinable package mutating func array(
    _ body: (inout JSONReader) throws(JSONError) -> Void
  ) throws(JSONError) {
    guard try beginArray() else { return }
    repeat { try body(&self) } while try nextElement()
  }

  /// Passes any value, checking it, and returns where it stands.
  ///
  /// Nested values cost no stack.
  @discardableResult
  @usableFromInline package mutating func skipValue() throws(JSONError) -> Range<Int> {
    skipSpace()
    let start = position
    let outside = depth
    // One bit for each open object or array, the innermost last: 1 is an object.
    var open: UInt64 = 0
    value: repeat {
      switch current {
      case UInt8(ascii: "{"):
        try self.open(UInt8(ascii: "{"), "an object")
        if !passes(UInt8(ascii: "}")) {
          open = open << 1 | 1
          _ = try key()
          continue value
        }
      case UInt8(ascii: "["):
        if try beginArray() {
          open <<= 1
          continue value
        }
      case UInt8(ascii: "\""): _ = try text()
      case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try boolean()
      case UInt8(ascii: "n"): _ = try isNull()
      default: try skipNumber()
      }
      // A value has ended, and perhaps what it stood in.
      while depth > outside {
        if open & 1 == 1 {
          if try passesComma(or: UInt8(ascii: "}")) {
            _ = try key()
            continue value
          }
        } else if try nextElement() {
          continue value
        }
        open >>= 1
      }
    } while depth > outside
    return start..<position
  }

  /// Copies any value, checking it. It may nest `JSONValue.depthMax` deep.
  @usableFromInline package mutating func value() throws(JSONError) -> JSONValue {
    let outside = depth
    depth = max(depth, Self.depthMax - JSONValue.depthMax)
    let range = try skipValue()
    depth = outside
    return JSONValue(trusted: Array(bytes[range]))
  }

  // MARK: Numbers and words

  /// Reads an integer that a double holds exactly.
  @inlinable package mutating func integer() throws(JSONError) -> Int { try integer(as: Int.self) }

  /// Reads an integer that a double and the type hold exactly: counting 53 bits in an `Int` traps
  /// where that has 32.
  @inlinable package mutating func integer<Number: FixedWidthInteger>(
    as type: Number.Type
  ) throws(JSONError) -> Number {
    skipSpace()
    let start = position
    guard let first = current, first == UInt8(ascii: "-") || isDigit(first) else {
      throw mismatch("an integer")
    }
    let isNegative = first == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let digits = position
    var value: Int64 = 0
    while let byte = current, isDigit(byte) {
      value = value &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
      guard value <= 1 << 53 else { throw .wrongType(expected: "an integer", offset: start) }
      position += 1
    }
    guard position > digits, bytes[digits] != UInt8(ascii: "0") || position == digits + 1 else {
      throw .malformed(offset: digits)
    }
    if let byte = current, byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e") {
      throw .wrongType(expected: "an integer", offset: start)
    }
    guard let number = Number(exactly: isNegative ? -value : value) else {
      // Put together from a number, the text would bring half of what strings can do into browsers.
      throw .wrongType(
        expected: Number.bitWidth == 32 ? "an integer of 32 bits" : "an integer of 64 bits",
        offset: start)
    }
    return number
  }

  @inlinable func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private mutating func skipNumber() throws(JSONError) {
    let start = position
    if current == UInt8(ascii: "-") { position += 1 }
    let digits = position
    passDigits()
    guard position > digits, bytes[digits] != UInt8(ascii: "0") || position == digits + 1 else {
      throw .malformed(offset: start)
    }
    if current == UInt8(ascii: ".") {
      position += 1
      let fraction = position
      passDigits()
      guard position > fraction else { throw .malformed(offset: position) }
    }
    if let byte = current, byte | 0x20 == UInt8(ascii: "e") {
      position += 1
      if let sign = current, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
        position += 1
      }
      let exponent = position
      passDigits()
      guard position > exponent else { throw .malformed(offset: position) }
    }
  }

  private mutating func passDigits() {
    while let byte = current, isDigit(byte) { position += 1 }
  }

  @inlinable package mutating func boolean() throws(JSONError) -> Bool {
    skipSpace()
    switch current {
    case UInt8(ascii: "t"):
      try word("true")
      return true
    case UInt8(ascii: "f"):
      try word("false")
      return false
    default: throw mismatch("true or false")
    }
  }

  /// Reads `null` if it stands here.
  @inlinable package mutating func isNull() throws(JSONError) -> Bool {
    skipSpace()
    guard current == UInt8(ascii: "n") else { return false }
    try word("null")
    return true
  }

  @usableFromInline mutating func word(_ word: StaticString) throws(JSONError) {
    for index in 0..<word.utf8CodeUnitCount {
      try expect(word.utf8Start[index])
    }
  }

  // MARK: Strings

  /// Whether a string stands here.
  @inlinable package var isAtString: Bool { current == UInt8(ascii: "\"") }

  /// Reads a string.
  @inlinable package mutating func string() throws(JSONError) -> String { try text().string }

  /// Reads a string without copying it.
  @usableFromInline package mutating func text() throws(JSONError) -> JSONText {
    skipSpace()
    guard isAtString else { throw mismatch("a string") }
    position += 1
    let start = position
    var hasEscapes = false
    while true {
      passPlainText()
      guard let byte = current else { throw .malformed(offset: position) }
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return JSONText(
          content: UnsafeBufferPointer(rebasing: bytes[start..<(position - 1)]),
          hasEscapes: hasEscapes)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try passEscape()
      case ..<0x20: throw .malformed(offset: position)
      case ..<0x80: position += 1
      default:
        // Scripts other than Latin come in runs.
        var first = byte
        repeat {
          try passScalar(first)
          first = current ?? 0
        } while first >= 0x80
      }
    }
  }

  /// Passes ASCII that means itself, eight bytes at a time.
  private mutating func passPlainText() {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highBits: UInt64 = 0x8080_8080_8080_8080
    while end - position >= 8 {
      let word = UInt64(
        littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(
          fromByteOffset: position, as: UInt64.self))
      let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
      let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
      // A byte below `n` borrows into its high bit when `n` is taken from it. A borrow also runs
      // into the bytes above, so only the lowest bit that is set can be trusted.
      let controls = word &- ones &* 0x20
      let special = ((quotes &- ones) | (backslashes &- ones) | controls | word) & highBits
      guard special == 0 else {
        position += special.trailingZeroBitCount / 8
        return
      }
      position += 8
    }
  }

  /// Passes a scalar of two to four bytes.
  private mutating func passScalar(_ first: UInt8) throws(JSONError) {
    var low: UInt8 = 0x80
    var high: UInt8 = 0xbf
    let length: Int
    switch first {
    case 0xc2...0xdf: length = 2
    case 0xe0: (length, low) = (3, 0xa0)
    case 0xed: (length, high) = (3, 0x9f)
    case 0xe1...0xef: length = 3
    case 0xf0: (length, low) = (4, 0x90)
    case 0xf4: (length, high) = (4, 0x8f)
    case 0xf1...0xf3: length = 4
    default: throw .malformed(offset: position)
    }
    guard position + length <= end, (low...high).contains(bytes[position + 1]) else {
      throw .malformed(offset: position)
    }
    for index in 2..<max(2, length) where bytes[position + index] & 0xc0 != 0x80 {
      throw .malformed(offset: position)
    }
    position += length
  }

  private mutating func passEscape() throws(JSONError) {
    position += 1
    guard let byte = current else { throw .malformed(offset: position) }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      break
    case UInt8(ascii: "u"):
      let unit = try hexadecimal()
      guard unit & 0xf800 == 0xd800 else { return }
      // A high surrogate wants its low half right behind it.
      guard unit < 0xdc00 else { throw .malformed(offset: position) }
      try expect(UInt8(ascii: "\\"))
      try expect(UInt8(ascii: "u"))
      guard try hexadecimal() & 0xfc00 == 0xdc00 else { throw .malformed(offset: position) }
    default: throw .malformed(offset: position - 1)
    }
  }

  private mutating func hexadecimal() throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Self.hexadecimalDigit(byte) else {
        throw .malformed(offset: position)
      }
      value = value << 4 | digit
      position += 1
    }
    return value
  }

  static func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}
