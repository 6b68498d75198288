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
  /// Values that ``skipValue()`` and ``countValue()`` may still pass.
  @usableFromInline var valuesLeft = Int.max
  @usableFromInline var valuesMax = Int.max

  /// The offset of the byte to be read next.
  @inlinable package var offset: Int { position }

  /// Reads a range of the bytes, or all of them.
  @inlinable package init(_ bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>? = nil) {
    self.bytes = bytes
    position = range?.lowerBound ?? 0
    end = range?.upperBound ?? bytes.count
  }

  /// Limits the values that are passed, kept or counted from here on: each number, word, string, object and array.
  ///
  /// Reading ends with `tooManyValues` at the first one beyond.
  @inlinable package mutating func limitValues(to valuesMax: Int) {
    self.valuesMax = valuesMax
    valuesLeft = valuesMax
  }

  /// Limits the objects and arrays that may be open at once to those of a ``JSONValue``.
  package mutating func limitNesting() { depth = max(depth, Self.depthMax - JSONValue.depthMax) }

  /// Counts a value towards the limit.
  @inlinable package mutating func countValue() throws(JSONError) {
    guard valuesLeft > 0 else { throw .tooManyValues(valuesMax: valuesMax) }
    valuesLeft -= 1
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

  /// Passes a closing bracket if the reader is at one.
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

  /// Whether the next value, after space, is an array.
  @inlinable package mutating func isAtArray() -> Bool {
    skipSpace()
    return current == UInt8(ascii: "[")
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

  /// Passes any value, checking it, and returns its range.
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
      try countValue()
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
      // A value has ended, and perhaps the value that contains it.
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

  /// A passed value, copied from the bytes.
  package func value(at range: Range<Int>) -> JSONValue { JSONValue(trusted: Array(bytes[range])) }

  /// Copies any value, checking it. It may nest `JSONValue.depthMax` deep.
  @usableFromInline package mutating func value() throws(JSONError) -> JSONValue {
    let outside = depth
    limitNesting()
    let range = try skipValue()
    depth = outside
    return value(at: range)
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
    let digits = current == UInt8(ascii: "-") ? start + 1 : start
    var place = digitsEnd(from: digits)
    guard place > digits, bytes[digits] != UInt8(ascii: "0") || place == digits + 1 else {
      throw .malformed(offset: start)
    }
    if place < end, bytes[place] == UInt8(ascii: ".") {
      let fraction = place + 1
      place = digitsEnd(from: fraction)
      guard place > fraction else { throw .malformed(offset: place) }
    }
    if place < end, bytes[place] | 0x20 == UInt8(ascii: "e") {
      place += 1
      if place < end, bytes[place] == UInt8(ascii: "+") || bytes[place] == UInt8(ascii: "-") {
        place += 1
      }
      let exponent = place
      place = digitsEnd(from: exponent)
      guard place > exponent else { throw .malformed(offset: place) }
    }
    position = place
  }

  private func digitsEnd(from start: Int) -> Int {
    var place = start
    while place < end, isDigit(bytes[place]) { place += 1 }
    return place
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

  /// Reads `null` if it is the next value.
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

  /// Whether the next value is a string.
  @inlinable package var isAtString: Bool { current == UInt8(ascii: "\"") }

  /// Reads a string.
  @inlinable package mutating func string() throws(JSONError) -> String { try text().string }

  /// Reads a string without copying it.
  @usableFromInline package mutating func text() throws(JSONError) -> JSONText {
    skipSpace()
    guard isAtString else { throw mismatch("a string") }
    let start = position + 1
    // Not `position`, which would be written to memory and read again for each escape.
    var place = start
    var hasEscapes = false
    while true {
      place = plainEnd(from: place)
      guard place < end else { throw .malformed(offset: place) }
      let byte = bytes[place]
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        repeat {
          place = try escapeEnd(from: place)
        } while place < end && bytes[place] == UInt8(ascii: "\\")
      } else if byte >= 0x80 {
        // Scripts other than Latin come in runs.
        repeat {
          #if !hasFeature(Embedded)
            place = runEnd(from: place)
            guard place < end, bytes[place] >= 0x80 else { break }
          #endif
          place = try scalarEnd(from: place)
        } while place < end && bytes[place] >= 0x80
      } else {
        guard byte >= 0x20 else { throw .malformed(offset: place) }
        place += 1
      }
    }
    position = place + 1
    return JSONText(
      content: UnsafeBufferPointer(rebasing: bytes[start..<place]), hasEscapes: hasEscapes)
  }

  /// The end of ASCII that means itself, looked at eight bytes at a time; the last few bytes are left out.
  private func plainEnd(from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highBits: UInt64 = 0x8080_8080_8080_8080
    var place = start
    while end - place >= 8 {
      let word = UInt64(
        littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(
          fromByteOffset: place, as: UInt64.self))
      let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
      let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
      // A byte below `n` borrows into its high bit when `n` is taken from it. A borrow also runs
      // into the bytes above, so only the lowest bit that is set can be trusted.
      let controls = word &- ones &* 0x20
      let special = ((quotes &- ones) | (backslashes &- ones) | controls | word) & highBits
      guard special == 0 else { return place + special.trailingZeroBitCount / 8 }
      place += 8
    }
    return place
  }

  #if !hasFeature(Embedded)
    /// The end of scalars of one width, looked at eight bytes at a time; what is rarer, and the last few bytes, are left
    /// out.
    private func runEnd(from start: Int) -> Int {
      var place = start
      while end - place >= 8 {
        let word = UInt64(
          littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(
            fromByteOffset: place, as: UInt64.self))
        if word & 0xc0e0_c0e0_c0e0_c0e0 == 0x80c0_80c0_80c0_80c0 {
          // Four of two bytes. Each first byte has another bit than its lowest, or it is too long for what it means.
          let bits = word & 0x001e_001e_001e_001e
          guard (bits &+ 0x00ff_00ff_00ff_00ff) & 0x0100_0100_0100_0100 == 0x0100_0100_0100_0100
          else { return place }
          place += 8
        } else if word & 0xc0c0_f0c0_c0f0 == 0x8080_e080_80e0 {
          // Two of three bytes, neither of which may be too long or half of a pair.
          let first = UInt8(truncatingIfNeeded: word)
          let second = UInt8(truncatingIfNeeded: word >> 24)
          guard first != 0xe0, first != 0xed, second != 0xe0, second != 0xed else { return place }
          place += 6
        } else if word & 0xc0c0_c0ff_c0c0_c0ff == 0x8080_80f0_8080_80f0 {
          // Two of four bytes below U+40000, neither of them too long.
          guard word & 0x3000 != 0, word & 0x3000_0000_0000 != 0 else { return place }
          place += 8
        } else {
          return place
        }
      }
      return place
    }
  #endif

  /// The end of a scalar of two to four bytes.
  private func scalarEnd(from place: Int) throws(JSONError) -> Int {
    let first = bytes[place]
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
    default: throw .malformed(offset: place)
    }
    guard place + length <= end, (low...high).contains(bytes[place + 1]) else {
      throw .malformed(offset: place)
    }
    if length > 2, bytes[place + 2] & 0xc0 != 0x80 { throw .malformed(offset: place) }
    if length > 3, bytes[place + 3] & 0xc0 != 0x80 { throw .malformed(offset: place) }
    return place + length
  }

  /// The end of an escape; of a surrogate pair, that of both its halves.
  private func escapeEnd(from place: Int) throws(JSONError) -> Int {
    guard place + 1 < end else { throw .malformed(offset: place + 1) }
    switch bytes[place + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return place + 2
    case UInt8(ascii: "u"):
      let unit = try hexadecimal(at: place + 2)
      guard unit & 0xf800 == 0xd800 else { return place + 6 }
      // A high surrogate wants its low half right behind it.
      let second = place + 6
      guard unit < 0xdc00, second < end, bytes[second] == UInt8(ascii: "\\") else {
        throw .malformed(offset: second)
      }
      guard second + 1 < end, bytes[second + 1] == UInt8(ascii: "u") else {
        throw .malformed(offset: second + 1)
      }
      guard try hexadecimal(at: second + 2) & 0xfc00 == 0xdc00 else {
        throw .malformed(offset: second + 6)
      }
      return second + 6
    default: throw .malformed(offset: place + 1)
    }
  }

  /// The number that four hexadecimal digits write.
  private func hexadecimal(at start: Int) throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for place in start..<start + 4 {
      guard place < end, JSONText.isHexadecimal(bytes[place]) else {
        throw .malformed(offset: place)
      }
      value = value << 4 | JSONText.hexadecimalValue(bytes[place])
    }
    return value
  }
}
