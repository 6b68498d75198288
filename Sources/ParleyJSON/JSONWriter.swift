/// A writer that appends JSON to a buffer.
@usableFromInline package enum JSONWriter {
  /// An object being written, with its fields in the order of the calls.
  @usableFromInline package struct Object {
    /// Whether no field was written yet.
    @usableFromInline package var isFirst = true

    @inlinable init() {}

    @inlinable package mutating func key(_ name: StaticString, _ buffer: inout [UInt8]) {
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      buffer.append(UInt8(ascii: "\""))
      name.withUTF8Buffer { buffer.append(contentsOf: $0) }
      buffer.append(UInt8(ascii: "\""))
      buffer.append(UInt8(ascii: ":"))
    }

    /// Writes a name that is determined at run time.
    @inlinable package mutating func key(named name: String, _ buffer: inout [UInt8]) {
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      JSONWriter.string(name, &buffer)
      buffer.append(UInt8(ascii: ":"))
    }

    /// Writes a name as received, with its escapes.
    package mutating func key(asRead name: JSONText, _ buffer: inout [UInt8]) {
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      buffer.append(UInt8(ascii: "\""))
      buffer.append(contentsOf: name.content)
      buffer.append(UInt8(ascii: "\""))
      buffer.append(UInt8(ascii: ":"))
    }

    @inlinable package mutating func field(
      _ name: StaticString, _ value: String?, _ buffer: inout [UInt8]
    ) {
      guard let value else { return }
      key(name, &buffer)
      JSONWriter.string(value, &buffer)
    }

    @inlinable package mutating func field(
      _ name: StaticString, _ value: (some BinaryInteger)?, _ buffer: inout [UInt8]
    ) {
      guard let value else { return }
      key(name, &buffer)
      JSONWriter.integer(Int64(value), &buffer)
    }

    @inlinable package mutating func field(
      _ name: StaticString, _ value: JSONValue?, _ buffer: inout [UInt8]
    ) {
      guard let value else { return }
      key(name, &buffer)
      buffer.append(contentsOf: value.utf8)
    }

    @inlinable package mutating func field(
      _ name: StaticString, _ value: Bool, _ buffer: inout [UInt8]
    ) {
      key(name, &buffer)
      JSONWriter.raw(value ? "true" : "false", &buffer)
    }
  }

  /// Returns an object as bytes.
  @inlinable package static func object(
    _ write: (inout Object, inout [UInt8]) -> Void
  ) -> [UInt8] {
    bytes { object(&$0, write) }
  }

  /// Returns the bytes that a closure appends.
  @inlinable package static func bytes(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
    var bytes: [UInt8] = []
    write(&bytes)
    return bytes
  }

  @inlinable package static func object(
    _ buffer: inout [UInt8], _ body: (inout Object, inout [UInt8]) -> Void
  ) {
    buffer.append(UInt8(ascii: "{"))
    var object = Object()
    body(&object, &buffer)
    buffer.append(UInt8(ascii: "}"))
  }

  @inlinable package static func array<Elements: Sequence>(
    _ elements: Elements, _ buffer: inout [UInt8],
    _ body: (Elements.Element, inout [UInt8]) -> Void
  ) {
    buffer.append(UInt8(ascii: "["))
    var isFirst = true
    for element in elements {
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      body(element, &buffer)
    }
    buffer.append(UInt8(ascii: "]"))
  }

  @inlinable package static func raw(_ text: StaticString, _ buffer: inout [UInt8]) {
    text.withUTF8Buffer { buffer.append(contentsOf: $0) }
  }

  @inlinable package static func integer(_ value: Int, _ buffer: inout [UInt8]) {
    integer(Int64(value), &buffer)
  }

  @usableFromInline package static func integer(_ value: Int64, _ buffer: inout [UInt8]) {
    if value < 0 { buffer.append(UInt8(ascii: "-")) }
    // Fill the buffer from its end, because the last digit is computed first. There are at most 19.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var first = digits.count
      var rest = value.magnitude
      repeat {
        first -= 1
        digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      buffer.append(contentsOf: UnsafeBufferPointer(rebasing: digits[first...]))
    }
  }

  /// Writes a number of tenths with one decimal.
  @inlinable package static func tenths(_ value: Int, _ buffer: inout [UInt8]) {
    if value < 0 { buffer.append(UInt8(ascii: "-")) }
    let (whole, tenth) = value.magnitude.quotientAndRemainder(dividingBy: 10)
    integer(Int(whole), &buffer)
    buffer.append(UInt8(ascii: "."))
    buffer.append(UInt8(ascii: "0") + UInt8(tenth))
  }

  @inlinable package static func string(_ text: String, _ buffer: inout [UInt8]) {
    var text = text
    text.withUTF8 { string($0, &buffer) }
  }

  @inlinable package static func string(_ text: UnsafeBufferPointer<UInt8>, _ buffer: inout [UInt8])
  {
    buffer.append(UInt8(ascii: "\""))
    escaped(text, &buffer)
    buffer.append(UInt8(ascii: "\""))
  }

  /// Writes a part of a string, without quotes.
  ///
  /// - Complexity: O(*n*), at nearly the same cost for each byte, with or without escapes.
  @usableFromInline package static func escaped(
    _ text: UnsafeBufferPointer<UInt8>, _ buffer: inout [UInt8]
  ) {
    var from = 0
    while from < text.count {
      let end = min(from + pieceBytes, text.count)
      let piece = UnsafeBufferPointer(rebasing: text[from..<end])
      from = end
      if hasEscapes(piece) {
        escape(piece, &buffer)
      } else {
        buffer.append(contentsOf: piece)
      }
    }
  }

  /// Returns the maximum number of bytes that a part of a string takes when written.
  package static func escapedCountMax(of text: UnsafeBufferPointer<UInt8>) -> Int {
    var controls = 0
    var marks = 0
    for byte in text {
      controls &+= byte < 0x20 ? 1 : 0
      marks &+= byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 1 : 0
    }
    return text.count + 5 * controls + marks
  }

  /// The number of bytes escaped together, so that the result fits on the stack.
  private static let pieceBytes = 160

  /// Whether a byte must be escaped. Checks all bytes, which takes a few instructions for 16.
  private static func hasEscapes(_ piece: UnsafeBufferPointer<UInt8>) -> Bool {
    var found: UInt8 = 0
    for byte in piece {
      found |=
        (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0)
        | (byte == UInt8(ascii: "\\") ? 1 : 0)
    }
    return found != 0
  }

  /// Appends a piece with escapes.
  private static func escape(_ piece: UnsafeBufferPointer<UInt8>, _ buffer: inout [UInt8]) {
    // Two extra bytes, because each escape is stored as eight bytes, of which six count.
    withUnsafeTemporaryAllocation(byteCount: 6 * pieceBytes + 2, alignment: 1) { room in
      var count = 0
      for byte in piece {
        if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
          room[count] = byte
          count += 1
        } else {
          let escape = escape(of: byte)
          room.storeBytes(of: escape.bytes.littleEndian, toByteOffset: count, as: UInt64.self)
          count += escape.count
        }
      }
      buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<count]))
    }
  }

  /// Returns the escape of a byte that must be escaped, with the first byte lowest.
  private static func escape(of byte: UInt8) -> (bytes: UInt64, count: Int) {
    func short(_ letter: UInt8) -> (bytes: UInt64, count: Int) {
      (UInt64(UInt8(ascii: "\\")) | UInt64(letter) << 8, 2)
    }
    switch byte {
    case 0x0a: return short(UInt8(ascii: "n"))
    case 0x0d: return short(UInt8(ascii: "r"))
    case 0x09: return short(UInt8(ascii: "t"))
    case ..<0x20:
      // `\u00` and two digits.
      return (
        0x3030_755c | UInt64(hexDigit(byte >> 4)) << 32 | UInt64(hexDigit(byte & 15)) << 40, 6
      )
    default: return short(byte)
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
