/// A reader of JSON that works directly on the received bytes, in one pass.
///
/// It is total: any input results in a value or a `JSONError`. Strings are checked as UTF-8 (RFC
/// 3629) and must not contain half a surrogate pair. A caller can read only integers of at most 53
/// bits, and skip or copy other numbers. A repeated key is passed each time. It allocates only the
/// strings and lists that a caller requests.
///
/// Other modules call it for each field, so short functions and those with closures are
/// `@inlinable`.
@usableFromInline package struct JSONReader {
  /// Maximum nesting; deeper JSON is refused.
  @usableFromInline package static let depthMax = 32

  @usableFromInline let bytes: UnsafeBufferPointer<UInt8>
  @usableFromInline var position: Int
  @usableFromInline let end: Int
  @usableFromInline var depth = 0
  /// The values that ``skipValue()`` and ``countValue()`` may still count.
  @usableFromInline var valuesLeft = Int.max
  @usableFromInline var valuesMax = Int.max

  /// The offset of the next byte.
  @inlinable package var offset: Int { position }

  /// Creates a reader of a range of the bytes, or of all of them.
  @inlinable package init(_ bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>? = nil) {
    self.bytes = bytes
    position = range?.lowerBound ?? 0
    end = range?.upperBound ?? bytes.count
  }

  /// Limits the values that are skipped, copied or counted from here on: each number, word, string,
  /// object and array.
  ///
  /// Beyond the limit, reading throws `tooManyValues`.
  @inlinable package mutating func limitValues(to valuesMax: Int) {
    self.valuesMax = valuesMax
    valuesLeft = valuesMax
  }

  /// Limits nesting to that of a ``JSONValue``.
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

  /// Throws unless only white space is left.
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

  /// Skips a closing bracket if it is the next byte. Returns whether it was.
  @inlinable mutating func skipIfNext(_ bracket: UInt8) -> Bool {
    guard current == bracket else { return false }
    position += 1
    depth -= 1
    return true
  }

  /// Skips a comma or the closing bracket. Returns whether it was a comma.
  @inlinable mutating func skipComma(or bracket: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    guard current == UInt8(ascii: ",") else {
      guard skipIfNext(bracket) else { throw .malformed(offset: position) }
      return false
    }
    position += 1
    skipSpace()
    return true
  }

  /// Reads a key and its colon.
  @inlinable package mutating func key() throws(JSONError) -> JSONText {
    guard isAtString else { throw .malformed(offset: position) }
    let key = try text()
    skipSpace()
    try expect(UInt8(ascii: ":"))
    skipSpace()
    return key
  }

  /// Reads an object. Calls `body` for each key with the reader at its value, which `body` must
  /// read or skip.
  @inlinable package mutating func object(
    _ body: (JSONText, inout JSONReader) throws(JSONError) -> Void
  ) throws(JSONError) {
    guard try beginObject() else { return }
    repeat { try body(try key(), &self) } while try nextField()
  }

  /// Starts an object. Returns whether it has a field. Then read a key, and read or skip its value,
  /// and call ``nextField()``; repeat while it returns `true`.
  @inlinable package mutating func beginObject() throws(JSONError) -> Bool {
    try open(UInt8(ascii: "{"), "an object")
    return !skipIfNext(UInt8(ascii: "}"))
  }

  /// Returns whether another field follows; otherwise the object has ended.
  @inlinable package mutating func nextField() throws(JSONError) -> Bool {
    try skipComma(or: UInt8(ascii: "}"))
  }

  /// Returns whether the next value, after white space, is an array.
  @inlinable package mutating func isAtArray() -> Bool {
    skipSpace()
    return current == UInt8(ascii: "[")
  }

  /// Returns whether the next value, after white space, is an object.
  @inlinable package mutating func isAtObject() -> Bool {
    skipSpace()
    return current == UInt8(ascii: "{")
  }

  /// Starts an array. Returns whether it has an element. Then read or skip the element, and call
  /// ``nextElement()``; repeat while it returns `true`.
  @inlinable package mutating func beginArray() throws(JSONError) -> Bool {
    try open(UInt8(ascii: "["), "an array")
    return !skipIfNext(UInt8(ascii: "]"))
  }

  /// Returns whether another element follows; otherwise the array has ended.
  @inlinable package mutating func nextElement() throws(JSONError) -> Bool {
    try skipComma(or: UInt8(ascii: "]"))
  }

  /// Reads an array. Calls `body` for each element, which it must read or skip.
  @inlinable package mutating func array(
    _ body: (inout JSONReader) throws(JSONError) -> Void
  ) throws(JSONError) {
    guard try beginArray() else { return }
    repeat { try body(&self) } while try nextElement()
  }

  /// Skips a value of any type, checking it, and returns its range.
  ///
  /// It is not recursive: nested values use no stack.
  @discardableResult
  @usableFromInline package mutating func skipValue() throws(JSONError) -> Range<Int> {
    skipSpace()
    let start = position
    let outside = depth
    // One bit for each open object or array, the innermost lowest: 1 is an object.
    var open: UInt64 = 0
    value: repeat {
      try countValue()
      switch current {
      case UInt8(ascii: "{"):
        try self.open(UInt8(ascii: "{"), "an object")
        if !skipIfNext(UInt8(ascii: "}")) {
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
      case UInt8(ascii: "n"): _ = try skipNull()
      default: try skipNumber()
      }
      // A value has ended, and possibly the values that contain it.
      while depth > outside {
        if open & 1 == 1 {
          if try skipComma(or: UInt8(ascii: "}")) {
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

  /// Returns a copy of a skipped value.
  package func value(at range: Range<Int>) -> JSONValue { JSONValue(trusted: Array(bytes[range])) }

  /// Copies a value of any type, checking it. Its maximum nesting is `JSONValue.depthMax`.
  @usableFromInline package mutating func value() throws(JSONError) -> JSONValue {
    let outside = depth
    limitNesting()
    let range = try skipValue()
    depth = outside
    return value(at: range)
  }

  // MARK: Numbers and words

  /// Reads an integer that a double represents exactly.
  @inlinable package mutating func integer() throws(JSONError) -> Int { try integer(as: Int.self) }

  /// Reads an integer that a double and the given type represent exactly. It counts in an `Int64`,
  /// because 53 bits would overflow a 32-bit `Int`.
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
      // Literals, because string interpolation would add much of String's code to the WebAssembly.
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

  /// Skips `null` if it is the next value. Returns whether it was.
  @inlinable package mutating func skipNull() throws(JSONError) -> Bool {
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
    // A local variable: `position` would be written to memory and read again for each escape.
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
        // Characters beyond ASCII usually come in runs.
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

  /// Returns the end of a run of ASCII without escapes, comparing eight bytes at a time; the last
  /// few bytes are left to the caller.
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
      // Subtracting `n` sets the high bit of a byte below `n`. A borrow also affects higher bytes,
      // so only the lowest set bit is exact.
      let controls = word &- ones &* 0x20
      let special = ((quotes &- ones) | (backslashes &- ones) | controls | word) & highBits
      guard special == 0 else { return place + special.trailingZeroBitCount / 8 }
      place += 8
    }
    return place
  }

  #if !hasFeature(Embedded)
    /// Returns the end of a run of scalars of equal width, comparing eight bytes at a time; rarer
    /// scalars and the last few bytes are left to the caller.
    private func runEnd(from start: Int) -> Int {
      var place = start
      while end - place >= 8 {
        let word = UInt64(
          littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(
            fromByteOffset: place, as: UInt64.self))
        if word & 0xc0e0_c0e0_c0e0_c0e0 == 0x80c0_80c0_80c0_80c0 {
          // Four scalars of two bytes. A first byte with no bit set but its lowest is overlong.
          let bits = word & 0x001e_001e_001e_001e
          guard (bits &+ 0x00ff_00ff_00ff_00ff) & 0x0100_0100_0100_0100 == 0x0100_0100_0100_0100
          else { return place }
          place += 8
        } else if word & 0xc0c0_f0c0_c0f0 == 0x8080_e080_80e0 {
          // Two scalars of three bytes, neither overlong nor a surrogate.
          let first = UInt8(truncatingIfNeeded: word)
          let second = UInt8(truncatingIfNeeded: word >> 24)
          guard first != 0xe0, first != 0xed, second != 0xe0, second != 0xed else { return place }
          place += 6
        } else if word & 0xc0c0_c0ff_c0c0_c0ff == 0x8080_80f0_8080_80f0 {
          // Two scalars of four bytes below U+40000, neither overlong.
          guard word & 0x3000 != 0, word & 0x3000_0000_0000 != 0 else { return place }
          place += 8
        } else {
          return place
        }
      }
      return place
    }
  #endif

  /// Returns the end of a scalar of two to four bytes.
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

  /// Returns the end of an escape; for a surrogate pair, the end of both halves.
  private func escapeEnd(from place: Int) throws(JSONError) -> Int {
    guard place + 1 < end else { throw .malformed(offset: place + 1) }
    switch bytes[place + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return place + 2
    case UInt8(ascii: "u"):
      let unit = try hexadecimal(at: place + 2)
      guard unit & 0xf800 == 0xd800 else { return place + 6 }
      // A high surrogate must be followed directly by its low half.
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

  /// Returns the value of four hexadecimal digits.
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
