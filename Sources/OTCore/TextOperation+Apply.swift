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
    var result = TextOperation(reservingComponents: words.count)
    var position = 0
    for word in words {
      switch word.kind {
      case .retain:
        result.retain(word.scalars)
        position += word.scalars
      case .insert: result.delete(word.scalars)
      case .delete:
        result.insert(document.text(in: position..<position + word.scalars))
        position += word.scalars
      }
    }
    return result
  }
}
