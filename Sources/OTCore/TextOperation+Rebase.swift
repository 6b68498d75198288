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
    while index < history.endIndex {
      // As far as edits go; then one step of another kind.
      index =
        result.block == nil
        ? Self.passApart(&result.edit, history, from: index)
        : try result.passInPlace(history, from: index, side: side)
      if index < history.endIndex {
        result = try result.transformed(over: history[index], side: side)
        index += 1
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

  /// Moves an edit behind others that do not touch it.
  ///
  /// - Returns: the index of the first that does, or does not fit.
  private static func passApart(
    _ edit: inout InlineEdit, _ history: ArraySlice<TextOperation>, from index: Int
  ) -> Int {
    var prefix = Int(edit.prefix)
    let deleted = Int(edit.deleted)
    var length = edit.baseLength
    let passed = history[index...].withUnsafeBufferPointer { history in
      let first = history.baseAddress.unsafelyUnwrapped
      for step in 0..<history.count {
        let other = (first + step).pointee.edit
        let otherEnd = Int(other.prefix) + Int(other.deleted)
        let growth = other.growth
        guard (first + step).pointee.block == nil, other.baseLength == length,
          length + Int(edit.scalars) + growth <= lengthMax
        else { return step }
        if otherEnd < prefix {
          prefix += growth
        } else if prefix + deleted >= Int(other.prefix) {
          return step
        }
        length += growth
      }
      return history.count
    }
    edit.prefix = UInt32(truncatingIfNeeded: prefix)
    edit.suffix = UInt32(truncatingIfNeeded: length - prefix - deleted)
    return index + passed
  }

  /// Moves the packed words behind edits.
  ///
  /// - Returns: the index of the first operation that is none, or does not fit.
  private mutating func passInPlace(
    _ history: ArraySlice<TextOperation>, from index: Int, side: Side
  ) throws(OperationError) -> Int {
    var length = baseLength
    var target = targetLength
    let (result, passed) = withPacked { words, text in
      var packed = PackedRebase(words, putsOwnFirst: side == .left)
      defer { packed.deallocate() }
      let passed = history[index...].withUnsafeBufferPointer { history in
        let first = history.baseAddress.unsafelyUnwrapped
        for step in 0..<history.count {
          let other = (first + step).pointee.edit
          // The last is rarely so, and decided exactly where it is done step by step.
          guard (first + step).pointee.block == nil, other.baseLength == length,
            length + target + other.targetLength <= Self.lengthMax
          else { return step }
          target += packed.pass(other)
          length += other.growth
        }
        return history.count
      }
      return (
        TextOperation(packing: packed.written, text: text, base: length, target: target), passed
      )
    }
    self = result
    return index + passed
  }
}

/// An operation's words while edits pass through them.
private struct PackedRebase {
  typealias Word = TextOperation.Word

  private var words: UnsafeMutablePointer<Word>
  private var count: Int
  private var capacity: Int
  private let putsOwnFirst: Bool
  /// A word, and the base position where it begins: the next edit is likely near.
  private var at = 0
  private var position = 0

  init(_ packed: UnsafeBufferPointer<Word>, putsOwnFirst: Bool) {
    count = packed.count
    capacity = count + 16
    words = .allocate(capacity: capacity)
    if let source = packed.baseAddress { words.initialize(from: source, count: count) }
    self.putsOwnFirst = putsOwnFirst
  }

  func deallocate() { words.deallocate() }

  var written: UnsafeBufferPointer<Word> { UnsafeBufferPointer(start: words, count: count) }

  /// Lets an edit go first.
  ///
  /// - Returns: by how much the operation's target grows.
  @inline(__always)
  mutating func pass(_ edit: InlineEdit) -> Int {
    var growth = 0
    let added = Int(edit.scalars)
    if added > 0 {
      insert(at: edit.anchor, added)
      growth += added
    }
    if edit.deleted > 0 {
      // In the text with the insert: behind it, unless the delete stands first.
      let start = Int(edit.prefix) + (edit.deletesFirst ? 0 : added)
      growth -= delete(at: start, Int(edit.deleted))
    }
    return growth
  }

  /// Points at the first word that begins at a base position, or holds it.
  @inline(__always)
  private mutating func seek(_ place: Int) {
    while at > 0, position >= place {
      at -= 1
      if !words[at].isInsert { position -= words[at].scalars }
    }
    while at < count, position < place {
      let word = words[at]
      if !word.isInsert {
        if position + word.scalars > place { break }
        position += word.scalars
      }
      at += 1
    }
  }

  @inline(__always)
  private static func scalars(_ count: Int) -> UInt64 { UInt64(truncatingIfNeeded: count) << 34 }

  @inline(__always)
  private mutating func insert(at place: Int, _ added: Int) {
    seek(place)
    if at < count, position < place {
      // Within a word.
      if words[at].isRetain {
        words[at].bits += Self.scalars(added)
      } else {
        let head = place - position
        let tail = words[at].scalars - head
        makeRoom(2)
        words[at] = Word(.delete, scalars: head)
        words[at + 1] = Word(.retain, scalars: added)
        words[at + 2] = Word(.delete, scalars: tail)
      }
      return
    }
    if putsOwnFirst { while at < count, words[at].isInsert { at += 1 } }
    if at > 0, words[at - 1].isRetain {
      at -= 1
      position -= words[at].scalars
      words[at].bits += Self.scalars(added)
    } else if at < count, words[at].isRetain {
      words[at].bits += Self.scalars(added)
    } else {
      makeRoom(1)
      words[at] = Word(.retain, scalars: added)
    }
  }

  /// Moves the words from the one pointed at on.
  @inline(never)
  private mutating func makeRoom(_ more: Int) {
    if count + more > capacity {
      let larger = UnsafeMutablePointer<Word>.allocate(capacity: 2 * capacity)
      larger.moveInitialize(from: words, count: count)
      words.deallocate()
      words = larger
      capacity *= 2
    }
    (words + at + more).update(from: words + at, count: count - at)
    count += more
  }

  private mutating func remove(at index: Int) -> Word {
    let word = words[index]
    count -= 1
    (words + index).update(from: words + index + 1, count: count - index)
    return word
  }

  /// - Returns: how many of the deleted scalars this operation would have retained.
  @inline(__always)
  private mutating func delete(at place: Int, _ deleted: Int) -> Int {
    seek(place)
    if at < count, !words[at].isInsert,
      position + words[at].scalars > place + deleted
        || (position < place && position + words[at].scalars == place + deleted)
    {
      // Some of the word is left.
      words[at].bits -= Self.scalars(deleted)
      return words[at].isRetain ? deleted : 0
    }
    return deleteAcross(place, deleted)
  }

  @inline(never)
  private mutating func deleteAcross(_ place: Int, _ deleted: Int) -> Int {
    var left = deleted
    var retained = 0
    var index = at
    var start = position
    while left > 0, index < count {
      let word = words[index]
      if word.isInsert {
        index += 1
        continue
      }
      let taken = min(left, word.scalars - max(0, place - start))
      words[index].bits -= Self.scalars(taken)
      left -= taken
      if word.isRetain { retained += taken }
      start += word.scalars - taken
      if words[index].scalars > 0 {
        index += 1
        continue
      }
      _ = remove(at: index)
      if index > 0, index < count, (words[index - 1].bits ^ words[index].bits) & 3 == 0 {
        let merged = remove(at: index)
        words[index - 1].bits += merged.bits & ~3
        // The walk goes on in what was merged, which has not been looked at.
        if !merged.isInsert {
          index -= 1
          start -= words[index].scalars - merged.scalars
        }
      }
    }
    // Words before the one remembered may have changed: begin again.
    at = 0
    position = 0
    return retained
  }
}
