/// The JSON form: `[1,"tag",-2]` retains 1, inserts "tag", deletes 2.
extension TextOperation {
  /// Appends the JSON form as UTF-8. An operation without components becomes `[0]`.
  public func appendJSON(to buffer: inout [UInt8]) {
    buffer.append(UInt8(ascii: "["))
    var isFirst = true
    forEachPacked { kind, length, text in
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      switch kind {
      case .retain: Self.append(length, to: &buffer)
      case .delete:
        buffer.append(UInt8(ascii: "-"))
        Self.append(length, to: &buffer)
      case .insert: Self.appendString(text, to: &buffer)
      }
    }
    if isFirst { buffer.append(UInt8(ascii: "0")) }
    buffer.append(UInt8(ascii: "]"))
  }

  static func append(_ number: Int, to buffer: inout [UInt8]) {
    let start = buffer.count
    var rest = number
    repeat {
      buffer.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    buffer[start...].reverse()
  }

  static func appendString(
    _ text: UnsafeBufferPointer<UInt8>, to buffer: inout [UInt8]
  ) {
    #if !hasFeature(Embedded)
      // Otherwise a long text would be copied whenever the buffer grows.
      if text.count >= longTextBytes { buffer.reserveCapacity(buffer.count + text.count + 64) }
    #endif
    buffer.append(UInt8(ascii: "\""))
    var rest = text[...]
    while !rest.isEmpty {
      appendEscaped(UnsafeBufferPointer(rebasing: rest.prefix(pieceBytes)), to: &buffer)
      rest = rest.dropFirst(pieceBytes)
    }
    buffer.append(UInt8(ascii: "\""))
  }

  /// Minimum bytes of a text for which memory is reserved first.
  private static var longTextBytes: Int { 64 << 10 }
  /// The number of bytes that are escaped together.
  private static var pieceBytes: Int { 128 }
  /// Maximum bytes of an escaped byte.
  private static var escapeBytesMax: Int { 6 }

  /// Appends a piece with escapes. The cost for each byte hardly depends on the number of escapes.
  private static func appendEscaped(
    _ piece: UnsafeBufferPointer<UInt8>, to buffer: inout [UInt8]
  ) {
    var escapes: UInt8 = 0
    for byte in piece { escapes |= needsEscape(byte) ? 1 : 0 }
    if escapes == 0 { return buffer.append(contentsOf: piece) }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: piece.count * escapeBytesMax) { room in
      var count = 0
      func put(_ byte: UInt8) {
        room[count] = byte
        count += 1
      }
      for byte in piece {
        if needsEscape(byte) { put(UInt8(ascii: "\\")) }
        switch byte {
        case 0x0a: put(UInt8(ascii: "n"))
        case ..<0x20:
          put(UInt8(ascii: "u"))
          put(UInt8(ascii: "0"))
          put(UInt8(ascii: "0"))
          put(hexDigit(byte >> 4))
          put(hexDigit(byte & 15))
        default: put(byte)
        }
      }
      buffer.append(contentsOf: UnsafeBufferPointer(rebasing: room[..<count]))
    }
  }

  @inline(__always)
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// Reads the JSON form. `0` and `""` are components without effect.
  ///
  /// - Throws: `malformed`, `invalidUTF8` or `tooLong`, and no other error for any input.
  /// - Complexity: O(bytes), in one pass.
  public init(json bytes: UnsafeBufferPointer<UInt8>) throws(OperationError) {
    self = try Self.read(bytes).get()
  }

  /// Reads the JSON form, for callers that cannot throw.
  static func read(
    _ bytes: UnsafeBufferPointer<UInt8>
  ) -> Result<TextOperation, OperationError> {
    // A component takes at least two bytes, and an escape is never shorter than its text.
    Scratch.with(words: bytes.count / 2 + 1, text: bytes.count) { words, text in
      var reader = OperationJSONReader(bytes, words: words, text: text)
      return reader.read()
    }
  }
}
