extension TextOperation {
  /// Returns one operation with the effect of this one, then `next`.
  ///
  /// - Parameter next: Its base length is this one's target length, in Unicode scalars.
  /// - Throws: `lengthMismatch` when the two do not meet.
  /// - Complexity: O(*m* + *n*) components, plus the text copied.
  public func composed(with next: TextOperation) throws(OperationError) -> TextOperation {
    guard targetLength == next.baseLength else {
      throw .lengthMismatch(expected: targetLength, found: next.baseLength)
    }
    return withReader { first in
      next.withReader { second in
        var result = TextOperation(
          reservingComponents: words.count + next.words.count,
          textBytes: slab.count + next.slab.count)
        while true {
          if first.kind == .delete {
            result.delete(first.remaining)
            first.skip(first.remaining)
            continue
          }
          if second.kind == .insert {
            result.insertValid(second.takeText(second.remaining))
            continue
          }
          guard let firstKind = first.kind, let secondKind = second.kind else { return result }
          let count = min(first.remaining, second.remaining)
          switch (firstKind, secondKind) {
          case (.retain, .retain):
            result.retain(count)
            first.skip(count)
          case (.retain, .delete):
            result.delete(count)
            first.skip(count)
          case (.insert, .retain): result.insertValid(first.takeText(count))
          case (.insert, .delete): _ = first.takeText(count)
          case (.delete, _), (_, .insert): break
          }
          second.skip(count)
        }
      }
    }
  }
}
