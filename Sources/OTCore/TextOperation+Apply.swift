extension TextOperation {
  /// Returns the text after the operation.
  ///
  /// - Throws: `lengthMismatch` if the text's length is not the base length.
  public func applied(to text: String) throws(OperationError) -> String {
    var document = Document(text)
    try document.apply(self)
    return document.text
  }

  /// Returns the operation that undoes this one.
  ///
  /// - Parameter document: The document to which this operation applies.
  /// - Throws: `lengthMismatch` if it does not apply.
  public func inverted(on document: Document) throws(OperationError) -> TextOperation {
    guard document.scalarCount == baseLength else {
      throw .lengthMismatch(expected: document.scalarCount, found: baseLength)
    }
    var result = TextOperation()
    var position = 0
    var removed: [UInt8] = []
    forEachPacked { kind, length, _ in
      switch kind {
      case .retain:
        result.retain(length)
        position += length
      case .insert: result.delete(length)
      case .delete:
        removed.removeAll(keepingCapacity: true)
        document.appendUTF8(in: position..<position + length, to: &removed)
        removed.withUnsafeBufferPointer { result.insertValid($0) }
        position += length
      }
    }
    return result
  }
}
