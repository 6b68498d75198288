/// Writes JSON by appending to a buffer.
@usableFromInline package enum JSONWriter {
  /// An object being written; its fields are in the order of the calls.
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

    /// Writes a name that is not known before the program runs.
    @inlinable package mutating func key(named name: String, _ buffer: inout [UInt8]) {
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      JSONWriter.string(name, &buffer)
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
      _ name: StaticString, _ value: Int?, _ buffer: inout [UInt8]
    ) {
      guard let value else { return }
      key(name, &buffer)
      JSONWriter.integer(value, &buffer)
    }

    /// Writes milliseconds since 1970.
    @inlinable package mutating func field(
      _ name: StaticString, _ value: Int64?, _ buffer: inout [UInt8]
    ) {
      guard let value else { return }
      key(name, &buffer)
      JSONWriter.integer(value, &buffer)
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
    // The last digit comes first, so they are put down from behind. There are 19 at most.
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

  /// A number with one digit behind the point.
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

  /// Writes a part of a string: what stands between the quotes.
  @usableFromInline package static func escaped(
    _ text: UnsafeBufferPointer<UInt8>, _ buffer: inout [UInt8]
  ) {
    var plainFrom = 0
    for index in text.indices {
      let byte = text[index]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
        continue
      }
      buffer.append(contentsOf: text[plainFrom..<index])
      plainFrom = index + 1
      buffer.append(UInt8(ascii: "\\"))
      switch byte {
      case 0x0a: buffer.append(UInt8(ascii: "n"))
      case 0x0d: buffer.append(UInt8(ascii: "r"))
      case 0x09: buffer.append(UInt8(ascii: "t"))
      case ..<0x20:
        raw("u00", &buffer)
        buffer.append(hexDigit(byte >> 4))
        buffer.append(hexDigit(byte & 15))
      default: buffer.append(byte)
      }
    }
    buffer.append(contentsOf: text[plainFrom...])
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
