/// The JSON form: `[1,"tag",-2]` retains 1, inserts "tag", deletes 2.
extension TextOperation {
  /// Appends the JSON form as UTF-8. An operation without components is written `[0]`.
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

  private static func append(_ number: Int, to buffer: inout [UInt8]) {
    let start = buffer.count
    var rest = number
    repeat {
      buffer.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    buffer[start...].reverse()
  }

  private static func appendString(
    _ text: UnsafeBufferPointer<UInt8>, to buffer: inout [UInt8]
  ) {
    buffer.append(UInt8(ascii: "\""))
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        buffer.append(UInt8(ascii: "\\"))
        buffer.append(byte)
      case 0x0a:
        buffer.append(UInt8(ascii: "\\"))
        buffer.append(UInt8(ascii: "n"))
      case ..<0x20:
        for digit in [UInt8(ascii: "\\"), UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")] {
          buffer.append(digit)
        }
        buffer.append(hexDigit(byte >> 4))
        buffer.append(hexDigit(byte & 15))
      default: buffer.append(byte)
      }
    }
    buffer.append(UInt8(ascii: "\""))
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// Reads the JSON form. `0` and `""` are components that do nothing.
  ///
  /// - Throws: `malformed`, `invalidUTF8` or `tooLong`, never anything else for any input.
  public init(json bytes: UnsafeBufferPointer<UInt8>) throws(OperationError) {
    self.init()
    var reader = JSONOperationReader(bytes: bytes)
    try reader.read(into: &self)
    pack()
  }
}

private struct JSONOperationReader {
  let bytes: UnsafeBufferPointer<UInt8>
  var offset = 0
  private var text: [UInt8] = []

  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
      offset += 1
    }
  }

  private mutating func expect(_ byte: UInt8) throws(OperationError) {
    guard current == byte else { throw .malformed(offset: offset) }
    offset += 1
  }

  mutating func read(into operation: inout TextOperation) throws(OperationError) {
    skipSpace()
    try expect(UInt8(ascii: "["))
    skipSpace()
    if current == UInt8(ascii: "]") {
      offset += 1
    } else {
      while true {
        try readComponent(into: &operation)
        skipSpace()
        if current == UInt8(ascii: ",") {
          offset += 1
          skipSpace()
          continue
        }
        try expect(UInt8(ascii: "]"))
        break
      }
    }
    skipSpace()
    guard offset == bytes.count else { throw .malformed(offset: offset) }
  }

  private mutating func readComponent(into operation: inout TextOperation) throws(OperationError) {
    guard current != UInt8(ascii: "\"") else {
      try readString()
      let result: Result<Void, OperationError> = text.withUnsafeBufferPointer { text in
        do throws(OperationError) {
          try operation.insert(utf8: text)
          return .success(())
        } catch {
          return .failure(error)
        }
      }
      try result.get()
      guard operation.targetLength <= TextOperation.lengthMax else { throw .tooLong }
      return
    }
    var isNegative = false
    if current == UInt8(ascii: "-") {
      isNegative = true
      offset += 1
    }
    let start = offset
    // Ten times the longest passes 32 bits, which `Int` has in a browser.
    var digits: Int64 = 0
    while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
      digits = digits &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
      guard digits <= Int64(TextOperation.lengthMax) else { throw .tooLong }
      offset += 1
    }
    let number = Int(digits)
    guard offset > start, offset == start + 1 || bytes[start] != UInt8(ascii: "0") else {
      throw .malformed(offset: start)
    }
    guard operation.baseLength + number <= TextOperation.lengthMax,
      operation.targetLength + (isNegative ? 0 : number) <= TextOperation.lengthMax
    else { throw .tooLong }
    if isNegative { operation.delete(number) } else { operation.retain(number) }
  }

  private mutating func readString() throws(OperationError) {
    text.removeAll(keepingCapacity: true)
    offset += 1
    while true {
      guard let byte = current else { throw .malformed(offset: offset) }
      offset += 1
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"): try readEscape()
      case ..<0x20: throw .malformed(offset: offset - 1)
      default: text.append(byte)
      }
    }
  }

  private mutating func readEscape() throws(OperationError) {
    guard let byte = current else { throw .malformed(offset: offset) }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "n"): text.append(0x0a)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "r"): text.append(0x0d)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0c)
    case UInt8(ascii: "u"):
      let start = offset
      var value = try readHex()
      if value >= 0xd800, value < 0xdc00 {
        try expect(UInt8(ascii: "\\"))
        try expect(UInt8(ascii: "u"))
        let low = try readHex()
        guard low >= 0xdc00, low < 0xe000 else { throw .malformed(offset: start) }
        value = 0x10000 + (value - 0xd800) << 10 + (low - 0xdc00)
      }
      guard let scalar = Unicode.Scalar(value) else { throw .malformed(offset: start) }
      for unit in UTF8.encode(scalar).unsafelyUnwrapped { text.append(unit) }
    default: throw .malformed(offset: offset - 1)
    }
  }

  private mutating func readHex() throws(OperationError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = current else { throw .malformed(offset: offset) }
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"):
        value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"):
        value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
      default: throw .malformed(offset: offset)
      }
      offset += 1
    }
    return value
  }
}
