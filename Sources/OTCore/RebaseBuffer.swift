/// An operation that is rebased in place over committed operations.
///
/// Its components are in blocks of limited size, and each block knows how much of the text it
/// covers. A committed edit is found by skipping whole blocks, and changes words of one block. It
/// costs almost nothing near the last edit, and elsewhere far less than a walk over all components.
/// The inserted text is never moved.
///
///     base text   ├────────────┼────────┼──────────────────┤
///     blocks       =9 +2 -1 =40 -3 +1 =7 =1 -1 =1 -1 =1 =80
///                               ▲ the last edit
package struct RebaseBuffer: ~Copyable {
  typealias Word = TextOperation.Word

  private struct Block {
    var words: UnsafeMutablePointer<Word>
    var count: Int
    var capacity: Int
    /// The number of base scalars that its retains and deletes cover.
    var scalars: Int
  }

  private let operation: TextOperation
  private let insertedScalars: Int
  private let putsOwnFirst: Bool
  private let blockWordsMax: Int
  private var baseLength: Int
  private var targetLength: Int
  /// All blocks once there are two; the entry of the current block is outdated.
  private var blocks: [Block] = []
  /// The index of the last block.
  private var last = 0
  /// The block of the last edit, its index, and the base position at which it begins.
  private var block: Block
  private var current = 0
  private var start = 0
  /// A word of that block, and the base position at which it begins. The next edit is probably
  /// near.
  private var at = 0
  private var position = 0

  /// Creates a buffer with the operation to rebase.
  ///
  /// - Parameters:
  ///   - side: Whose insert comes first at one position; `.left` is the own one.
  ///   - blockWordsMax: Maximum components of a block, at least 8.
  package init(_ operation: TextOperation, side: Side, blockWordsMax: Int = 512) {
    self.operation = operation
    self.blockWordsMax = blockWordsMax
    putsOwnFirst = side == .left
    baseLength = operation.baseLength
    targetLength = operation.targetLength
    var inserted = 0
    var made: [Block] = []
    let isSmall = operation.componentCount <= blockWordsMax
    block = operation.withPacked { words, _ in
      var index = 0
      var first: Block?
      repeat {
        let count = min(words.count - index, isSmall ? blockWordsMax : blockWordsMax / 2)
        let capacity = isSmall ? min(count + 16, blockWordsMax) : blockWordsMax
        var block = Block(
          words: .allocate(capacity: capacity), count: count, capacity: capacity, scalars: 0)
        for step in 0..<count {
          let word = words[index + step]
          block.words[step] = word
          if word.isInsert { inserted += word.scalars } else { block.scalars += word.scalars }
        }
        index += count
        if first == nil { first = block }
        if !isSmall { made.append(block) }
      } while index < words.count
      return first.unsafelyUnwrapped
    }
    insertedScalars = inserted
    last = max(0, made.count - 1)
    blocks = made
  }

  deinit {
    for index in blocks.indices where index != current { blocks[index].words.deallocate() }
    block.words.deallocate()
  }

  /// Rebases over a committed operation.
  ///
  /// - Throws: As ``TextOperation/transformed(over:side:)``. Nothing changes then.
  /// - Complexity: O(components of `other`) if they are near each other and near the last edit.
  ///   Each one elsewhere adds a walk over the blocks between, and through one block.
  @inline(__always)
  package mutating func pass(_ other: borrowing TextOperation) throws(OperationError) {
    guard other.baseLength == baseLength else {
      throw .lengthMismatch(expected: baseLength, found: other.baseLength)
    }
    if baseLength + targetLength + other.targetLength > TextOperation.lengthMax,
      baseLength + insertedScalars + other.insertedScalars > TextOperation.lengthMax
    {
      throw .tooLong
    }
    if other.block == nil { pass(other.edit) } else { passAll(of: other) }
  }

  /// Returns the operation as it applies after all committed ones.
  package func rebased() -> TextOperation {
    operation.withPacked { _, text in
      guard last > 0 else {
        return TextOperation(
          packing: UnsafeBufferPointer(start: block.words, count: block.count), text: text,
          base: baseLength, target: targetLength)
      }
      var count = 1
      for index in blocks.indices {
        count += index == current ? block.count : blocks[index].count
      }
      // Adjacent words of two blocks may be of one kind: the writer merges them.
      return Scratch.with(words: count, text: 0) { memory, _ in
        var out = WordWriter(memory)
        for index in blocks.indices {
          let block = index == current ? self.block : blocks[index]
          for word in 0..<block.count { out.put(block.words[word]) }
        }
        return TextOperation(
          packing: out.written, text: text, base: baseLength, target: targetLength)
      }
    }
  }

  // MARK: One operation

  @inline(__always)
  private mutating func pass(_ edit: InlineEdit) {
    let added = Int(edit.scalars)
    if added > 0 { insert(at: edit.anchor, added) }
    if edit.deleted > 0 {
      // In the text after the insert, unless the delete comes first.
      delete(at: Int(edit.prefix) + (edit.deletesFirst ? 0 : added), Int(edit.deleted))
    }
  }

  /// Rebases over the changes between two retains. Inserts go first: after a delete, own inserts
  /// before, in and after the deleted text are at one position.
  private mutating func passAll(of other: borrowing TextOperation) {
    other.withPacked { words, _ in
      var place = 0
      var index = 0
      while index < words.count {
        if words[index].isRetain {
          place += words[index].scalars
          index += 1
          continue
        }
        var end = index
        var anchor = place
        var deletes = false
        while end < words.count, !words[end].isRetain {
          if words[end].isInsert { insert(at: anchor, words[end].scalars) } else { deletes = true }
          anchor += words[end].scalars
          end += 1
        }
        if deletes {
          for word in words[index..<end] {
            if word.isInsert { place += word.scalars } else { delete(at: place, word.scalars) }
          }
        } else {
          place = anchor
        }
        index = end
      }
    }
  }

  @inline(__always)
  private mutating func insert(at place: Int, _ added: Int) {
    seek(place)
    baseLength += added
    targetLength += added
    if at < block.count, position < place {
      // Within a word.
      if block.words[at].isRetain {
        block.words[at].bits += Word.size(scalars: added)
      } else {
        let head = place - position
        let tail = block.words[at].scalars - head
        makeRoom(2)
        block.words[at] = Word(.delete, scalars: head)
        block.words[at + 1] = Word(.retain, scalars: added)
        block.words[at + 2] = Word(.delete, scalars: tail)
      }
      block.scalars += added
      return
    }
    if putsOwnFirst { passOwnInserts() }
    if at > 0, block.words[at - 1].isRetain {
      at -= 1
      position -= block.words[at].scalars
      block.words[at].bits += Word.size(scalars: added)
    } else if at < block.count, block.words[at].isRetain {
      block.words[at].bits += Word.size(scalars: added)
    } else {
      makeRoom(1)
      block.words[at] = Word(.retain, scalars: added)
    }
    block.scalars += added
  }

  private mutating func passOwnInserts() {
    while true {
      while at < block.count, block.words[at].isInsert { at += 1 }
      if at < block.count || current == last { return }
      moveToNextBlock()
    }
  }

  @inline(__always)
  private mutating func delete(at place: Int, _ deleted: Int) {
    seek(place)
    baseLength -= deleted
    if at < block.count, !block.words[at].isInsert,
      position + block.words[at].scalars > place + deleted
        || (position < place && position + block.words[at].scalars == place + deleted)
    {
      // A part of the word remains.
      block.words[at].bits -= Word.size(scalars: deleted)
      block.scalars -= deleted
      if block.words[at].isRetain { targetLength -= deleted }
      return
    }
    deleteAcross(place, deleted)
  }

  @inline(never)
  private mutating func deleteAcross(_ place: Int, _ deleted: Int) {
    var left = deleted
    // The remaining scalars of the first word.
    var head = place - position
    var read = at
    // The previous word may merge with a later one: the walk begins at it.
    if at > 0 {
      at -= 1
      if !block.words[at].isInsert { position -= block.words[at].scalars }
    }
    while true {
      var write = read
      while read < block.count, left > 0 {
        var word = block.words[read]
        read += 1
        if !word.isInsert {
          let taken = min(left, word.scalars - head)
          head = 0
          word.bits -= Word.size(scalars: taken)
          left -= taken
          block.scalars -= taken
          if word.isRetain { targetLength -= taken }
          if word.scalars == 0 { continue }
        }
        keep(word, &write)
      }
      if read > write {
        if read < block.count {
          keep(block.words[read], &write)
          read += 1
        }
        (block.words + write).update(from: block.words + read, count: block.count - read)
        block.count -= read - write
      }
      if left == 0 { return }
      moveToNextBlock()
      read = 0
    }
  }

  /// Appends a word to the remaining words of the block.
  @inline(__always)
  private func keep(_ word: Word, _ write: inout Int) {
    if write > 0, block.words[write - 1].isSameKind(as: word) {
      block.words[write - 1].bits += word.bits & ~3
    } else {
      block.words[write] = word
      write += 1
    }
  }

  // MARK: Words and blocks

  /// Moves to the first word that begins at a base position or contains it; to the end of a block
  /// if the block ends there.
  @inline(__always)
  private mutating func seek(_ place: Int) {
    if last > 0, place <= start || place > start + block.scalars { seekBlock(place) }
    while at > 0, position >= place {
      at -= 1
      if !block.words[at].isInsert { position -= block.words[at].scalars }
    }
    while at < block.count, position < place {
      let word = block.words[at]
      if !word.isInsert {
        if position + word.scalars > place { break }
        position += word.scalars
      }
      at += 1
    }
  }

  /// Makes the first block that reaches a base position the current one.
  @inline(never)
  private mutating func seekBlock(_ place: Int) {
    blocks[current] = block
    // From the current block, or from the nearer end.
    if place < start / 2 {
      current = 0
      start = 0
    } else if place > (start + baseLength) / 2 {
      current = last
      start = baseLength - blocks[last].scalars
    }
    while current > 0, place <= start {
      current -= 1
      start -= blocks[current].scalars
    }
    while current < last, start + blocks[current].scalars < place {
      start += blocks[current].scalars
      current += 1
    }
    block = blocks[current]
    if place - start > block.scalars / 2 {
      at = block.count
      position = start + block.scalars
    } else {
      at = 0
      position = start
    }
  }

  private mutating func moveToNextBlock() {
    precondition(current < last, "an operation reaches beyond the text's \(baseLength) scalars")
    blocks[current] = block
    start += block.scalars
    current += 1
    block = blocks[current]
    at = 0
    position = start
  }

  /// Makes room by moving the words from the current one on.
  @inline(never)
  private mutating func makeRoom(_ more: Int) {
    while block.count + more > block.capacity {
      if block.capacity < blockWordsMax { grow() } else { split() }
    }
    (block.words + at + more).update(from: block.words + at, count: block.count - at)
    block.count += more
  }

  private mutating func grow() {
    block.capacity = min(2 * block.capacity, blockWordsMax)
    let larger = UnsafeMutablePointer<Word>.allocate(capacity: block.capacity)
    larger.update(from: block.words, count: block.count)
    block.words.deallocate()
    block.words = larger
  }

  /// Splits the current block. The half with the current word becomes current.
  private mutating func split() {
    let half = block.count / 2
    var second = Block(
      words: .allocate(capacity: blockWordsMax), count: block.count - half,
      capacity: blockWordsMax, scalars: 0)
    second.words.update(from: block.words + half, count: second.count)
    for index in 0..<second.count where !second.words[index].isInsert {
      second.scalars += second.words[index].scalars
    }
    block.count = half
    block.scalars -= second.scalars
    if blocks.isEmpty { blocks.append(block) }
    blocks.insert(second, at: current + 1)
    last += 1
    if at >= half {
      blocks[current] = block
      start += block.scalars
      current += 1
      block = second
      at -= half
    }
  }
}
