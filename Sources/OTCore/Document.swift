/// A text that operations are applied to.
///
/// Copy-on-write: a copy is a snapshot and costs O(1).
public struct Document: Sendable {
  private var bytes: [UInt8]
  /// Length in Unicode scalars.
  public private(set) var scalarCount: Int

  /// Makes a document of a text.
  public init(_ text: String = "") {
    bytes = Array(text.utf8)
    scalarCount = bytes.withUnsafeBufferPointer(UTF8Check.scalarCount)
  }

  /// Makes a document of UTF-8.
  public init(utf8 text: UnsafeBufferPointer<UInt8>) throws(OperationError) {
    if let offset = UTF8Check.firstInvalid(text) { throw .invalidUTF8(offset: offset) }
    bytes = Array(text)
    scalarCount = UTF8Check.scalarCount(text)
  }

  /// Length in UTF-8 bytes.
  public var utf8Count: Int { bytes.count }

  /// Length in UTF-16 units.
  public var utf16Count: Int {
    var count = 0
    for byte in bytes where byte & 0xc0 != 0x80 { count += byte >= 0xf0 ? 2 : 1 }
    return count
  }

  /// Newlines + 1.
  public var lineCount: Int {
    var count = 1
    for byte in bytes where byte == 0x0a { count += 1 }
    return count
  }

  /// The whole text.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Applies an operation; on error nothing has changed.
  ///
  /// - Throws: `lengthMismatch` when it does not start from this length.
  public mutating func apply(_ operation: TextOperation) throws(OperationError) {
    guard operation.baseLength == scalarCount else {
      throw .lengthMismatch(expected: scalarCount, found: operation.baseLength)
    }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + operation.insertedBytes)
    var offset = 0
    operation.forEachPacked { kind, length, text in
      switch kind {
      case .insert: result.append(contentsOf: text)
      case .retain:
        let end = self.offset(from: offset, scalars: length)
        result.append(contentsOf: bytes[offset..<end])
        offset = end
      case .delete: offset = self.offset(from: offset, scalars: length)
      }
    }
    bytes = result
    scalarCount = operation.targetLength
  }

  /// The text of a range of scalars.
  ///
  /// - Precondition: the range lies within the text.
  public func text(in range: Range<Int>) -> String {
    let start = offset(from: 0, scalars: range.lowerBound)
    let end = offset(from: start, scalars: range.count)
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  /// Calls `body` with the text's UTF-8, piece by piece.
  public func forEachChunk(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    bytes.withUnsafeBufferPointer(body)
  }

  /// The UTF-16 offset of a scalar offset.
  public func utf16Offset(ofScalar scalar: Int) -> Int {
    var left = scalar
    var units = 0
    for byte in bytes where byte & 0xc0 != 0x80 {
      if left == 0 { break }
      left -= 1
      units += byte >= 0xf0 ? 2 : 1
    }
    return units
  }

  /// The scalar offset of a UTF-16 offset; one inside a surrogate pair counts as before it.
  public func scalarOffset(ofUTF16 offset: Int) -> Int {
    var units = 0
    var scalars = 0
    for byte in bytes where byte & 0xc0 != 0x80 {
      let width = byte >= 0xf0 ? 2 : 1
      if units + width > offset { break }
      units += width
      scalars += 1
    }
    return scalars
  }

  private func offset(from start: Int, scalars: Int) -> Int {
    var offset = start
    var left = scalars
    while left > 0 {
      offset += 1
      while offset < bytes.count, bytes[offset] & 0xc0 == 0x80 { offset += 1 }
      left -= 1
    }
    return offset
  }
}

extension Document: Equatable {
  /// Whether two texts have the same scalars.
  public static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
}
