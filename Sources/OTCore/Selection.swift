/// A place in a text, and how an operation moves it.
public enum Cursor {
  /// Where a cursor stands after an operation, in Unicode scalars.
  ///
  /// An own insert at the cursor moves it right; somebody else's leaves it where it is. A deletion
  /// that spans it collapses it to the deletion's start. A position beyond the text is taken as
  /// the text's end.
  ///
  /// - Complexity: O(components before the cursor).
  public static func transformed(
    _ position: Int, over operation: TextOperation, own: Bool
  ) -> Int {
    var position = min(max(position, 0), operation.baseLength)
    var base = 0
    var target = 0
    return operation.withPacked { words, _ in
      for word in words {
        switch word.kind {
        case .retain:
          if base + word.scalars > position { return target + position - base }
          base += word.scalars
          target += word.scalars
        case .insert:
          if base == position, !own { return target }
          target += word.scalars
        case .delete:
          base += word.scalars
          // The place is gone: on to what follows, where an own insert still counts.
          if base > position { position = base }
        }
      }
      return target + position - base
    }
  }
}

/// A selection: where it began, and where the caret is. Both in Unicode scalars.
public struct Selection: Sendable, Hashable {
  /// Where it began.
  public var anchor: Int
  /// Where the caret is.
  public var head: Int

  /// Makes a selection.
  public init(anchor: Int, head: Int) {
    self.anchor = anchor
    self.head = head
  }

  /// Where the selection stands after an operation; see ``Cursor``.
  public func transformed(over operation: TextOperation, own: Bool) -> Selection {
    Selection(
      anchor: Cursor.transformed(anchor, over: operation, own: own),
      head: Cursor.transformed(head, over: operation, own: own))
  }
}
