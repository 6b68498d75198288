/// The rules by which operations move positions in a text.
public enum Cursor {
  /// Returns a cursor's position after an operation, in Unicode scalars.
  ///
  /// An own insert at the cursor moves it right; another user's insert does not move it. If a
  /// deletion spans the cursor, it moves to the deletion's start. A position beyond the text counts
  /// as the text's end.
  ///
  /// - Complexity: O(components before the cursor).
  public static func transformed(
    _ position: Int, over operation: TextOperation, own: Bool
  ) -> Int {
    let position = min(max(position, 0), operation.baseLength)
    return operation.withPacked { words, _ in
      var walk = CursorWalk(words, own: own)
      return walk.moved(position)
    }
  }
}

/// A walk through an operation's components, from cursor to cursor.
struct CursorWalk {
  private let words: UnsafeBufferPointer<TextOperation.Word>
  private let own: Bool
  private var index = 0
  private var base = 0
  private var target = 0

  @inline(__always)
  init(_ words: UnsafeBufferPointer<TextOperation.Word>, own: Bool) {
    self.words = words
    self.own = own
  }

  /// Returns a cursor's position after the operation. Cursors must be passed in ascending order.
  @inline(__always)
  mutating func moved(_ position: Int) -> Int {
    // The previous cursor may be in deleted text that this one is in too.
    var position = max(position, base)
    while index < words.count {
      let word = words[index]
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
        // The position was deleted: continue at what follows, where an own insert still counts.
        if base > position { position = base }
      }
      index += 1
    }
    return target + position - base
  }
}

/// A selection: its start, and the caret. Both are in Unicode scalars.
public struct Selection: Sendable, Hashable {
  /// The position at which the selection began.
  public var anchor: Int
  /// The position of the caret.
  public var head: Int

  /// Creates a selection.
  public init(anchor: Int, head: Int) {
    self.anchor = anchor
    self.head = head
  }

  /// Returns the selection after an operation; see ``Cursor``.
  public func transformed(over operation: TextOperation, own: Bool) -> Selection {
    Selection(
      anchor: Cursor.transformed(anchor, over: operation, own: own),
      head: Cursor.transformed(head, over: operation, own: own))
  }
}

// Embedded Swift has no `Codable`.
#if !hasFeature(Embedded)
  extension Selection: Codable {}
#endif
