/// A reader of an operation's JSON form. It reads in one pass, into memory that is large enough for
/// any input.
struct OperationJSONReader {
  private let start: UnsafePointer<UInt8>
  private let end: UnsafePointer<UInt8>
  /// The next byte to read.
  private var next: UnsafePointer<UInt8>
  private var words: WordWriter
  private let text: UnsafeMutablePointer<UInt8>
  private var textCount = 0
  private var base = 0
  private var target = 0

  /// - Parameters:
  ///   - words: Memory for a word for each two bytes, and one more.
  ///   - text: Memory for as many bytes as the input has.
  @inline(__always)
  init(
    _ bytes: UnsafeBufferPointer<UInt8>, words: UnsafeMutablePointer<TextOperation.Word>,
    text: UnsafeMutablePointer<UInt8>
  ) {
    // An empty buffer may have no address; any other address works, because nothing is read from
    // `end` on.
    start = bytes.baseAddress ?? UnsafePointer(text)
    end = start + bytes.count
    next = start
    self.words = WordWriter(words)
    self.text = text
  }

  /// Reads the operation, which fills all bytes, except for surrounding space.
  mutating func read() -> Result<TextOperation, OperationError> {
    do throws(OperationError) {
      try readComponents()
      return .success(
        TextOperation(
          packing: words.written, text: UnsafeBufferPointer(start: text, count: textCount),
          base: base, target: target))
    } catch {
      return .failure(error)
    }
  }

  private mutating func readComponents() throws(OperationError) {
    skipSpace()
    try expect(UInt8(ascii: "["))
    skipSpace()
    if current == UInt8(ascii: "]") {
      next += 1
    } else {
      while true {
        if current == UInt8(ascii: "\"") { try readInsertion() } else { try readLength() }
        if current != UInt8(ascii: ",") {
          skipSpace()
          guard current == UInt8(ascii: ",") else { break }
        }
        next += 1
        skipSpace()
      }
      try expect(UInt8(ascii: "]"))
    }
    skipSpace()
    guard next == end else { throw malformed() }
  }

  // MARK: Bytes

  /// The next byte; at the end 0, which never occurs in JSON.
  @inline(__always)
  private var current: UInt8 { next < end ? next.pointee : 0 }

  @inline(__always)
  private mutating func skipSpace() {
    while current <= 0x20, current == 0x20 || current == 0x0a || current == 0x0d || current == 0x09
    {
      next += 1
    }
  }

  @inline(__always)
  private mutating func expect(_ byte: UInt8) throws(OperationError) {
    guard current == byte else { throw malformed() }
    next += 1
  }

  private func malformed(at place: UnsafePointer<UInt8>? = nil) -> OperationError {
    .malformed(offset: (place ?? next) - start)
  }

  // MARK: Components

  @inline(__always)
  private mutating func readLength() throws(OperationError) {
    let isDeletion = current == UInt8(ascii: "-")
    if isDeletion { next += 1 }
    let first = next
    // Ten times the maximum length exceeds 32 bits, the size of `Int` in a browser.
    var digits: Int64 = 0
    while true {
      let digit = current &- UInt8(ascii: "0")
      if digit > 9 { break }
      digits = digits &* 10 &+ Int64(digit)
      guard digits <= Int64(TextOperation.lengthMax) else { throw .tooLong }
      next += 1
    }
    guard next > first, next == first + 1 || first.pointee != UInt8(ascii: "0") else {
      throw malformed(at: first)
    }
    if digits == 0 { return }
    let length = Int(digits)
    base += length
    if !isDeletion { target += length }
    guard base <= TextOperation.lengthMax, target <= TextOperation.lengthMax else { throw .tooLong }
    words.put(TextOperation.Word(isDeletion ? .delete : .retain, scalars: length))
  }

  @inline(__always)
  private mutating func readInsertion() throws(OperationError) {
    next += 1
    let first = text + textCount
    var last = first
    // The union of all bytes, which shows whether all are ASCII.
    var union: UInt8 = 0
    while true {
      let byte = current
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") {
        union |= try readEscape(to: &last)
        continue
      }
      guard byte >= 0x20 else { throw malformed() }
      last.pointee = byte
      last += 1
      next += 1
      union |= byte
    }
    next += 1
    let bytes = UnsafeBufferPointer(start: UnsafePointer(first), count: last - first)
    if bytes.isEmpty { return }
    var scalars = bytes.count
    if union >= 0x80 {
      if let offset = UTF8Check.firstInvalid(bytes) { throw .invalidUTF8(offset: offset) }
      scalars = UTF8Check.scalarCount(bytes)
    }
    target += scalars
    guard target <= TextOperation.lengthMax else { throw .tooLong }
    textCount += bytes.count
    words.put(TextOperation.Word(.insert, scalars: scalars, bytes: bytes.count))
  }

  /// Reads an escape, and writes the bytes that it represents.
  ///
  /// - Returns: The last of these bytes, which is ASCII only if all are.
  @inline(never)
  private mutating func readEscape(
    to last: inout UnsafeMutablePointer<UInt8>
  ) throws(OperationError) -> UInt8 {
    next += 1
    let kind = current
    guard next < end else { throw malformed() }
    next += 1
    var unescaped = kind
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): break
    case UInt8(ascii: "n"): unescaped = 0x0a
    case UInt8(ascii: "t"): unescaped = 0x09
    case UInt8(ascii: "r"): unescaped = 0x0d
    case UInt8(ascii: "b"): unescaped = 0x08
    case UInt8(ascii: "f"): unescaped = 0x0c
    case UInt8(ascii: "u"):
      for byte in UTF8.encode(try readScalar()).unsafelyUnwrapped {
        last.pointee = byte
        last += 1
        unescaped = byte
      }
      return unescaped
    default: throw malformed(at: next - 1)
    }
    last.pointee = unescaped
    last += 1
    return unescaped
  }

  /// Reads the digits of one escape, or of two for a scalar beyond U+FFFF.
  private mutating func readScalar() throws(OperationError) -> Unicode.Scalar {
    let first = next
    var value = try readHexadecimal()
    if value >= 0xd800, value < 0xdc00 {
      try expect(UInt8(ascii: "\\"))
      try expect(UInt8(ascii: "u"))
      let low = try readHexadecimal()
      guard low >= 0xdc00, low < 0xe000 else { throw malformed(at: first) }
      value = 0x10000 + (value - 0xd800) << 10 + (low - 0xdc00)
    }
    guard let scalar = Unicode.Scalar(value) else { throw malformed(at: first) }
    return scalar
  }

  private mutating func readHexadecimal() throws(OperationError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      let byte = current
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"):
        value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"):
        value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
      default: throw malformed()
      }
      next += 1
    }
    return value
  }
}
