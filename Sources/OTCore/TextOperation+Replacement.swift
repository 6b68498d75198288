extension TextOperation {
  /// Creates the operation that replaces the text between the common beginning and end of two
  /// texts.
  ///
  /// - Complexity: O(*old* + *new*).
  public init(replacing old: Document, by new: Document) {
    let text = new.utf8Bytes
    self = text.withUnsafeBufferPointer { TextOperation(replacing: old, by: $0) }
  }

  /// Creates the same operation for a text that is not a document.
  package init(replacing old: Document, by new: String) {
    var text = new
    self = text.withUTF8 { TextOperation(replacing: old, by: $0) }
  }

  private init(replacing old: Document, by new: UnsafeBufferPointer<UInt8>) {
    let former = old.utf8Bytes
    self = former.withUnsafeBufferPointer { former in
      let common = CommonEnds(former, new)
      let kept = UTF8Check.scalarCount(UnsafeBufferPointer(rebasing: former[..<common.start]))
      let rest = UTF8Check.scalarCount(
        UnsafeBufferPointer(rebasing: former[(former.count - common.end)...]))
      let inserted = UnsafeBufferPointer(rebasing: new[common.start..<(new.count - common.end)])
      let deleted = old.scalarCount - kept - rest
      let lengths = [kept, inserted.count, deleted, rest]
      var operation = TextOperation(
        reservingComponents: lengths.count { $0 > 0 }, textBytes: inserted.count)
      operation.retain(kept)
      operation.insertValid(inserted)
      operation.delete(deleted)
      operation.retain(rest)
      return operation
    }
  }
}

extension Document {
  var utf8Bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8Count)
    forEachChunk { bytes.append(contentsOf: $0) }
    return bytes
  }
}
