/// A composed operation stored around a gap, for edits near each other.
///
/// Its components and its text are in two blocks of memory. Each has a gap at the last edit, with
/// the content before it on the left and the content after it on the right. An edit moves the gap
/// to its position and changes the components beside it.
struct CompositionBuffer: ~Copyable {
  typealias Word = TextOperation.Word

  private(set) var baseLength: Int
  private(set) var targetLength: Int
  /// The position of the gap in the target text.
  private var place = 0
  private var words: GapMemory<Word>
  private var text: GapMemory<UInt8>

  init(baseLength: Int) {
    self.baseLength = baseLength
    targetLength = baseLength
    words = GapMemory(capacity: 64)
    text = GapMemory(capacity: 256)
    pushRight(Word(.retain, scalars: baseLength))
  }

  deinit {
    words.deallocate()
    text.deallocate()
  }

  /// Starts over, on a text of this length.
  mutating func reset(baseLength: Int) {
    self.baseLength = baseLength
    targetLength = baseLength
    place = 0
    words.removeAll()
    text.removeAll()
    pushRight(Word(.retain, scalars: baseLength))
  }

  /// The approximate number of components.
  var wordCount: Int { words.count }
  /// The number of bytes of inserted text.
  var textCount: Int { text.count }

  /// Composes an edit after the earlier ones. It starts from the target length.
  @inline(__always)
  mutating func append(_ edit: InlineEdit) {
    seek(Int(edit.prefix))
    if edit.deletesFirst { delete(Int(edit.deleted)) }
    if edit.bytes > 0 {
      var bytes = edit.text
      withUnsafeBytes(of: &bytes) { bytes in
        insert(
          UnsafeBufferPointer(
            start: bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self),
            count: Int(edit.bytes)),
          scalars: Int(edit.scalars))
      }
    }
    if !edit.deletesFirst { delete(Int(edit.deleted)) }
  }

  /// Composes an operation after the earlier ones. It starts from the target length.
  mutating func append(_ operation: TextOperation) {
    operation.withPacked { words, text in
      var position = 0
      var offset = 0
      for word in words {
        if word.isRetain {
          position += word.scalars
          continue
        }
        seek(position)
        if word.isInsert {
          insert(
            UnsafeBufferPointer(rebasing: text[offset..<(offset + word.bytes)]),
            scalars: word.scalars)
          offset += word.bytes
          position += word.scalars
        } else {
          delete(word.scalars)
        }
      }
    }
  }

  /// Returns the whole as one operation. This moves the gap to the end.
  mutating func composed() -> TextOperation {
    seek(targetLength)
    while words.rightCount > 0 { pushLeft(words.popRight()) }
    return TextOperation(
      packing: words.left, text: text.left, base: baseLength, target: targetLength)
  }

  // MARK: Edits at the gap

  @inline(__always)
  private mutating func insert(_ new: UnsafeBufferPointer<UInt8>, scalars: Int) {
    pushLeft(Word(.insert, scalars: scalars, bytes: new.count))
    text.appendLeft(new)
    place += scalars
    targetLength += scalars
  }

  @inline(__always)
  private mutating func delete(_ count: Int) {
    var left = count
    targetLength -= count
    while left > 0 {
      let word = words.right.pointee
      if word.isDelete {
        pushLeft(words.popRight())
        continue
      }
      let taken = takeRight(word, atMost: left)
      if taken.isRetain {
        pushLeft(Word(.delete, scalars: taken.scalars))
      } else {
        text.dropRight(taken.bytes)
      }
      left -= taken.scalars
    }
  }

  // MARK: The gap

  /// Moves the gap to a position of the target text.
  @inline(__always)
  private mutating func seek(_ position: Int) {
    if place != position { move(to: position) }
  }

  private mutating func move(to position: Int) {
    while place > position {
      let word = words.lastLeft
      if word.isDelete {
        pushRight(words.popLeft())
        continue
      }
      let taken = takeLeft(word, atMost: place - position)
      if taken.isInsert { text.moveRight(taken.bytes) }
      pushRight(taken)
      place -= taken.scalars
    }
    while place < position {
      let word = words.right.pointee
      if word.isDelete {
        pushLeft(words.popRight())
        continue
      }
      let taken = takeRight(word, atMost: position - place)
      if taken.isInsert { text.moveLeft(taken.bytes) }
      pushLeft(taken)
      place += taken.scalars
    }
  }

  /// Removes scalars from the first word on the right, and returns them as a word.
  @inline(__always)
  private mutating func takeRight(_ word: Word, atMost count: Int) -> Word {
    if word.scalars <= count { return words.popRight() }
    let bytes =
      word.isRetain
      ? 0
      : word.bytes == word.scalars
        ? count : UnsafePointer(text.right).byteCount(ofScalars: count, limit: word.bytes)
    words.right.pointee.bits -= Word.size(scalars: count, bytes: bytes)
    return Word(bits: Word.size(scalars: count, bytes: bytes) | word.bits & 3)
  }

  /// Removes scalars from the last word on the left, and returns them as a word.
  @inline(__always)
  private mutating func takeLeft(_ word: Word, atMost count: Int) -> Word {
    if word.scalars <= count { return words.popLeft() }
    let bytes =
      word.isRetain
      ? 0
      : word.bytes == word.scalars
        ? count : UnsafePointer(text.leftEnd).byteCount(ofScalarsBehind: count)
    words.setLastLeft(Word(bits: word.bits - Word.size(scalars: count, bytes: bytes)))
    return Word(bits: Word.size(scalars: count, bytes: bytes) | word.bits & 3)
  }

  /// Between two retains there is at most one insert and one delete. A third piece merges with the
  /// first, which changes the order but not the effect.
  @inline(__always)
  private mutating func pushLeft(_ word: Word) {
    let count = words.leftCount
    if count > 0 {
      let last = words.memory + (count - 1)
      if last.pointee.isSameKind(as: word) {
        last.pointee.bits += word.bits & ~3
        return
      }
      if count > 1, !last.pointee.isRetain, last[-1].isSameKind(as: word), !word.isRetain {
        last[-1].bits += word.bits & ~3
        return
      }
    }
    words.appendLeft(word)
  }

  @inline(__always)
  private mutating func pushRight(_ word: Word) {
    if word.scalars == 0 { return }
    if words.rightCount > 0, words.right.pointee.isSameKind(as: word) {
      words.right.pointee.bits += word.bits & ~3
    } else {
      words.appendRight(word)
    }
  }
}

/// Memory that is filled from both ends, with the gap between.
private struct GapMemory<Element: BitwiseCopyable> {
  private(set) var memory: UnsafeMutablePointer<Element>
  private var capacity: Int
  private(set) var leftCount = 0
  private(set) var rightCount = 0

  init(capacity: Int) {
    self.capacity = capacity
    memory = .allocate(capacity: capacity)
  }

  func deallocate() { memory.deallocate() }

  mutating func removeAll() {
    leftCount = 0
    rightCount = 0
  }

  var count: Int { leftCount + rightCount }
  var left: UnsafeBufferPointer<Element> { UnsafeBufferPointer(start: memory, count: leftCount) }
  @inline(__always)
  var leftEnd: UnsafeMutablePointer<Element> { memory + leftCount }
  /// The start of the right part.
  @inline(__always)
  var right: UnsafeMutablePointer<Element> { memory + (capacity - rightCount) }

  @inline(__always)
  var lastLeft: Element { memory[leftCount - 1] }
  @inline(__always)
  func setLastLeft(_ element: Element) { memory[leftCount - 1] = element }

  @inline(__always)
  mutating func popLeft() -> Element {
    leftCount -= 1
    return memory[leftCount]
  }

  @inline(__always)
  mutating func popRight() -> Element {
    defer { rightCount -= 1 }
    return right.pointee
  }

  @inline(__always)
  mutating func appendLeft(_ element: Element) {
    if leftCount + rightCount == capacity { grow(1) }
    memory[leftCount] = element
    leftCount += 1
  }

  @inline(__always)
  mutating func appendRight(_ element: Element) {
    if leftCount + rightCount == capacity { grow(1) }
    rightCount += 1
    right.pointee = element
  }

  @inline(__always)
  mutating func appendLeft(_ elements: UnsafeBufferPointer<Element>) {
    guard let source = elements.baseAddress else { return }
    if leftCount + rightCount + elements.count > capacity { grow(elements.count) }
    leftEnd.update(from: source, count: elements.count)
    leftCount += elements.count
  }

  @inline(__always)
  mutating func dropRight(_ count: Int) { rightCount -= count }

  /// Moves elements across the gap.
  @inline(__always)
  mutating func moveLeft(_ count: Int) {
    leftEnd.update(from: right, count: count)
    leftCount += count
    rightCount -= count
  }

  /// Moves elements across the gap.
  @inline(__always)
  mutating func moveRight(_ count: Int) {
    (right - count).update(from: leftEnd - count, count: count)
    leftCount -= count
    rightCount += count
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    var larger = GapMemory(capacity: 2 * capacity + more)
    larger.leftCount = leftCount
    larger.rightCount = rightCount
    larger.memory.update(from: memory, count: leftCount)
    larger.right.update(from: right, count: rightCount)
    deallocate()
    self = larger
  }
}
