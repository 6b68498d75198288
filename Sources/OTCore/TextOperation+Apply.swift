extension TextOperation {
  /// Returns the text that the operation makes of this one.
  ///
  /// - Throws: `lengthMismatch` when it does not start from a text of this length.
  public func applied(to text: String) throws(OperationError) -> String {
    var document = Document(text)
    try document.apply(self)
    return document.text
  }

  /// Returns the operation that takes this one back.
  ///
  /// - Parameter document: what this operation applies to.
  /// - Throws: `lengthMismatch` when it does not.
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
