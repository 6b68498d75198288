package import OTCore

/// Why bytes are not the message they should be. Never holds any of the sender's text.
package enum JSONError: Error, Sendable, Equatable {
  /// What stands at this offset is no JSON.
  case malformed(offset: Int)
  /// More objects and arrays are open at this offset than a message may have.
  case tooDeep(offset: Int)
  /// A field holds another type than expected.
  case wrongType(expected: String, offset: Int)
  /// The part of an operation at this offset makes it longer than an operation can be.
  case tooLong(offset: Int)
}

/// Reads JSON straight from the received bytes, front to back, once.
///
/// Total: any input gives a value or a `JSONError`. Strings are checked as UTF-8 (RFC 3629) and
/// may not hold half a surrogate pair; numbers are integers of 53 bits, since nothing on this wire
/// is anything else; of a key that comes twice the last one counts.
package struct JSONReader {
  /// Deeper nesting than this is refused, so that the stack is bounded.
  package static let depthMax = 32

  private let bytes: UnsafeBufferPointer<UInt8>
  package private(set) var offset: Int
  private let end: Int
  private var depth = 0

  package init(_ bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>? = nil) {
    self.bytes = bytes
    offset = range?.lowerBound ?? 0
    end = range?.upperBound ?? bytes.count
  }

  private var current: UInt8? { offset < end ? bytes[offset] : nil }

  package mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
      offset += 1
    }
  }

  private mutating func expect(_ byte: UInt8) throws(JSONError) {
    guard current == byte else { throw .malformed(offset: offset) }
    offset += 1
  }

  /// Only space may be left.
  package mutating func finish() throws(JSONError) {
    skipSpace()
    guard offset == end else { throw .malformed(offset: offset) }
  }

  // MARK: Values

  /// Reads an object, calling `body` for each key with the reader at its value, which `body` must
  /// read or skip.
  package mutating func object(
    _ body: (String, inout JSONReader) throws(JSONError) -> Void
  ) throws(JSONError) {
    skipSpace()
    guard current == UInt8(ascii: "{") else { throw mismatch("an object") }
    offset += 1
    try enter()
    skipSpace()
    if current == UInt8(ascii: "}") {
      offset += 1
    } else {
      while true {
        skipSpace()
        let key = try string()
        skipSpace()
        try expect(UInt8(ascii: ":"))
        skipSpace()
        try body(key, &self)
        skipSpace()
        if current == UInt8(ascii: ",") {
          offset += 1
          continue
        }
        try expect(UInt8(ascii: "}"))
        break
      }
    }
    depth -= 1
  }

  /// Reads an array, calling `body` for each element, which it must read or skip.
  package mutating func array(
    _ body: (inout JSONReader) throws(JSONError) -> Void
  ) throws(JSONError) {
    skipSpace()
    guard current == UInt8(ascii: "[") else { throw mismatch("an array") }
    offset += 1
    try enter()
    skipSpace()
    if current == UInt8(ascii: "]") {
      offset += 1
    } else {
      while true {
        skipSpace()
        try body(&self)
        skipSpace()
        if current == UInt8(ascii: ",") {
          offset += 1
          continue
        }
        try expect(UInt8(ascii: "]"))
        break
      }
    }
    depth -= 1
  }

  private mutating func enter() throws(JSONError) {
    depth += 1
    guard depth <= Self.depthMax else { throw .tooDeep(offset: offset - 1) }
  }

  private func mismatch(_ expected: String) -> JSONError {
    current == nil ? .malformed(offset: offset) : .wrongType(expected: expected, offset: offset)
  }

  /// Whether a string stands here.
  package var isAtString: Bool { current == UInt8(ascii: "\"") }

  /// Reads an integer that a double holds exactly.
  package mutating func integer() throws(JSONError) -> Int {
    skipSpace()
    let start = offset
    guard let first = current, first == UInt8(ascii: "-") || isDigit(first) else {
      throw mismatch("an integer")
    }
    let isNegative = first == UInt8(ascii: "-")
    if isNegative { offset += 1 }
    let digits = offset
    var value = 0
    while let byte = current, isDigit(byte) {
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
      guard value <= 1 << 53 else { throw .wrongType(expected: "an integer", offset: start) }
      offset += 1
    }
    guard offset > digits, bytes[digits] != UInt8(ascii: "0") || offset == digits + 1 else {
      throw .malformed(offset: digits)
    }
    if let byte = current, byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e") {
      throw .wrongType(expected: "an integer", offset: start)
    }
    return isNegative ? -value : value
  }

  private func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  package mutating func boolean() throws(JSONError) -> Bool {
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
  package mutating func isNull() throws(JSONError) -> Bool {
    skipSpace()
    guard current == UInt8(ascii: "n") else { return false }
    try word("null")
    return true
  }

  private mutating func word(_ word: StaticString) throws(JSONError) {
    for index in 0..<word.utf8CodeUnitCount {
      try expect(word.utf8Start[index])
    }
  }

  /// Reads a string.
  package mutating func string() throws(JSONError) -> String {
    let (content, hasEscapes) = try rawString()
    guard hasEscapes else {
      return String(decoding: UnsafeBufferPointer(rebasing: bytes[content]), as: UTF8.self)
    }
    var text: [UInt8] = []
    text.reserveCapacity(content.count)
    try unescape(content) { text.append($0) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads a string into an operation's text.
  package mutating func insertion(into operation: inout TextOperation) throws(JSONError) {
    let start = offset
    let (content, hasEscapes) = try rawString()
    // Bytes bound scalars from above, so this never lets too much in.
    guard content.count <= TextOperation.lengthMax - operation.targetLength else {
      throw .tooLong(offset: start)
    }
    if hasEscapes {
      var text: [UInt8] = []
      text.reserveCapacity(content.count)
      try unescape(content) { text.append($0) }
      text.withUnsafeBufferPointer { try? operation.insert(utf8: $0) }
    } else {
      try? operation.insert(utf8: UnsafeBufferPointer(rebasing: bytes[content]))
    }
  }

  /// Passes a string, checking it; returns what stands between its quotes.
  private mutating func rawString() throws(JSONError) -> (Range<Int>, hasEscapes: Bool) {
    skipSpace()
    guard current == UInt8(ascii: "\"") else { throw mismatch("a string") }
    offset += 1
    let start = offset
    var hasEscapes = false
    while true {
      guard let byte = current else { throw .malformed(offset: offset) }
      switch byte {
      case UInt8(ascii: "\""):
        offset += 1
        return (start..<(offset - 1), hasEscapes)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try passEscape()
      case ..<0x20: throw .malformed(offset: offset)
      case ..<0x80: offset += 1
      default: try passScalar(byte)
      }
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
    default: throw .malformed(offset: offset)
    }
    guard offset + length <= end, (low...high).contains(bytes[offset + 1]) else {
      throw .malformed(offset: offset)
    }
    for index in 2..<max(2, length) where bytes[offset + index] & 0xc0 != 0x80 {
      throw .malformed(offset: offset)
    }
    offset += length
  }

  private mutating func passEscape() throws(JSONError) {
    offset += 1
    guard let byte = current else { throw .malformed(offset: offset) }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      break
    case UInt8(ascii: "u"):
      let unit = try hexadecimal()
      guard unit & 0xf800 == 0xd800 else { return }
      // A high surrogate wants its low half right behind it.
      guard unit < 0xdc00 else { throw .malformed(offset: offset) }
      try expect(UInt8(ascii: "\\"))
      try expect(UInt8(ascii: "u"))
      guard try hexadecimal() & 0xfc00 == 0xdc00 else { throw .malformed(offset: offset) }
    default: throw .malformed(offset: offset - 1)
    }
  }

  private mutating func hexadecimal() throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Self.hexDigit(byte) else {
        throw .malformed(offset: offset)
      }
      value = value << 4 | digit
      offset += 1
    }
    return value
  }

  private static func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  /// Gives out the UTF-8 of a string's content, which was checked before.
  private func unescape(_ content: Range<Int>, _ emit: (UInt8) -> Void) throws(JSONError) {
    var reader = JSONReader(bytes, range: content)
    while let byte = reader.current {
      reader.offset += 1
      guard byte == UInt8(ascii: "\\") else {
        emit(byte)
        continue
      }
      guard let escape = reader.current else { throw .malformed(offset: reader.offset) }
      reader.offset += 1
      switch escape {
      case UInt8(ascii: "b"): emit(0x08)
      case UInt8(ascii: "f"): emit(0x0c)
      case UInt8(ascii: "n"): emit(0x0a)
      case UInt8(ascii: "r"): emit(0x0d)
      case UInt8(ascii: "t"): emit(0x09)
      case UInt8(ascii: "u"):
        var value = try reader.hexadecimal()
        if value & 0xfc00 == 0xd800 {
          reader.offset += 2
          value = 0x10000 + (value - 0xd800) << 10 + (try reader.hexadecimal() - 0xdc00)
        }
        guard let scalar = Unicode.Scalar(value) else {
          throw .malformed(offset: reader.offset)
        }
        for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { emit(unit) }
      default: emit(escape)
      }
    }
  }

  /// Passes any value, checking it, and returns where it stands.
  @discardableResult
  package mutating func skipValue() throws(JSONError) -> Range<Int> {
    skipSpace()
    let start = offset
    switch current {
    case UInt8(ascii: "{"): try object { _, reader throws(JSONError) in try reader.skipValue() }
    case UInt8(ascii: "["): try array { reader throws(JSONError) in try reader.skipValue() }
    case UInt8(ascii: "\""): _ = try rawString()
    case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try boolean()
    case UInt8(ascii: "n"): _ = try isNull()
    default: try skipNumber()
    }
    return start..<offset
  }

  private mutating func skipNumber() throws(JSONError) {
    let start = offset
    if current == UInt8(ascii: "-") { offset += 1 }
    let digits = offset
    passDigits()
    guard offset > digits, bytes[digits] != UInt8(ascii: "0") || offset == digits + 1 else {
      throw .malformed(offset: start)
    }
    if current == UInt8(ascii: ".") {
      offset += 1
      let fraction = offset
      passDigits()
      guard offset > fraction else { throw .malformed(offset: offset) }
    }
    if let byte = current, byte | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if let sign = current, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { offset += 1 }
      let exponent = offset
      passDigits()
      guard offset > exponent else { throw .malformed(offset: offset) }
    }
  }

  private mutating func passDigits() {
    while let byte = current, isDigit(byte) { offset += 1 }
  }
}
