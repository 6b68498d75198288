extension TextOperation {
  /// Moves this operation behind a whole history, one operation after the other, in place.
  ///
  /// The same as ``transformed(over:side:)`` again and again, without an operation between: an edit
  /// of the history changes a few packed words, and the inserted text is never touched.
  ///
  /// - Parameters:
  ///   - history: Operations that follow on one another, the first on this one's base.
  ///   - side: Whose insert goes first at one position; `.left` is the own one.
  /// - Throws: as ``transformed(over:side:)``; nothing has changed then.
  /// - Complexity: O(*history*) for edits near each other, at most O(*history* · *components*).
  public mutating func rebase(
    over history: ArraySlice<TextOperation>, side: Side
  ) throws(OperationError) {
    var result = self
    var index = history.startIndex
    // One edit against one edit needs no words.
    while index < history.endIndex, result.block == nil {
      result = try result.transformed(over: history[index], side: side)
      index += 1
    }
    if index < history.endIndex {
      let base = result.baseLength
      var length = base
      var target = result.targetLength
      var words = result.withPacked { words, _ in PackedRebase(words) }
      while index < history.endIndex {
        let other = history[index]
        guard other.baseLength == length else {
          throw .lengthMismatch(expected: length, found: other.baseLength)
        }
        if length + target + other.targetLength > Self.lengthMax {
          // Rare, and exact where it is done: leave the short way.
          break
        }
        guard other.block == nil else { break }
        target += words.pass(other.edit, side: side)
        length += other.edit.growth
        index += 1
      }
      result = result.withPacked { _, text in
        words.words.withUnsafeBufferPointer {
          TextOperation(packing: $0, text: text, base: length, target: target)
        }
      }
      if index < history.endIndex {
        result = try result.transformed(over: history[index], side: side)
        try result.rebase(over: history[(index + 1)...], side: side)
      }
    }
    self = result
  }

  /// Returns this operation as it applies behind a whole history; see ``rebase(over:side:)``.
  public func rebased(
    over history: ArraySlice<TextOperation>, side: Side
  ) throws(OperationError) -> TextOperation {
    var result = self
    try result.rebase(over: history, side: side)
    return result
  }
}

/// An operation's words while edits pass through them.
private struct PackedRebase {
  typealias Word = TextOperation.Word

  var words: [Word]
  /// A word, and the base position where it begins: the next edit is likely near.
  private var at = 0
  private var position = 0

  init(_ packed: UnsafeBufferPointer<Word>) {
    words = []
    words.reserveCapacity(packed.count + 16)
    words.append(contentsOf: packed)
  }

  /// Lets an edit go first.
  ///
  /// - Returns: by how much the operation's target grows.
  @inline(__always)
  mutating func pass(_ edit: InlineEdit, side: Side) -> Int {
    var growth = 0
    if edit.scalars > 0 {
      insert(at: edit.anchor, Int(edit.scalars), ownFirst: side == .left)
      growth += Int(edit.scalars)
    }
    if edit.deleted > 0 {
      // In the text with the insert: behind it, unless the delete stands first.
      let start = Int(edit.prefix) + (edit.deletesFirst ? 0 : Int(edit.scalars))
      growth -= delete(at: start, Int(edit.deleted))
    }
    return growth
  }

  /// Points at the first word that begins at or holds a base position.
  @inline(__always)
  private mutating func seek(_ place: Int) {
    while at > 0, position >= place {
      at -= 1
      if !words[at].isInsert { position -= words[at].scalars }
    }
    while at < words.count, position < place {
      let word = words[at]
      if !word.isInsert {
        if position + word.scalars > place { break }
        position += word.scalars
      }
      at += 1
    }
  }

  @inline(__always)
  private mutating func insert(at place: Int, _ count: Int, ownFirst: Bool) {
    seek(place)
    let added = UInt64(truncatingIfNeeded: count) << 34
    if at < words.count, position < place {
      // Within a word.
      if words[at].isRetain {
        words[at].bits += added
      } else {
        let head = place - position
        let tail = words[at].scalars - head
        words[at] = Word(.delete, scalars: head)
        words.insert(Word(.delete, scalars: tail), at: at + 1)
        words.insert(Word(bits: added), at: at + 1)
      }
      return
    }
    if ownFirst { while at < words.count, words[at].isInsert { at += 1 } }
    if at > 0, words[at - 1].isRetain {
      at -= 1
      position -= words[at].scalars
      words[at].bits += added
    } else if at < words.count, words[at].isRetain {
      words[at].bits += added
    } else {
      words.insert(Word(bits: added), at: at)
    }
  }

  /// - Returns: how many of the deleted scalars this operation would have retained.
  @inline(__always)
  private mutating func delete(at place: Int, _ count: Int) -> Int {
    seek(place)
    var left = count
    var retained = 0
    var index = at
    var start = position
    while left > 0, index < words.count {
      let word = words[index]
      if word.isInsert {
        index += 1
        continue
      }
      let skipped = max(0, place - start)
      let taken = min(left, word.scalars - skipped)
      if taken > 0 {
        words[index].bits -= UInt64(truncatingIfNeeded: taken) << 34
        left -= taken
        if word.isRetain { retained += taken }
      }
      start += word.scalars - taken
      if words[index].scalars == 0 {
        words.remove(at: index)
        if index > 0, index < words.count, (words[index - 1].bits ^ words[index].bits) & 3 == 0 {
          let merged = words.remove(at: index)
          words[index - 1].bits += merged.bits & ~3
          // The walk goes on behind what was merged in, which has not been looked at.
          if !merged.isInsert {
            index -= 1
            start -= words[index].scalars - merged.scalars
          }
        }
      } else {
        index += 1
      }
    }
    // What was merged may lie before the word remembered: begin again next time.
    if at >= words.count || index < at {
      at = 0
      position = 0
    } else if at > 0 {
      // The word before may have taken this one in.
      at = 0
      position = 0
    }
    return retained
  }
}
