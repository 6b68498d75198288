/// Which insert goes first when two stand at one position.
public enum Side: Sendable {
  /// The own one.
  case left
  /// The other's.
  case right
}

extension TextOperation {
  /// Returns both operations as they apply after each other: `a` then `bAfterA` gives the same
  /// text as `b` then `aAfterB`.
  ///
  ///            a
  ///        ●──────▶●
  ///      b │       │ bAfterA
  ///        ▼       ▼
  ///        ●──────▶●
  ///         aAfterB
  ///
  /// At one position `a`'s insert goes first.
  ///
  /// - Throws: `lengthMismatch` when the two do not start from texts of one length.
  /// - Complexity: O(*m* + *n*) components, plus the text copied.
  public static func transform(
    _ a: TextOperation, _ b: TextOperation
  ) throws(OperationError) -> (aAfterB: TextOperation, bAfterA: TextOperation) {
    guard a.baseLength == b.baseLength else {
      throw .lengthMismatch(expected: a.baseLength, found: b.baseLength)
    }
    return a.withReader { left in
      b.withReader { right in
        let components = a.words.count + b.words.count
        var aAfterB = TextOperation(reservingComponents: components, textBytes: a.slab.count)
        var bAfterA = TextOperation(reservingComponents: components, textBytes: b.slab.count)
        while true {
          if left.kind == .insert {
            bAfterA.retain(left.remaining)
            aAfterB.insertValid(left.takeText(left.remaining))
            continue
          }
          if right.kind == .insert {
            aAfterB.retain(right.remaining)
            bAfterA.insertValid(right.takeText(right.remaining))
            continue
          }
          guard let leftKind = left.kind, let rightKind = right.kind else {
            return (aAfterB, bAfterA)
          }
          let count = min(left.remaining, right.remaining)
          switch (leftKind, rightKind) {
          case (.retain, .retain):
            aAfterB.retain(count)
            bAfterA.retain(count)
          case (.delete, .retain): aAfterB.delete(count)
          case (.retain, .delete): bAfterA.delete(count)
          case (.delete, .delete), (.insert, _), (_, .insert): break
          }
          left.skip(count)
          right.skip(count)
        }
      }
    }
  }

  /// Returns this operation as it applies after `other`.
  ///
  /// - Throws: `lengthMismatch` when the two do not start from texts of one length.
  /// - Complexity: O(*m* + *n*) components, plus the text copied.
  public func transformed(
    over other: TextOperation, side: Side
  ) throws(OperationError) -> TextOperation {
    switch side {
    case .left: try Self.transform(self, other).aAfterB
    case .right: try Self.transform(other, self).bAfterA
    }
  }
}
