// The same readers and writers for texts and bytes that are not pointers.

extension TextOperation {
  /// Creates the operation that replaces a range of a text by another text; either may be empty.
  ///
  /// - Parameters:
  ///   - range: The replaced range, in Unicode scalars.
  ///   - text: The replacement.
  ///   - length: The length of the whole text before the replacement, in Unicode scalars.
  /// - Throws: `lengthMismatch` if the range ends beyond the text, `tooLong` if the result would
  ///   exceed ``lengthMax``.
  /// - Precondition: The range does not begin below zero.
  /// - Complexity: O(bytes) of the replacement.
  public init(
    replacing range: Range<Int>, with text: String, length: Int
  ) throws(OperationError) {
    precondition(range.lowerBound >= 0, "a range must not begin below zero: \(range.lowerBound)")
    guard range.upperBound <= length else {
      throw .lengthMismatch(expected: length, found: range.upperBound)
    }
    guard length <= Self.lengthMax else { throw .tooLong }
    self.init()
    retain(range.lowerBound)
    try insert(utf8: text)
    delete(range.count)
    retain(length - range.upperBound)
    guard targetLength <= Self.lengthMax else { throw .tooLong }
  }

  /// Inserts a text like ``insert(_:)``, but throws if it is too long.
  ///
  /// - Throws: `tooLong` beyond ``lengthMax``. The operation is unchanged then.
  /// - Complexity: O(bytes).
  public mutating func insert(utf8 text: String) throws(OperationError) {
    var text = text
    let count = text.utf8.count
    guard
      count <= Self.lengthMax - targetLength
        || text.withUTF8({ UTF8Check.scalarCount($0) }) <= Self.lengthMax - targetLength
    else { throw .tooLong }
    text.withUTF8 { insertValid($0) }
  }

  /// Inserts a text, given as UTF-8.
  ///
  /// - Throws: `invalidUTF8`, or `tooLong` beyond ``lengthMax``. The operation is unchanged then.
  /// - Complexity: O(bytes).
  public mutating func insert(utf8 bytes: [UInt8]) throws(OperationError) {
    try bytes.withUnsafeBufferPointer { bytes throws(OperationError) in try insert(utf8: bytes) }
  }

  /// Inserts a text, given as UTF-8.
  ///
  /// - Throws: `invalidUTF8`, or `tooLong` beyond ``lengthMax``. The operation is unchanged then.
  /// - Complexity: O(bytes).
  @available(macOS 10.14.4, iOS 12.2, watchOS 5.2, tvOS 12.2, *)
  public mutating func insert(utf8 bytes: Span<UInt8>) throws(OperationError) {
    try bytes.withUnsafeBufferPointer { bytes throws(OperationError) in try insert(utf8: bytes) }
  }

  /// Reads the JSON form, such as `[1,"tag",-2]`.
  ///
  /// - Throws: `malformed`, `invalidUTF8` or `tooLong`, and no other error for any input.
  /// - Complexity: O(bytes).
  public init(json text: String) throws(OperationError) {
    var text = text
    self = try text.withUTF8 { Self.read($0) }.get()
  }

  /// Reads the JSON form, given as UTF-8.
  ///
  /// - Throws: `malformed`, `invalidUTF8` or `tooLong`, and no other error for any input.
  /// - Complexity: O(bytes).
  public init(json bytes: [UInt8]) throws(OperationError) {
    self = try bytes.withUnsafeBufferPointer { Self.read($0) }.get()
  }

  /// Reads the JSON form, given as UTF-8.
  ///
  /// - Throws: `malformed`, `invalidUTF8` or `tooLong`, and no other error for any input.
  /// - Complexity: O(bytes).
  @available(macOS 10.14.4, iOS 12.2, watchOS 5.2, tvOS 12.2, *)
  public init(json bytes: Span<UInt8>) throws(OperationError) {
    self = try bytes.withUnsafeBufferPointer { Self.read($0) }.get()
  }
}
